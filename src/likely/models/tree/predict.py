"""A table for a grown tree: its tested columns, block by block, and what the tree says about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from likely.arrays import AnyArray, Array, Index, Int32, Int64, UInt8
from likely.errors import BadCell, SchemaError
from likely.jit import kernel
from likely.models.tree.data import ColumnValues, read_codes, with_word_tests
from likely.models.tree.tree import Tree
from likely.parallel import pipeline, row_blocks, run
from likely.table import Table
from likely.table.table import INFINITE, Numbers


def flatten(tree: Tree) -> Flat:
    """The arrays of a tree in the order in which compiled loops want them."""
    numeric = np.array([feature.is_numeric for feature in tree.features], dtype=np.uint8)
    slot = np.where(numeric, np.cumsum(numeric) - 1, np.cumsum(1 - numeric) - 1).astype(np.int32)
    own, surrogates = tree, tree.surrogates
    return Flat(
        own.column, own.threshold, own.first_child, own.n_children, own.values, own.branches, own.majority_branch,
        numeric, slot, surrogates.starts, surrogates.column, surrogates.threshold, surrogates.low, surrogates.high,
        surrogates.values,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class TreeRows:
    """The rows of a table as a tree reads them; they stay where they are until a block is asked for."""

    tree: Tree
    numbers: Numbers
    codes: tuple[Int32, ...]
    n_rows: int
    n_jobs: int | None = None

    @classmethod
    def of(cls, tree: Tree, table: Table, n_jobs: int | None = None) -> TreeRows:
        """Find the columns of a tree in a table; categories that it never learned are gaps."""
        if table.sparse is not None:
            raise SchemaError("A tree does not read sparse matrices: pass a dense array (X.toarray()).")
        table = with_word_tests(table, tree.features, n_jobs)
        numeric = tuple(feature.name for feature in tree.features if feature.is_numeric)
        nominal = [feature for feature in tree.features if feature.levels is not None]
        codes = tuple(read_codes(table, feature.name, feature.levels or ()) for feature in nominal)
        return cls(tree, Numbers.of(table, numeric), codes, table.n_rows, n_jobs)

    @classmethod
    def from_columns(cls, tree: Tree, columns: Sequence[ColumnValues], n_jobs: int | None = None) -> TreeRows:
        """Columns that were read before, in the order of the tree's features."""
        pairs = list(zip(tree.features, columns, strict=True))
        names = tuple(feature.name for feature in tree.features if feature.is_numeric)
        numeric = [np.asarray(column, dtype=np.float64) for feature, column in pairs if feature.is_numeric]
        codes = tuple(np.asarray(column, dtype=np.int32) for feature, column in pairs if not feature.is_numeric)
        n_rows = len(columns[0]) if columns else 0
        return cls(tree, Numbers(names, numeric), codes, n_rows, n_jobs)

    def block(self, rows: slice) -> tuple[Array, Int32]:
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

    def each(self, use: Callable[[slice, Array, Int32], None]) -> None:
        """Hand all blocks to `use`, side by side."""
        width = len(self.numbers.columns) + len(self.codes)

        def work(rows: slice) -> None:
            use(rows, *self.block(rows))

        run(work, row_blocks(self.n_rows, width), self.n_jobs)

    def leaves(self) -> Int32:
        """The leaf of each row; −1 for a row that a gap sends to several."""
        flat, out = flatten(self.tree), np.empty(self.n_rows, dtype=np.int32)
        by_surrogates = self.tree.missing == "surrogates"

        def use(rows: slice, numbers: Array, codes: Int32) -> None:
            find_leaves(flat, by_surrogates, numbers, codes, out[rows])

        self.each(use)
        return out

    def posterior(self, shares: Array) -> Array:
        """P(class) of each row from that of every node."""
        return self._from_leaves(shares, shares, lambda found: found)

    def choose(self, shares: Array) -> Index:
        """The most probable class of each row; the first of equals."""
        return self._from_leaves(shares, shares.argmax(axis=1), lambda found: found.argmax(axis=1))

    def _from_leaves(self, shares: Array, of_node: AnyArray, of_shares: Callable[[Array], AnyArray]) -> AnyArray:
        """What a row's leaf says; for a row in several leaves, what follows from all of their shares."""
        flat, sizes, by_surrogates = flatten(self.tree), self.tree.sizes, self.tree.missing == "surrogates"
        out = np.empty((self.n_rows, *of_node.shape[1:]), dtype=of_node.dtype)

        def use(rows: slice, numbers: Array, codes: Int32) -> None:
            leaves = np.empty(len(numbers), dtype=np.int32)
            n_open = find_leaves(flat, by_surrogates, numbers, codes, leaves)
            np.take(of_node, leaves, axis=0, out=out[rows], mode="wrap")
            if n_open:
                some, found = np.flatnonzero(leaves < 0), np.empty((len(numbers), shares.shape[1]))
                fractional_posteriors(flat, sizes, numbers, codes, some, shares, found)
                out[rows][some] = of_shares(found[some])

        self.each(use)
        return out

    def counts(self, labels: Int32, weights: Array | None = None) -> Array:
        """Class weights of these rows in every node of the tree; gaps are shared out as the tree does it."""
        flat, sizes, by_surrogates = flatten(self.tree), self.tree.sizes, self.tree.missing == "surrogates"
        given = np.ones(self.n_rows) if weights is None else weights
        width = len(self.numbers.columns) + len(self.codes)

        def work(rows: slice) -> Array:
            out = np.zeros_like(self.tree.counts)
            count_cases(flat, by_surrogates, sizes, *self.block(rows), labels[rows], given[rows], out)
            return out

        total = np.zeros_like(self.tree.counts)
        for _, part in pipeline(work, row_blocks(self.n_rows, width), self.n_jobs):
            total += part
        return total


