"""What a fitted evidence classifier says about itself: contributions of rows, intervals, tables of terms, a page."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import Array, Index, UInt8
from likely.errors import SettingsError
from likely.explain import Explanation
from likely.explain.credible import around, is_counted
from likely.explain.factors import read_cells
from likely.families.smoothing import trigamma
from likely.markup import Markup, joined, tag
from likely.models.display import html_table
from likely.models.evidence.encoding import BinnedNumber, CodedCategories, Column
from likely.models.evidence.laplace import LaplaceApproximation
from likely.models.evidence.predictor import AdditiveModel, AdditivePredictor, class_scores
from likely.parallel import one_thread_each
from likely.render.factors import Status
from likely.scorer import Priors
from likely.table import Table

if TYPE_CHECKING:
    import pandas as pd

BASE = "intercept"
TOGETHER = "together"
"""What all trees say, where it is not shared out among their columns."""

WITH_OTHERS = " with others"
STALE = " (corrections are stale)"
TOLD_STALE = "stale: rows were counted since it was fitted, so it is weighted naive Bayes until refresh(X, y)"
SHOWN_TERMS = 30
SEPARATOR = " × "
DIGITS, MAX_DIGITS = 6, 17


def table_of(model: AdditivePredictor, columns: tuple[str, ...]) -> pd.DataFrame:
    """The learned table of a column, a pair or a triple: one line per cell, what it adds for each class."""
    import pandas as pd

    told = term_table(model, columns)
    places = np.indices(told.entries.shape[:-1]).reshape(len(told.cells), -1)
    out: dict[Hashable, object] = {
        name: pd.Series([cells[code] for code in codes], dtype=object)
        for name, cells, codes in zip(told.names, told.cells, places, strict=True)
    }
    if len(told.columns) == 1:
        out["weight"] = told.columns[0].mass.tolist()
    said = told.entries.reshape(-1, len(model.classes))
    return pd.DataFrame(out | {label: said[:, k] for k, label in enumerate(model.classes.tolist())})


def terms_page(evidence: AdditiveModel, telling: pd.DataFrame, *, stale: bool) -> Markup:
    """The most telling values, the interactions, and whether the corrections are stale, as HTML."""
    told = [
        [*map(str, line[:3]), f"{line[3]:+.2f}", f"{line[4]:.1%}"]
        for line in telling.itertuples(index=False, name=None)
    ]
    values = html_table(["class", "most telling value of", "value", "log-odds", "share"], told, 0, "values")
    lines = [[SEPARATOR.join(names)] for names in evidence.term_names()]
    more = html_table(["interactions"], lines[:SHOWN_TERMS], len(lines) - SHOWN_TERMS, "terms") if lines else None
    return joined(tag("p", TOLD_STALE) if stale else None, values, more)


def interval(
    model: AdditivePredictor, classes: Array, priors: Priors, table: Table, level: float, n_jobs: int | None
) -> tuple[Array, Array]:
    """Bounds of P(class | row) by Laplace's approximation; `classes` are the weights of the classes."""
    believed = model.log_joint(table, n_jobs).posterior()
    if len(classes) < 2:
        return believed, believed
    with one_thread_each():
        variance = LaplaceApproximation(model.evidence).variances(model.codes(table, n_jobs))
    if is_counted(priors):
        weights = np.maximum(classes, 1.0)
        variance = variance + trigamma(weights) + trigamma(np.maximum(weights.sum() - weights, 1.0))
    return around(believed, variance, believed, level)


def explanation(model: AdditivePredictor, table: Table, *, stale: bool) -> Explanation:
    """Contributions of rows; pairs and triples have their own, under the names of their columns."""
    terms, contributions = model.contributions(table)
    strangers = model.unseen(table)
    cells: dict[str, list[object]] = {}
    status: dict[str, list[Status]] = {}
    for name in {name for term in terms for name in term}:
        cells[name] = read_cells(table, name)
        status[name] = ["gap" if cell is None else "known" for cell in cells[name]]
        for row in np.flatnonzero(strangers.get(name, np.zeros(0, dtype=np.bool_))):
            status[name][row] = "unseen"
    rows = range(table.n_rows)
    read = [tuple(_joined([cells[name][row] for name in term]) for term in terms) for row in rows]
    statuses = [tuple(_status([status[name][row] for name in term]) for term in terms) for row in rows]
    labels = [SEPARATOR.join(term) if term else BASE + STALE * stale for term in terms]
    n_tables = len(labels) - len(model.evidence.rest_columns())
    labels[n_tables:] = [name + WITH_OTHERS for name in labels[n_tables:]]
    words = {
        one.column: [[token._replace(evidence=share * token.evidence) for token in row] for row in one.tokens(table)]
        for share, one in zip(model.evidence.text_weights, model.text_models, strict=True)
    }
    return Explanation(
        model.classes, tuple(labels), tuple(read), model.prior, contributions, tuple(statuses), words, tuple(terms)
    )


