"""Fitting experts to one set of encoded rows: weighted naive Bayes, main effects, main effects with interactions.

Coefficients: minimise over U
    Σ_i weight_i · log loss(y_i, intercept + offset_i + Σ_terms T[cell_i]) + ½ |U|²,  T = scale · A U Bᵀ

which is the posterior mode under t ~ N(0, scale² · M Mᵀ). The intercept is fixed at the log prior of the classes. A
pass over the rows yields the gradient by table cells only, so rows may be divided and the results added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from likely.arrays import Array, Index
from likely.models.evidence.design import Design
from likely.models.evidence.encoding import Encoding, Terms
from likely.models.evidence.row_source import RowsInMemory, RowSource, log_prior
from likely.models.evidence.text_fit import TextFit
from likely.models.evidence.weighted_nb import WeightedNaiveBayes, fit_feature_weights
from likely.numerics import dot, lbfgs

SEARCH_TOLERANCE = 1e-4
FINAL_TOLERANCE = 3e-5
"""Gain of log loss per unit of weight below which a fit ends, in inner cross-validation and on all rows."""

Source = TypeVar("Source", bound=RowSource, covariant=True)
"""Rows in memory, or on disk."""


@dataclass(frozen=True, slots=True, eq=False)
class EncodedData(Generic[Source]):
    """Rows and their encoding; the offset of rows is the sum of the out-of-fold scores of `texts`."""

    encoding: Encoding
    rows: Source
    texts: TextFit

    @property
    def n_texts(self) -> int:
        return len(self.texts.nb_weights)

    def take(self, rows: Index) -> EncodedData[RowsInMemory]:
        """Some of the rows."""
        return EncodedData(self.encoding, self.rows.take(rows), self.texts)

    def sample(self, most: int, seed: int) -> EncodedData[RowsInMemory]:
        """A stratified sample of the rows, or all of them."""
        return EncodedData(self.encoding, self.rows.sample(most, seed), self.texts)


@dataclass(frozen=True, slots=True, eq=False)
class Expert:
    """Fitted coefficients of main effects and of some interactions; `scales` has √variance of each term."""

    terms: Terms
    design: Design
    coefficients: Array
    scales: Array
    intercept: Array

    def tables(self) -> Array:
        """Cells × scores."""
        return self.design.tables(self.coefficients, self.scales)

    def scores(self, encoding: Encoding, rows: RowsInMemory) -> Array:
        """Scores of other rows."""
        rows = rows.recode(lambda codes: encoding.codes(codes, self.terms), len(self.design.layout))
        return rows.scores(self.design.starts, self.tables(), self.intercept)

    def importance(self, n_columns: int) -> Array:
        """Mean square of the entries of each main effect."""
        ends = [*self.design.starts[1 : n_columns + 1].tolist(), self.design.n_cells][:n_columns]
        squares = (self.tables() ** 2).sum(axis=1)
        starts = self.design.starts[:n_columns].tolist()
        return np.array([squares[a:b].sum() / max(b - a, 1) for a, b in zip(starts, ends, strict=True)])


class Fitter(Generic[Source]):
    """Fits experts to the same rows, and keeps what several fits share: distinct rows, the last design and recoding."""

    def __init__(self, data: EncodedData[Source], tolerance: float = SEARCH_TOLERANCE) -> None:
        self.data, self.tolerance, self.passes = data, tolerance, 0
        self.rows = data.rows.deduplicate()
        self._last: tuple[Terms, Design, RowSource, Array] | None = None

    def weighted_nb(self) -> WeightedNaiveBayes:
        """Weighted naive Bayes over coarse bins."""
        resolution, rows = self.data.encoding.coarse, self.data.rows
        starts, n_cells = resolution.starts()
        coarse = rows.recode(resolution.codes, len(starts)).without_offset()
        fitted = fit_feature_weights(coarse, starts, n_cells, self.tolerance)
        self.passes += fitted.passes
        return fitted

    def expert(self, terms: Terms, variances: Sequence[float], warm_start: Sequence[Expert]) -> Expert:
        """Main effects and some terms, under prior variances of main effects, pairs and triples.

        It starts at the mean of the tables of the experts in `warm_start`.
        """
        design, rows, curvature = self._design(terms)
        n_columns = len(self.data.encoding.columns)
        scales = np.sqrt(np.repeat(list(variances), [n_columns, len(terms.pairs), len(terms.triples)]))
        start = _mean_coefficients(warm_start, terms, design, scales, rows.n_scores)
        coefficients, intercept, passes = solve(rows, design, scales, start, self.tolerance, curvature)
        self.passes += passes
        return Expert(terms, design, coefficients, scales, intercept)

    def _design(self, terms: Terms) -> tuple[Design, RowSource, Array]:
        """The design of these terms, the rows in its codes, and the weight that speaks for each coefficient.

        They come from the last fit if that had the same terms.
        """
        if self._last is None or self._last[0] is not terms:
            encoding, design = self.data.encoding, self.data.encoding.design(terms, self.rows.pool)
            rows = self.rows.recode(lambda codes: encoding.codes(codes, terms), len(design.layout))
            self._last = terms, design, rows, _curvature(rows, design)
        return self._last[1:]


def _mean_coefficients(experts: Sequence[Expert], terms: Terms, design: Design, scales: Array, n_scores: int) -> Array:
    """Coefficients that give the mean of some experts' tables under other scales; 0 for a term that an expert lacks."""
    start = np.zeros((design.n_coefficients, n_scores))
    for expert in experts:
        if expert.terms is terms:
            sizes = design.layout[:, 2] * design.layout[:, 4]
            start += expert.coefficients * np.repeat(expert.scales / scales, sizes)[:, None]
            continue
        theirs = _term_places(expert.terms, expert.design)
        for term, k in _term_places(terms, design).items():
            if term in theirs:
                other = theirs[term]
                ratio = expert.scales[other] / scales[k]
                start[_coefficients_of(design, k)] += (
                    expert.coefficients[_coefficients_of(expert.design, other)] * ratio
                )
    return start / max(len(experts), 1)


