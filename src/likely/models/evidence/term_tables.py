"""The tables of a model in words: what each cell stands for, and what it adds for each class."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.errors import SettingsError
from likely.models.evidence.columns import Column, NominalColumn, NumericColumn
from likely.models.evidence.predictor import AdditivePredictor, by_class

TOGETHER = " × "
DIGITS, MOST_DIGITS = 6, 17


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """The table of a column, a pair or a triple: `said` has an axis for each column, and one for the classes.

    `cells` names the codes of each column; that of a category never seen, which says nothing, is left out.
    """

    columns: tuple[Column, ...]
    cells: tuple[tuple[str, ...], ...]
    said: Array

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)


def told_by(model: AdditivePredictor, columns: Sequence[str], digits: int = DIGITS) -> Told:
    """The table that was learned for these columns, in whatever order they are named."""
    evidence = model.evidence
    frame, names = evidence.frame, [column.name for column in evidence.frame.columns]
    terms = [(place,) for place in range(len(names))] + evidence.terms.tuples()
    wanted = [term for term in terms if {names[place] for place in term} == set(columns)]
    if not wanted or len(columns) != len(set(columns)):
        raise SettingsError(f"No table was learned for {TOGETHER.join(columns)!r}; see `pairs_` for those there are.")
    term = wanted[0]
    start = int(evidence.starts[terms.index(term)])
    grain = [None, frame.coarse, frame.tiny][len(term) - 1]
    widths = [frame.columns[term[0]].size] if grain is None else [int(grain.widths[place]) for place in term]
    cells = tuple(tuple(cell_names(frame.columns[place], len(term), digits)[1:]) for place in term)
    whole = by_class(evidence.tables[start : start + int(np.prod(widths))], len(model.classes))
    said = whole.reshape(*widths, -1)[tuple(slice(1, None) for _ in term)]
    return Told(tuple(frame.columns[place] for place in term), cells, said)


def cell_names(column: Column, order: int, digits: int = DIGITS) -> list[str]:
    """The name of every code of a column at the grain of a term of so many columns; numbers with so many digits."""
    groups = [None, column.coarse, column.tiny][order - 1]
    n_codes = column.size
    fine = np.arange(n_codes) if groups is None else groups.astype(np.intp)
    named: list[str] = [""] * (int(fine.max()) + 1)
    last = n_codes - 1 if column.gap else n_codes
    if isinstance(column, NominalColumn):
        texts = ["", *(str(level) for level in column.levels), *(["rare"] if column.rare else [])]
        for code in range(1, last):
            named[fine[code]] = texts[code] if not named[fine[code]] else "other"
    else:
        edges = [-np.inf, *column.cuts.tolist(), np.inf]
        inside = [
            np.flatnonzero(fine[:last] == group) for group in range(1, int(fine[last - 1]) + 1 if last > 1 else 1)
        ]
        spans = [(edges[codes[0] - 1], edges[codes[-1]]) for codes in inside]
        enough = _telling_apart([high for _, high in spans], digits)
        named[1 : len(spans) + 1] = [_between(low, high, enough) for low, high in spans]
    if column.gap:
        named[fine[-1]] = "gap"
    return named


def _telling_apart(numbers: Sequence[float], digits: int) -> int:
    """So many digits, or the more that it takes until no two numbers are written alike."""
    while digits < MOST_DIGITS and len({f"{number:.{digits}g}" for number in numbers}) < len(numbers):
        digits += 1
    return digits


def _between(low: float, high: float, digits: int) -> str:
    if np.isinf(low) and np.isinf(high):
        return "any"
    first, last = f"{low:.{digits}g}", f"{high:.{digits}g}"
    return f"≤ {last}" if np.isinf(low) else f"> {first}" if np.isinf(high) else f"{first} … {last}"


# How two models of evidence differ in what they say: column by column, and in what they hear together.

TermTables = tuple[str, str, object, object]

LEAST = 5e-4
"""Nats that are told apart."""


def of_tables(a: AdditivePredictor, b: AdditivePredictor) -> Iterator[TermTables]:
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

    def __init__(self, model: AdditivePredictor, labels: list[Any]) -> None:
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


def _of_term(mine: _Side, theirs: _Side, term: tuple[str, ...], labels: list[Any]) -> Iterator[TermTables]:
    """A pair or triple that both have, if it has the same cells in both."""
    told = [told_by(side.model, term) for side in (mine, theirs)]
    if told[0].cells == told[1].cells:
        places = np.indices(told[0].said.shape[:-1]).reshape(len(term), -1).T
        cells = [", ".join(names[k] for names, k in zip(told[0].cells, at, strict=True)) for at in places]
        said = [side.beside(one.said) for side, one in zip((mine, theirs), told, strict=True)]
        yield from _largest(TOGETHER.join(term), cells, said[0], said[1], labels)


def _largest(name: str, cells: list[str], a: Array, b: Array, labels: list[Any]) -> Iterator[TermTables]:
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