def _joined(cells: list[object]) -> object:
    return cells[0] if len(cells) == 1 else tuple(cells)


def _status(parts: list[Status]) -> Status:
    kinds = set(parts)
    return "known" if not kinds else kinds.pop() if len(kinds) == 1 else "partly"


# Tables of terms with names of their cells, and the differences between those of two models.


@dataclass(frozen=True, slots=True, eq=False)
class TermTable:
    """The table of a column, a pair or a triple: `entries` has an axis for each column, and one for the classes.

    `cells` names the codes of each column; code 0, which has no entry, is left out.
    """

    columns: tuple[Column, ...]
    cells: tuple[tuple[str, ...], ...]
    entries: Array

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)


def term_table(model: AdditivePredictor, columns: Sequence[str], digits: int = DIGITS) -> TermTable:
    """The fitted table of these columns, in whatever order they are named."""
    evidence = model.evidence
    encoding, names = evidence.encoding, evidence.encoding.names
    terms = evidence.terms.tuples(len(names))
    wanted = [term for term in terms if {names[k] for k in term} == set(columns)]
    if not wanted or len(columns) != len(set(columns)):
        raise SettingsError(f"No table was learned for {SEPARATOR.join(columns)!r}; see `pairs_` for those there are.")
    term = wanted[0]
    start = int(evidence.starts[terms.index(term)])
    widths = encoding.table_shape(term)
    cells = tuple(tuple(cell_names(encoding.columns[k], len(term), digits)[1:]) for k in term)
    table = class_scores(evidence.tables[start : start + int(np.prod(widths))], len(model.classes))
    entries = table.reshape(*widths, -1)[tuple(slice(1, None) for _ in term)]
    return TermTable(tuple(encoding.columns[k] for k in term), cells, entries)


def cell_names(column: Column, order: int, digits: int = DIGITS) -> list[str]:
    """The name of every code of a column, at the resolution of a term of `order` columns; cuts have so many digits."""
    groups = [None, column.coarse, column.tiny][order - 1]
    n_codes = column.size
    fine = np.arange(n_codes) if groups is None else groups.astype(np.intp)
    names: list[str] = [""] * (int(fine.max()) + 1)
    last = n_codes - 1 if column.gap else n_codes
    if isinstance(column, CodedCategories):
        labels = ["", *(str(level) for level in column.levels), *(["rare"] if column.rare else [])]
        for code in range(1, last):
            names[fine[code]] = labels[code] if not names[fine[code]] else "other"
    else:
        edges = [-np.inf, *column.cuts.tolist(), np.inf]
        inside = [
            np.flatnonzero(fine[:last] == group) for group in range(1, int(fine[last - 1]) + 1 if last > 1 else 1)
        ]
        spans = [(edges[codes[0] - 1], edges[codes[-1]]) for codes in inside]
        n_digits = _distinct_digits([high for _, high in spans], digits)
        names[1 : len(spans) + 1] = [_between(low, high, n_digits) for low, high in spans]
    if column.gap:
        names[fine[-1]] = "gap"
    return names


def answer_name(column: Column, side: UInt8) -> str:
    """The codes of a column that a tree answers with yes: numbers as ranges, categories by name."""
    names, yes = cell_names(column, 1), np.flatnonzero(side[: column.size])
    if isinstance(column, CodedCategories):
        return f"{column.name}: {', '.join(names[code] for code in yes)}"
    edges, known = [-np.inf, *column.cuts.tolist(), np.inf], yes[yes <= len(column.means)]
    parts = [_between(edges[known[0] - 1], edges[known[-1]], MAX_DIGITS)] if len(known) else []
    return f"{column.name} {' or '.join([*parts, *(['gap'] if len(known) < len(yes) else [])])}"


def _distinct_digits(numbers: Sequence[float], digits: int) -> int:
    """The number of digits from which on no two numbers are written alike."""
    while digits < MAX_DIGITS and len({f"{number:.{digits}g}" for number in numbers}) < len(numbers):
        digits += 1
    return digits


def _between(low: float, high: float, digits: int) -> str:
    if np.isinf(low) and np.isinf(high):
        return "any"
    first, last = f"{low:.{digits}g}", f"{high:.{digits}g}"
    return f"≤ {last}" if np.isinf(low) else f"> {first}" if np.isinf(high) else f"{first} … {last}"


Difference = tuple[str, str, object, object]
"""What differs, where, and how it is in either model."""

MIN_DIFFERENCE = 5e-4
"""Nats; smaller differences are left out."""


