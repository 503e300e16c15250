"""Probabilities from distances: a sigmoid for each pair of classes, found on rows that were held out, then coupled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from likely.svm.coupling import coupled
from likely.svm.pairs import n_pairs, pairs_of
from likely.svm.problem import Plan, Problem
from likely.svm.sigmoid import fit_sigmoid, fit_slope
from likely.svm.solving import solve, way_of

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Places = NDArray[np.intp]

MANY_ROWS = 10_000
"""Above so many rows one of the parts that could be held out is enough: a sigmoid has two numbers."""

MANY_CELLS = 1 << 26
"""The same for so many values of rows and pairs (512 MiB)."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Slope and shift of every pair."""

    n_classes: int
    slopes: Array
    shifts: Array

    def posterior(self, pairs: Array) -> Array:
        """P(class | row) from the values of all pairs."""
        return coupled(expit(self.slopes * pairs + self.shifts), self.n_classes)


def calibrate(problem: Problem, plan: Plan, n_folds: int) -> Calibration:
    """Judge every row by a machine that has not seen it, and find the probabilities that fit best.

    A row counts as it costs, so that weights of classes move probabilities as they move the machine. The machines of
    the parts are found in the way of the whole one: another way has other values.
    """
    n_classes, n = problem.n_classes, len(problem)
    parts = held_out(problem.y, n_classes, n_folds, plan.seed) if n_classes > 1 else iter(())
    if n > MANY_ROWS or n * n_pairs(n_classes) > MANY_CELLS:
        parts = islice(parts, 1)
    way = way_of(problem, plan)
    judged, values = [np.zeros(0, dtype=np.intp)], [np.zeros((0, n_pairs(n_classes)))]
    for train, test in parts:
        machine, _ = solve(problem.take(train), plan, way)
        values.append(machine.pairs(problem.X[test], plan.n_jobs))
        judged.append(test)
    rows = np.concatenate(judged)
    weights = np.ones(n) if problem.cost is None else problem.cost
    return fitted(np.concatenate(values), problem.y[rows], weights[rows], n_classes, bool(np.isinf(plan.C)))


def held_out(y: Codes, n_classes: int, n_folds: int, seed: int) -> Iterator[tuple[Places, Places]]:
    """Rows to learn and rows to judge; each class is dealt out, but one that has a single row is always learned."""
    fold, rng, start = np.full(len(y), -1), np.random.default_rng(seed), 0
    for label in range(n_classes):
        own = rng.permutation(np.flatnonzero(y == label))
        if len(own) > 1:
            fold[own] = (start + np.arange(len(own))) % n_folds
            start += len(own)
    for k in range(n_folds):
        test = np.flatnonzero(fold == k)
        if len(test):
            yield np.flatnonzero(fold != k), test


def fitted(pairs: Array, y: Codes, weight: Array, n_classes: int, by_sides: bool = False) -> Calibration:
    """One sigmoid for the rows of each two classes; a margin without slack keeps its sides."""
    lines = np.zeros((n_pairs(n_classes), 2))
    for place, (earlier, later) in enumerate(zip(*pairs_of(n_classes), strict=True)):
        own = np.flatnonzero((y == earlier) | (y == later))
        fit = fit_slope if by_sides else fit_sigmoid
        lines[place] = fit(pairs[own, place], y[own] == later, weight[own])
    return Calibration(n_classes, lines[:, 0].copy(), lines[:, 1].copy())