def _term_places(terms: Terms, design: Design) -> dict[tuple[int, ...], int]:
    """The place of every term in a design, by its column numbers."""
    return {key: k for k, key in enumerate(terms.tuples(len(design.layout) - len(terms)))}


def _coefficients_of(design: Design, k: int) -> slice:
    start = int(design.layout[k, 5])
    return slice(start, start + int(design.layout[k, 2] * design.layout[k, 4]))


def _curvature(rows: RowSource, design: Design) -> Array:
    """The diagonal of Mᵀ N M with all scales at 1, N the weight of each cell."""
    weights = rows.cell_weights(design.starts, design.n_cells)
    return design.hessian_diagonal(weights, np.ones(len(design.layout)))


def solve(
    rows: RowSource, design: Design, scales: Array, start: Array, tolerance: float, curvature: Array | None = None
) -> tuple[Array, Array, int]:
    """Coefficients, intercept and passes over rows: from `start` until a step gains less than `tolerance` per weight.

    The preconditioner is 1 / (1 + p_c (1 − p_c) · diag(Mᵀ N M)), with N the weight of each cell and p the class shares.
    """
    class_weights = rows.class_weights()
    intercept, total = log_prior(class_weights), float(class_weights.sum())
    p = class_weights / total
    variance = (p * (1.0 - p))[1:] if rows.n_scores == 1 else p * (1.0 - p)
    starts, curvature = design.starts, _curvature(rows, design) if curvature is None else curvature
    sizes = design.layout[:, 2] * design.layout[:, 4]
    preconditioner = 1.0 / (1.0 + (np.repeat(scales**2, sizes) * curvature)[:, None] * variance)

    def objective(u: Array) -> tuple[float, Array]:
        loss, table_gradient, _ = rows.loss_and_gradient(starts, design.tables(u, scales), intercept)
        flat = u.ravel()
        return loss + 0.5 * dot(flat, flat), design.coefficient_gradient(table_gradient, scales) + u

    coefficients, passes = lbfgs(objective, start, preconditioner, tolerance * total)
    return coefficients, intercept, passes
