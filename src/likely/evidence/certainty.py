"""How sure the scores of a model are: Laplace's approximation, by some of the rows that it was fitted to.

A table is u times a basis with u standard normal beforehand, so scores are a Gaussian process over the codes of rows.
At the fitted model every row bends the loss by weight · p (1 − p). Up to 500 rows are kept for that, drawn by chance
and weighed to stand for all: a low-rank approximation, which is exact where no more rows were learned. Scores of
different classes are taken for independent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from likely.evidence.columns import Small
from likely.evidence.experts import Prepared
from likely.evidence.frame import Grain, Terms
from likely.evidence.model import Evidence
from likely.evidence.ways import Seen

Array = NDArray[np.float64]

MOST_KEPT = 500
BLOCK = 256
"""Rows that are judged at once."""


def seen_by(model: Evidence, data: Prepared, seed: int = 0) -> Seen:
    """Rows by chance, weighed so that they stand for all."""
    rows = data.rows
    n_rows, n_scores = len(rows), rows.n_scores
    chosen = np.arange(n_rows)
    if n_rows > MOST_KEPT:
        chosen = np.sort(np.random.default_rng(seed).choice(n_rows, MOST_KEPT, replace=False))
    codes, weight = np.ascontiguousarray(rows.codes[chosen]), rows.weight[chosen]
    scores = np.tile(model.base, (len(chosen), 1))
    model.add(codes, slice(0, len(chosen)), scores)
    for t, share in enumerate(model.texts):
        scores += share * data.texts[chosen, t * n_scores : (t + 1) * n_scores]
    if n_scores == 1:
        scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    mass = weight * (float(rows.weight.sum()) / float(weight.sum()))
    bend = mass[:, None] * p * (1.0 - p)
    return Seen(codes, np.ascontiguousarray(bend[:, -n_scores:]))


class Certainty:
    """Variances of scores under the richest expert of the mixture, whose shares are taken together."""

    def __init__(self, evidence: Evidence) -> None:
        ways, self.frame, self.seen = evidence.ways, evidence.frame, evidence.ways.seen
        richest = int(ways.shares[2] > 0.0)
        self.terms = ways.terms if richest else Terms.none()
        self.spreads, self.share = ways.spreads[richest], float(ways.shares.sum())
        self.fine, self.coarse, self.tiny = self.frame.covariances
        self.roots = np.sqrt(self.seen.bend)
        known, one = self._between(self.seen.codes, self.seen.codes), np.eye(len(self.roots))
        bent = [one + root[:, None] * known * root for root in self.roots.T] if len(self.roots) else []
        self.factors = [cholesky(matrix, lower=True, check_finite=False) for matrix in bent]

    def variances(self, codes: Small) -> Array:
        """Rows × scores, given the codes of the rows; texts are taken for known."""
        out = np.empty((len(codes), self.seen.bend.shape[1]))
        for first in range(0, len(codes), BLOCK):
            some = codes[first : first + BLOCK]
            own, across = self._alone(some), self._between(self.seen.codes, some)
            for c in range(out.shape[1]):
                left = own
                if self.factors:
                    told = solve_triangular(
                        self.factors[c], self.roots[:, c, None] * across, lower=True, check_finite=False
                    )
                    left = own - (told**2).sum(axis=0)
                out[first : first + len(some), c] = np.maximum(left, 0.0)
        return self.share**2 * out

    def _between(self, a: Small, b: Small) -> Array:
        """Covariance of the scores of some rows with those of others, before anything is learned."""
        out = np.zeros((len(a), len(b)))
        for place, covariance in enumerate(self.fine):
            out += self.spreads[0] * covariance[np.ix_(a[:, place], b[:, place])]
        for terms, spread, grain, of in self._together():
            x, y = grain.codes(a), grain.codes(b)
            used = {int(k): of[k][np.ix_(x[:, k], y[:, k])] for k in np.unique(terms)}
            for term in terms.tolist():
                out += spread * np.prod([used[k] for k in term], axis=0)
        return out

    def _alone(self, codes: Small) -> Array:
        """Variance of the score of each row, before anything is learned."""
        out = np.zeros(len(codes))
        for place, covariance in enumerate(self.fine):
            out += self.spreads[0] * covariance.diagonal()[codes[:, place]]
        for terms, spread, grain, of in self._together():
            x = grain.codes(codes)
            for term in terms.tolist():
                out += spread * np.prod([of[k].diagonal()[x[:, k]] for k in term], axis=0)
        return out

    def _together(self) -> list[tuple[NDArray[np.int32], float, Grain, list[Array]]]:
        pairs = (self.terms.pairs, float(self.spreads[1]), self.frame.coarse, self.coarse)
        triples = (self.terms.triples, float(self.spreads[2]), self.frame.tiny, self.tiny)
        return [some for some in (pairs, triples) if len(some[0])]
