"""Experts on one set of rows: W (weighted naive Bayes), and tables of columns, pairs and triples corrected jointly."""

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
from likely.models.evidence.weighted_nb import Weighted, weigh_columns

QUICK = 1e-4
FINAL = 3e-5


Kept = TypeVar("Kept", bound=RowSource, covariant=True)
"""Rows in memory, or on disk."""


@dataclass(frozen=True, slots=True, eq=False)
class EncodedData(Generic[Kept]):
    """Rows under a frame. `trust` is the share of each text in the scores that rows have beforehand."""

    frame: Encoding
    rows: Kept
    trust: Array

    def take(self, rows: NDArray[np.intp]) -> EncodedData[Rows]:
        """Some of the rows."""
        return EncodedData(self.frame, self.rows.take(rows), self.trust)

    def sampled(self, most: int, seed: int) -> EncodedData[Rows]:
        """A fair sample of the rows, or all of them."""
        return EncodedData(self.frame, self.rows.sampled(most, seed), self.trust)


@dataclass(frozen=True, slots=True, eq=False)
class Expert:
    """Coefficients of the tables of some terms, and what they are multiplied with."""

    terms: Terms
    design: Design
    u: Array
    scales: Array
    base: Array
    passes: int

    def tables(self) -> Array:
        """Cells × scores."""
        return self.design.tables(self.u, self.scales)

    def scores(self, frame: Encoding, rows: Rows) -> Array:
        """Scores of other rows."""
        rows = rows.viewed(lambda codes: frame.codes(codes, self.terms), len(self.design.shape))
        return rows.scores(self.design.starts, self.tables(), self.base)

    def importance(self, n_columns: int) -> Array:
        """How much each column says by its own table."""
        ends = [*self.design.starts[1 : n_columns + 1].tolist(), self.design.n_cells][:n_columns]
        squares = (self.tables() ** 2).sum(axis=1)
        starts = self.design.starts[:n_columns].tolist()
        return np.array([squares[a:b].sum() / max(b - a, 1) for a, b in zip(starts, ends, strict=True)])


class Fitter(Generic[Kept]):
    """Rows to learn from, with what several fits on them share."""

    def __init__(self, data: EncodedData[Kept], tolerance: float = QUICK) -> None:
        self.data, self.tolerance, self.passes = data, tolerance, 0
        self.rows = data.rows.merged()
        self._seen: tuple[Terms, Design, RowSource] | None = None

    def weighted(self) -> Weighted:
        """W."""
        frame, rows = self.data.frame, self.data.rows
        starts, n_cells = frame.coarse.starts()
        seen = rows.viewed(frame.coarse.codes, len(starts)).without_offset()
        found = weigh_columns(seen, starts, n_cells, self.tolerance)
        self.passes += found.passes
        return found

    def expert(self, terms: Terms, spreads: Sequence[float], warm: Sequence[Expert]) -> Expert:
        """Tables of all columns and of some terms; `spreads` are prior variances of columns, pairs and triples.

        Experts in `warm` say where to begin: with the mean of their tables.
        """
        design, rows = self._ready(terms)
        n_columns = len(self.data.frame.columns)
        scales = np.sqrt(np.repeat(list(spreads), [n_columns, len(terms.pairs), len(terms.triples)]))
        start = _carried(warm, terms, design, scales, rows.n_scores)
        fit = solve(rows, design, scales, start, self.tolerance)
        self.passes += fit.passes
        return Expert(terms, design, fit.u, scales, fit.base, fit.passes)

    def _ready(self, terms: Terms) -> tuple[Design, RowSource]:
        if self._seen is None or self._seen[0] is not terms:
            frame, design = self.data.frame, self.data.frame.design(terms)
            rows = self.rows.viewed(lambda codes: frame.codes(codes, terms), len(design.shape))
            self._seen = terms, design, rows
        return self._seen[1:]


def _carried(warm: Sequence[Expert], terms: Terms, design: Design, scales: Array, n_scores: int) -> Array:
    """Coefficients that give the mean of some experts' tables; 0 for a term that none of them has."""
    start = np.zeros((design.n_coefficients, n_scores))
    for expert in warm:
        if expert.terms is terms:
            sizes = design.shape[:, 2] * design.shape[:, 4]
            start += expert.u * np.repeat(expert.scales / scales, sizes)[:, None]
            continue
        places = _places(expert.terms, expert.design)
        for key, k in _places(terms, design).items():
            if key in places:
                start[_part(design, k)] += expert.u[_part(expert.design, places[key])] * (
                    expert.scales[places[key]] / scales[k]
                )
    return start / max(len(warm), 1)


def _places(terms: Terms, design: Design) -> dict[tuple[int, ...], int]:
    n_columns = len(design.shape) - len(terms)
    keys = [*((place,) for place in range(n_columns)), *terms.tuples()]
    return {key: k for k, key in enumerate(keys)}


def _part(design: Design, k: int) -> slice:
    at = int(design.shape[k, 5])
    return slice(at, at + int(design.shape[k, 2] * design.shape[k, 4]))


# How far to trust each expert: shares from zero up that make held-out rows most probable.

RIDGE = 0.01
MOST_STEPS = 50


def stack(scores: list[Array], y: NDArray[np.int32], weight: Array, towards: int) -> Array:
    """Minimise mean log loss of Σ share · scores + ridge · |share − 1 of the expert `towards`|², shares ≥ 0."""
    stacked = np.stack(scores)
    if stacked.shape[2] == 1:
        stacked = np.concatenate([np.zeros_like(stacked), stacked], axis=2)
    target = np.zeros(len(scores))
    target[towards] = 1.0
    mass = weight / max(float(weight.sum()), 1e-300)
    here = np.arange(len(y))

    def look(shares: Array) -> tuple[float, Array, Array]:
        joint = np.tensordot(shares, stacked, axes=1)
        joint -= joint.max(axis=1, keepdims=True)
        p = np.exp(joint)
        total = p.sum(axis=1)
        loss = float(mass @ (np.log(total) - joint[here, y]))
        p /= total[:, None]
        expected = np.einsum("knc,nc->kn", stacked, p)
        slope = (expected - stacked[:, here, y]) @ mass
        bend = np.einsum("knc,lnc,nc,n->kl", stacked, stacked, p, mass, optimize=True) - (expected * mass) @ expected.T
        gap = shares - target
        return loss + RIDGE * float(gap @ gap), slope + 2 * RIDGE * gap, bend + 2 * RIDGE * np.eye(len(shares))

    shares = target.copy()
    value, slope, bend = look(shares)
    for _ in range(MOST_STEPS):
        free = (shares > 0.0) | (slope < 0.0)
        step = np.zeros_like(shares)
        step[free] = -np.linalg.solve(bend[np.ix_(free, free)], slope[free])
        length = 1.0
        while length > 1e-6:
            tried = np.maximum(shares + length * step, 0.0)
            found = look(tried)
            if found[0] <= value:
                break
            length *= 0.5
        else:
            break
        gained = value - found[0]
        shares, (value, slope, bend) = tried, found
        if gained < 1e-7:
            break
    return shares
