"""Why a linear machine says what it says: one contribution per column and a shift, which add up to the value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.errors import SettingsError
from likely.explain.board import MOST_COLUMNS, SHOWN_ROWS, strongest
from likely.explain.text import aligned, written_cell
from likely.svm.categories import CategoryPart
from likely.svm.preparing import Preparation
from likely.svm.products import Matrix
from likely.svm.words import TextPart
from likely.table import Table

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PlaneExplanation:
    """b + contributions = value, for every row and every pair of classes; above 0 the later class of a pair wins.

    `contributions` is rows × columns × pairs.
    """

    pairs: Sequence[tuple[Any, Any]]
    columns: tuple[str, ...]
    cells: tuple[tuple[object, ...], ...]
    b: Array
    contributions: Array

    @classmethod
    def of(
        cls,
        pairs: Sequence[tuple[Any, Any]],
        planes: Array,
        b: Array,
        rows: Matrix,
        preparation: Preparation,
        table: Table,
    ) -> PlaneExplanation:
        """Add up the features of each column."""
        columns = preparation.columns
        place = {name: k for k, name in enumerate(columns)}
        owner = np.array([place[feature.column] for feature in preparation.features], dtype=np.intp)
        own = np.arange(len(owner))
        contributions = np.zeros((table.n_rows, len(columns), len(pairs)))
        for k, w in enumerate(planes):
            parts = sparse.csr_array((w, (own, owner)), shape=(len(owner), len(columns)))
            added = rows @ parts
            contributions[:, :, k] = added.toarray() if sparse.issparse(added) else added
        shown = [values for part in preparation.parts for values in _cells(part, table)]
        cells = tuple(zip(*shown, strict=True)) if shown else ((),) * table.n_rows
        return cls(pairs, columns, cells, b, contributions)

    def __len__(self) -> int:
        """How many rows are explained."""
        return len(self.contributions)

    @property
    def value(self) -> Array:
        """f(x) of each row and pair: b and all contributions."""
        return np.asarray(self.b + self.contributions.sum(axis=1))

    def to_frame(self) -> pd.DataFrame:
        """One line per row, pair and factor: the factor, its value, and what it contributes."""
        import pandas as pd

        lines: list[tuple[object, ...]] = []
        values = self.value
        for row in range(len(self)):
            for k, (earlier, later) in enumerate(self.pairs):
                lines.append((row, earlier, later, "b", "", float(self.b[k])))
                for place, name in enumerate(self.columns):
                    cell = self.cells[row][place], float(self.contributions[row, place, k])
                    lines.append((row, earlier, later, name, *cell))
                lines.append((row, earlier, later, "f", "", float(values[row, k])))
        return pd.DataFrame(lines, columns=["row", "earlier", "later", "factor", "value", "contribution"])

    def lines(self, row: int, pair: int = 0, most: int = MOST_COLUMNS) -> list[tuple[str, float]]:
        """Label and contribution of b and of the strongest columns; the others are taken together."""
        if not -len(self) <= row < len(self):
            raise SettingsError(f"There is no row {row}: {len(self)} rows are explained, counted from 0.")
        values = self.contributions[row, :, pair]
        kept = strongest(np.abs(values).tolist(), most)
        lines = [("b", float(self.b[pair]))]
        for place in kept:
            cell = self.cells[row][place]
            label = written_cell(self.columns[place], cell, "gap" if cell is None else "known")
            lines.append((label, float(values[place])))
        others = np.delete(values, kept)
        if len(others):
            lines.append((f"{len(others)} weaker columns together", float(others.sum())))
        return [*lines, ("f", float(self.value[row, pair]))]

    def written(self, row: int, pair: int = 0) -> str:
        """One row and pair as text."""
        earlier, later = self.pairs[pair]
        head = [f"{later} (above 0) against {earlier}", "adds"]
        return "\n".join(aligned([head, *([label, f"{value:+.4f}"] for label, value in self.lines(row, pair))]))

    def __str__(self) -> str:
        shown = [
            self.written(row, pair) for row in range(min(len(self), SHOWN_ROWS)) for pair in range(len(self.pairs))
        ]
        more = len(self) - SHOWN_ROWS
        return "\n\n".join([*shown, *([f"… and {more} more rows"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        """Names and values come from data: all of them are escaped."""
        return f"<pre>{escape(str(self))}</pre>"


def _cells(part: Any, table: Table) -> list[list[object]]:
    """The cells of a part's columns as they were given; None for a gap."""
    if isinstance(part, CategoryPart):
        found = table.codes(part.column)
        return [[None if code < 0 else found.levels[code] for code in found.codes.tolist()]]
    if isinstance(part, TextPart):
        return [list(table.strings(part.column).to_pylist())]
    columns = [table.numbers(name).tolist() for name in part.columns]
    return [[None if cell != cell else cell for cell in column] for column in columns]
