"""Bins that are cut where the classes differ: by a decision tree of the column alone, flattened.

The cuts are judged by `likely.measures`, as in every tree. The search is its own: a family is settled from the cells of
a histogram, all of one column and counted already, where a decision tree's search follows cases from level to level.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from likely.arrays import Array
from likely.families.bins import FIRST, GAP, BinnedDensity
from likely.families.outcomes import BlockScorer
from likely.families.protocol import Columns, LeftOut, Settings
from likely.measures import confident_errors, information_gains
from likely.stats import Histogram
from likely.stats.binning import Binning, cells_between, outer_edges
from likely.stats.histogram import floats_at

LEAST, LEVEL = 2.0, 0.8
"""Weight on either side of a cut, and the confidence level of pruning: as `TreeDiscretiser` has them."""

TIE, SLACK = 1e-10, 1e-6


class TreeBins(BinnedDensity):
    """Bins whose edges separate classes."""

    __slots__ = ()

    name: ClassVar[str] = "tree-bins"

    @classmethod
    def cut(cls, seen: Histogram, settings: Settings) -> Binning:
        return cut_by_class(seen)

    @classmethod
    def leave_one_out(cls, columns: Columns, seen: Histogram, rows: LeftOut, settings: Settings) -> BlockScorer:
        """Without a row the tree may be another: it is grown anew for every number, class and weight that occurs."""
        cells = rows.table.numbers(columns[0])
        codes = seen.codes(cells)
        kinds, places = np.unique(np.column_stack([codes, rows.y, rows.weight]), axis=0, return_inverse=True)
        whole = cls.settle(columns, seen, rows.classes, settings)
        lines = np.empty((len(kinds), len(rows.classes)))
        for place, (code, label, weight) in enumerate(kinds):
            left = rows.classes.copy()
            left[int(label)] = max(left[int(label)] - weight, 0.0)
            if code < 0:
                lines[place] = cls.settle(columns, seen, left, settings).table[GAP]
                continue
            belief = cls.settle(columns, _without(seen, int(code), int(label), float(weight)), left, settings)
            number = seen.lows()[int(code)]
            lines[place] = belief.table[FIRST + belief.places(np.array([number]))[0]]
        strange = (codes < 0) & ~np.isnan(cells)
        places = places.ravel()

        def score(block: slice, joint: Array) -> None:
            said = lines[places[block]]
            odd = strange[block]
            said[odd] = whole.table[FIRST + whole.places(cells[block][odd])]
            joint += said

        return score


def cut_by_class(seen: Histogram) -> Binning:
    """The leaves of a tree that cuts by information gain, pruned at a confidence level, from left to right."""
    n_cells = len(seen.cells)
    of_cell = np.zeros(n_cells, dtype=np.int64)
    if not n_cells:
        return Binning(of_cell, np.array([0.0, 1.0]))
    below = np.concatenate([np.zeros((len(seen.counts), 1)), np.cumsum(seen.counts, axis=1)], axis=1)
    last = np.array(_leaves(below, n_cells)[:-1], dtype=np.int64) - 1
    of_cell[last + 1] = 1
    cuts = floats_at(cells_between(seen, last, last + 1) << seen.shift)
    low, high = outer_edges(seen.lows(), seen.highs())
    return Binning(np.cumsum(of_cell), np.concatenate([[low], cuts, [high]]))


def _leaves(below: Array, n_cells: int) -> list[int]:
    """Where the leaves end: grown from the top, then pruned from the bottom.

    A cut goes if it makes no fewer errors, and then if it is not sure to; of each span it is known where its leaves
    end, how many errors they make, and how many they are charged with.
    """
    cuts: dict[tuple[int, int], int | None] = {}
    pending = [(0, n_cells)]
    while pending:
        span = pending.pop()
        middle = cuts[span] = _best_cut(below, *span)
        if middle is not None:
            pending += [(span[0], middle), (middle, span[1])]
    told: dict[tuple[int, int], tuple[list[int], float, float]] = {}
    for (first, last), middle in reversed(cuts.items()):
        counts = below[:, last] - below[:, first]
        leaf = [last], _errors(counts), _charged(counts)
        if middle is not None:
            left, right = told[first, middle], told[middle, last]
            errors, charged = left[1] + right[1], left[2] + right[2]
            if leaf[1] > errors * (1.0 + SLACK):
                kept = leaf[2] > charged * (1.0 + SLACK)
                leaf = (left[0] + right[0], errors, charged) if kept else (leaf[0], errors, leaf[2])
        told[first, last] = leaf
    return told[0, n_cells][0]


def _best_cut(below: Array, first: int, last: int) -> int | None:
    """The cut of most information gain between two cells; of equals the last."""
    left = (below[:, first + 1 : last] - below[:, [first]]).T
    right = (below[:, last] - below[:, first])[None, :] - left
    fair = (left.sum(axis=1) >= LEAST - TIE) & (right.sum(axis=1) >= LEAST - TIE)
    if not fair.any():
        return None
    gains = np.where(fair, information_gains(np.stack([left, np.maximum(right, 0.0)], axis=-1)), 0.0)
    best = gains.max()
    return int(np.flatnonzero(gains >= best * (1.0 - TIE))[-1]) + first + 1 if best > 0.0 else None


def _errors(counts: Array) -> float:
    return float(counts.sum() - counts.max(initial=0.0))


def _charged(counts: Array) -> float:
    return float(confident_errors(np.array([counts.sum()]), np.array([_errors(counts)]), LEVEL)[0])


def _without(seen: Histogram, code: int, label: int, weight: float) -> Histogram:
    """The histogram without one row."""
    counts = seen.counts.copy()
    counts[label, code] = max(counts[label, code] - weight, 0.0)
    kept = np.asarray(counts.any(axis=0))
    return Histogram(seen.shift, seen.cells[kept], np.ascontiguousarray(counts[:, kept]))
