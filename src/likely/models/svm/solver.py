"""From rows to a machine: by the method that the number of rows and the kernel allow.

    maximise  Σ α − ½ ΣΣ y y' α α' K(x, x')   with  0 ≤ α ≤ C·cost,  Σ y α = 0

Given: prepared rows with their classes and costs, kernel, C. Comes back: the rows with α > 0, y·α of each in every pair
of classes, and b. Up to some tens of thousands of rows this dual is solved exactly, by LIBSVM. Beyond, a linear machine
is solved for its hyperplanes alone, and another kernel is approximated by landmarks, as Nyström's method does it: some
rows, drawn at random, span the space of the kernel. The hard margin is the solution without slack, or a refusal that
says which rows are in its way.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from likely.arrays import Array, Flags, Index, Int32
from likely.errors import About, DataError, SettingsError
from likely.models.svm.kernels import (
    Gauss,
    Kernel,
    Linear,
    Matrix,
    Polynomial,
    Sigmoid,
    densified,
    gram,
    with_int32_indices,
)
from likely.models.svm.machine import Machine, class_pairs, gram_matrix, n_pairs, nearest_rival
from likely.parallel import run

if TYPE_CHECKING:
    from sklearn.svm import SVC

LINEAR_ROWS, SPARSE_LINEAR_ROWS = 10_000, 3_000
"""With more rows (sparse: and more than columns), a linear machine is solved for its hyperplanes alone."""

MOST_GRAM_ROWS = 12_000
"""The Gram matrix of this many rows takes 1.1 GiB; a kernel that is a sum or product needs all of it."""

MOST_PRODUCTS, SPARSE_COST = 1 << 36, 8
"""Products of cells in the scalar products of all rows with each other, up to which LIBSVM computes them one by one: a
few minutes. A product of sparse cells takes as long as so many others."""

MOST_CLASSES = 200

MOST_CELLS = 1 << 27
"""Cells of rows × landmarks (1 GiB). Up to this many LinearSVC takes all rows at once; above, SGD a few at a time."""

PASSES = 20

FEWEST_LANDMARKS = 50

SMALLEST = 1e-10
"""Directions in which the landmarks have less than this share of their largest spread say nothing but rounding."""

_ONE_DUAL = Lock()
"""LIBLINEAR draws the order of rows in its dual from one generator of the whole process: two at a time would share it,
and what comes out would depend on which was faster. The primal draws nothing."""

METHODS = ("auto", "exact", "landmarks")


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, the codes of their classes, and what a slack of one costs in each row, in units of C.

    `products` are the scalar products of all rows, where somebody has them already.
    """

    X: Matrix
    y: Int32
    n_classes: int
    cost: Array | None = None
    products: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Index) -> Problem:
        """Some of the rows."""
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            cost=None if self.cost is None else self.cost[rows],
            products=None if self.products is None else np.ascontiguousarray(self.products[np.ix_(rows, rows)]),
        )


@dataclass(frozen=True)
class SolverPlan:
    """How it is to be solved: C (infinite for no slack), the kernel, and the ways that are open."""

    C: float
    kernel: Kernel
    tolerance: float = 1e-3
    method: str = "auto"
    max_rows: int = 30_000
    landmarks: int = 500
    seed: int = 0
    n_jobs: int | None = None


def solve(problem: Problem, plan: SolverPlan, method: str | None = None) -> tuple[Machine, str]:
    """The machine, and how it was found: "exact", "plane" or "landmarks", as the rows ask for or as is said."""
    method = method or choose_method(problem, plan)
    if problem.n_classes == 1:
        return _single_class_machine(problem, plan), method
    if np.isinf(plan.C):
        return solve_hard(problem, plan), method
    find = {"exact": solve_exactly, "plane": solve_linear, "landmarks": solve_nystroem}[method]
    return find(problem, plan), method


def choose_method(problem: Problem, plan: SolverPlan) -> str:
    """The method that the number of rows and the kernel allow; what cannot be solved is refused."""
    if problem.n_classes > MOST_CLASSES:
        raise DataError(
            About("many classes", problem.n_classes, MOST_CLASSES),
            f"The {problem.n_classes:,} classes make {n_pairs(problem.n_classes):,} pairs, and each needs a machine of "
            f"its own: more than {MOST_CLASSES} classes are too many for this classifier. Take BayesClassifier, or "
            "merge classes.",
        )
    if problem.n_classes == 1:
        return "exact"
    is_linear, is_hard = isinstance(plan.kernel, Linear), bool(np.isinf(plan.C))
    if plan.method == "landmarks" and not is_linear and not is_hard:
        return "landmarks"
    if plan.method == "exact" or is_hard:
        _refuse_many(problem, plan)
        return "exact"
    is_tall = sparse.issparse(problem.X) and problem.X.shape[0] > problem.X.shape[1]
    if is_linear and len(problem) > min(SPARSE_LINEAR_ROWS if is_tall else LINEAR_ROWS, plan.max_rows):
        return "plane"  # where classes overlap, LIBSVM takes a hundred times as long as LIBLINEAR
    return "landmarks" if len(problem) > min(_most_rows(plan), _rows_in_time(problem.X)) else "exact"


