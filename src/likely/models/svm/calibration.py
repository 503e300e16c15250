"""Probabilities from distances: a sigmoid for each pair of classes, found on rows that were held out, then coupled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from threading import Lock

import numpy as np

from likely.arrays import Array, Flags, Index, Int32
from likely.models.svm.machine import class_pairs, n_pairs
from likely.models.svm.solver import Problem, SolverPlan, choose_method, solve
from likely.numerics import ARMIJO, newton

MANY_ROWS = 10_000
"""With more rows than this one held-out fold is enough: a sigmoid has two parameters."""

MANY_CELLS = 1 << 26
"""The same for rows × pairs of classes (512 MiB)."""


@dataclass(frozen=True, eq=False)
class PlattScaling:
    """Slope and shift of every pair."""

    n_classes: int
    slopes: Array
    shifts: Array

    def posterior(self, pairs: Array) -> Array:
        """P(class | row) from the values of all pairs."""
        from scipy.special import expit

        return pairwise_coupling(expit(self.slopes * pairs + self.shifts), self.n_classes)


def calibrate(problem: Problem, plan: SolverPlan, n_folds: int) -> PlattScaling:
    """Judge every row by a machine that has not seen it, and find the probabilities that fit best.

    A row counts as it costs, so that weights of classes move probabilities as they move the machine. The machines of
    the parts are found in the way of the whole one: another way has other values.
    """
    n_classes, n = problem.n_classes, len(problem)
    parts = stratified_folds(problem.y, n_classes, n_folds, plan.seed) if n_classes > 1 else iter(())
    if n > MANY_ROWS or n * n_pairs(n_classes) > MANY_CELLS:
        parts = islice(parts, 1)
    method = choose_method(problem, plan)
    judged, values = [np.zeros(0, dtype=np.intp)], [np.zeros((0, n_pairs(n_classes)))]
    for train, test in parts:
        machine, _ = solve(problem.take(train), plan, method)
        values.append(machine.decision_values(problem.X[test], plan.n_jobs))
        judged.append(test)
    rows = np.concatenate(judged)
    weights = np.ones(n) if problem.cost is None else problem.cost
    return fit_calibration(np.concatenate(values), problem.y[rows], weights[rows], n_classes, bool(np.isinf(plan.C)))


def stratified_folds(y: Int32, n_classes: int, n_folds: int, seed: int) -> Iterator[tuple[Index, Index]]:
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


def fit_calibration(pairs: Array, y: Int32, weight: Array, n_classes: int, through_zero: bool = False) -> PlattScaling:
    """One sigmoid for the rows of each two classes; a margin without slack keeps its sides."""
    lines = np.zeros((n_pairs(n_classes), 2))
    for place, (earlier, later) in enumerate(zip(*class_pairs(n_classes), strict=True)):
        own = np.flatnonzero((y == earlier) | (y == later))
        fit = fit_slope if through_zero else fit_sigmoid
        lines[place] = fit(pairs[own, place], y[own] == later, weight[own])
    return PlattScaling(n_classes, lines[:, 0].copy(), lines[:, 1].copy())


# From the probabilities of pairs to those of all classes (the second way of Wu, Lin and Weng, 2004).
#
# Of p = P(class | row) is asked that r_ji · p_i = r_ij · p_j for every pair, as nearly as all of them can be met, where
# r_ij is the share of class i among i and j: minimise Σ (r_ji p_i − r_ij p_j)² with Σ p = 1. That is one small linear
# system for each row.

LEAST = 1e-7
"""No pair is surer than this."""

BLOCK_CELLS = 1 << 20


def pairwise_coupling(for_later: Array, n_classes: int) -> Array:
    """P(class | row) from P(later class | row, one of the two) of every pair.

    >>> pairwise_coupling(np.array([[0.2]]), 2).tolist()
    [[0.8, 0.2]]
    >>> pairwise_coupling(np.array([[0.5, 0.8, 0.8]]), 3).round(4).tolist()
    [[0.1667, 0.1667, 0.6667]]
    """
    shares = np.clip(for_later, LEAST, 1.0 - LEAST)
    if n_classes == 1:
        return np.ones((len(for_later), 1))
    if n_classes == 2:
        return np.column_stack([1.0 - shares[:, 0], shares[:, 0]])
    out = np.empty((len(shares), n_classes))
    size = max(BLOCK_CELLS // (n_classes + 1) ** 2, 1)
    for start in range(0, len(shares), size):
        out[start : start + size] = _solve_coupling(shares[start : start + size], n_classes)
    return out


def _solve_coupling(shares: Array, n_classes: int) -> Array:
    earlier, later = class_pairs(n_classes)
    r = np.zeros((len(shares), n_classes, n_classes))
    r[:, later, earlier], r[:, earlier, later] = shares, 1.0 - shares
    system = np.zeros((len(shares), n_classes + 1, n_classes + 1))
    inner = system[:, :n_classes, :n_classes]
    inner[:] = -r * r.transpose(0, 2, 1)
    own = np.arange(n_classes)
    inner[:, own, own] = np.square(r).sum(axis=1)
    system[:, n_classes, :n_classes] = system[:, :n_classes, n_classes] = 1.0
    wanted = np.zeros((len(shares), n_classes + 1, 1))
    wanted[:, n_classes] = 1.0
    found = np.linalg.solve(system, wanted)[:, :n_classes, 0]
    found = np.maximum(found, LEAST * LEAST)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


# A probability for the value of one pair of classes: Platt's sigmoid, by Newton's method.
#
# minimise  −Σ weight · (t log p + (1 − t) log(1 − p)),   p = 1 / (1 + exp(−slope · f − shift))
#
# The truth t of a row counts a little less than one, by Laplace's rule, so that no probability becomes 0 or 1.

MOST_STEPS, SMALLEST_STEP = 100, 1e-10
RIDGE = 1e-10
DONE = 1e-9

FEW_ROWS = 10
"""With fewer rows of a class than this, held-out values that point the wrong way are chance: of four rows, three are
learned, and their border lies on the side of the fourth."""


def fit_sigmoid(values: Array, is_later: Flags, weight: Array) -> tuple[float, float]:
    """Slope (never below zero) and shift; values are taken for log-odds as they are where rows cannot tell.

    That is without rows of both classes, and where there are few of one and they point the wrong way.
    """
    later, earlier = float(weight @ is_later), float(weight @ ~is_later)
    if not (later > 0.0 and earlier > 0.0):
        return 1.0, 0.0
    unit = float(np.sqrt(np.average(np.square(values), weights=weight))) or 1.0
    f = values / unit
    truth = np.where(is_later, (later + 1.0) / (later + 2.0), 1.0 / (earlier + 2.0))
    start = np.array([0.0, np.log((later + 1.0) / (earlier + 1.0))])
    slope, shift = _fit_line(f, truth, weight, start)
    if slope > 0.0:
        return slope / unit, shift
    n_later = int(np.count_nonzero(is_later))
    return (1.0, 0.0) if min(n_later, len(is_later) - n_later) < FEW_ROWS else (0.0, float(start[1]))


def fit_slope(values: Array, is_later: Flags, weight: Array) -> tuple[float, float]:
    """A slope without a shift: even odds at zero, because every row has its mirror image."""
    both = np.concatenate([values, -values]), np.concatenate([is_later, ~is_later]), np.concatenate([weight, weight])
    slope, _ = fit_sigmoid(*both)
    return (slope if slope > 0.0 else 1.0), 0.0


def _fit_line(f: Array, truth: Array, weight: Array, start: Array) -> tuple[float, float]:
    from scipy.special import expit, log_expit

    def objective(line: Array) -> tuple[float, Array, Array]:
        logits = line[0] * f + line[1]
        loss = -float(weight @ (truth * log_expit(logits) + (1.0 - truth) * log_expit(-logits)))
        p = expit(logits)
        residual, curvature = weight * (p - truth), weight * p * (1.0 - p)
        hessian = np.array([[curvature @ (f * f), curvature @ f], [curvature @ f, curvature.sum()]]) + RIDGE * np.eye(2)
        return loss, np.array([residual @ f, residual.sum()]), hessian

    most = DONE * float(weight.sum())
    slope, shift = newton(
        objective, start, max_steps=MOST_STEPS, shortest=SMALLEST_STEP, max_gradient=most, armijo=ARMIJO
    )
    return float(slope), float(shift)


# Probabilities are computed when they are first asked for: they take several more fits.


class LazyCalibration:
    """A calibration, or the task that computes it; the task and its rows are released afterwards."""

    def __init__(self, known: PlattScaling | None = None, task: Callable[[], PlattScaling] | None = None) -> None:
        self._known, self._task, self._lock = known, task, Lock()

    def get(self) -> PlattScaling:
        """The calibration; of several threads that ask at once, one works."""
        with self._lock:
            if self._known is None:
                assert self._task is not None
                self._known, self._task = self._task(), None
            return self._known

    def __getstate__(self) -> dict[str, object]:
        return {"_known": self._known, "_task": self._task}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()
