"""Fitting the words of texts: logistic regression and naive Bayes, stacked on rows that were held out.

For each text column, over tf-idf vectors x of its words:

    minimise over U, b   Σ_i weight_i · log loss(y_i, log prior + b + √v · x_i U) + ½ |U|²

by L-BFGS. Five folds choose the variance v, by climbing along a grid with warm starts, and whether word pairs are heard
beside single words. Naive Bayes (of the complement) has the same words. Then the out-of-fold scores of both, of all
texts together, get weights a ≥ 0, and the classes an offset each, by Newton's method:

    minimise over a, c   mean log loss(y, log prior + c + Σ_k a_k · scores_k) + ridges

Both experts are sums over words, and so is what comes of them: a `TextExpert` for each column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from likely.arrays import Array, ColumnLike, Index, Int32
from likely.engines.memory import USUAL_TOKENIZER
from likely.families.complement import complement_weights
from likely.families.counts import DenseWeights
from likely.models.evidence.losses import residuals, row_losses
from likely.models.evidence.row_source import log_prior
from likely.models.evidence.text_scores import N_FOLDS, TextExpert, as_scores, tf_idf
from likely.models.feature_weights import default_feature_weight
from likely.numerics import lbfgs, log_normalise, newton
from likely.parallel import WorkerPool
from likely.stats import FeatureCounts
from likely.text.class_counts import count_rows
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words

VARIANCE_GRID = tuple(float(10.0 ** (k / 2)) for k in range(-2, 8))
START = 4
"""Half decades from 0.1 to 3,000, of which the search begins with 10."""

SEARCH_TOLERANCE, FINAL_TOLERANCE = 1e-3, 3e-4
MIN_RELATIVE_GAIN = 1e-3
"""Gain of the log loss, as a share of it, that makes a larger or smaller variance better."""

MIN_PAIR_GAIN, MIN_GAIN = 0.01, 1e-3
"""The same for word pairs, which must also gain a standard error, and this log loss."""

MIN_ROWS_FOR_PAIRS = 100

MAX_TOKENS = 10_000_000
"""Words of all texts from which coefficients are learned: of more texts a sample is taken."""

MAX_COEFFICIENTS = 1 << 21
"""Rare words are left out where there would be more."""

MAX_STACKED_ROWS = 20_000
WEIGHT_RIDGE, OFFSET_RIDGE = 0.01, 0.001
"""Ridges of stacking weights and of class offsets; of few rows, half a row's worth more."""


