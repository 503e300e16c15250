"""Fitting the quadratic discriminant: scatter matrices of the classes, pooled and shrunk as held-out rows advise.

The covariance of class c, from its scatter S_c and weight n_c, the scatter W of all classes about their own means and
the whole weight n:

    C_c = (1 − s) · Σ_c + s · mean variance of Σ_c · I,    Σ_c = (S_c + k · W/n) / (n_c + k)

so a class borrows k rows from all others (k → ∞: linear discriminant), and correlations shrink by s (Friedman 1989).
Scatter matrices add up: those of the rows outside a fold are those of all rows less those of the fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy

from likely.arrays import Array, Int32
from likely.models.evidence.discriminant import USUAL_SETTINGS, DiscriminantSettings, QuadraticDiscriminant
from likely.models.evidence.encoding import N_CODES, BinnedNumber, Encoding, standard_means
from likely.models.evidence.row_source import RowsInMemory, log_prior
from likely.models.evidence.stacking import stack
from likely.numerics import log_normalise
from likely.stats import Scatter

MAX_COLUMNS = 100
MAX_TUNING_ROWS = 4000
"""Held-out rows, of all folds together, by which settings are chosen."""

POOLING_GRID = (10.0, 100.0, 1000.0)
SHRINKAGE_GRID = (0.01, 0.1, 0.3, 0.6)


def discriminant_columns(encoding: Encoding) -> Int32:
    """The numbers that take part; none where there are not two, or too many."""
    numbers = [
        k for k, column in enumerate(encoding.columns) if isinstance(column, BinnedNumber) and len(column.means) > 1
    ]
    return np.array(numbers if 2 <= len(numbers) <= MAX_COLUMNS else [], dtype=np.int32)


def code_values(encoding: Encoding, columns: Int32, *, by_rank: bool) -> Array:
    """Columns × codes: the standard score of each bin, 0 for gaps and unknown codes."""
    out = np.zeros((len(columns), N_CODES))
    for line, k in enumerate(columns.tolist()):
        column = encoding.columns[k]
        assert isinstance(column, BinnedNumber)
        n = len(column.means)
        share = column.mass[:n] / column.mass[:n].sum()
        z = scipy.special.ndtri(np.clip(np.cumsum(share) - 0.5 * share, 1e-9, 1.0 - 1e-9)) if by_rank else column.means
        out[line, 1 : n + 1] = standard_means(z, share)
    return out


def fit_discriminant(
    encoding: Encoding, rows: RowsInMemory, columns: Int32, settings: DiscriminantSettings
) -> tuple[QuadraticDiscriminant, Array]:
    """The discriminant of these rows, and its intercept."""
    values = code_values(encoding, columns, by_rank=settings.by_rank)
    empty = replace(QuadraticDiscriminant.empty(rows.n_scores), columns=columns, values=values)
    z = empty.standard_scores(rows.codes)
    seen = Scatter.observe(z, rows.y, rows.weight, rows.n_classes)
    means, (eigenvalues, axes) = seen.moments.mean, eigensystems(class_covariances(seen, settings.pooling))
    shrunk = shrunken(eigenvalues, settings.shrinkage)
    precisions = (axes / shrunk[:, None, :]) @ axes.swapaxes(1, 2)
    linear = np.einsum("cij,cj->ci", precisions, means)
    constant = -0.5 * (np.einsum("ci,ci->c", linear, means) + np.log(shrunk).sum(axis=1))
    left, right = empty.pairs()
    products = np.where(left == right, -0.5, -1.0)[:, None] * precisions[:, left, right].T
    by_class = [scores_of(table) for table in (linear.T, products, constant[None])]
    found = replace(empty, linear=by_class[0], products=by_class[1], base=np.zeros_like(by_class[0]))
    base = _mean_contributions(found, z, rows.weight)
    return replace(found, base=base), log_prior(rows.class_weights()) + by_class[2][0]


def scores_of(by_class: Array) -> Array:
    """Any × classes → any × scores: of two classes the difference, else what a class has above the mean of all."""
    if by_class.shape[1] == 2:
        return np.ascontiguousarray(by_class[:, 1:] - by_class[:, :1])
    return np.ascontiguousarray(by_class - by_class.mean(axis=1, keepdims=True))


def _mean_contributions(found: QuadraticDiscriminant, z: Array, weight: Array) -> Array:
    """Columns × scores: what each column adds in the mean of some rows."""
    left, right = found.pairs()
    share = weight / max(float(weight.sum()), 1e-300)
    halves = 0.5 * ((z * share[:, None]).T @ z)[left, right][:, None] * found.products
    out = (share @ z)[:, None] * found.linear
    np.add.at(out, left, halves)
    np.add.at(out, right, halves)
    return np.asarray(out)


def class_covariances(seen: Scatter, pooling: float) -> Array:
    """Σ_c of each class."""
    n = seen.moments.n.max(axis=1, initial=0.0)
    root = seen.moments.root
    scatter = root[:, :, None] * seen.cross * root[:, None, :]
    within = scatter.sum(axis=0) / (float(n.sum()) or 1.0)
    return np.asarray((scatter + pooling * within) / (n + pooling)[:, None, None])


def eigensystems(covariances: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of each class; none is negative."""
    values, vectors = np.linalg.eigh(covariances)
    return np.maximum(values, 0.0), vectors


