"""The way down so far: what the last moves did to the slope tells how the ground bends (L-BFGS)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.evidence.kernels.steps import direction, inner

Array = NDArray[np.float64]

MEMORY = 8
FLAT = 1e-15


class Path:
    """The last few moves, and a diagonal to begin with."""

    def __init__(self, inverse: Array) -> None:
        self.inverse = inverse
        self.moves, self.turns = np.empty((MEMORY, inverse.size)), np.empty((MEMORY, inverse.size))
        self.order: list[int] = []

    @property
    def is_straight(self) -> bool:
        """Whether there is nothing to be forgotten."""
        return not self.order

    def forget(self) -> None:
        """Begin anew from here."""
        self.order.clear()

    def step(self, slope: Array, on_floor: NDArray[np.bool_] | None) -> tuple[Array, float]:
        """Where to go, and how steep it is there. A coordinate on the floor that would go below it stays."""
        held = None if on_floor is None else on_floor & (slope > 0.0)
        if held is not None:
            slope = np.where(held, 0.0, slope)
        step = direction(slope, self.moves, self.turns, np.array(self.order, dtype=np.int64), self.inverse)
        if held is not None:
            step[held] = 0.0
        return step, inner(step, slope)

    def remember(self, move: Array, turn: Array) -> None:
        """A move and how the slope turned; of no use where the ground does not bend upwards."""
        if inner(move, turn) > FLAT * inner(turn, turn):
            place = self.order.pop(0) if len(self.order) == MEMORY else len(self.order)
            self.moves[place], self.turns[place] = move, turn
            self.order.append(place)
