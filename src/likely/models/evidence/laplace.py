"""How sure a model is: Laplace's approximation of the posterior of its scores, for predictive intervals.

The log odds of each class against the rest are a Gaussian process over the codes of rows, with the covariance K that
the priors of tables imply (`PriorCovariance`). At the fitted model a row adds w = weight · p (1 − p) to the negative
Hessian W of the log likelihood, so the posterior variance of a score is

    k** − k*ᵀ W^½ (I + W^½ K W^½)⁻¹ W^½ k*

(Rasmussen and Williams 2006, section 3.4). Up to 500 training rows are kept for that, drawn at random and weighted to
stand for all: a low-rank approximation, exact where there were no more. The prior variance is not the one that predicts
best, which is cautious, but the largest that these rows support by their approximate marginal likelihood; and below 500
rows variances are widened, up to double at 50, for that estimate is rough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from likely.arrays import Array, Int32, UInt8
from likely.errors import DataError
from likely.models.evidence.encoding import Encoding, Resolution, Terms
from likely.models.evidence.fitter import EncodedData
from likely.models.evidence.predictor import AdditiveModel, Hyperparameters, LaplaceRows
from likely.models.evidence.row_source import RowSource, log_prior, text_offset
from likely.models.evidence.search import VARIANCE_GRID
from likely.numerics import log_normalise, step_lengths

MAX_LAPLACE_ROWS = 500
FEW_ROWS = 50.0
"""With so few rows variances are about doubled: how much the tables may say is itself hardly known."""

BLOCK_ROWS = 256
"""Rows whose variances are computed at once."""

MAX_LOG_RATIO = 1.92
"""A variance is supported if its log marginal likelihood is so close to the best: half of the 95 % quantile of χ²₁."""

MAX_CLASSES = 8
"""Classes whose marginal likelihood counts, the most common ones: with fewer, less is ruled out."""

MAX_NEWTON_STEPS = 30
MIN_GAIN = 1e-3
MIN_HESSIAN = 1e-10
RIDGES = (0.0, 1e-15, 1e-13, 1e-11, 1e-9)


class PriorCovariance:
    """Prior covariances of scores of rows, for a variance of main effects of 1.

    Main effects add up. So do all pairs of columns, chosen or not: together they have about the variance of the main
    effects, for a pair that was not found in few rows may still be there. Chosen pairs and triples come on top, with
    the ratio of their variance to that of main effects.
    """

    def __init__(self, encoding: Encoding, hyperparameters: Hyperparameters) -> None:
        self.encoding = encoding
        self.fine, self.coarse, self.tiny = encoding.prior_covariances
        self.pair_scale = 2.0 / max(len(encoding.columns) - 1, 1)
        variances = hyperparameters.variances[1]
        has_terms = hyperparameters.stacking_weights[2] > 0.0 and variances[0] > 0.0
        self.terms = hyperparameters.terms if has_terms else Terms.none()
        self.term_scales = variances[1:] / variances[0] if has_terms else np.zeros(2)

    def between(self, a: UInt8, b: UInt8) -> Array:
        """Covariances of rows × other rows, given their codes."""
        return self._sum([a, b], lambda table, x, y: table[np.ix_(x, y)])

    def diagonal(self, codes: UInt8) -> Array:
        """Variance of each row."""
        return self._sum([codes], lambda table, x: table.diagonal()[x])

    def _sum(self, rows: list[UInt8], entries: Callable[..., Array]) -> Array:
        """Main effects, all pairs and the chosen terms; `entries` looks codes of the rows up in the table of a column.

        Σ_j K_j + scale · Σ_(j<k) K_j K_k + …: the second sum is half of (Σ K)² − Σ K².
        """
        mains, total, squares = np.zeros((3, *map(len, rows)))
        coarse = [self.encoding.coarse.codes(codes) for codes in rows]
        for k, (of_main, of_pairs) in enumerate(zip(self.fine, self.coarse, strict=True)):
            mains += entries(of_main, *(codes[:, k] for codes in rows))
            found = entries(of_pairs, *(codes[:, k] for codes in coarse))
            total += found
            squares += found**2
        out = np.asarray(mains + self.pair_scale * 0.5 * (total**2 - squares))
        for terms, scale, resolution, tables in self._chosen_terms():
            recoded = [resolution.codes(codes) for codes in rows]
            used = {k: entries(tables[k], *(codes[:, k] for codes in recoded)) for k in np.unique(terms).tolist()}
            for term in terms.tolist():
                out += scale * np.prod([used[k] for k in term], axis=0)
        return out

    def _chosen_terms(self) -> list[tuple[Int32, float, Resolution, list[Array]]]:
        pairs = (self.terms.pairs, float(self.term_scales[0]), self.encoding.coarse, self.coarse)
        triples = (self.terms.triples, float(self.term_scales[1]), self.encoding.tiny, self.tiny)
        return [some for some in (pairs, triples) if len(some[0])]


class Mode(NamedTuple):
    """The posterior mode of scores, K α, and the approximate log marginal likelihood of the labels."""

    alpha: Array
    log_marginal_likelihood: float


def largest_supported_variance(prior_covariance: Array, rows: LaplaceRows, start: float) -> float:
    """The largest variance of the grid whose marginal likelihood is not much below the best; climbing from `start`.

    `prior_covariance` is rows × rows, for a variance of 1. Classes are judged each against the rest.
    """
    if not len(rows.y):
        return start
    n_scores = rows.prior_log_odds.shape[1]
    classes = [0]
    if n_scores > 1:
        class_weights = np.bincount(rows.y, weights=rows.weight, minlength=n_scores)
        classes = np.argsort(-class_weights, kind="stable")[:MAX_CLASSES].tolist()
    labels = [(rows.y == (1 if n_scores == 1 else c)).astype(np.float64) for c in classes]
    redundancy = 1.0 if n_scores == 1 else (n_scores - 1.0) / n_scores  # n classes have n − 1 independent scores
    alphas = [np.zeros(len(rows.y)) for _ in classes]
    found: dict[int, float] = {}

    def log_likelihood(k: int) -> float:
        if k not in found:
            total, covariance = 0.0, VARIANCE_GRID[k] * prior_covariance
            for place, (c, label) in enumerate(zip(classes, labels, strict=True)):
                mode = laplace_mode(covariance, label, rows.prior_log_odds[:, c], rows.weight, alphas[place])
                alphas[place], total = mode.alpha, total + mode.log_marginal_likelihood
            found[k] = redundancy * total
        return found[k]

    best = int(np.argmin(np.abs(np.log(np.array(VARIANCE_GRID) / max(start, VARIANCE_GRID[0])))))
    for step in (1, -1):
        while 0 <= best + step < len(VARIANCE_GRID) and log_likelihood(best + step) > log_likelihood(best):
            best += step
    k = best
    while k + 1 < len(VARIANCE_GRID) and log_likelihood(k + 1) >= log_likelihood(best) - MAX_LOG_RATIO:
        k += 1
    return VARIANCE_GRID[k]


def cholesky_factor(matrix: Array) -> Array:
    """Lower Cholesky factor of I + W^½ K W^½; where rounding has made that indefinite (huge weights), of a little more.

    Its diagonal is then larger by the smallest share of some that is enough.
    """
    for ridge in RIDGES:
        try:
            ridged = matrix + np.diag(ridge * matrix.diagonal()) if ridge else matrix
            return np.asarray(scipy.linalg.cholesky(ridged, lower=True, check_finite=False))
        except np.linalg.LinAlgError:
            continue
    raise DataError("The rows that were kept weigh so much, or so differently, that no interval can be worked out.")


def laplace_mode(covariance: Array, label: Array, offset: Array, weight: Array, start: Array) -> Mode:
    """Binary Gaussian process classification with labels 0 or 1 and log odds offset + K α, by Newton's method.

    The step is that of Rasmussen and Williams (algorithm 3.1), which inverts only I + W^½ K W^½, with backtracking.
    """
    identity = np.eye(len(label))

    def log_posterior(alpha: Array, scores: Array) -> float:
        odds = offset + scores
        return float(-0.5 * alpha @ scores - weight @ np.logaddexp(0.0, np.where(label > 0.0, -odds, odds)))

    def factorise(scores: Array) -> tuple[Array, Array, Array]:
        p = scipy.special.expit(offset + scores)
        root = np.sqrt(np.maximum(weight * p * (1.0 - p), MIN_HESSIAN))
        return p, root, cholesky_factor(identity + root[:, None] * covariance * root)

    alpha, scores = start, covariance @ start
    value = log_posterior(alpha, scores)
    if value < log_posterior(np.zeros_like(alpha), np.zeros_like(scores)):
        alpha, scores = np.zeros_like(alpha), np.zeros_like(scores)
        value = log_posterior(alpha, scores)
    p, root, factor = factorise(scores)
    for _ in range(MAX_NEWTON_STEPS):
        b = root**2 * scores + weight * (label - p)
        target = b - root * scipy.linalg.cho_solve((factor, True), root * (covariance @ b), check_finite=False)
        step = target - alpha
        score_step = covariance @ step
        for length in step_lengths(1e-3):
            new_value = log_posterior(alpha + length * step, scores + length * score_step)
            if new_value >= value:
                break
        else:
            break
        gain = new_value - value
        alpha, scores, value = alpha + length * step, scores + length * score_step, new_value
        p, root, factor = factorise(scores)
        if gain < MIN_GAIN:
            break
    return Mode(alpha, value - float(np.log(factor.diagonal()).sum()))


def laplace_rows(model: AdditiveModel, data: EncodedData[RowSource], seed: int = 0) -> LaplaceRows:
    """A random sample of the training rows, with the Hessian of the fitted model."""
    n_rows, n_scores = len(data.rows), data.rows.n_scores
    sample = np.arange(n_rows)
    if n_rows > MAX_LAPLACE_ROWS:
        sample = np.sort(np.random.default_rng(seed).choice(n_rows, MAX_LAPLACE_ROWS, replace=False))
    rows, class_weights = data.rows.take(sample), data.rows.class_weights()
    codes, weight = np.ascontiguousarray(rows.codes), rows.weight
    has_texts = len(model.text_weights) > 0
    text_scores = text_offset(rows.text_scores, model.text_weights) if has_texts else np.zeros((len(sample), n_scores))
    scores = model.intercept + text_scores
    model.add_scores(codes, slice(0, len(sample)), scores)
    p = _probabilities(scores)
    scaled_weight = weight * (float(class_weights.sum()) / float(weight.sum()))
    prior = _probabilities(log_prior(class_weights) + text_scores)
    hessian = scaled_weight[:, None] * p * (1.0 - p)
    log_odds = np.log(np.maximum(prior, 1e-300)) - np.log(np.maximum(1.0 - prior, 1e-16))
    hessian, log_odds = (np.ascontiguousarray(some[:, -n_scores:]) for some in (hessian, log_odds))
    return LaplaceRows(codes, hessian, rows.y.astype(np.int32), weight.astype(np.float64), log_odds)


class LaplaceApproximation:
    """Posterior variances of the log odds of each class against the rest; of two classes, the second."""

    def __init__(self, model: AdditiveModel) -> None:
        h, self.rows = model.hyperparameters, model.hyperparameters.laplace_rows
        self.prior_covariance = PriorCovariance(model.encoding, h)
        covariance = self.prior_covariance.between(self.rows.codes, self.rows.codes)
        start = float(h.variances[int(h.stacking_weights[2] > 0.0), 0])
        self.variance = largest_supported_variance(covariance, self.rows, start)
        self.roots = np.sqrt(self.rows.hessian)
        identity = np.eye(len(self.roots))
        matrices = (
            [identity + self.variance * root[:, None] * covariance * root for root in self.roots.T]
            if len(identity)
            else []
        )
        n_rows = min(max(len(identity), 1), MAX_LAPLACE_ROWS)
        self.widening = 1.0 + FEW_ROWS * (1.0 / n_rows - 1.0 / MAX_LAPLACE_ROWS) if len(identity) else 1.0
        self.factors = [cholesky_factor(matrix) for matrix in matrices]

    def variances(self, codes: UInt8) -> Array:
        """Rows × scores, given the codes of the rows; texts are taken for known."""
        out = np.empty((len(codes), self.rows.hessian.shape[1]))
        for first in range(0, len(codes), BLOCK_ROWS):
            block = codes[first : first + BLOCK_ROWS]
            prior = self.variance * self.prior_covariance.diagonal(block)
            across = self.variance * self.prior_covariance.between(self.rows.codes, block)
            for c in range(out.shape[1]):
                posterior = prior
                if self.factors:
                    explained = scipy.linalg.solve_triangular(
                        self.factors[c], self.roots[:, c, None] * across, lower=True, check_finite=False
                    )
                    posterior = prior - (explained**2).sum(axis=0)
                out[first : first + len(block), c] = self.widening * np.maximum(posterior, 0.0)
        return out


def _probabilities(scores: Array) -> Array:
    """Rows × classes of rows × scores."""
    if scores.shape[1] == 1:
        scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
    return log_normalise(scores)[0]
