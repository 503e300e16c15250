"""What is to be solved: prepared rows with their classes, weights and costs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.arrays import Array, Int32
from likely.errors import DataError, SettingsError, listed
from likely.models.settings import between
from likely.models.svm.gram import gram_matrix
from likely.models.svm.inner_products import Matrix, narrow
from likely.models.svm.kernels import Gauss, Kernel, Linear, Polynomial, Sigmoid
from likely.models.svm.machine import Machine
from likely.numerics import refuse_heavy


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, the codes of their classes, and what a slack of one costs in each row, in units of C.

    `dots` and `own` are the scalar products of all rows, where somebody has them already.
    """

    X: Matrix
    y: Int32
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


def row_costs(given: Any, classes: NDArray[Any], y: Int32, weight: Array | None) -> Array | None:
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


# The dual problem, solved by LIBSVM through scikit-learn.
#
# maximise  Σ α − ½ ΣΣ y y' α α' K(x, x')   with  0 ≤ α ≤ C·cost,  Σ y α = 0
#
# Given: rows, classes, kernel, C. Comes back: the rows with α > 0, y·α of each in every pair of classes, and b.

GRAM_ROWS = 8_000
"""Up to so many rows (490 MiB) their Gram matrix is made at once: faster than LIBSVM, which goes row by row."""

CACHE_MIB = 500


def solve_exactly(problem: Problem, plan: Plan, most_steps: int = -1) -> Machine:
    """All pairs of classes in one go."""
    from sklearn.exceptions import ConvergenceWarning

    options: dict[str, Any] = {"C": plan.C, "tol": plan.tolerance, "cache_size": CACHE_MIB, "max_iter": most_steps}
    used = np.arange(len(problem)) if problem.cost is None else np.flatnonzero(problem.cost > 0.0)
    part = problem if len(used) == len(problem) else problem.take(used)
    if len(np.unique(part.y)) < problem.n_classes:
        raise DataError("A class has no row with a weight above zero, so it cannot be told apart: leave its rows out.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            found = _fitted(part, plan.kernel, options, plan.n_jobs)
        except ValueError as error:  # its own check of what it found
            raise DataError(
                f"LIBSVM finds no machine of finite numbers with the kernel {plan.kernel!r} and C = {plan.C:g}: leave "
                "scale=True if numbers are large, or lower C."
            ) from error
    dual, b = found.dual_coef_, np.asarray(found.intercept_, dtype=np.float64)
    dual = np.ascontiguousarray(dual.toarray() if sparse.issparse(dual) else dual, dtype=np.float64)
    if problem.n_classes > 2:  # LIBSVM's pairs speak for the earlier class, except where there is one pair alone
        dual, b = -dual, -b
    rows = used[found.support_].astype(np.int64)
    return Machine(problem.n_classes, plan.kernel, problem.X[rows], dual, found.n_support_.astype(np.int64), rows, b)


def _fitted(problem: Problem, kernel: Kernel, options: dict[str, Any], n_jobs: int | None) -> Any:
    from sklearn.svm import SVC

    if problem.dots is not None and problem.own is not None:
        cells = kernel.of(problem.dots, problem.own, problem.own)
        return SVC(kernel="precomputed", **options).fit(cells, problem.y, problem.cost)
    own = _libsvm_name(kernel)
    if own is None or len(problem) <= GRAM_ROWS:
        cells = gram_matrix(kernel, problem.X, problem.X, n_jobs)
        return SVC(kernel="precomputed", **options).fit(cells, problem.y, problem.cost)
    return SVC(**own, **options).fit(narrow(problem.X), problem.y, problem.cost)


def _libsvm_name(kernel: Kernel) -> dict[str, Any] | None:
    """The kernel in LIBSVM's words, if it has some."""
    if isinstance(kernel, Linear):
        return {"kernel": "linear"}
    if isinstance(kernel, Gauss):
        return {"kernel": "rbf", "gamma": kernel.gamma}
    if isinstance(kernel, Polynomial):
        return {"kernel": "poly", "gamma": kernel.scale, "coef0": kernel.offset, "degree": kernel.degree}
    if isinstance(kernel, Sigmoid) and kernel.slope is not None and kernel.slope >= 0.0:
        return {"kernel": "sigmoid", "gamma": kernel.slope, "coef0": kernel.offset}
    return None
