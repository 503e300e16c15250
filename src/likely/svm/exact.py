"""The dual problem, solved by LIBSVM through scikit-learn.

    maximise  Σ α − ½ ΣΣ y y' α α' K(x, x')   with  0 ≤ α ≤ C·cost,  Σ y α = 0

Given: rows, classes, kernel, C. Comes back: the rows with α > 0, y·α of each in every pair of classes, and b.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from likely.errors import DataError
from likely.svm.against import gram_matrix
from likely.svm.kernels import Gauss, Kernel, Linear, Polynomial, Sigmoid
from likely.svm.machine import Machine
from likely.svm.problem import Plan, Problem
from likely.svm.products import narrow

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
