"""Fitting experts to one set of encoded rows: weighted naive Bayes, main effects, main effects with interactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.models.evidence.design import Design
from likely.models.evidence.encoding import Encoding, Terms
from likely.models.evidence.row_source import Rows, RowSource
from likely.models.evidence.solver import solve
from likely.models.evidence.weighted_nb import WeightedNaiveBayes, fit_feature_weights

SEARCH_TOLERANCE = 1e-4
FINAL_TOLERANCE = 3e-5
"""Gain of log loss per unit of weight below which a fit ends, in inner cross-validation and on all rows."""

Source = TypeVar("Source", bound=RowSource, covariant=True)
"""Rows in memory, or on disk."""


@dataclass(frozen=True, slots=True, eq=False)
class EncodedData(Generic[Source]):
    """Rows and their encoding. `text_weights` are those with which texts enter the offset of rows."""

    encoding: Encoding
    rows: Source
    text_weights: Array

    def take(self, rows: NDArray[np.intp]) -> EncodedData[Rows]:
        """Some of the rows."""
        return EncodedData(self.encoding, self.rows.take(rows), self.text_weights)

    def sample(self, most: int, seed: int) -> EncodedData[Rows]:
        """A stratified sample of the rows, or all of them."""
        return EncodedData(self.encoding, self.rows.sample(most, seed), self.text_weights)


@dataclass(frozen=True, slots=True, eq=False)
class Expert:
    """Fitted coefficients of main effects and of some interactions; `scales` has √variance of each term."""

    terms: Terms
    design: Design
    coefficients: Array
    scales: Array
    intercept: Array
    passes: int

    def tables(self) -> Array:
        """Cells × scores."""
        return self.design.tables(self.coefficients, self.scales)

    def scores(self, encoding: Encoding, rows: Rows) -> Array:
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
        self._last: tuple[Terms, Design, RowSource] | None = None

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
        design, rows = self._design(terms)
        n_columns = len(self.data.encoding.columns)
        scales = np.sqrt(np.repeat(list(variances), [n_columns, len(terms.pairs), len(terms.triples)]))
        start = _mean_coefficients(warm_start, terms, design, scales, rows.n_scores)
        fit = solve(rows, design, scales, start, self.tolerance)
        self.passes += fit.passes
        return Expert(terms, design, fit.coefficients, scales, fit.intercept, fit.passes)

    def _design(self, terms: Terms) -> tuple[Design, RowSource]:
        """The design of these terms and the rows in its codes, from the last fit if that had the same terms."""
        if self._last is None or self._last[0] is not terms:
            encoding, design = self.data.encoding, self.data.encoding.design(terms)
            rows = self.rows.recode(lambda codes: encoding.codes(codes, terms), len(design.layout))
            self._last = terms, design, rows
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
    n_columns = len(design.layout) - len(terms)
    keys = [*((k,) for k in range(n_columns)), *terms.tuples()]
    return {key: k for k, key in enumerate(keys)}


def _coefficients_of(design: Design, k: int) -> slice:
    start = int(design.layout[k, 5])
    return slice(start, start + int(design.layout[k, 2] * design.layout[k, 4]))
