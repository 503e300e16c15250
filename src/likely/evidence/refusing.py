"""How much tables may say at most: the largest variance that rows do not speak against.

A variance that was chosen cautiously makes good predictions of few rows, but it must not say how sure they are. Each
class against the rest is a Gaussian process over the codes of some rows; how probable their labels are under a
variance follows from Laplace's approximation, and variances much less probable than the best one are refused.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky
from scipy.special import expit

from likely.evidence.trials import GRID
from likely.evidence.ways import Seen

Array = NDArray[np.float64]

REFUSED = 1.92
"""Nats below the best: half of the 95 % quantile of χ² with one degree of freedom."""

MOST_CLASSES = 8
"""Classes that are heard, the most common ones: fewer say less, so that less is refused."""

MOST_STEPS = 30
SETTLED = 1e-3
FLATTEST = 1e-10


class Peak(NamedTuple):
    """The most probable scores as covariance × `a`, and how probable the labels are."""

    a: Array
    log_evidence: float


def widest(believed: Array, seen: Seen, start: float) -> float:
    """The largest variance of the grid that is not refused. `believed` is rows × rows, for one unit of it."""
    if not len(seen.y):
        return start
    n_scores = seen.before.shape[1]
    heard = [0]
    if n_scores > 1:
        common = np.bincount(seen.y, weights=seen.weight, minlength=n_scores)
        heard = np.argsort(-common, kind="stable")[:MOST_CLASSES].tolist()
    truths = [(seen.y == (1 if n_scores == 1 else c)).astype(np.float64) for c in heard]
    twice = 1.0 if n_scores == 1 else (n_scores - 1.0) / n_scores  # what two classes say against the rest is one thing
    begin = [np.zeros(len(seen.y)) for _ in heard]
    found: dict[int, float] = {}

    def at(place: int) -> float:
        if place not in found:
            total = 0.0
            for k, (c, truth) in enumerate(zip(heard, truths, strict=True)):
                peak = laplace(GRID[place] * believed, truth, seen.before[:, c], seen.weight, begin[k])
                begin[k], total = peak.a, total + peak.log_evidence
            found[place] = twice * total
        return found[place]

    best = int(np.argmin(np.abs(np.log(np.array(GRID) / max(start, GRID[0])))))
    for step in (1, -1):
        while 0 <= best + step < len(GRID) and at(best + step) > at(best):
            best += step
    place = best
    while place + 1 < len(GRID) and at(place + 1) >= at(best) - REFUSED:
        place += 1
    return GRID[place]


def laplace(covariance: Array, truth: Array, before: Array, weight: Array, start: Array) -> Peak:
    """Scores with this covariance on top of log-odds `before`, given what was true (0 or 1): Newton's method."""
    one = np.eye(len(truth))

    def value(a: Array, scores: Array) -> float:
        odds = before + scores
        return float(-0.5 * a @ scores - weight @ np.logaddexp(0.0, np.where(truth > 0.0, -odds, odds)))

    def bent(scores: Array) -> tuple[Array, Array, Array]:
        p = expit(before + scores)
        root = np.sqrt(np.maximum(weight * p * (1.0 - p), FLATTEST))
        return p, root, cholesky(one + root[:, None] * covariance * root, lower=True, check_finite=False)

    a, scores = start, covariance @ start
    now = value(a, scores)
    if now < value(np.zeros_like(a), np.zeros_like(scores)):
        a, scores = np.zeros_like(a), np.zeros_like(scores)
        now = value(a, scores)
    p, root, factor = bent(scores)
    for _ in range(MOST_STEPS):
        wish = root**2 * scores + weight * (truth - p)
        aim = wish - root * cho_solve((factor, True), root * (covariance @ wish), check_finite=False)
        step = aim - a
        move, length, new = covariance @ step, 1.0, now
        while length > 1e-3:
            new = value(a + length * step, scores + length * move)
            if new >= now:
                break
            length *= 0.5
        else:
            break
        a, scores, gained, now = a + length * step, scores + length * move, new - now, new
        p, root, factor = bent(scores)
        if gained < SETTLED:
            break
    return Peak(a, now - float(np.log(factor.diagonal()).sum()))
