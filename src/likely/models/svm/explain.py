"""What a fitted support vector machine says about itself: planes, margins, cases, contributions, a picture, a page."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import sparse

from likely.arrays import AnyArray, Array, TableLike
from likely.errors import DataError, LikelyError, SettingsError, listed
from likely.markup import Markup, tag
from likely.models.display import SHOWN_COLUMNS, html_table
from likely.models.svm.features import FeatureBlock, OneHotFeatures, Preparation, TfidfFeatures
from likely.models.svm.kernels import Kernel, Matrix
from likely.models.svm.machine import Machine, nearest_rival, slack_and_case
from likely.render.factors import MOST_COLUMNS, SHOWN_ROWS, strongest_lines, written_cell
from likely.render.page import fragment
from likely.render.table import ColumnHead, Grid, signed
from likely.table import Labels, Table, index_levels
from likely.table.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

SHOWN_CLASSES = 12
TOUCHING = 2.0
"""Slack of up to this many tolerances counts as zero: the row lies on the margin, as precisely as it was solved."""


class NotThere(LikelyError, AttributeError):
    """Something that this kind of machine does not have."""


class FittedMachine(Protocol):
    """What a page and a picture tell of a fitted classifier."""

    machine_: Machine
    preparation_: Preparation
    schema_: Schema
    classes_: AnyArray
    counts_: Array
    kernel_: Kernel
    C_: float
    method_: str
    n_rows_: int

    def decision_function(self, X: TableLike) -> Array: ...


def cases(pairs: Array, labels: Labels, classes: AnyArray, tolerance: float) -> pd.DataFrame:
    """Where each labelled row lies: class, nearest rival, y·f against it, slack ξ = max(0, 1 − y·f), and the case."""
    import pandas as pd

    known = index_levels(labels.classes.tolist(), classes.tolist())
    if (known < 0).any():
        strange = [label for label, place in zip(labels.classes.tolist(), known, strict=True) if place < 0]
        raise DataError(f"The classes {listed(strange)} were never learned.")
    codes = known[labels.codes].astype(np.int32)
    rival, values = nearest_rival(pairs, codes, len(classes))
    slack, case = slack_and_case(values, TOUCHING * tolerance)
    rivals = classes[rival] if len(classes) > 1 else np.full(len(codes), None)
    columns = {"class": classes[codes], "rival": rivals, "value": values}
    return pd.DataFrame({**columns, "slack": slack, "case": case})


def plane_columns(given: str | Sequence[str] | None, schema: Schema) -> tuple[str, str]:
    """The two columns of numbers of a plane: those that were given, or the first ones."""
    numeric = list(schema.numeric)
    pair = numeric[:2] if given is None else [given] if isinstance(given, str) else list(given)
    strange = [name for name in pair if name in schema and name not in numeric]
    if len(pair) != 2 or strange:
        raise SettingsError(
            f"A plane needs two columns of numbers, not {listed(strange or pair) or 'none'}; "
            f"the columns of numbers are {listed(numeric) or 'none'}."
        )
    return pair[0], pair[1]


def machine_page(classifier: FittedMachine) -> Markup:
    """The page of a fitted machine."""
    machine, labels = classifier.machine_, classifier.classes_.tolist()
    found = f"{len(machine.rows):,} {machine.vectors_are}"
    told = f"learned from {classifier.n_rows_:,} rows; {found}; kernel {classifier.kernel_!r}; "
    price = "no slack" if np.isinf(classifier.C_) else f"C = {classifier.C_:g}"
    head = tag("p", tag("strong", repr(classifier)), tag("br"), f"{told}{price}; solved by: {classifier.method_}")
    vectors = machine.n_support
    lines = [
        [str(label), f"{classifier.counts_[k]:,.6g}", "" if vectors is None else f"{vectors[k]:,}"]
        for k, label in enumerate(labels[:SHOWN_CLASSES])
    ]
    classes = html_table(["class", "weight", "support vectors"], lines, len(labels) - len(lines), "classes")
    made: dict[str, int] = {}
    for feature in classifier.preparation_.features:
        made[feature.column] = made.get(feature.column, 0) + 1
    schema = classifier.schema_
    shown = [[name, schema[name].kind, f"{n:,}"] for name, n in list(made.items())[:SHOWN_COLUMNS]]
    columns = html_table(["column", "kind", "features"], shown, len(made) - len(shown), "columns")
    return fragment(head, classes, columns)


# Why a linear machine says what it says: one contribution per column and a shift, which add up to the value.


@dataclass(frozen=True, slots=True, eq=False)
class PlaneExplanation:
    """b + contributions = value, for every row and every pair of classes; above 0 the later class of a pair wins.

    `contributions` is rows × columns × pairs.
    """

    pairs: Sequence[tuple[Hashable, Hashable]]
    columns: tuple[str, ...]
    cells: tuple[tuple[object, ...], ...]
    b: Array
    contributions: Array

    @classmethod
    def of(
        cls,
        pairs: Sequence[tuple[Hashable, Hashable]],
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
        cells = self.cells[row]

        def label(place: int) -> str:
            return written_cell(self.columns[place], cells[place], "gap" if cells[place] is None else "known")

        lines = strongest_lines(label, self.contributions[row, :, pair], most)
        return [("b", float(self.b[pair])), *lines, ("f", float(self.value[row, pair]))]

    def written(self, row: int, pair: int = 0) -> str:
        """One row and pair as text."""
        earlier, later = self.pairs[pair]
        columns = [ColumnHead(f"{later} (above 0) against {earlier}", "left"), ColumnHead("adds", form=signed)]
        return Grid(columns, self.lines(row, pair)).text()

    def __str__(self) -> str:
        shown = [
            self.written(row, pair) for row in range(min(len(self), SHOWN_ROWS)) for pair in range(len(self.pairs))
        ]
        more = len(self) - SHOWN_ROWS
        return "\n\n".join([*shown, *([f"… and {more} more rows"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        return tag("pre", str(self))


def _cells(part: FeatureBlock, table: Table) -> list[list[object]]:
    """The cells of a part's columns as they were given; None for a gap."""
    if isinstance(part, OneHotFeatures):
        found = table.codes(part.column)
        return [[None if code < 0 else found.levels[code] for code in found.codes.tolist()]]
    if isinstance(part, TfidfFeatures):
        return [list(table.strings(part.column).to_pylist())]
    columns = [table.numbers(name).tolist() for name in part.columns]
    return [[None if cell != cell else cell for cell in column] for column in columns]
