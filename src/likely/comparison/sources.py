"""The rows that all classifiers are judged on, in the form that each of them reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.comparison.contestants import Contestant
from likely.errors import DataError, missing_columns
from likely.nets.images import as_images
from likely.table import Table, as_table, encode_column, encode_labels, labels_of


@dataclass(frozen=True, eq=False)
class Source:
    """A table without its labels, and these; `are_images` if rows have more than one dimension."""

    X: Any
    y: NDArray[Any]
    are_images: bool
    target: str | None = None

    @classmethod
    def of(cls, X: Any, y: Any) -> Source:
        """Read the labels, and refuse what no classifier could learn from."""
        images = as_images(X)
        if images is not None:
            labels = encode_labels(y)
            if len(labels) != len(images):
                raise DataError(f"There are {len(images)} images, but {len(labels)} labels.")
            return cls(images, labels.classes[labels.codes], True)
        table = as_table(X, allow_empty=False)
        target = y if isinstance(y, str) else None
        if target is not None and target not in table:
            raise missing_columns([target], table.names)
        labels = labels_of(y, table)
        if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "iloc"):
            X = table  # rows of it can be taken without knowing whose it is
        rows = X if target is None else without_column(X, table, target)
        return cls(rows, labels.classes[labels.codes], False, target)

    def rows_for(self, entrant: Contestant) -> Any:
        """The rows as the classifier reads them."""
        return _readable(self.X, entrant)

    def test_for(self, entrant: Contestant, cv: Any) -> Any:
        """A test set, if there is one, in the same form."""
        if not isinstance(cv, tuple) or len(cv) != 2:
            return cv
        X, y = cv
        if isinstance(y, str):
            table = as_table(X, allow_empty=False)
            labels = encode_column(table.cells(y))
            return _readable(without_column(X, table, y), entrant), labels.classes[labels.codes]
        return _readable(X, entrant), y


def without_column(X: Any, table: Table, name: str) -> Any:
    """The same table without one column, in the form in which it came where that is known."""
    if isinstance(X, Mapping):
        return {key: cells for key, cells in X.items() if key != name}
    if hasattr(X, "iloc"):
        return X.drop(columns=[name])
    names = [other for other in table.names if other != name]
    return Table(names, table.n_rows, lambda place: table.cells(names[place]), named=True)


def _readable(X: Any, entrant: Contestant) -> Any:
    images = as_images(X)
    if images is not None:
        return images if entrant.wants_images else images.reshape(len(images), -1)
    foreign = not type(entrant.classifier).__module__.startswith("likely.")
    return _frame(X) if isinstance(X, Table) and foreign else X


def _frame(table: Table) -> Any:
    """A frame for classifiers that do not know our tables."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for name in table.names:
        if table.storage(name) in ("float", "integer"):
            columns[name] = table.numbers(name)
        else:
            found = table.codes(name)
            cells = np.empty(len(found.levels) + 1, dtype=object)
            cells[:-1] = found.levels
            columns[name] = cells[found.codes]
    return pd.DataFrame(columns)
