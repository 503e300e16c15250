"""One row, ready to be shown: what the views for text, pages and pictures share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likely.explain.factors import Status

Array = NDArray[np.float64]

SHOWN_ROWS = 3
"""Rows written out where a person looks at an explanation of many."""

MOST_COLUMNS = 30
MOST_CLASSES = 10
"""What one view shows; more can be had by asking."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A factor: its name, the label with the row's value, and the logarithm under each class shown."""

    name: str
    label: str
    status: Status
    logs: Array

    @property
    def strength(self) -> float:
        """How far apart it drives the classes, in nats."""
        alive = self.logs[np.isfinite(self.logs)]
        if len(alive) < len(self.logs):
            return np.inf if len(alive) else 0.0
        return float(np.ptp(self.logs)) if len(alive) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """The prior (first line) and the factors, their sum and the posterior; what is not shown is said.

    `columns_left_out` are summed up in the last line; `classes_left_out` have `mass_left_out` of the posterior.
    """

    classes: Sequence[str]
    lines: Sequence[Line]
    joint: Array
    posterior: Array
    columns_left_out: int = 0
    classes_left_out: int = 0
    mass_left_out: float = 0.0


def condense(board: Board, columns: int | None, classes: int | None) -> Board:
    """The strongest columns, in their order, and the most probable classes, in theirs."""
    fewer = _fewer_classes(board, MOST_CLASSES if classes is None else classes)
    return _fewer_columns(fewer, MOST_COLUMNS if columns is None else columns)


def strongest(strengths: Sequence[float], most: int) -> list[int]:
    """Places of the largest, in the order in which they stand; all if one more would be left out for a line."""
    if len(strengths) <= most:
        return list(range(len(strengths)))
    order = np.argsort(-np.asarray(strengths), kind="stable")[: max(most - 1, 0)]
    return sorted(order.tolist())


def _fewer_columns(board: Board, most: int) -> Board:
    prior, factors = board.lines[0], board.lines[1:]
    kept = strongest([line.strength for line in factors], most)
    if len(kept) == len(factors):
        return board
    others = [line for place, line in enumerate(factors) if place not in set(kept)]
    label = f"{len(others)} weaker columns together"
    together = Line(label, label, "known", np.sum([line.logs for line in others], axis=0))
    lines = [prior, *(factors[place] for place in kept), together]
    return replace(board, lines=lines, columns_left_out=len(others))


def _fewer_classes(board: Board, most: int) -> Board:
    if len(board.classes) <= most:
        return board
    kept = np.sort(np.argsort(-board.posterior, kind="stable")[:most])
    return replace(
        board,
        classes=[board.classes[place] for place in kept],
        lines=[replace(line, logs=line.logs[kept]) for line in board.lines],
        joint=board.joint[kept],
        posterior=board.posterior[kept],
        classes_left_out=len(board.classes) - len(kept),
        mass_left_out=float(max(1.0 - board.posterior[kept].sum(), 0.0)),
    )
