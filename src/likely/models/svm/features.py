"""Raw rows made ready for a machine that knows only numbers: learned once, kept with the model."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from likely.arrays import Array
from likely.errors import DataError
from likely.models.svm.inner_products import Matrix
from likely.models.svm.numeric_features import NumberPart, SparsePart
from likely.table import Table, index_levels
from likely.table.labels import ordered_labels
from likely.table.levels import level_map, written
from likely.table.schema import Schema
from likely.text.class_counts import Rows, count_rows
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words


@dataclass(frozen=True, eq=False)
class CategoryPart:
    """One-hot cells; a value never seen has none."""

    column: str
    levels: tuple[Hashable, ...]
    holed: bool

    @classmethod
    def of(cls, table: Table, name: str) -> CategoryPart:
        found = table.codes(name)
        return cls(name, ordered_labels(found.levels), bool((found.codes < 0).any()))

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def width(self) -> int:
        return len(self.levels) + self.holed

    @property
    def filled(self) -> float:
        return 1.0

    @property
    def features(self) -> list[tuple[str, str]]:
        names = [f"{self.column} = {written(level)}" for level in self.levels]
        return [(name, self.column) for name in [*names, *([f"{self.column} (gap)"] if self.holed else [])]]

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return level_map(self.levels)

    def rows(self, table: Table, n_jobs: int | None = None) -> Matrix:
        found = table.codes(self.column)
        places = np.append(index_levels(found.levels, self._places), len(self.levels) if self.holed else -1)
        place = places[found.codes]
        hit = place >= 0
        starts = np.concatenate([[0], np.cumsum(hit)])
        return sparse.csr_array((np.ones(int(hit.sum())), place[hit], starts), shape=(len(place), self.width))


# A column of texts: how often each word stands there, damped, weighed by its rarity, every text of length one.


@dataclass(frozen=True, eq=False)
class TextPart:
    """(1 + ln count) · rarity of each word, divided by the length of the row; rarity is ln((1 + n)/(1 + texts)) + 1."""

    column: str
    recipe: Tokenizer
    words: Words
    rarity: Array

    @classmethod
    def of(cls, table: Table, name: str, recipe: Tokenizer, n_jobs: int | None) -> TextPart:
        counted = count_rows(table.strings(name), recipe, n_jobs=n_jobs)
        texts = np.bincount(counted.columns, minlength=len(counted.words))
        rarity = np.log((1.0 + table.n_rows) / (1.0 + texts)) + 1.0
        return cls(name, recipe, counted.words, rarity)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def width(self) -> int:
        return len(self.words)

    @property
    def filled(self) -> float:
        return 0.0

    @property
    def features(self) -> list[tuple[str, str]]:
        return [(f"{self.column}: {word}", self.column) for word in self.words.to_list()]

    def rows(self, table: Table, n_jobs: int | None = None) -> Matrix:
        return self._weighed(count_rows(table.strings(self.column), self.recipe, words=self.words, n_jobs=n_jobs))

    def _weighed(self, counted: Rows) -> Any:
        cells = (1.0 + np.log(counted.counts)) * self.rarity[counted.columns]
        starts = counted.starts
        lengths = np.sqrt(np.add.reduceat(np.append(cells**2, 0.0), np.minimum(starts[:-1], len(cells))))
        per_row = np.diff(starts)
        lengths[(per_row == 0) | ~(lengths > 0.0)] = 1.0
        cells /= np.repeat(lengths, per_row)
        return sparse.csr_array((cells, counted.columns.astype(np.int64), starts), shape=(len(per_row), self.width))


# Raw rows made ready for a machine that knows only numbers: learned once, kept with the model, the same ever after.

Part = NumberPart | SparsePart | CategoryPart | TextPart

WIDE = 100
SPARSE_SHARE = 0.2
"""More features than this, of which a row has less than this share, are kept sparse."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One number of a prepared row: what it is called, and which column of the table it comes from."""

    name: str
    column: str


@dataclass(frozen=True)
class Preparation:
    """Numbers standardised, categories one-hot, gaps filled and marked, texts as tf-idf; in this order."""

    parts: tuple[Part, ...]

    @classmethod
    def of(
        cls,
        table: Table,
        schema: Schema,
        scale: bool,
        recipes: Mapping[str, Tokenizer],
        weight: Array | None = None,
        n_jobs: int | None = None,
    ) -> Preparation:
        """Look at the rows that are to be learned."""
        if table.sparse is not None:
            return cls((SparsePart.of(table, schema.features, scale),))
        parts: list[Part] = []
        if schema.numeric:
            parts.append(NumberPart.of(table, schema.numeric, scale, weight))
        parts += [CategoryPart.of(table, name) for name in schema.nominal]
        parts += [TextPart.of(table, name, recipes[name], n_jobs) for name in schema.text]
        if not sum(part.width for part in parts):
            raise DataError("No column is left to learn from: all are ignored or empty.")
        return cls(tuple(parts))

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """What each number of a prepared row is."""
        return tuple(Feature(name, column) for part in self.parts for name, column in part.features)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that are made use of."""
        return tuple(name for part in self.parts for name in part.columns)

    @property
    def width(self) -> int:
        """How many numbers a prepared row has."""
        return sum(part.width for part in self.parts)

    @property
    def is_sparse(self) -> bool:
        """Whether prepared rows are kept sparse: with texts, and with many categories."""
        if any(isinstance(part, TextPart | SparsePart) for part in self.parts):
            return True
        filled = sum(part.filled for part in self.parts)
        return self.width > WIDE and filled < SPARSE_SHARE * self.width

    def rows(self, table: Table, n_jobs: int | None = None) -> Matrix:
        """The rows of a table as numbers, all of them finite."""
        blocks: list[Any] = [part.rows(table, n_jobs) for part in self.parts]
        if self.is_sparse:
            return sparse.csr_array(sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr"))
        dense = [block.toarray() if sparse.issparse(block) else block for block in blocks]
        return np.ascontiguousarray(dense[0] if len(dense) == 1 else np.hstack(dense))
