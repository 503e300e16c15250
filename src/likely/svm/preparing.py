"""Raw rows made ready for a machine that knows only numbers: learned once, kept with the model, the same ever after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.errors import DataError
from likely.schema import Schema
from likely.svm.categories import CategoryPart
from likely.svm.measures import NumberPart, SparsePart
from likely.svm.products import Matrix
from likely.svm.words import TextPart
from likely.table import Table
from likely.text.recipe import Recipe

Array = NDArray[np.float64]
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
        recipes: Mapping[str, Recipe],
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