def shrunken(eigenvalues: Array, shrinkage: float) -> Array:
    """Eigenvalues (classes × columns) moved towards their mean."""
    mean = np.maximum(eigenvalues.mean(axis=1, keepdims=True), 1e-9)
    return np.asarray((1.0 - shrinkage) * eigenvalues + shrinkage * mean)


# Settings by held-out rows.


class DiscriminantSearch:
    """Inner folds of rows: the scatter of those outside each fold, and the fold itself."""

    def __init__(self, encoding: Encoding, columns: Int32, folds: Sequence[tuple[RowsInMemory, RowsInMemory]]) -> None:
        self.encoding, self.columns, self.folds = encoding, columns, folds
        share = min(1.0, MAX_TUNING_ROWS / max(sum(len(test) for _, test in folds), 1))
        self.tuning = [test.sample(max(round(share * len(test)), 1), 0) for _, test in folds]
        self.y = np.concatenate([test.y for test in self.tuning])
        self.weight = np.concatenate([test.weight for test in self.tuning])

    def run(self) -> DiscriminantSettings:
        """The settings of the lowest log loss: pooling and shrinkage for ranks first, then the other scale."""
        best, lowest = USUAL_SETTINGS, np.inf
        for by_rank in (True, False):
            tables = [
                self._seen(train, test, by_rank) for (train, _), test in zip(self.folds, self.tuning, strict=True)
            ]
            for pooling in POOLING_GRID if by_rank else (best.pooling,):
                for shrinkage, loss in zip(SHRINKAGE_GRID, self._losses(tables, pooling), strict=True):
                    if loss < lowest:
                        best, lowest = DiscriminantSettings(by_rank, pooling, shrinkage), loss
        return best

    def _seen(self, train: RowsInMemory, test: RowsInMemory, by_rank: bool) -> tuple[Scatter, Array, Array]:
        values = code_values(self.encoding, self.columns, by_rank=by_rank)
        empty = replace(QuadraticDiscriminant.empty(1), columns=self.columns, values=values)
        z = empty.standard_scores(train.codes)
        seen = Scatter.observe(z, train.y, train.weight, train.n_classes)
        return seen, empty.standard_scores(test.codes), log_prior(train.class_weights())

    def _losses(self, tables: list[tuple[Scatter, Array, Array]], pooling: float) -> list[float]:
        """Log loss of each shrinkage, at the weight that is best for it."""
        scores: list[list[Array]] = [[] for _ in SHRINKAGE_GRID]
        for seen, z, prior in tables:
            eigenvalues, axes = eigensystems(class_covariances(seen, pooling))
            squares = [((z - mean) @ vectors) ** 2 for mean, vectors in zip(seen.moments.mean, axes, strict=True)]
            for place, shrinkage in enumerate(SHRINKAGE_GRID):
                shrunk = shrunken(eigenvalues, shrinkage)
                logs = [
                    -0.5 * (of_class @ (1.0 / line) + np.log(line).sum())
                    for of_class, line in zip(squares, shrunk, strict=True)
                ]
                scores[place].append(prior + scores_of(np.stack(logs, axis=1)))
        return [self._loss(np.concatenate(found)) for found in scores]

    def _loss(self, scores: Array) -> float:
        weight = stack([scores], self.y, self.weight, 0)
        both = weight[0] * (np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores)
        _, log_p = log_normalise(both)
        return float(-self.weight @ log_p[np.arange(len(self.y)), self.y] / max(float(self.weight.sum()), 1e-300))
