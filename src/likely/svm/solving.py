"""From rows to a machine: the way to solve that the number of rows and the kernel allow."""

from __future__ import annotations

import numpy as np

from likely.errors import DataError, SettingsError
from likely.svm.exact import solve_exactly
from likely.svm.hard import solve_hard
from likely.svm.kernels import Gauss, Linear, Polynomial, Sigmoid
from likely.svm.landmarks import solve_by_landmarks
from likely.svm.machine import Machine
from likely.svm.planes import solve_planes
from likely.svm.problem import Plan, Problem

LINEAR_ROWS = 10_000
"""Above so many rows a linear machine is solved for its plane alone, without support vectors."""

MOST_GRAM_ROWS = 12_000
"""The Gram matrix of so many rows takes 1.1 GiB; a kernel that is a sum or product needs all of it."""

MOST_CLASSES = 200

METHODS = ("auto", "exact", "landmarks")


def solve(problem: Problem, plan: Plan, way: str | None = None) -> tuple[Machine, str]:
    """The machine, and how it was found: "exact", "plane" or "landmarks", as the rows ask for or as is said."""
    way = way or way_of(problem, plan)
    if problem.n_classes == 1:
        return _nothing_to_tell(problem, plan), way
    if np.isinf(plan.C):
        return solve_hard(problem, plan), way
    find = {"exact": solve_exactly, "plane": solve_planes, "landmarks": solve_by_landmarks}[way]
    return find(problem, plan), way


def way_of(problem: Problem, plan: Plan) -> str:
    """The way that the number of rows and the kernel allow; what cannot be solved is refused."""
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


def _nothing_to_tell(problem: Problem, plan: Plan) -> Machine:
    """With one class there is no pair."""
    none = np.zeros(0, dtype=np.int64)
    return Machine(1, plan.kernel, problem.X[none], np.zeros((0, 0)), np.zeros(1, dtype=np.int64), none, np.zeros(0))
