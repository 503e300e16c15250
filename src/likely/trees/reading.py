"""A table for a grown tree: its tested columns, block by block, and what the tree says about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.errors import BadCell, SchemaError
from likely.numbers import INFINITE, Numbers
from likely.table import Table
from likely.threads import row_blocks, side_by_side
from likely.trees.cases import Read, read_codes
from likely.trees.kernels.descending import Flat, find_leaves, first_infinite, spread_rows, tally
from likely.trees.tree import Tree
from likely.trees.words import with_word_tests

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
Order = NDArray[np.int64]


def flat_of(tree: Tree) -> Flat:
    """The arrays of a tree in the order in which compiled loops want them."""
    numeric = np.array([feature.is_numeric for feature in tree.features], dtype=np.uint8)
    slot = np.where(numeric, np.cumsum(numeric) - 1, np.cumsum(1 - numeric) - 1).astype(np.int32)
    own, stand_ins = tree, tree.surrogates
    return Flat(
        own.column, own.threshold, own.first_child, own.n_children, own.values, own.branches, own.usual, numeric, slot,
        stand_ins.starts, stand_ins.column, stand_ins.threshold, stand_ins.low, stand_ins.high, stand_ins.values,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a table as a tree reads them; they stay where they are until a block is asked for."""

    tree: Tree
    numbers: Numbers
    codes: tuple[Ints, ...]
    n_rows: int
    n_jobs: int | None = None

    @classmethod
    def of(cls, tree: Tree, table: Table, n_jobs: int | None = None) -> Rows:
        """Find the columns of a tree in a table; categories that it never learned are gaps."""
        if table.sparse is not None:
            raise SchemaError("A tree does not read sparse matrices: pass a dense array (X.toarray()).")
        table = with_word_tests(table, tree.features, n_jobs)
        numeric = tuple(feature.name for feature in tree.features if feature.is_numeric)
        nominal = [feature for feature in tree.features if feature.levels is not None]
        codes = tuple(read_codes(table, feature.name, feature.levels or ()) for feature in nominal)
        return cls(tree, Numbers.of(table, numeric), codes, table.n_rows, n_jobs)

    @classmethod
    def stocked(cls, tree: Tree, columns: Sequence[Read], n_jobs: int | None = None) -> Rows:
        """Columns that were read before, in the order of the tree's features."""
        pairs = list(zip(tree.features, columns, strict=True))
        names = tuple(feature.name for feature in tree.features if feature.is_numeric)
        numeric = [np.asarray(column, dtype=np.float64) for feature, column in pairs if feature.is_numeric]
        codes = tuple(np.asarray(column, dtype=np.int32) for feature, column in pairs if not feature.is_numeric)
        n_rows = len(columns[0]) if columns else 0
        return cls(tree, Numbers(names, numeric), codes, n_rows, n_jobs)

    def block(self, rows: slice) -> tuple[Array, Ints]:
        """Numbers and codes of some rows; an infinite number is refused by its row and column."""
        numbers = self.numbers.rows(rows)
        place = first_infinite(numbers)
        if place >= 0:
            row, column = divmod(place, numbers.shape[1])
            bad = BadCell(row, column, float(numbers[row, column]), INFINITE)
            raise bad.named(self.numbers.columns, rows.start)
        codes = np.empty((len(numbers), len(self.codes)), dtype=np.int32)
        for place, column_codes in enumerate(self.codes):
            codes[:, place] = column_codes[rows]
        return numbers, codes

    def each(self, use: Callable[[slice, Array, Ints], None]) -> None:
        """Hand all blocks to `use`, side by side."""
        width = len(self.numbers.columns) + len(self.codes)

        def work(rows: slice) -> None:
            use(rows, *self.block(rows))

        for _ in side_by_side(work, row_blocks(self.n_rows, width), self.n_jobs):
            pass

    def leaves(self) -> Ints:
        """The leaf of each row; −1 for a row that a gap sends to several."""
        flat, out = flat_of(self.tree), np.empty(self.n_rows, dtype=np.int32)
        stand_ins = self.tree.missing == "surrogates"

        def use(rows: slice, numbers: Array, codes: Ints) -> None:
            find_leaves(flat, stand_ins, numbers, codes, out[rows])

        self.each(use)
        return out

    def posterior(self, shares: Array) -> Array:
        """P(class) of each row from that of every node."""
        flat, sizes, out = flat_of(self.tree), self.tree.sizes, np.empty((self.n_rows, shares.shape[1]))
        stand_ins = self.tree.missing == "surrogates"

        def use(rows: slice, numbers: Array, codes: Ints) -> None:
            leaves, there = np.empty(len(numbers), dtype=np.int32), out[rows]
            n_open = find_leaves(flat, stand_ins, numbers, codes, leaves)
            np.take(shares, leaves, axis=0, out=there, mode="wrap")
            if n_open:
                spread_rows(flat, sizes, numbers, codes, np.flatnonzero(leaves < 0), shares, there)

        self.each(use)
        return out

    def choose(self, shares: Array) -> NDArray[np.intp]:
        """The most probable class of each row; the first of equals."""
        flat, sizes, out = flat_of(self.tree), self.tree.sizes, np.empty(self.n_rows, dtype=np.intp)
        best, stand_ins = shares.argmax(axis=1), self.tree.missing == "surrogates"

        def use(rows: slice, numbers: Array, codes: Ints) -> None:
            leaves = np.empty(len(numbers), dtype=np.int32)
            n_open = find_leaves(flat, stand_ins, numbers, codes, leaves)
            np.take(best, leaves, out=out[rows], mode="wrap")
            if n_open:
                some, found = np.flatnonzero(leaves < 0), np.empty((len(numbers), shares.shape[1]))
                spread_rows(flat, sizes, numbers, codes, some, shares, found)
                out[rows][some] = found[some].argmax(axis=1)

        self.each(use)
        return out

    def counts(self, labels: Ints, weights: Array | None = None) -> Array:
        """Class weights of these rows in every node of the tree; gaps are shared out as the tree does it."""
        flat, sizes, stand_ins = flat_of(self.tree), self.tree.sizes, self.tree.missing == "surrogates"
        given = np.ones(self.n_rows) if weights is None else weights
        width = len(self.numbers.columns) + len(self.codes)

        def work(rows: slice) -> Array:
            out = np.zeros_like(self.tree.counts)
            tally(flat, stand_ins, sizes, *self.block(rows), labels[rows], given[rows], out)
            return out

        total = np.zeros_like(self.tree.counts)
        for part in side_by_side(work, row_blocks(self.n_rows, width), self.n_jobs):
            total += part
        return total
