"""The dual problem, with slack and without: what is to be solved, and its exact solution by LIBSVM.

    maximise  Σ α − ½ ΣΣ y y' α α' K(x, x')   with  0 ≤ α ≤ C·cost,  Σ y α = 0

Given: prepared rows with their classes and costs, kernel, C. Comes back: the rows with α > 0, y·α of each in every pair
of classes, and b. The hard margin is the solution without slack, or a refusal that says which rows are in its way.
"""

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
from likely.models.svm.kernels import Gauss, Kernel, Linear, Matrix, Polynomial, Sigmoid, gram, with_int32_indices
from likely.models.svm.machine import Machine, class_pairs, nearest_rival
from likely.numerics import refuse_heavy

GRAM_ROWS = 8_000
"""Up to so many rows (490 MiB) their Gram matrix is made at once: faster than LIBSVM, which goes row by row."""

CACHE_MIB = 500

HARD_C_VALUES = (1.0, 1e2, 1e4, 1e6, 1e8)
"""Values of C that are tried: once no coefficient reaches C, none would reach a higher one."""

TOLERANCE, TOUCHING = 1e-9, 1e-4

STEPS_PER_ROW, FEWEST_STEPS = 100, 100_000
"""Steps after which a value of C is given up: where classes overlap, a solver would go on almost for ever."""

MOST_CELLS, INFEASIBLE = 1 << 21, 2
"""Cells of rows up to which a linear programme is asked first, and its answer that there is no hyperplane."""

POLISHED = 600
"""Support vectors up to which the equations of the solution are solved once more, exactly."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, the codes of their classes, and what a slack of one costs in each row, in units of C.

    `products` and `squared_norms` are the scalar products of all rows, where somebody has them already.
    """

    X: Matrix
    y: Int32
    n_classes: int
    cost: Array | None = None
    products: Array | None = None
    squared_norms: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: NDArray[np.intp]) -> Problem:
        """Some of the rows."""
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            cost=None if self.cost is None else self.cost[rows],
            products=None if self.products is None else np.ascontiguousarray(self.products[np.ix_(rows, rows)]),
            squared_norms=None if self.squared_norms is None else self.squared_norms[rows],
        )


@dataclass(frozen=True)
class Plan:
    """How it is to be solved: C (infinite for no slack), the kernel, and the ways that are open."""

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

    if problem.products is not None and problem.squared_norms is not None:
        cells = kernel.of(problem.products, problem.squared_norms, problem.squared_norms)
        return SVC(kernel="precomputed", **options).fit(cells, problem.y, problem.cost)
    libsvm_kernel = _libsvm_name(kernel)
    if libsvm_kernel is None or len(problem) <= GRAM_ROWS:
        cells = gram_matrix(kernel, problem.X, problem.X, n_jobs)
        return SVC(kernel="precomputed", **options).fit(cells, problem.y, problem.cost)
    return SVC(**libsvm_kernel, **options).fit(with_int32_indices(problem.X), problem.y, problem.cost)


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


class NotSeparable(DataError):
    """There is no hard margin, because some rows would lie on the wrong side."""


def solve_hard(problem: Problem, plan: Plan) -> Machine:
    """The machine without slack.

    A soft margin whose coefficients all stay below C is the hard one: C never came into play.
    """
    whole = replace(problem, cost=None)
    _refuse_equal_rows(whole)
    if isinstance(plan.kernel, Linear) and not _linearly_separable(whole):
        raise _refusal(_smallest_margin(solve_exactly(whole, replace(plan, C=1.0)), whole)[0], plan)
    steps = max(STEPS_PER_ROW * len(whole), FEWEST_STEPS)
    for C in HARD_C_VALUES:
        machine = solve_exactly(whole, replace(plan, C=C, tolerance=TOLERANCE), steps)
        worst, margin = _smallest_margin(machine, whole)
        if np.abs(machine.dual).max(initial=0.0) < 0.999 * C and margin > 1.0 - TOUCHING:
            return _refined(machine, whole)
    raise _refusal(worst, plan)


def _refusal(worst: int, plan: Plan) -> NotSeparable:
    return NotSeparable(
        f"The classes cannot be separated with the kernel {plan.kernel!r}: row {worst} would lie on the wrong side or "
        "within the margin. Give a number for C, such as C=1.0, to allow some slack, or take another kernel."
    )


def _linearly_separable(problem: Problem) -> bool:
    """Whether some hyperplane separates each two classes, by linear programming; where that is too much, perhaps."""
    from scipy.optimize import linprog

    if problem.X.shape[0] * problem.X.shape[1] > MOST_CELLS:
        return True
    for earlier, later in zip(*class_pairs(problem.n_classes), strict=True):
        own = np.flatnonzero((problem.y == earlier) | (problem.y == later))
        rows = problem.X[own].toarray() if sparse.issparse(problem.X) else problem.X[own]
        sign = np.where(problem.y[own] == later, 1.0, -1.0)[:, None]
        demands = -sign * np.column_stack([rows, np.ones(len(own))])
        width = demands.shape[1]
        found = linprog(np.zeros(width), demands, -np.ones(len(own)), bounds=(None, None), method="highs")
        if found.status == INFEASIBLE:
            return False
    return True


def _refuse_equal_rows(problem: Problem) -> None:
    """Two equal rows of different classes cannot be separated by any kernel."""
    X = problem.X
    lines = (X[k].toarray().tobytes() for k in range(X.shape[0])) if sparse.issparse(X) else map(np.ndarray.tobytes, X)
    seen: dict[bytes, int] = {}
    for row, line in enumerate(lines):
        twin = seen.setdefault(line, row)
        if problem.y[twin] != problem.y[row]:
            raise NotSeparable(
                f"The classes cannot be separated: rows {twin} and {row} are equal but differ in class. "
                "Give a number for C, such as C=1.0, to allow some slack."
            )


def _smallest_margin(machine: Machine, problem: Problem) -> tuple[int, float]:
    """The row that is nearest to the wrong side, and y·f of it."""
    _, margins = nearest_rival(machine.decision_values(problem.X), problem.y, machine.n_classes)
    worst = int(np.argmin(margins))
    return worst, float(margins[worst])


def _refined(machine: Machine, problem: Problem) -> Machine:
    """Two classes: y f(x) = 1 holds at every support vector, so the equations can be solved to the last digit."""
    n = len(machine.rows)
    if machine.n_classes != 2 or n > POLISHED or machine.n_support is None:
        return machine
    kernel = gram(machine.kernel, machine.vectors, machine.vectors)
    y = np.where(problem.y[machine.rows] == 1, 1.0, -1.0)
    equations = np.zeros((n + 1, n + 1))
    equations[:n, :n], equations[:n, n], equations[n, :n] = kernel, 1.0, 1.0
    try:
        found = np.linalg.solve(equations, np.append(y, 0.0))
    except np.linalg.LinAlgError:
        return machine
    close = np.allclose(found[:n], machine.dual[0], rtol=1e-3, atol=1e-6 * float(np.abs(machine.dual).max()))
    if not (np.isfinite(found).all() and close):
        return machine
    return replace(machine, dual=found[None, :n].copy(), b=found[n:].copy())
