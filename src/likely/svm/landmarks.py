"""Machines of very many rows: some rows, drawn at random, stand for the whole space of the kernel (Nyström's way)."""

from __future__ import annotations

import numpy as np

from likely.errors import SettingsError
from likely.svm.against import gram_matrix
from likely.svm.kernels import gram
from likely.svm.machine import Machine
from likely.svm.planes import separate
from likely.svm.problem import Plan, Problem
from likely.svm.products import spread

MOST_CELLS = 1 << 27
"""Cells of rows × landmarks (1 GiB)."""

FEWEST = 50
SMALLEST = 1e-10
"""Directions in which the landmarks have less than this share of their largest spread say nothing but rounding."""


def solve_by_landmarks(problem: Problem, plan: Plan) -> Machine:
    """A linear machine in the directions that the landmarks span, told as coefficients of the landmarks."""
    n = len(problem)
    wanted = min(plan.landmarks, n)
    chosen = min(wanted, MOST_CELLS // n)
    if chosen < min(FEWEST, wanted):
        raise SettingsError(
            f"The {n:,} rows are too many for the kernel {plan.kernel!r}: give fewer rows, or take kernel='linear'."
        )
    rows = np.sort(np.random.default_rng(plan.seed).choice(n, chosen, replace=False)).astype(np.int64)
    marks = spread(problem.X[rows])
    values, vectors = np.linalg.eigh(gram(plan.kernel, marks, marks))
    kept = values > SMALLEST * float(np.abs(values).max())
    directions = vectors[:, kept] / np.sqrt(values[kept])
    features = gram_matrix(plan.kernel, problem.X, marks, plan.n_jobs) @ directions
    planes, b = separate(features, problem, plan)
    dual = np.ascontiguousarray(planes @ directions.T)
    return Machine(problem.n_classes, plan.kernel, problem.X[rows], dual, None, rows, b)