@dataclass(frozen=True, slots=True, eq=False)
class TextTrainingRows:
    """What is known of training rows beside their texts."""

    y: Int32
    weight: Array
    fold: Index
    n_classes: int
    pool: WorkerPool

    @property
    def n_scores(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    def class_weights(self, rows: Index | slice) -> Array:
        counted = np.bincount(self.y[rows], weights=self.weight[rows], minlength=self.n_classes)
        return counted.astype(np.float64)

    def log_losses(self, scores: Array, rows: Index | slice = slice(None)) -> Array:
        out, y = np.empty(len(scores)), self.y[rows]
        row_losses(log_prior(self.class_weights(slice(None))) + scores, y, out)
        return out


@dataclass(frozen=True, slots=True, eq=False)
class TextFit:
    """An expert for each text column; the same for each fold, without its rows; and how naive Bayes weighs alone.

    `nb_weights` has a weight for each text, `nb_offsets` an intercept beyond the log prior for each class.
    """

    experts: tuple[TextExpert, ...]
    without_fold: tuple[tuple[TextExpert, ...], ...]
    nb_weights: Array
    nb_offsets: Array

    @classmethod
    def none(cls, n_classes: int, n_texts: int = 0) -> TextFit:
        """Nothing was learned of texts."""
        return cls((), (), np.full(n_texts, default_feature_weight(n_texts)), np.zeros(n_classes))


def fit_texts(texts: Sequence[tuple[ColumnLike, Tokenizer]], rows: TextTrainingRows) -> TextFit:
    """Learn from the texts of some columns, each with its tokenizer."""
    searches = [_search_column(column, tokenizer, rows) for column, tokenizer in texts]
    linear, naive = [one.scores for one in searches], [one.nb_scores() for one in searches]
    n_texts = len(searches)
    wanted = np.repeat([default_feature_weight(n_texts), 0.0], n_texts)
    weights, offsets = stack_texts([*linear, *naive], rows, wanted)
    nb_weights, nb_offsets = stack_texts(naive, rows, np.zeros(n_texts))
    shared = as_scores(offsets[None])[0] / n_texts
    shares = list(zip(weights[:n_texts].tolist(), weights[n_texts:].tolist(), strict=True))
    finals = tuple(one.final_expert(*share, shared) for one, share in zip(searches, shares, strict=True))
    without_fold = tuple(
        tuple(one.fold_expert(k, *share, shared) for one, share in zip(searches, shares, strict=True))
        for k in range(N_FOLDS)
    )
    return TextFit(finals, without_fold, nb_weights, nb_offsets)


# One column.


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The words of texts: how often each text holds each of them, and tf-idf."""

    tokenizer: Tokenizer
    words: Words
    counts: scipy.sparse.csr_array
    rarity: Array
    values: scipy.sparse.csr_array

    @classmethod
    def read(cls, texts: ColumnLike, tokenizer: Tokenizer, min_texts: int, n_scores: int, n_jobs: int) -> Features:
        """Of the words that are in at least so many texts."""
        found = count_rows(texts, tokenizer, n_jobs=n_jobs)
        counts, words = found.to_csr(), found.words
        held = np.bincount(counts.indices, minlength=len(words))
        while np.count_nonzero(held >= min_texts) * n_scores > MAX_COEFFICIENTS:
            min_texts += 1
        kept = np.flatnonzero(held >= min_texts)
        if len(kept) < len(words):
            counts, words, held = scipy.sparse.csr_array(counts[:, kept]), words.take(kept), held[kept]
        rarity = np.log((1.0 + counts.shape[0]) / (1.0 + held)) + 1.0
        counts = counts.astype(np.float64)
        return cls(tokenizer, words, counts, rarity, tf_idf(counts, rarity))

    def typical(self) -> Array:
        """Mean tf-idf of each word in the texts that hold it."""
        n_words = len(self.words)
        total = np.bincount(self.values.indices, weights=self.values.data, minlength=n_words)
        return np.asarray(total / np.maximum(np.bincount(self.values.indices, minlength=n_words), 1))


class LogisticRegression:
    """The problem of some rows: coefficients of words (lines), the last line the intercept beyond the log prior."""

    def __init__(self, values: scipy.sparse.csr_array, y: Int32, weight: Array, class_weights: Array) -> None:
        self.values, self.transposed = values, scipy.sparse.csr_array(values.T.tocsr())
        self.y, self.weight = y, weight
        self.total, self.prior = float(class_weights.sum()), log_prior(class_weights)
        shares = class_weights / self.total
        variance = shares * (1.0 - shares)
        self.variance = variance[1:] if len(shares) == 2 else variance
        self.squares = np.asarray((values * values).T @ weight)

    def fit(self, variance: float, start: Array | None, tolerance: float) -> Array:
        """Coefficients, from others (None: 0) until a step gains less than the tolerance per weight."""
        scale, n_words = np.sqrt(variance), self.values.shape[1]
        if start is None:
            start = np.zeros((n_words + 1, len(self.prior)))
        hessian = np.append(1.0 + variance * np.outer(self.squares, self.variance), self.total * self.variance[None], 0)

        def objective(u: Array) -> tuple[float, Array]:
            scores = self.values @ (scale * u[:-1]) + (self.prior + u[-1])
            loss = residuals(scores, self.y, self.weight)
            gradient = np.append(scale * (self.transposed @ scores) + u[:-1], scores.sum(axis=0)[None], 0)
            return loss + 0.5 * float(np.vdot(u[:-1], u[:-1])), gradient

        scales = np.append(np.full(n_words, scale), 1.0)[:, None]
        found, _ = lbfgs(objective, start / scales, 1.0 / np.maximum(hessian, 1e-12), tolerance * self.total)
        return np.asarray(found * scales)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSearch:
    """What cross-validation has found for one column: out-of-fold scores at the best variance, and coefficients."""

    rows: TextTrainingRows
    features: Features
    variance: float
    by_fold: Sequence[Array]
    scores: Array

    def log_loss(self) -> float:
        return float(np.average(self.rows.log_losses(self.scores), weights=self.rows.weight))

    def stacked_losses(self) -> Array:
        """Log loss of each row, out of fold, with naive Bayes beside it."""
        experts = [self.scores, self.nb_scores()]
        weights, offsets = stack_texts(experts, self.rows, np.array([1.0, 0.0]))
        return self.rows.log_losses(as_scores(offsets[None]) + np.tensordot(weights, np.stack(experts), axes=1))

    def nb_scores(self) -> Array:
        """Out-of-fold scores of naive Bayes."""
        out, fold = np.zeros_like(self.scores), self.rows.fold
        for k in range(N_FOLDS):
            out[fold == k] = self.features.counts[fold == k] @ self._nb_lines(fold != k)
        return out

    def _nb_lines(self, used: Index | slice) -> Array:
        """Words × scores of naive Bayes; a word that no row has says nothing."""
        rows, counts = self.rows, self.features.counts[used]
        own = np.arange(len(rows.y[used]))
        classes = scipy.sparse.csr_array((rows.weight[used], (rows.y[used], own)), shape=(rows.n_classes, len(own)))
        by_class = (classes @ counts).toarray()
        weights = complement_weights(FeatureCounts(by_class), np.ones(by_class.shape[1]))
        if not isinstance(weights, DenseWeights):
            raise TypeError("dense counts have dense weights")
        return np.asarray(as_scores(weights.lines) * (by_class.sum(axis=0) > 0.0)[:, None])

    def fold_expert(self, k: int, share: float, nb_share: float, offset: Array) -> TextExpert:
        """Of all rows but those of a fold."""
        return self._expert(self.by_fold[k], self._nb_lines(self.rows.fold != k), share, nb_share, offset)

    def final_expert(self, share: float, nb_share: float, offset: Array) -> TextExpert:
        """Of all rows."""
        rows, everything = self.rows, slice(None)
        problem = LogisticRegression(self.features.values, rows.y, rows.weight, rows.class_weights(everything))
        start = np.asarray(np.mean(self.by_fold, axis=0))
        fitted = problem.fit(self.variance, start, FINAL_TOLERANCE)
        return self._expert(fitted, self._nb_lines(everything), share, nb_share, offset)

    def _expert(self, fitted: Array, nb_lines: Array, share: float, nb_share: float, offset: Array) -> TextExpert:
        features = self.features
        if fitted.shape[1] > 1:  # only differences between classes count
            fitted = as_scores(fitted)
        lines, intercept = (share * fitted[:-1], nb_share * nb_lines), offset + share * fitted[-1]
        return TextExpert(
            features.tokenizer, features.words, features.rarity, features.typical(), *lines, np.asarray(intercept)
        )


def _search_column(texts: ColumnLike, tokenizer: Tokenizer, rows: TextTrainingRows) -> ColumnSearch:
    """Single words, or word pairs beside them if these are clearly better and nobody has said what words are."""
    features = Features.read(texts, tokenizer, 1, rows.n_scores, rows.pool.size)
    found = _climb(_FoldFits(features, rows), START)
    if tokenizer != USUAL_TOKENIZER or len(rows.y) < MIN_ROWS_FOR_PAIRS:
        return found
    pairs = replace(tokenizer, ngram_range=(1, 2))
    fits = _FoldFits(Features.read(texts, pairs, 2, rows.n_scores, rows.pool.size), rows)
    if not fits.promises_more(found):
        return found
    other = _climb(fits, VARIANCE_GRID.index(found.variance))
    return other if _is_better(found.stacked_losses(), other.stacked_losses(), rows.weight) else found


def _is_better(before: Array, after: Array, weight: Array) -> bool:
    """Whether log losses of the same rows are lower by a standard error, and by enough to matter."""
    shares = weight / weight.sum()
    gain = float(shares @ (before - after))
    error = float(np.sqrt(shares**2 @ (before - after - gain) ** 2))
    return gain > max(error, MIN_PAIR_GAIN * float(shares @ before), MIN_GAIN)


class _FoldFits:
    """Logistic regressions of all folds but one."""

    def __init__(self, features: Features, rows: TextTrainingRows) -> None:
        self.features, self.rows = features, rows
        self.problems: dict[int, LogisticRegression] = {}

    def fit(self, k: int, variance: float, start: Array | None) -> Array:
        """Coefficients without the rows of fold `k`."""
        rows, used = self.rows, self.rows.fold != k
        if not used.any():
            return np.zeros((len(self.features.words) + 1, rows.n_scores))
        if k not in self.problems:
            values = scipy.sparse.csr_array(self.features.values[used])
            self.problems[k] = LogisticRegression(values, rows.y[used], rows.weight[used], rows.class_weights(used))
        return self.problems[k].fit(variance, start, SEARCH_TOLERANCE)

    def held_out_scores(self, k: int, coefficients: Array) -> Array:
        return np.asarray(self.features.values[self.rows.fold == k] @ coefficients[:-1] + coefficients[-1])

    def search(self, variance: float, start: ColumnSearch | None) -> ColumnSearch:
        """All folds at one variance, from the coefficients of another."""
        rows, begin = self.rows, [None] * N_FOLDS if start is None else start.by_fold
        fitted = rows.pool.do(lambda k: self.fit(k, variance, begin[k]), range(N_FOLDS))
        scores = np.zeros((len(rows.y), rows.n_scores))
        for k in range(N_FOLDS):
            scores[rows.fold == k] = self.held_out_scores(k, fitted[k])
        return ColumnSearch(rows, self.features, variance, fitted, scores)

    def promises_more(self, other: ColumnSearch) -> bool:
        """Whether the first fold, at the variance of another search, is better by a standard error at least."""
        rows, own = self.rows, np.flatnonzero(self.rows.fold == 0)
        scores = self.held_out_scores(0, self.fit(0, other.variance, None))
        before, after = rows.log_losses(other.scores[own], own), rows.log_losses(scores, own)
        return bool(len(own)) and _is_better(before, after, rows.weight[own])


def _climb(fits: _FoldFits, start: int) -> ColumnSearch:
    """Along the grid of variances while that pays, first up, then down."""
    best, place = fits.search(VARIANCE_GRID[start], None), start
    for step in (1, -1):
        while 0 <= place + step < len(VARIANCE_GRID):
            tried = fits.search(VARIANCE_GRID[place + step], best)
            if tried.log_loss() >= (1.0 - MIN_RELATIVE_GAIN) * best.log_loss():
                break
            best, place = tried, place + step
        if place != start:
            break
    return best


# Stacking.


def stack_texts(scores: Sequence[Array], rows: TextTrainingRows, wanted: Array) -> tuple[Array, Array]:
    """Weights (≥ 0) of out-of-fold scores, shrunk towards those `wanted`, and offsets of the classes."""
    step = max(len(rows.y) // MAX_STACKED_ROWS, 1)
    y, weight = rows.y[::step], rows.weight[::step]
    prior = log_prior(rows.class_weights(slice(None)))
    offset, *stacked = (_by_class(one) for one in (np.tile(prior, (len(y), 1)), *(s[::step] for s in scores)))
    n_weights, n_classes, places = len(scores), offset.shape[1], np.arange(len(y))
    shares = weight / weight.sum()
    experts, start = np.stack(stacked), np.append(wanted, np.zeros(n_classes))
    ridge = np.repeat([WEIGHT_RIDGE, OFFSET_RIDGE], [n_weights, n_classes]) + 0.5 / len(y)

    def objective(x: Array) -> tuple[float, Array, Array]:
        p, log_p = log_normalise(offset + x[n_weights:] + np.tensordot(x[:n_weights], experts, axes=1))
        residual = p * shares[:, None]
        expected = np.einsum("knc,nc->kn", experts, p)
        centred = (experts - expected[:, :, None]) * residual
        hessian = np.empty((len(x), len(x)))
        hessian[:n_weights, :n_weights] = np.einsum("knc,lnc->kl", centred, experts)
        hessian[:n_weights, n_weights:] = centred.sum(axis=1)
        hessian[n_weights:, :n_weights] = hessian[:n_weights, n_weights:].T
        hessian[n_weights:, n_weights:] = np.diag(residual.sum(axis=0)) - residual.T @ p
        residual[places, y] -= shares
        gradient = np.append(np.einsum("knc,nc->k", experts, residual), residual.sum(axis=0))
        shift = x - start
        loss = float(shares @ -log_p[places, y]) + float(ridge @ shift**2)
        return loss, gradient + 2.0 * ridge * shift, hessian + 2.0 * np.diag(ridge)

    signed = np.arange(len(start)) >= n_weights
    found = newton(objective, start, max_steps=50, shortest=1e-6, min_gain=1e-8, nonnegative=~signed)
    return found[:n_weights], found[n_weights:]


def _by_class(scores: Array) -> Array:
    """Rows × classes: the first of two has the score 0."""
    return np.append(np.zeros_like(scores), scores, axis=1) if scores.shape[1] == 1 else scores
