"""What is believed of the scores of rows before anything is learned: how they vary together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.special import expit

from likely.arrays import Array, UInt8
from likely.models.evidence.encoding import Encoding, Resolution, Terms
from likely.models.evidence.fitter import EncodedData
from likely.models.evidence.hyperparameters import Hyperparameters, Seen
from likely.models.evidence.predictor import Evidence
from likely.models.evidence.row_source import RowSource
from likely.models.evidence.search import GRID
from likely.models.evidence.solver import log_prior


class PriorCovariance:
    """Covariances of scores, for one unit of the variance of columns.

    Columns add up. So do all pairs of columns, whether they were chosen or not: together these may say as much as the
    columns do, for a pair that was not found in few rows may still be there. Pairs and triples that were chosen come on
    top, with the variance that was chosen for them beside that of columns.
    """

    def __init__(self, frame: Encoding, ways: Hyperparameters) -> None:
        self.frame = frame
        self.fine, self.coarse, self.tiny = frame.covariances
        self.by_pair = 2.0 / max(len(frame.columns) - 1, 1)
        chosen = ways.shares[2] > 0.0 and ways.spreads[1, 0] > 0.0
        self.terms = ways.terms if chosen else Terms.none()
        self.beside = ways.spreads[1, 1:] / ways.spreads[1, 0] if chosen else np.zeros(2)

    def between(self, a: UInt8, b: UInt8) -> Array:
        """Rows × other rows."""
        fine = [table[np.ix_(a[:, k], b[:, k])] for k, table in enumerate(self.fine)]
        x, y = self.frame.coarse.codes(a), self.frame.coarse.codes(b)
        coarse = [table[np.ix_(x[:, k], y[:, k])] for k, table in enumerate(self.coarse)]
        out = self._columns_and_pairs(fine, coarse, (len(a), len(b)))
        for terms, beside, grain, tables in self._chosen():
            x, y = grain.codes(a), grain.codes(b)
            used = {int(k): tables[k][np.ix_(x[:, k], y[:, k])] for k in np.unique(terms)}
            for term in terms.tolist():
                out += beside * np.prod([used[k] for k in term], axis=0)
        return out

    def alone(self, codes: UInt8) -> Array:
        """Variance of each row."""
        x = self.frame.coarse.codes(codes)
        fine = [table.diagonal()[codes[:, k]] for k, table in enumerate(self.fine)]
        coarse = [table.diagonal()[x[:, k]] for k, table in enumerate(self.coarse)]
        out = self._columns_and_pairs(fine, coarse, (len(codes),))
        for terms, beside, grain, tables in self._chosen():
            x = grain.codes(codes)
            for term in terms.tolist():
                out += beside * np.prod([tables[k].diagonal()[x[:, k]] for k in term], axis=0)
        return out

    def _columns_and_pairs(self, fine: list[Array], coarse: list[Array], shape: tuple[int, ...]) -> Array:
        """Σ columns + Σ products of two different ones, which are half of (Σ)² − Σ of squares."""
        own, total, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for alone, paired in zip(fine, coarse, strict=True):
            own += alone
            total += paired
            squares += paired**2
        return np.asarray(own + self.by_pair * 0.5 * (total**2 - squares))

    def _chosen(self) -> list[tuple[NDArray[np.int32], float, Resolution, list[Array]]]:
        pairs = (self.terms.pairs, float(self.beside[0]), self.frame.coarse, self.coarse)
        triples = (self.terms.triples, float(self.beside[1]), self.frame.tiny, self.tiny)
        return [some for some in (pairs, triples) if len(some[0])]


# How much tables may say at most: the largest variance that rows do not speak against.
#
# A variance that was chosen cautiously makes good predictions of few rows, but it must not say how sure they are.
# Each
# class against the rest is a Gaussian process over the codes of some rows; how probable their labels are under a
# variance follows from Laplace's approximation, and variances much less probable than the best one are refused.

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


def largest_supported_variance(believed: Array, seen: Seen, start: float) -> float:
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


# How sure a model is: Laplace's approximation, by some of the rows that it was fitted to.
#
# The log-odds of each class against the rest are a Gaussian process over the codes of rows (`Believed`). At the
# fitted
# model every row bends the loss by weight · p (1 − p). Up to 500 rows are kept for that, drawn by chance and weighed
# to
# stand for all: a low-rank approximation, which is exact where no more rows were learned. The variance of tables is
# the
# largest one that these rows do not refuse, which is more than the one that predicts best.

MOST_KEPT = 500
BLOCK = 256
"""Rows that are judged at once."""


def seen_by(model: Evidence, data: EncodedData[RowSource], seed: int = 0) -> Seen:
    """Rows by chance, weighed so that they stand for all."""
    n_rows, n_scores = len(data.rows), data.rows.n_scores
    chosen = np.arange(n_rows)
    if n_rows > MOST_KEPT:
        chosen = np.sort(np.random.default_rng(seed).choice(n_rows, MOST_KEPT, replace=False))
    rows, classes = data.rows.take(chosen), data.rows.class_weights()
    codes, weight = np.ascontiguousarray(rows.codes), rows.weight
    texts = np.zeros((len(chosen), n_scores))
    for t, share in enumerate(model.texts):
        texts += share * rows.texts[:, t * n_scores : (t + 1) * n_scores]
    scores = model.base + texts
    model.add(codes, slice(0, len(chosen)), scores)
    p = _shares(scores)
    mass = weight * (float(classes.sum()) / float(weight.sum()))
    before = _shares(log_prior(classes) + texts)
    bend = mass[:, None] * p * (1.0 - p)
    odds = np.log(np.maximum(before, 1e-300)) - np.log(np.maximum(1.0 - before, 1e-16))
    kept = [np.ascontiguousarray(some[:, -n_scores:]) for some in (bend, odds)]
    return Seen(codes, kept[0], rows.y.astype(np.int32), weight.astype(np.float64), kept[1])


class Certainty:
    """Variances of the log-odds of each class against the rest; of two classes, the second."""

    def __init__(self, evidence: Evidence) -> None:
        ways, self.seen = evidence.ways, evidence.ways.seen
        self.believed = PriorCovariance(evidence.frame, ways)
        known = self.believed.between(self.seen.codes, self.seen.codes)
        self.variance = largest_supported_variance(known, self.seen, float(ways.spreads[int(ways.shares[2] > 0.0), 0]))
        self.roots = np.sqrt(self.seen.bend)
        one = np.eye(len(self.roots))
        bent = [one + self.variance * root[:, None] * known * root for root in self.roots.T] if len(one) else []
        self.factors = [cholesky(matrix, lower=True, check_finite=False) for matrix in bent]

    def variances(self, codes: UInt8) -> Array:
        """Rows × scores, given the codes of the rows; texts are taken for known."""
        out = np.empty((len(codes), self.seen.bend.shape[1]))
        for first in range(0, len(codes), BLOCK):
            some = codes[first : first + BLOCK]
            own = self.variance * self.believed.alone(some)
            across = self.variance * self.believed.between(self.seen.codes, some)
            for c in range(out.shape[1]):
                left = own
                if self.factors:
                    told = solve_triangular(
                        self.factors[c], self.roots[:, c, None] * across, lower=True, check_finite=False
                    )
                    left = own - (told**2).sum(axis=0)
                out[first : first + len(some), c] = np.maximum(left, 0.0)
        return out


def _shares(scores: Array) -> Array:
    """Rows × classes."""
    if scores.shape[1] == 1:
        scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))