# Rows down a tree: to their leaf, or, where a test meets a gap, to several with a part of their weight each.

NO_LEAF = -1


class Flat(NamedTuple):
    """A tree as compiled loops read it; `slot` is the place of a feature among those of its kind.

    The compiler keeps this name in its cache: under another one, files of an older version could not be read.
    """

    column: Int32
    threshold: Array
    first_child: Int32
    n_children: Int32
    values: Int64
    branches: Int32
    majority_branch: Int32
    numeric: UInt8
    slot: Int32
    surrogate_starts: Int64
    surrogate_column: Int32
    surrogate_threshold: Array
    surrogate_low: Int32
    surrogate_high: Int32
    surrogate_values: Int64


@kernel
def branch_at(flat: Flat, node: int, numbers: Array, codes: Int32, i: int) -> int:
    """The branch that a row takes, −1 where its value is a gap or leads nowhere."""
    column = flat.column[node]
    if flat.numeric[column]:
        x = numbers[i, flat.slot[column]]
        if x >= flat.threshold[node]:
            return 1
        return -1 if np.isnan(x) else 0
    code = codes[i, flat.slot[column]]
    return -1 if code < 0 else int(flat.branches[flat.values[node] + code])


@kernel
def surrogate_branch(flat: Flat, node: int, numbers: Array, codes: Int32, i: int) -> tuple[int, bool]:
    """The branch by the first surrogate that can tell, or the majority branch; and whether a surrogate could tell."""
    for k in range(flat.surrogate_starts[node], flat.surrogate_starts[node + 1]):
        column = flat.surrogate_column[k]
        if flat.numeric[column]:
            x = numbers[i, flat.slot[column]]
            if not np.isnan(x):
                return int(flat.surrogate_high[k] if x >= flat.surrogate_threshold[k] else flat.surrogate_low[k]), True
        else:
            code = codes[i, flat.slot[column]]
            if code >= 0:
                branch = flat.branches[flat.surrogate_values[k] + code]
                if branch >= 0:
                    return int(branch), True
    return int(flat.majority_branch[node]), False


