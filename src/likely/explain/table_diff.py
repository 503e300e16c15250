"""How two models of evidence differ in what they say: column by column, and in what they hear together."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.evidence.columns import Column, NominalColumn, NumericColumn
from likely.evidence.model import by_class
from likely.evidence.reading import TOGETHER, told_by
from likely.evidence.settled import Settled

Array = NDArray[np.float64]
Told = tuple[str, str, object, object]

LEAST = 5e-4
"""Nats that are told apart."""


def of_tables(a: Settled, b: Settled) -> Iterator[Told]:
    """What differs, where, and how it is on either side; nats of a class beside the mean of all classes."""
    labels = [label for label in a.classes.tolist() if label in b.classes.tolist()]
    mine, theirs = (_Side(model, labels) for model in (a, b))
    for name, column in mine.columns.items():
        other = theirs.columns.get(name)
        if other is None or len(labels) < 2:
            continue
        points = _points(column, other)
        if points:
            yield from _largest(name, [_as_read(point) for point in points], mine.says(name, points),
                                theirs.says(name, points), labels)  # fmt: skip
    for term in dict.fromkeys([*mine.terms, *theirs.terms]):
        heard = [term in side.terms for side in (mine, theirs)]
        if not all(heard):
            told = ["yes" if one else "—" for one in heard]
            yield "heard together", TOGETHER.join(term), told[0], told[1]
        elif len(labels) > 1:
            yield from _of_term(mine, theirs, term, labels)
    for name, share in mine.texts.items():
        if name in theirs.texts and abs(share - theirs.texts[name]) > LEAST:
            yield "share of text", name, f"{share:.3f}", f"{theirs.texts[name]:.3f}"


class _Side:
    """One of the models, under names."""

    def __init__(self, model: Settled, labels: list[Any]) -> None:
        self.model, evidence = model, model.evidence
        self.columns: dict[str, Column] = {column.name: column for column in evidence.frame.columns}
        names = list(self.columns)
        self.starts = dict(zip(names, evidence.starts.tolist(), strict=False))
        self.terms = [tuple(names[place] for place in term) for term in evidence.terms.tuples()]
        self.texts = {words.column: float(s) for words, s in zip(model.words, evidence.texts, strict=True)}
        known = model.classes.tolist()
        self.places = [known.index(label) for label in labels]

    def says(self, name: str, points: list[Hashable]) -> Array:
        """Points × classes; only differences between classes and between points mean anything."""
        column, start = self.columns[name], self.starts[name]
        whole = self.model.evidence.tables[start : start + column.size]
        return self.beside(by_class(whole, len(self.model.classes))[_codes(column, points)])

    def beside(self, said: Array) -> Array:
        """Of the classes that both sides know, beside their mean and that over all cells."""
        some = said[..., self.places].reshape(-1, len(self.places))
        some = some - some.mean(axis=1, keepdims=True)
        return np.asarray(some - some.mean(axis=0))


def _of_term(mine: _Side, theirs: _Side, term: tuple[str, ...], labels: list[Any]) -> Iterator[Told]:
    """A pair or triple that both have, if it has the same cells in both."""
    told = [told_by(side.model, term) for side in (mine, theirs)]
    if told[0].cells == told[1].cells:
        places = np.indices(told[0].said.shape[:-1]).reshape(len(term), -1).T
        cells = [", ".join(names[k] for names, k in zip(told[0].cells, at, strict=True)) for at in places]
        said = [side.beside(one.said) for side, one in zip((mine, theirs), told, strict=True)]
        yield from _largest(TOGETHER.join(term), cells, said[0], said[1], labels)


def _largest(name: str, cells: list[str], a: Array, b: Array, labels: list[Any]) -> Iterator[Told]:
    gap = np.abs(a - b)
    if gap.size and gap.max() > LEAST:
        cell, k = np.unravel_index(int(gap.argmax()), gap.shape)
        yield "says", f"{name}, {labels[int(k)]}: {cells[int(cell)]}", f"{a[cell, k]:+.3f}", f"{b[cell, k]:+.3f}"


def _points(a: Column, b: Column) -> list[Hashable]:
    """Values at which two columns can be compared, whatever their bins are; None for a gap."""
    gap: list[Hashable] = [None] if a.gap or b.gap else []
    if isinstance(a, NumericColumn) and isinstance(b, NumericColumn):
        return [*np.union1d(a.means, b.means).tolist(), *gap]
    if isinstance(a, NominalColumn) and isinstance(b, NominalColumn):
        return [*dict.fromkeys([*a.levels, *b.levels]), *gap]
    return []


def _codes(column: Column, points: list[Hashable]) -> NDArray[np.intp]:
    known = [point for point in points if point is not None]
    if isinstance(column, NumericColumn):
        codes = column.codes_of(np.array(known, dtype=np.float64))
    else:
        codes = column.codes_of(known)
    missing = [column.size - 1 if column.gap else 0] * (len(points) - len(known))
    return np.concatenate([codes.astype(np.intp), np.array(missing, dtype=np.intp)])


def _as_read(point: Hashable) -> str:
    return "gap" if point is None else f"{point:.6g}" if isinstance(point, float) else str(point)
