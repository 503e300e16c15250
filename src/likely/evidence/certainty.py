"""How sure a model is: Laplace's approximation, by some of the rows that it was fitted to.

The log-odds of each class against the rest are a Gaussian process over the codes of rows (`Believed`). At the fitted
model every row bends the loss by weight · p (1 − p). Up to 500 rows are kept for that, drawn by chance and weighed to
stand for all: a low-rank approximation, which is exact where no more rows were learned. The variance of tables is the
largest one that these rows do not refuse, which is more than the one that predicts best.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from likely.evidence.believed import Believed
from likely.evidence.columns import Small
from likely.evidence.experts import Prepared
from likely.evidence.model import Evidence
from likely.evidence.refusing import widest
from likely.evidence.rows import Passing
from likely.evidence.solver import log_prior
from likely.evidence.ways import Seen

Array = NDArray[np.float64]

MOST_KEPT = 500
BLOCK = 256
"""Rows that are judged at once."""


def seen_by(model: Evidence, data: Prepared[Passing], seed: int = 0) -> Seen:
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
        self.believed = Believed(evidence.frame, ways)
        known = self.believed.between(self.seen.codes, self.seen.codes)
        self.variance = widest(known, self.seen, float(ways.spreads[int(ways.shares[2] > 0.0), 0]))
        self.roots = np.sqrt(self.seen.bend)
        one = np.eye(len(self.roots))
        bent = [one + self.variance * root[:, None] * known * root for root in self.roots.T] if len(one) else []
        self.factors = [cholesky(matrix, lower=True, check_finite=False) for matrix in bent]

    def variances(self, codes: Small) -> Array:
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