def _most_rows(plan: SolverPlan) -> int:
    """Rows up to which every one of them may become a support vector."""
    is_single = isinstance(plan.kernel, Linear | Polynomial | Gauss | Sigmoid)
    return plan.max_rows if is_single else min(plan.max_rows, MOST_GRAM_ROWS)


def _rows_in_time(X: Matrix) -> int:
    """The number of rows as wide as these up to which scalar products do not take too long."""
    cost = SPARSE_COST * X.nnz / X.shape[0] if sparse.issparse(X) else X.shape[1]
    return max(int(np.sqrt(MOST_PRODUCTS / max(cost, 1.0))), MOST_GRAM_ROWS)


def _refuse_many(problem: Problem, plan: SolverPlan) -> None:
    most = _most_rows(plan)
    if len(problem) > most:
        other = "give a number for C and leave" if np.isinf(plan.C) else "leave"
        raise SettingsError(
            f"The {len(problem):,} rows are more than the {most:,} that can be solved exactly with the kernel "
            f"{plan.kernel!r}: {other} method out so that another way is taken, give fewer rows, or raise max_rows."
        )


def _single_class_machine(problem: Problem, plan: SolverPlan) -> Machine:
    """With one class there is no pair."""
    none = np.zeros(0, dtype=np.int64)
    return Machine(1, plan.kernel, problem.X[none], np.zeros((0, 0)), np.zeros(1, dtype=np.int64), none, np.zeros(0))


