"""From rows to a machine: by the method that the number of rows and the kernel allow.

Up to some tens of thousands of rows the dual is solved exactly (`dual`). Beyond, a linear machine is solved for its
hyperplanes alone, and another kernel is approximated by landmarks, as Nyström's method does it: some rows, drawn at
random, span the space of the kernel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.arrays import Array
from likely.errors import DataError, SettingsError
from likely.models.svm.dual import Plan, Problem, solve_exactly, solve_hard
from likely.models.svm.gram import gram_matrix
from likely.models.svm.kernels import Gauss, Linear, Matrix, Polynomial, Sigmoid, densified, gram, with_int32_indices
from likely.models.svm.machine import Machine, class_pairs, n_pairs
from likely.parallel import run

LINEAR_ROWS = 10_000
"""Above so many rows a linear machine is solved for its hyperplanes alone, without support vectors."""

MOST_GRAM_ROWS = 12_000
"""The Gram matrix of so many rows takes 1.1 GiB; a kernel that is a sum or product needs all of it."""

MOST_CLASSES = 200

MOST_CELLS = 1 << 27
"""Cells of rows × landmarks (1 GiB); of so many cells all rows are looked at in every step, above, a few at a time."""

PASSES = 20

FEWEST_LANDMARKS = 50

SMALLEST = 1e-10
"""Directions in which the landmarks have less than this share of their largest spread say nothing but rounding."""

METHODS = ("auto", "exact", "landmarks")


def solve(problem: Problem, plan: Plan, method: str | None = None) -> tuple[Machine, str]:
    """The machine, and how it was found: "exact", "plane" or "landmarks", as the rows ask for or as is said."""
    method = method or choose_method(problem, plan)
    if problem.n_classes == 1:
        return _single_class_machine(problem, plan), method
    if np.isinf(plan.C):
        return solve_hard(problem, plan), method
    find = {"exact": solve_exactly, "plane": solve_linear, "landmarks": solve_nystroem}[method]
    return find(problem, plan), method


def choose_method(problem: Problem, plan: Plan) -> str:
    """The method that the number of rows and the kernel allow; what cannot be solved is refused."""
    if plan.method not in METHODS:
        raise SettingsError(f"method is {plan.method!r}, but it is one of {', '.join(METHODS)}.")
    if problem.n_classes > MOST_CLASSES:
        pairs = problem.n_classes * (problem.n_classes - 1) // 2
        raise DataError(
            f"The {problem.n_classes:,} classes make {pairs:,} pairs, and each needs a machine of its own: more than "
            f"{MOST_CLASSES} classes are too many for this classifier. Take BayesClassifier, or merge classes."
        )
    if problem.n_classes == 1:
        return "exact"
    is_linear = isinstance(plan.kernel, Linear)
    if np.isinf(plan.C):
        _refuse_many(problem, plan)
        return "exact"
    if plan.method == "landmarks" and not is_linear:
        return "landmarks"
    if plan.method == "exact":
        _refuse_many(problem, plan)
        return "exact"
    if is_linear and len(problem) > min(LINEAR_ROWS, plan.max_rows):
        return "plane"
    return "landmarks" if len(problem) > _most_rows(plan) else "exact"


def _most_rows(plan: Plan) -> int:
    """Rows up to which every one of them may become a support vector."""
    is_single = isinstance(plan.kernel, Linear | Polynomial | Gauss | Sigmoid)
    return plan.max_rows if is_single else min(plan.max_rows, MOST_GRAM_ROWS)


def _refuse_many(problem: Problem, plan: Plan) -> None:
    most = _most_rows(plan)
    if len(problem) > most:
        other = "give a number for C and leave" if np.isinf(plan.C) else "leave"
        raise SettingsError(
            f"The {len(problem):,} rows are more than the {most:,} that can be solved exactly with the kernel "
            f"{plan.kernel!r}: {other} method out so that another way is taken, give fewer rows, or raise max_rows."
        )


def _single_class_machine(problem: Problem, plan: Plan) -> Machine:
    """With one class there is no pair."""
    none = np.zeros(0, dtype=np.int64)
    return Machine(1, plan.kernel, problem.X[none], np.zeros((0, 0)), np.zeros(1, dtype=np.int64), none, np.zeros(0))


def solve_nystroem(problem: Problem, plan: Plan) -> Machine:
    """A linear machine in the directions that the landmarks span, told as coefficients of the landmarks.

    scikit-learn's `Nystroem` calls a kernel of ours once for every two rows, and turns negative eigenvalues round.
    """
    n = len(problem)
    wanted = min(plan.landmarks, n)
    chosen = min(wanted, MOST_CELLS // n)
    if chosen < min(FEWEST_LANDMARKS, wanted):
        raise SettingsError(
            f"The {n:,} rows are too many for the kernel {plan.kernel!r}: give fewer rows, or take kernel='linear'."
        )
    rows = np.sort(np.random.default_rng(plan.seed).choice(n, chosen, replace=False)).astype(np.int64)
    landmarks = densified(problem.X[rows])
    values, vectors = np.linalg.eigh(gram(plan.kernel, landmarks, landmarks))
    kept = values > SMALLEST * float(np.abs(values).max())
    directions = vectors[:, kept] / np.sqrt(values[kept])
    features = gram_matrix(plan.kernel, problem.X, landmarks, plan.n_jobs) @ directions
    hyperplanes, b = fit_hyperplanes(features, problem, plan)
    dual = np.ascontiguousarray(hyperplanes @ directions.T)
    return Machine(problem.n_classes, plan.kernel, problem.X[rows], dual, None, rows, b)


def solve_linear(problem: Problem, plan: Plan) -> Machine:
    """w and b of every pair; slack counts squared, or as it is where rows are taken a few at a time."""
    hyperplanes, b = fit_hyperplanes(problem.X, problem, plan)
    none = np.zeros(0, dtype=np.int64)
    dual = np.zeros((max(problem.n_classes - 1, 1), 0))
    return Machine(problem.n_classes, Linear(), problem.X[none], dual, None, none, b, hyperplanes=hyperplanes)


def fit_hyperplanes(X: Matrix, problem: Problem, plan: Plan) -> tuple[Array, Array]:
    """One hyperplane for each pair of classes, in the space of X."""
    earlier, later = class_pairs(problem.n_classes)

    def fit_pair(place: int) -> tuple[Array, float]:
        own = np.flatnonzero((problem.y == earlier[place]) | (problem.y == later[place]))
        cost = None if problem.cost is None else problem.cost[own]
        return _fit_hyperplane(X[own], problem.y[own] == later[place], cost, plan)

    found = run(fit_pair, range(n_pairs(problem.n_classes)), plan.n_jobs)
    return np.array([w for w, _ in found]), np.array([b for _, b in found])


def _fit_hyperplane(X: Matrix, is_later: NDArray[np.bool_], cost: Array | None, plan: Plan) -> tuple[Array, float]:
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import SGDClassifier
    from sklearn.svm import LinearSVC

    cells = X.nnz if sparse.issparse(X) else X.size
    if cells > MOST_CELLS:
        weight = 1.0 if cost is None else float(cost.mean())
        solver = SGDClassifier(
            loss="hinge", alpha=1.0 / (plan.C * max(weight, 1e-12) * X.shape[0]), max_iter=PASSES, average=True,
            random_state=plan.seed,
        )  # fmt: skip
    else:
        solver = LinearSVC(
            C=plan.C, dual=X.shape[0] < X.shape[1], tol=plan.tolerance, random_state=plan.seed, intercept_scaling=10.0
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solver.fit(with_int32_indices(X), is_later, sample_weight=cost)
    return solver.coef_[0].astype(np.float64), float(solver.intercept_[0])
