"""What a fitted support vector machine says about itself: planes, margins, cases, contributions, a picture, a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from likely.arrays import Array
from likely.errors import DataError, LikelyError, SettingsError, listed
from likely.models.display import SHOWN_COLUMNS, html_table
from likely.models.svm.features import OneHotFeatures, Preparation, TfidfFeatures
from likely.models.svm.kernels import Kernel, Matrix
from likely.models.svm.machine import Machine, class_pairs, nearest_rival, slack_and_case
from likely.render.text import MOST_COLUMNS, SHOWN_ROWS, aligned, strongest, written_cell
from likely.table import Table, index_levels, labels_of

if TYPE_CHECKING:
    import pandas as pd

    from likely.render.picture import Picture
    from likely.table.schema import Schema

SHOWN_CLASSES = 12
TOUCHING = 2.0
"""Slack of up to so many tolerances is none: the row touches the margin as well as it was solved."""


class NotThere(LikelyError, AttributeError):
    """Something that this kind of machine does not have."""


class SVMLooks:
    """Stands beside a classifier with a `machine_`, before scikit-learn's classes among its bases."""

    machine_: Machine
    preparation_: Preparation
    schema_: Schema
    classes_: NDArray[Any]
    support_: NDArray[Any]
    counts_: Array
    kernel_: Kernel
    C_: float
    method_: str
    n_rows_: int
    tolerance: float
    n_jobs: int | None

    def _read(self, X: Any) -> Table:
        raise NotImplementedError("The looks stand beside a classifier, which reads the table.")

    @property
    def support_vectors_(self) -> Matrix:
        """The prepared rows that the machine is made of, class by class."""
        check_is_fitted(self)
        return self.machine_.vectors

    @property
    def dual_coef_(self) -> Array:
        """y·α of every support vector, one row for each of the other classes (one row for two classes)."""
        check_is_fitted(self)
        return self.machine_.dual

    @property
    def alpha_(self) -> Array:
        """α of every row learned: one number for two classes, one for each of the other classes for more."""
        check_is_fitted(self)
        if self.method_ != "exact":
            raise NotThere(
                f"The machine was solved by {self.method_}, which has no α: fit with method='exact' for them."
            )
        whole = np.zeros((self.n_rows_, len(self.machine_.dual)))
        whole[self.support_] = np.abs(self.machine_.dual.T)
        return whole[:, 0] if len(self.classes_) == 2 else whole

    @property
    def w_(self) -> Array:
        """The normal of the plane in the space of the prepared rows, one for each pair of classes if there are several.

        `preparation_.features` says what each of its numbers belongs to.
        """
        planes = self._planes()
        return np.asarray(planes[0] if len(self.classes_) == 2 else planes)

    @property
    def b_(self) -> Any:
        """What is added to w·x: a number, or one for each pair of classes."""
        check_is_fitted(self)
        return float(self.machine_.b[0]) if len(self.classes_) == 2 else self.machine_.b

    @property
    def margin_(self) -> Any:
        """The width 2/‖w‖ of the empty street between the classes: a number, or one for each pair of classes."""
        check_is_fitted(self)
        return float(self.machine_.margin[0]) if len(self.classes_) == 2 else self.machine_.margin

    def cases(self, X: Any, y: Any) -> pd.DataFrame:
        """Where each labelled row lies: class, nearest rival, y·f against it, slack ξ = max(0, 1 − y·f), and the case.

        A: beyond the margin, ξ = 0. B: within the margin, but on the right side, ξ < 1. C: on the wrong side, ξ ≥ 1.
        """
        import pandas as pd

        table = self._read(X)
        labels = labels_of(y, table)
        known = index_levels(labels.classes.tolist(), self.classes_.tolist())
        if (known < 0).any():
            strange = [label for label, place in zip(labels.classes.tolist(), known, strict=True) if place < 0]
            raise DataError(f"The classes {listed(strange)} were never learned.")
        codes = known[labels.codes].astype(np.int32)
        pairs = self.machine_.decision_values(self.preparation_.rows(table, self.n_jobs), self.n_jobs)
        rival, values = nearest_rival(pairs, codes, len(self.classes_))
        slack, case = slack_and_case(values, TOUCHING * self.tolerance)
        rivals = self.classes_[rival] if len(self.classes_) > 1 else np.full(len(codes), None)
        columns = {"class": self.classes_[codes], "rival": rivals, "value": values}
        return pd.DataFrame({**columns, "slack": slack, "case": case})

    def explain(self, X: Any) -> PlaneExplanation:
        """One contribution per column and b, which add up to the value f(x) of each pair; for linear kernels.

        With standardised numbers a contribution is that of the difference from the mean of the rows learned.
        """
        table = self._read(X)
        planes = self._planes()
        rows = self.preparation_.rows(table, self.n_jobs)
        pairs = list(zip(*(self.classes_[each].tolist() for each in class_pairs(len(self.classes_))), strict=True))
        return PlaneExplanation.of(pairs, planes, self.machine_.b, rows, self.preparation_, table)

    def plot(self, X: Any, y: Any, columns: tuple[str, str] | None = None) -> Picture:
        """Two columns as a plane: rows, support vectors in circles, the boundary and the edges of the margin."""
        from likely.models.svm.plot import margins

        check_is_fitted(self)
        numeric, given = list(self.schema_.numeric), cast("Any", columns)
        pair = numeric[:2] if given is None else [given] if isinstance(given, str) else list(given)
        strange = [name for name in pair if name in self.schema_ and name not in numeric]
        if len(pair) != 2 or strange:
            raise SettingsError(
                f"A plane needs two columns of numbers, not {listed(strange or pair) or 'none'}; "
                f"the columns of numbers are {listed(numeric) or 'none'}."
            )
        return margins(self, X, y, (pair[0], pair[1]))

    def _planes(self) -> Array:
        check_is_fitted(self)
        planes = self.machine_.w
        if planes is None:
            raise NotThere(
                f"The kernel {self.kernel_!r} mixes the columns in a space of its own, so there are no weights of "
                "single columns: fit with kernel='linear' for them."
            )
        return planes

    def _repr_html_inner(self) -> str:
        if hasattr(self, "machine_"):
            return self._page()
        return str(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = cast("dict[str, str]", super()._repr_mimebundle_(**kwargs))  # type: ignore[misc]
        if hasattr(self, "machine_") and get_config()["display"] == "diagram":
            bundle["text/html"] = self._page()
        return bundle

    def _page(self) -> str:
        """The page of a fitted machine. Names come from data: all of them are escaped."""
        machine, labels = self.machine_, self.classes_.tolist()
        found = f"{len(machine.rows):,} {machine.vectors_are}"
        told = f"learned from {self.n_rows_:,} rows; {found}; kernel {self.kernel_!r}; "
        price = "no slack" if np.isinf(self.C_) else f"C = {self.C_:g}"
        head = f"<p><b>{escape(repr(self))}</b><br>{escape(told + price)}; solved by: {escape(self.method_)}</p>"
        vectors = machine.n_support
        lines = [
            [escape(str(label)), f"{self.counts_[k]:,.6g}", "" if vectors is None else f"{vectors[k]:,}"]
            for k, label in enumerate(labels[:SHOWN_CLASSES])
        ]
        classes = html_table(["class", "weight", "support vectors"], lines, len(labels) - len(lines), "classes")
        made: dict[str, int] = {}
        for feature in self.preparation_.features:
            made[feature.column] = made.get(feature.column, 0) + 1
        shown = [
            [escape(name), escape(self.schema_[name].kind), f"{n:,}"] for name, n in list(made.items())[:SHOWN_COLUMNS]
        ]
        return head + classes + html_table(["column", "kind", "features"], shown, len(made) - len(shown), "columns")


# Why a linear machine says what it says: one contribution per column and a shift, which add up to the value.


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
    if isinstance(part, OneHotFeatures):
        found = table.codes(part.column)
        return [[None if code < 0 else found.levels[code] for code in found.codes.tolist()]]
    if isinstance(part, TfidfFeatures):
        return [list(table.strings(part.column).to_pylist())]
    columns = [table.numbers(name).tolist() for name in part.columns]
    return [[None if cell != cell else cell for cell in column] for column in columns]
