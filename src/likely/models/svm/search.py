"""Choosing C and the width of the kernel by trying: many settings on few rows, the better ones on more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from likely.models.svm.calibration import stratified_folds
from likely.models.svm.kernels import Kernel, inner_products, total_variance
from likely.models.svm.machine import one_vs_one_votes
from likely.models.svm.solver import Problem, SolverPlan, solve

C_VALUES = (0.01, 0.1, 1.0, 10.0, 100.0)
WIDTHS = (0.125, 0.35, 1.0, 2.8, 8.0)
"""Multiples of the usual width; σ is left open in the kernel, or there is nothing to try."""

FIRST_ROWS, MOST_ROWS, GROWTH = 400, 4_000, 3
KEPT = 3
"""One setting in three goes on to the next round, which has three times as many rows."""

FOLDS = 3


@dataclass(frozen=True)
class SearchTrial:
    """One setting on some of the rows: the share of held-out rows that it got wrong."""

    rows: int
    C: float
    kernel: Kernel
    error: float


def search(problem: Problem, plan: SolverPlan, step: Callable[[], None]) -> tuple[SolverPlan, list[SearchTrial]]:
    """The plan with the best C and kernel, and all that was tried; of equals the smoother one: less C, then wider."""
    kernel = plan.kernel
    typical = total_variance(problem.X, problem.cost)
    kernels = [kernel.settled(typical * width**2) for width in reversed(WIDTHS)] if kernel.is_open else [kernel]
    entries = [(C, each) for C in C_VALUES for each in kernels]
    sizes = rounds(len(problem))
    trials: list[SearchTrial] = []
    for turn, size in enumerate(sizes):
        part = _sample(problem, size, plan.seed)
        tried = _tried(part, plan, entries, step)
        trials += tried
        keep = 1 if turn + 1 == len(sizes) else max(len(tried) // KEPT, 1)
        ranked = sorted(range(len(tried)), key=lambda place: (tried[place].error, place))[:keep]
        entries = [entries[place] for place in sorted(ranked)]
    C, best = entries[0]
    return replace(plan, C=C, kernel=best), trials


def rounds(n_rows: int) -> list[int]:
    """Rows of each round; the last one has all of them, or as many as may be."""
    most = min(n_rows, MOST_ROWS)
    sizes = [most]
    while sizes[0] > GROWTH * FIRST_ROWS // 2 and len(sizes) < 3:
        sizes.insert(0, max(sizes[0] // GROWTH, FIRST_ROWS))
    return sizes


def n_trials(n_rows: int, kernel: Kernel) -> int:
    """How many fits a search will make."""
    n_settings, total = len(C_VALUES) * (len(WIDTHS) if kernel.is_open else 1), 0
    for _ in rounds(n_rows):
        total += n_settings
        n_settings = max(n_settings // KEPT, 1)
    return total


def _tried(
    problem: Problem, plan: SolverPlan, entries: list[tuple[float, Kernel]], step: Callable[[], None]
) -> list[SearchTrial]:
    """Scalar products are made once and serve all kernels, values of C and folds."""
    known = replace(problem, products=inner_products(problem.X, problem.X))
    folds = list(stratified_folds(problem.y, problem.n_classes, FOLDS, plan.seed))
    tried = []
    for C, kernel in entries:
        own, wrong, judged = replace(plan, C=C, kernel=kernel, method="exact"), 0.0, 0.0
        for train, test in folds:
            machine, _ = solve(known.take(train), own)
            values = machine.decision_values(problem.X[test], plan.n_jobs)
            chosen = one_vs_one_votes(values, problem.n_classes).argmax(axis=1)
            cost = np.ones(len(test)) if problem.cost is None else problem.cost[test]
            wrong += float(cost @ (chosen != problem.y[test]))
            judged += float(cost.sum())
        tried.append(SearchTrial(len(problem), C, kernel, wrong / judged if judged > 0.0 else 0.0))
        step()
    return tried


def _sample(problem: Problem, size: int, seed: int) -> Problem:
    """Some rows of each class, at least two of those that have two."""
    if size >= len(problem):
        return problem
    rng, chosen = np.random.default_rng(seed), []
    for label in range(problem.n_classes):
        own = np.flatnonzero(problem.y == label)
        n = min(max(round(size * len(own) / len(problem)), 2), len(own))
        chosen.append(rng.choice(own, n, replace=False))
    return problem.take(np.sort(np.concatenate(chosen)))