def solve_nystroem(problem: Problem, plan: SolverPlan) -> Machine:
    """A linear machine in the directions that the landmarks span, written as coefficients of the landmarks.

    scikit-learn's `Nystroem` calls a kernel of ours once for every two rows, and turns negative eigenvalues round.
    """
    n = len(problem)
    wanted = min(plan.landmarks, n)
    chosen = min(wanted, MOST_CELLS // n)
    if chosen < min(FEWEST_LANDMARKS, wanted):
        why = f"The {n:,} rows are too many for the kernel {plan.kernel!r}: give fewer rows, or take kernel='linear'."
        raise SettingsError(About("many rows", n), why)
    rows = np.sort(np.random.default_rng(plan.seed).choice(n, chosen, replace=False)).astype(np.int64)
    landmarks = densified(problem.X[rows])
    values, vectors = np.linalg.eigh(gram(plan.kernel, landmarks, landmarks))
    kept = values > SMALLEST * float(np.abs(values).max())
    directions = vectors[:, kept] / np.sqrt(values[kept])
    features = gram_matrix(plan.kernel, problem.X, landmarks, plan.n_jobs) @ directions
    hyperplanes, b = fit_hyperplanes(features, problem, plan)
    dual = np.ascontiguousarray(hyperplanes @ directions.T)
    return Machine(problem.n_classes, plan.kernel, problem.X[rows], dual, None, rows, b)


def solve_linear(problem: Problem, plan: SolverPlan) -> Machine:
    """w and b of every pair; slack counts squared, or as it is where rows are taken a few at a time."""
    hyperplanes, b = fit_hyperplanes(problem.X, problem, plan)
    none = np.zeros(0, dtype=np.int64)
    dual = np.zeros((max(problem.n_classes - 1, 1), 0))
    return Machine(problem.n_classes, Linear(), problem.X[none], dual, None, none, b, hyperplanes=hyperplanes)


def fit_hyperplanes(X: Matrix, problem: Problem, plan: SolverPlan) -> tuple[Array, Array]:
    """One hyperplane for each pair of classes, in the space of X."""
    from sklearn.exceptions import ConvergenceWarning

    earlier, later = class_pairs(problem.n_classes)

    def fit_pair(place: int) -> tuple[Array, float]:
        own = np.flatnonzero((problem.y == earlier[place]) | (problem.y == later[place]))
        cost = None if problem.cost is None else problem.cost[own]
        return _fit_hyperplane(X[own], problem.y[own] == later[place], cost, plan)

    with warnings.catch_warnings():  # not in the threads, which share what is caught
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = run(fit_pair, range(n_pairs(problem.n_classes)), plan.n_jobs)
    return np.array([w for w, _ in found]), np.array([b for _, b in found])


def _fit_hyperplane(X: Matrix, is_later: Flags, cost: Array | None, plan: SolverPlan) -> tuple[Array, float]:
    from sklearn.linear_model import SGDClassifier
    from sklearn.svm import LinearSVC

    cells, is_wide = X.nnz if sparse.issparse(X) else X.size, X.shape[0] < X.shape[1]
    if cells > MOST_CELLS:
        weight = 1.0 if cost is None else float(cost.mean())
        solver = SGDClassifier(
            loss="hinge", alpha=1.0 / (plan.C * max(weight, 1e-12) * X.shape[0]), max_iter=PASSES, average=True,
            random_state=plan.seed,
        )  # fmt: skip
    else:
        solver = LinearSVC(C=plan.C, dual=is_wide, tol=plan.tolerance, random_state=plan.seed, intercept_scaling=10.0)
    with _ONE_DUAL if is_wide else nullcontext():
        solver.fit(with_int32_indices(X), is_later, sample_weight=cost)
    return solver.coef_[0].astype(np.float64), float(solver.intercept_[0])


# The exact solution, with slack and without.

GRAM_ROWS = 8_000
"""Up to this many rows (490 MiB), sparse ones up to `MOST_GRAM_ROWS`, the whole Gram matrix is computed first: faster
than LIBSVM's row by row."""

CACHE_MIB = 500

HARD_C_VALUES = (1.0, 1e2, 1e4, 1e6, 1e8)
"""Values of C that are tried: once no coefficient reaches C, none would reach a higher one."""

TOLERANCE, TOUCHING = 1e-9, 1e-4

STEPS_PER_ROW, FEWEST_STEPS = 100, 100_000
"""Steps after which a value of C is given up: where classes overlap, a solver would go on almost for ever."""

PROGRAMME_CELLS, INFEASIBLE = 1 << 21, 2
"""Cells of rows up to which a linear programme is asked first, and its answer that there is no hyperplane."""

POLISHED = 600
"""Support vectors up to which the equations of the solution are solved once more, exactly."""


def solve_exactly(problem: Problem, plan: SolverPlan, most_steps: int = -1) -> Machine:
    """All pairs of classes in one go."""
    from sklearn.exceptions import ConvergenceWarning

    options: dict[str, object] = {"C": plan.C, "tol": plan.tolerance, "cache_size": CACHE_MIB, "max_iter": most_steps}
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
                About("no machine"),
                f"LIBSVM finds no machine of finite numbers with the kernel {plan.kernel!r} and C = {plan.C:g}: leave "
                "scale=True if numbers are large, or lower C.",
            ) from error
    dual, b = found.dual_coef_, np.asarray(found.intercept_, dtype=np.float64)
    dual = np.ascontiguousarray(dual.toarray() if sparse.issparse(dual) else dual, dtype=np.float64)
    if problem.n_classes > 2:  # LIBSVM's pairs speak for the earlier class, except where there is one pair alone
        dual, b = -dual, -b
    rows = used[found.support_].astype(np.int64)
    return Machine(problem.n_classes, plan.kernel, problem.X[rows], dual, found.n_support_.astype(np.int64), rows, b)


def _fitted(problem: Problem, kernel: Kernel, options: dict[str, object], n_jobs: int | None) -> SVC:
    from sklearn.svm import SVC

    theirs = _libsvm_kernel(kernel)
    if problem.products is not None:
        norms = problem.products.diagonal()
        rows = kernel.of(problem.products, norms, norms)
    elif theirs is None or len(problem) <= (MOST_GRAM_ROWS if sparse.issparse(problem.X) else GRAM_ROWS):
        rows = gram_matrix(kernel, problem.X, problem.X, n_jobs)
    else:
        return SVC(**theirs, **options).fit(with_int32_indices(problem.X), problem.y, problem.cost)
    return SVC(kernel="precomputed", **options).fit(rows, problem.y, problem.cost)


def _libsvm_kernel(kernel: Kernel) -> dict[str, object] | None:
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


def solve_hard(problem: Problem, plan: SolverPlan) -> Machine:
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


def _refusal(worst: int, plan: SolverPlan) -> NotSeparable:
    return NotSeparable(
        f"The classes cannot be separated with the kernel {plan.kernel!r}: row {worst} would lie on the wrong side or "
        "within the margin. Give a number for C, such as C=1.0, to allow some slack, or take another kernel."
    )


def _linearly_separable(problem: Problem) -> bool:
    """Whether some hyperplane separates each two classes, by linear programming; where that is too much, perhaps."""
    from scipy.optimize import linprog

    if problem.X.shape[0] * problem.X.shape[1] > PROGRAMME_CELLS:
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