@kernel
def find_leaves(flat: Flat, by_surrogates: bool, numbers: Array, codes: Int32, out: Int32) -> int:
    """The leaf of each row, −1 where a gap was met and there are no surrogates; returns how many are −1."""
    # As locals, and with the test written out: a call would touch the reference counts of all arrays at every node.
    column, threshold, first_child, values = flat.column, flat.threshold, flat.first_child, flat.values
    branches, numeric, slot = flat.branches, flat.numeric, flat.slot
    n_open = 0
    for i in range(len(out)):
        node = 0
        at = column[node]
        while at >= 0:
            if numeric[at]:
                x = numbers[i, slot[at]]
                branch = 1 if x >= threshold[node] else -1 if np.isnan(x) else 0
            else:
                code = codes[i, slot[at]]
                branch = -1 if code < 0 else branches[values[node] + code]
            if branch < 0:
                if not by_surrogates:
                    node = NO_LEAF
                    n_open += 1
                    break
                branch = surrogate_branch(flat, node, numbers, codes, i)[0]
            node = first_child[node] + branch
            at = column[node]
        out[i] = node
    return n_open


@kernel
def push_children(
    first: int, n_children: int, branch: int, weight: float, sizes: Array, pending: Int64, weights: Array, n: int
) -> int:
    """Put what comes next behind the n nodes that are pending: the branch, or all of them for a gap; how many are then.

    A gap is shared out as the training cases went.
    """
    if branch >= 0:
        pending[n], weights[n] = first + branch, weight
        return n + 1
    total = sizes[first : first + n_children].sum()
    for child in range(first + n_children - 1, first - 1, -1):
        if sizes[child] > 0.0:
            pending[n], weights[n] = child, weight * sizes[child] / total
            n += 1
    return n


@kernel
def fractional_posteriors(
    flat: Flat, sizes: Array, numbers: Array, codes: Int32, rows: Int64, shares: Array, out: Array
) -> None:
    """P(class) of rows that reach several leaves: each branch counts with its share of the training cases."""
    pending, weights = np.empty(len(flat.column), dtype=np.int64), np.empty(len(flat.column))
    for i in rows:
        out[i] = 0.0
        pending[0], weights[0], n = 0, 1.0, 1
        while n:
            n -= 1
            node, weight = pending[n], weights[n]
            if flat.column[node] < 0:
                for c in range(out.shape[1]):
                    out[i, c] += weight * shares[node, c]
                continue
            first, branch = flat.first_child[node], branch_at(flat, node, numbers, codes, i)
            before = n
            n = push_children(first, flat.n_children[node], branch, weight, sizes, pending, weights, n)
            if n == before:  # no branch has had a case
                out[i] += weight * shares[node]


@kernel
def count_cases(
    flat: Flat,
    by_surrogates: bool,
    sizes: Array,
    numbers: Array,
    codes: Int32,
    labels: Int32,
    given: Array,
    out: Array,
) -> None:
    """Class weights that rows leave in every node that they pass."""
    pending, weights = np.empty(len(flat.column), dtype=np.int64), np.empty(len(flat.column))
    for i in range(len(labels)):
        pending[0], weights[0], n = 0, given[i], 1
        while n:
            n -= 1
            node, weight = pending[n], weights[n]
            out[node, labels[i]] += weight
            if flat.column[node] < 0:
                continue
            first, branch = flat.first_child[node], branch_at(flat, node, numbers, codes, i)
            if branch < 0 and by_surrogates:
                branch = surrogate_branch(flat, node, numbers, codes, i)[0]
            n = push_children(first, flat.n_children[node], branch, weight, sizes, pending, weights, n)


@kernel
def first_infinite(numbers: Array) -> int:
    """The place of the first infinite cell in reading order, −1 if there is none."""
    for i in range(numbers.shape[0]):
        for j in range(numbers.shape[1]):
            if np.isinf(numbers[i, j]):
                return int(i * numbers.shape[1] + j)
    return -1


@kernel
def branches_of(
    flat: Flat, by_surrogates: bool, node: int, numbers: Array, codes: Int32, rows: Int64, out: Int32
) -> None:
    """The branch that each of some rows takes at one node, −1 where a gap sends it everywhere."""
    for k in range(len(rows)):
        out[k] = branch_at(flat, node, numbers, codes, rows[k])
        if out[k] < 0 and by_surrogates:
            out[k] = surrogate_branch(flat, node, numbers, codes, rows[k])[0]
