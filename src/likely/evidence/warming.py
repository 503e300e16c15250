"""Beginning where an older model ended: its tables, seen through the bins of today."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.evidence.columns import Column, NominalColumn, NumericColumn
from likely.evidence.experts import Expert
from likely.evidence.frame import Frame, Terms
from likely.evidence.model import Evidence

Array = NDArray[np.float64]
Index = NDArray[np.intp]

LEAST_SHARE = 0.1
"""Experts that are mixed with less say too little to be blown up."""


def begun_by(last: Evidence, frame: Frame, terms: Terms) -> Expert:
    """Where to begin with these terms under a new frame: coefficients whose tables are about those of `last`.

    What the experts of the mixture said each by itself is not known any more: all begin with what they said together.
    The columns of a basis stand at right angles, so that a table is projected by one product.
    """
    design = frame.design(terms)
    ones = np.ones(len(design.shape))
    tables = _moved(last, frame, terms, design.n_cells) / max(float(last.ways.shares.sum()), LEAST_SHARE)
    lengths = design.curvature(np.ones(design.n_cells), ones)
    u = design.slopes(tables, ones) / np.where(lengths > 0.0, lengths, np.inf)[:, None]
    return Expert(terms, design, u, ones, last.base, 0)


def _moved(last: Evidence, frame: Frame, terms: Terms, n_cells: int) -> Array:
    """The tables of `last` for the codes of a frame: zeros where it has no such term or code."""
    names, before = ([column.name for column in one.columns] for one in (frame, last.frame))
    starts = dict(zip([(k,) for k in range(len(before))] + last.terms.tuples(), last.starts.tolist(), strict=True))
    out, end = np.zeros((n_cells, last.tables.shape[1])), 0
    for term in [(k,) for k in range(len(names))] + terms.tuples():
        order = len(term)
        widths = [_width(frame, place, order) for place in term]
        first, end = end, end + int(np.prod(widths))
        there = [before.index(names[place]) if names[place] in before else -1 for place in term]
        turned = np.argsort(there)
        start = starts.get(tuple(sorted(there)))
        if start is None:
            continue
        old_widths = [_width(last.frame, there[k], order) for k in turned]
        table = last.tables[start : start + int(np.prod(old_widths))].reshape(*old_widths, -1)
        table = np.moveaxis(table, range(order), turned.tolist())
        codes = [_old_codes(last.frame.columns[t], frame.columns[p], order) for t, p in zip(there, term, strict=True)]
        out[first:end] = table[np.ix_(*codes)].reshape(end - first, -1)
    return out


def _width(frame: Frame, place: int, order: int) -> int:
    return frame.columns[place].size if order == 1 else int((frame.coarse if order == 2 else frame.tiny).widths[place])


def _old_codes(old: Column, new: Column, order: int) -> Index:
    """For every code of a column, at the grain of a term of so many columns, the code that it would have had."""
    codes = np.zeros(new.size, dtype=np.intp)
    if isinstance(new, NumericColumn) and isinstance(old, NumericColumn):
        codes[1 : len(new.means) + 1] = old.codes_of(new.means)
    elif isinstance(new, NominalColumn) and isinstance(old, NominalColumn):
        codes[1 : len(new.levels) + 1] = old.codes_of(new.levels)
        if new.rare and old.rare:
            codes[len(new.levels) + 1] = len(old.levels) + 1
    if new.gap and old.gap:
        codes[-1] = old.size - 1
    if order == 1:
        return codes
    coarse, before = (one.coarse if order == 2 else one.tiny for one in (new, old))
    heaviest_last = 1 + np.argsort(new.mass, kind="stable")
    out = np.zeros(int(coarse.max()) + 1, dtype=np.intp)
    out[coarse[heaviest_last]] = before[codes[heaviest_last]]
    return out
