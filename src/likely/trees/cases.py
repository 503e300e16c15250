"""The columns of a table as a tree reads them: numbers with NaN for a gap, codes with −1 for a gap."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import DataError, SchemaError
from likely.numbers import INFINITE
from likely.ordering import in_order
from likely.schema import Schema
from likely.table import Table, index_levels
from likely.trees.tree import Feature
from likely.trees.words import with_word_tests, word_feature

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
Read = Array | Ints


Telling = Callable[[str], Sequence[str]]
"""The words of a text column that a tree may ask for."""


def features_of(table: Table, schema: Schema, telling: Telling | None = None) -> tuple[Feature, ...]:
    """The columns that a tree may test, in the order of the table; a text is as many as it has telling words."""
    if table.sparse is not None:
        raise SchemaError("A tree does not read sparse matrices: pass a dense array (X.toarray()).")
    kinds, found = schema.kinds, list[Feature]()
    for name in schema.features:
        if kinds[name] == "numeric":
            found.append(Feature(name))
        elif kinds[name] == "nominal":
            found.append(Feature(name, in_order(table.codes(name).levels)))
        elif telling is None:
            raise _text_refused(name)
        else:
            found += [word_feature(name, word) for word in telling(name)]
    _refuse_like_names(found)
    return tuple(found)


def _text_refused(name: str) -> SchemaError:
    """A tree tests numbers and categories: a text is neither."""
    return SchemaError(
        f"Column {name!r} is free text, which a tree cannot test as it is: let it ask for the most telling words "
        f"(text_tokens=100), leave it out (schema={{{name!r}: 'ignored'}}), or call it nominal."
    )


def _refuse_like_names(features: Sequence[Feature]) -> None:
    taken = {feature.name for feature in features if feature.word is None}
    for feature in features:
        if feature.word is not None and feature.name in taken:
            raise SchemaError(
                f"There is a column {feature.name!r}, and a word in column {feature.column!r} would be called the "
                "same: rename one of them."
            )


def read_column(table: Table, feature: Feature) -> Read:
    """One column: finite numbers, or places among the feature's values; what is not among them is a gap."""
    if feature.levels is None:
        return read_numbers(table, feature.name)
    return read_codes(table, feature.name, feature.levels)


def read_numbers(table: Table, name: str) -> Array:
    """A numeric column, refused where it is infinite."""
    numbers = np.ascontiguousarray(table.numbers(name), dtype=np.float64)
    # The sum is finite unless some number is not, or is near to the largest there is: only then are all looked at.
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(numbers.sum())
    if suspicious and np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise DataError(f"Row {row} of column {name!r} holds {numbers[row]:g}, but {INFINITE}.")
    return numbers


def read_codes(table: Table, name: str, levels: Sequence[Hashable]) -> Ints:
    """A nominal column as places among known values."""
    column = table.codes(name)
    places = np.append(index_levels(column.levels, levels), -1).astype(np.int32)
    return np.ascontiguousarray(places[column.codes])


@dataclass(frozen=True, slots=True, eq=False)
class Stock:
    """All that a tree is grown from: columns as they are read, the class of each row, and what it weighs."""

    features: tuple[Feature, ...]
    columns: tuple[Read, ...]
    classes: NDArray[Any]
    labels: Ints
    weights: Array | None

    @classmethod
    def read(
        cls, table: Table, features: tuple[Feature, ...], classes: NDArray[Any], labels: Ints, weights: Array | None
    ) -> Stock:
        """The columns of a table, without the rows that weigh nothing."""
        asked = with_word_tests(table, features)
        columns = tuple(read_column(asked, feature) for feature in features)
        stock = cls(features, columns, classes, labels, weights)
        return stock if weights is None or weights.all() else stock.take(np.flatnonzero(weights))

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: NDArray[Any]) -> Stock:
        """Some rows, by number or by a mask."""
        weights = None if self.weights is None else self.weights[rows]
        columns = tuple(column[rows] for column in self.columns)
        return Stock(self.features, columns, self.classes, self.labels[rows], weights)

    def folds(self, n_folds: int, seed: int) -> Ints:
        """The fold of each row: every class is shuffled and dealt out, so that folds are alike."""
        shuffled = np.random.default_rng(seed).permutation(len(self))
        by_class = shuffled[np.argsort(self.labels[shuffled], kind="stable")]
        fold = np.empty(len(self), dtype=np.int32)
        fold[by_class] = np.arange(len(self)) % n_folds
        return fold
