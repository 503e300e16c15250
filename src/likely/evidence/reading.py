"""The tables of a model in words: what each cell stands for, and what it adds for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.errors import SettingsError
from likely.evidence.columns import Column, NominalColumn
from likely.evidence.model import by_class
from likely.evidence.settled import Settled

Array = NDArray[np.float64]

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


def told_by(model: Settled, columns: Sequence[str], digits: int = DIGITS) -> Told:
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
