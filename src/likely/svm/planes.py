"""Linear machines of many rows: the plane is found directly, without support vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.svm.kernels import Linear
from likely.svm.machine import Machine
from likely.svm.pairs import n_pairs, pairs_of
from likely.svm.problem import Plan, Problem
from likely.svm.products import Matrix, narrow
from likely.threads import side_by_side

Array = NDArray[np.float64]

MOST_CELLS = 1 << 27
"""Cells of rows up to which all of them are looked at in every step; above, a few at a time."""

PASSES = 20


def solve_planes(problem: Problem, plan: Plan) -> Machine:
    """w and b of every pair; slack counts squared, or as it is where rows are taken a few at a time."""
    planes, b = separate(problem.X, problem, plan)
    none = np.zeros(0, dtype=np.int64)
    dual = np.zeros((max(problem.n_classes - 1, 1), 0))
    return Machine(problem.n_classes, Linear(), problem.X[none], dual, None, none, b, plane=planes)


def separate(X: Matrix, problem: Problem, plan: Plan) -> tuple[Array, Array]:
    """One plane for each pair of classes, in the space of X."""
    earlier, later = pairs_of(problem.n_classes)

    def one(place: int) -> tuple[Array, float]:
        own = np.flatnonzero((problem.y == earlier[place]) | (problem.y == later[place]))
        cost = None if problem.cost is None else problem.cost[own]
        return _plane(X[own], problem.y[own] == later[place], cost, plan)

    found = list(side_by_side(one, range(n_pairs(problem.n_classes)), plan.n_jobs))
    return np.array([w for w, _ in found]), np.array([b for _, b in found])


def _plane(X: Matrix, is_later: NDArray[np.bool_], cost: Array | None, plan: Plan) -> tuple[Array, float]:
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
        solver.fit(narrow(X), is_later, sample_weight=cost)
    return solver.coef_[0].astype(np.float64), float(solver.intercept_[0])