def table_differences(a: AdditivePredictor, b: AdditivePredictor) -> Iterator[Difference]:
    """Differences of main effects, of interactions and of text weights; entries are centred over classes and cells."""
    labels = [label for label in a.classes.tolist() if label in b.classes.tolist()]
    mine, theirs = (_NamedModel(model, labels) for model in (a, b))
    for name, column in mine.columns.items():
        other = theirs.columns.get(name)
        if other is None or len(labels) < 2:
            continue
        points = _points(column, other)
        if points:
            cells = [_as_read(point) for point in points]
            entries = [side.at_points(name, points) for side in (mine, theirs)]
            yield from _largest_difference(name, cells, entries[0], entries[1], labels)
    for term in dict.fromkeys([*mine.terms, *theirs.terms]):
        has_term = [term in side.terms for side in (mine, theirs)]
        if not all(has_term):
            in_mine, in_theirs = ("yes" if one else "—" for one in has_term)
            yield "heard together", SEPARATOR.join(term), in_mine, in_theirs
        elif len(labels) > 1:
            yield from _term_difference(mine, theirs, term, labels)
    for name, weight in mine.text_weights.items():
        if name in theirs.text_weights and abs(weight - theirs.text_weights[name]) > MIN_DIFFERENCE:
            yield "share of text", name, f"{weight:.3f}", f"{theirs.text_weights[name]:.3f}"


class _NamedModel:
    """A model by names of columns, of the classes that both models have."""

    def __init__(self, model: AdditivePredictor, labels: list[Hashable]) -> None:
        self.model, evidence = model, model.evidence
        self.columns: dict[str, Column] = {column.name: column for column in evidence.encoding.columns}
        names = list(self.columns)
        self.starts = dict(zip(names, evidence.starts.tolist(), strict=False))
        self.terms = evidence.term_names()
        self.text_weights = {
            text_model.column: float(s) for text_model, s in zip(model.text_models, evidence.text_weights, strict=True)
        }
        known = model.classes.tolist()
        self.places = [known.index(label) for label in labels]

    def at_points(self, name: str, points: list[Hashable]) -> Array:
        """Centred main effect of a column at some points: points × classes."""
        column, start = self.columns[name], self.starts[name]
        table = self.model.evidence.tables[start : start + column.size]
        return self.centred(class_scores(table, len(self.model.classes))[_codes(column, points)])

    def centred(self, entries: Array) -> Array:
        """Entries of the shared classes minus their mean over classes, and that over cells: only differences count."""
        shared = entries[..., self.places].reshape(-1, len(self.places))
        shared = shared - shared.mean(axis=1, keepdims=True)
        return np.asarray(shared - shared.mean(axis=0))


def _term_difference(
    mine: _NamedModel, theirs: _NamedModel, term: tuple[str, ...], labels: list[Hashable]
) -> Iterator[Difference]:
    """A pair or triple that both have, if it has the same cells in both."""
    tables = [term_table(side.model, term) for side in (mine, theirs)]
    if tables[0].cells == tables[1].cells:
        places = np.indices(tables[0].entries.shape[:-1]).reshape(len(term), -1).T
        cells = [", ".join(names[k] for names, k in zip(tables[0].cells, at, strict=True)) for at in places]
        entries = [side.centred(one.entries) for side, one in zip((mine, theirs), tables, strict=True)]
        yield from _largest_difference(SEPARATOR.join(term), cells, entries[0], entries[1], labels)


def _largest_difference(
    name: str, cells: list[str], a: Array, b: Array, labels: list[Hashable]
) -> Iterator[Difference]:
    gap = np.abs(a - b)
    if gap.size and gap.max() > MIN_DIFFERENCE:
        cell, k = np.unravel_index(int(gap.argmax()), gap.shape)
        yield "says", f"{name}, {labels[int(k)]}: {cells[int(cell)]}", f"{a[cell, k]:+.3f}", f"{b[cell, k]:+.3f}"


def _points(a: Column, b: Column) -> list[Hashable]:
    """Values at which two columns can be compared, whatever their bins are; None for a gap."""
    gap: list[Hashable] = [None] if a.gap or b.gap else []
    if isinstance(a, BinnedNumber) and isinstance(b, BinnedNumber):
        return [*np.union1d(a.means, b.means).tolist(), *gap]
    if isinstance(a, CodedCategories) and isinstance(b, CodedCategories):
        return [*dict.fromkeys([*a.levels, *b.levels]), *gap]
    return []


def _codes(column: Column, points: list[Hashable]) -> Index:
    known = [point for point in points if point is not None]
    if isinstance(column, BinnedNumber):
        codes = column.codes_of(np.array(known, dtype=np.float64))
    else:
        codes = column.codes_of(known)
    missing = [column.size - 1 if column.gap else 0] * (len(points) - len(known))
    return np.concatenate([codes.astype(np.intp), np.array(missing, dtype=np.intp)])


def _as_read(point: Hashable) -> str:
    return "gap" if point is None else f"{point:.6g}" if isinstance(point, float) else str(point)
