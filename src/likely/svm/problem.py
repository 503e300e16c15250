"""What is to be solved: prepared rows with their classes, weights and costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.choices import between
from likely.errors import SettingsError, listed
from likely.limits import refuse_heavy
from likely.svm.kernels import Kernel
from likely.svm.products import Matrix

Array = NDArray[np.float64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, the codes of their classes, and what a slack of one costs in each row, in units of C.

    `dots` and `own` are the scalar products of all rows, where somebody has them already.
    """

    X: Matrix
    y: Codes
    n_classes: int
    cost: Array | None = None
    dots: Array | None = None
    own: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: NDArray[np.intp]) -> Problem:
        """Some of the rows."""
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            cost=None if self.cost is None else self.cost[rows],
            dots=None if self.dots is None else np.ascontiguousarray(self.dots[np.ix_(rows, rows)]),
            own=None if self.own is None else self.own[rows],
        )


@dataclass(frozen=True)
class Plan:
    """How it is to be solved: the price of slack (infinite for none), the kernel, and the ways that are open."""

    C: float
    kernel: Kernel
    tolerance: float = 1e-3
    method: str = "auto"
    max_rows: int = 30_000
    landmarks: int = 500
    seed: int = 0
    n_jobs: int | None = None


def row_costs(given: Any, classes: NDArray[Any], y: Codes, weight: Array | None) -> Array | None:
    """What a slack costs in each row: its weight times that of its class; None for ones."""
    if given is None:
        return weight
    totals = np.bincount(y, weights=weight, minlength=len(classes)).astype(np.float64)
    shares = class_costs(given, classes, totals)
    with np.errstate(over="ignore", invalid="ignore"):
        costs = np.asarray(shares[y] * (1.0 if weight is None else weight))
    refuse_heavy(costs)
    return costs


def class_costs(given: Any, classes: NDArray[Any], totals: Array) -> Array:
    """What a slack costs in a row of each class, from the weight of all its rows."""
    if given is None:
        return np.ones(len(classes))
    if isinstance(given, str):
        if given != "balanced":
            raise SettingsError(f"class_weight is {given!r}, but it is 'balanced' or a mapping of classes to weights.")
        with np.errstate(over="ignore"):
            balanced = np.divide(totals.sum(), len(classes) * totals, out=np.zeros(len(classes)), where=totals > 0.0)
        return np.asarray(balanced, dtype=np.float64)
    if not isinstance(given, Mapping):
        raise SettingsError(f"class_weight is {given!r}, but it is 'balanced' or a mapping of classes to weights.")
    labels = classes.tolist()
    strange = [label for label in given if label not in labels]
    if strange:
        raise SettingsError(f"class_weight names {listed(strange)}, but the classes are {listed(labels)}.")
    return np.array([between(f"class_weight of {label!r}", given.get(label, 1.0), 0.0, np.inf) for label in labels])
