"""Evidence that is a weighted sum of counts: what the families for count matrices share, with their kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
import scipy

from likely.arrays import Array, Index, Int32, Int64, is_sparse
from likely.errors import BadCell
from likely.families.on_device import CountTerm
from likely.families.outcomes import BlockScorer
from likely.families.protocol import SQL, Columns, CountTable, Domain, Reads, Settings, SQLNode
from likely.jit import kernel
from likely.stats import FeatureCounts
from likely.stats.feature_counts import csr_arrays, rows_of, with_cells
from likely.stats.protocol import Matrix
from likely.table import Table
from likely.table.table import INFINITE, Numbers, counts_of


@dataclass(frozen=True, slots=True, eq=False)
class DenseWeights:
    """One line per column, one weight per class in it; `bias` goes to every row."""

    lines: Array
    bias: Array

    def add(self, rows: Matrix, joint: Array) -> None:
        if self.bias.any():
            joint += self.bias
        if is_sparse(rows):
            add_sparse_lines(*csr_arrays(_within_reach(rows)), self.lines, joint)
            return
        with np.errstate(invalid="ignore", over="ignore"):
            evidence = rows @ self.lines
        if not np.isfinite(evidence).all():
            add_dense_lines(_within_reach(rows), self.lines, joint)
        else:
            joint += evidence

    def only(self, column: int) -> DenseWeights:
        return DenseWeights(self.lines[[column]], np.zeros_like(self.bias))


@dataclass(frozen=True, slots=True, eq=False)
class SparseWeights:
    """Weights that are `per_class[c] + scale[c] · per_column[j]` wherever a class never met a column.

    `lines` (columns × classes) holds what must be added where it did. With fifty thousand classes or a
    million words a full table of weights would not fit.
    """

    lines: scipy.sparse.csr_array
    bias: Array
    per_class: Array
    scale: Array
    per_column: Array

    def add(self, rows: Matrix, joint: Array) -> None:
        held = _without_gaps(_within_reach(scipy.sparse.csr_array(rows)))
        total, shift = np.asarray(held.sum(axis=1), dtype=np.float64).ravel(), held @ self.per_column
        add_unseen(total, shift, self.bias, self.per_class, self.scale, joint)
        add_sparse_lines_sparsely(*csr_arrays(held), *csr_arrays(self.lines), joint)

    def only(self, column: int) -> DenseWeights:
        line = self.lines[[column]].toarray() + self.per_class + self.scale * self.per_column[column]
        return DenseWeights(line, np.zeros_like(self.bias))


Weights = DenseWeights | SparseWeights


def _within_reach(rows: Matrix) -> Matrix:
    """The rows, those with a cell beyond `FAR` divided by a power of two: there is no doubt about them anyway."""
    sparse = is_sparse(rows)
    cells = rows.data if sparse else rows
    # Two reductions take no room; the third question, which does, is asked only where there are gaps (NaN).
    if not cells.size or (cells.max() <= FAR and cells.min() >= -FAR) or not (np.abs(cells) > FAR).any():
        return rows
    if np.isinf(cells).any():
        found = (rows if sparse else scipy.sparse.csr_array(rows)).tocoo()
        place = int(np.flatnonzero(np.isinf(found.data))[0])
        raise BadCell(int(found.row[place]), int(found.col[place]), float(found.data[place]), INFINITE)
    if sparse:
        which = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        peak = np.zeros(rows.shape[0])
        np.maximum.at(peak, which, np.nan_to_num(np.abs(rows.data)))
    else:
        peak = np.nanmax(np.abs(rows), axis=1, initial=0.0)
    steps = np.minimum(np.frexp(FAR)[1] - np.frexp(peak)[1], 0)
    if not sparse:
        return np.ldexp(rows, steps[:, None])
    return with_cells(rows, np.ldexp(rows.data, steps[which]))


def _without_gaps(rows: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    return with_cells(rows, np.nan_to_num(rows.data)) if np.isnan(rows.data).any() else rows


FAR = np.float64(1e290)
"""Counts up to this, times a logarithm and over all columns, are still floats."""

PIECE = 1 << 20
"""Cells of a sparse table that are worked on at a time."""


def lines_where_seen(
    counts: scipy.sparse.csr_array, correct: Callable[[Int32, Index, Array], Array]
) -> scipy.sparse.csr_array:
    """Lines (columns × classes) with `correct(classes, columns, counts)` for the cells that are not zero.

    It is asked for a piece of them at a time: arrays as large as the table that come and go would take
    more room than the table itself.
    """
    lines = scipy.sparse.csr_array(counts.T.tocsr())
    cuts = np.searchsorted(lines.indptr, np.arange(PIECE, lines.nnz, PIECE))
    for first, last in pairwise(np.unique([0, *cuts, lines.shape[0]]).tolist()):
        held = slice(lines.indptr[first], lines.indptr[last])
        columns = np.repeat(np.arange(first, last), np.diff(lines.indptr[first : last + 1]))
        lines.data[held] = correct(lines.indices[held], columns, lines.data[held])
    return lines


RowReader = Callable[[slice], Matrix]


def read_counts(table: Table, columns: Columns) -> RowReader:
    """Blocks of count columns, sparse where the table is."""
    source = counts_of(table, columns)
    return source.rows if isinstance(source, Numbers) else partial(rows_of, source)


def read_sparse_counts(table: Table, columns: Columns) -> RowReader:
    """The same, always as sparse rows without gaps."""
    read = read_counts(table, columns)
    return lambda block: _without_gaps(scipy.sparse.csr_array(read(block)))


def leave_own_out(
    read: RowReader, add: Callable[[Matrix, Array], None], y: Int32, own: Callable[[slice, Matrix], Array]
) -> BlockScorer:
    """What `add` adds to blocks of rows, but for each row's own class, which knows less without it, what `own` says."""

    def score(block: slice, joint: Array) -> None:
        rows, evidence = read(block), np.zeros_like(joint)
        add(rows, evidence)
        evidence[np.arange(len(joint)), y[block]] = own(block, rows)
        joint += evidence

    return score


def own_counts(counts: Matrix, rows: scipy.sparse.csr_array, y: Int32) -> Array:
    """For every cell of the rows the count of its column in the row's own class."""
    if not is_sparse(counts):
        return np.asarray(counts[np.repeat(y, np.diff(rows.indptr)), rows.indices], dtype=np.float64)
    found = np.empty(rows.nnz)
    starts, columns, _ = csr_arrays(rows)
    counts_of_own(starts, columns, y, *csr_arrays(scipy.sparse.csr_array(counts).sorted_indices()), found)
    return found


LINES_AT_ONCE = 4096
"""Lines of a wide table of weights that are written out at a time."""


def lines_of(weights: Weights) -> Iterator[tuple[int, Array]]:
    """Place and weights (one per class) of every column; a wide table is written out block by block."""
    if not isinstance(weights, SparseWeights):
        yield from enumerate(weights.lines)
        return
    n_columns = weights.lines.shape[0]
    for start in range(0, n_columns, LINES_AT_ONCE):
        block = slice(start, min(start + LINES_AT_ONCE, n_columns))
        dense = weights.lines[block].toarray() + weights.per_class
        dense += weights.scale * weights.per_column[block, None]
        yield from enumerate(dense, start)


@dataclass(frozen=True, slots=True, eq=False)
class WeighedCounts:
    """A weight per column and class: the evidence of a row is their sum over its occurrences."""

    statistic: ClassVar[str] = "counts"
    reads: ClassVar[Reads] = "numeric"
    domain: ClassVar[Domain] = Domain.REAL

    columns: Columns
    weights: Weights

    def bind(self, table: Table) -> BlockScorer:
        read = read_counts(table, self.columns)

        def score(block: slice, joint: Array) -> None:
            try:
                self.weights.add(read(block), joint)
            except BadCell as bad:
                raise bad.named(self.columns, block.start) from None

        return score

    def only(self, column: str) -> Self:
        return self.at(self.columns.index(column))

    def at(self, place: int) -> Self:
        """The same of one column by its place: to find a name among a million takes its time."""
        return type(self)((self.columns[place],), self.weights.only(place))

    @classmethod
    def smoothed_counts(
        cls, columns: Columns, seen: FeatureCounts, weights: Array, settings: Settings
    ) -> list[CountTable]:
        return [(columns, seen.dense())]

    def device_terms(self) -> list[CountTerm] | None:
        """None where most words of a class were never seen, so that their weights are not kept one by one."""
        weights = self.weights
        return [CountTerm(self.columns, weights.lines, weights.bias)] if isinstance(weights, DenseWeights) else None

    def sql_terms(self, sql: SQL, place: int) -> Iterator[SQLNode]:
        """Count × weight of every column; nothing where there is no count."""
        for column, line in lines_of(self.weights):
            name = self.columns[column]
            if not line.any():
                continue
            nothing = sql.either(sql.missing(name), sql.equal(sql.real(name), sql.number(0.0)))
            yield sql.unless(nothing, sql.times(sql.real(name), sql.number(line[place])))


# Compiled loops.

LARGE, SMALL = 1e200, 1e-200
"""A product of shares is kept between these, and its logarithm taken once it leaves them: logarithms are slow."""

RARE = 1e-24
"""Of smaller shares the logarithm is taken at once: a few of them might leave the floats."""

MOST_FACTORS = 4
"""Up to this power a share is multiplied into the product; beyond, its logarithm is multiplied instead."""


@kernel
def log_power(share: float, power: float, product: float) -> tuple[float, float]:
    """Multiply share^power into a product: what it is now, and the logarithm that had to be taken out of it."""
    if share < RARE:
        return product, power * np.log(share)
    if power == 1.0:
        product *= share
    elif power == np.floor(power) and power <= MOST_FACTORS:
        for _ in range(int(power)):
            product *= share
    else:
        return product, power * np.log(share)
    if SMALL < product < LARGE:
        return product, 0.0
    return 1.0, np.log(product)


@kernel
def counts_of_own(
    starts: Int64, columns: Int32, y: Int32, table_starts: Int64, table_columns: Int32, table_cells: Array, out: Array
) -> None:
    """The count that each cell's column has in the row's own class, from a sparse table of classes × columns."""
    for i in range(y.shape[0]):
        first, last = table_starts[y[i]], table_starts[y[i] + 1]
        line = table_columns[first:last]
        for k in range(starts[i], starts[i + 1]):
            place = np.searchsorted(line, columns[k])
            found = place < line.shape[0] and line[place] == columns[k]
            out[k] = table_cells[first + place] if found else 0.0


@kernel(interpretable=True)
def add_dense_lines(rows: Array, lines: Array, joint: Array) -> None:
    """Add cell × line for every cell that is neither zero nor a gap: 0 · −inf is no evidence."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            cell = rows[i, j]
            if cell != 0.0 and not np.isnan(cell):
                for c in range(joint.shape[1]):
                    joint[i, c] += cell * lines[j, c]


@kernel
def _add_four_by_four(columns: Int32, cells: Array, lines: Array, joint: Array) -> None:
    """Add cell × line for the cells of one row, four of them at a time."""
    fours = len(cells) // 4
    for four in range(fours):
        k = 4 * four
        a, b, c, d = cells[k], cells[k + 1], cells[k + 2], cells[k + 3]
        line_a, line_b = lines[columns[k]], lines[columns[k + 1]]
        line_c, line_d = lines[columns[k + 2]], lines[columns[k + 3]]
        for m in range(joint.shape[0]):
            joint[m] += (a * line_a[m] + b * line_b[m]) + (c * line_c[m] + d * line_d[m])
    for k in range(4 * fours, len(cells)):
        cell, line = cells[k], lines[columns[k]]
        for m in range(joint.shape[0]):
            joint[m] += cell * line[m]


@kernel(interpretable=True)
def add_sparse_lines(starts: Int64, columns: Int32, cells: Array, lines: Array, joint: Array) -> None:
    """The same for sparse rows. A row that comes to NaN, by a gap or by 0 · −inf, is done again with care."""
    before = np.empty(joint.shape[1])
    for i in range(joint.shape[0]):
        for c in range(len(before)):
            before[c] = joint[i, c]
        own = slice(starts[i], starts[i + 1])
        _add_four_by_four(columns[own], cells[own], lines, joint[i])
        if not np.isnan(joint[i].sum()):
            continue
        for c in range(len(before)):
            joint[i, c] = before[c]
        for k in range(starts[i], starts[i + 1]):
            cell = cells[k]
            if cell != 0.0 and not np.isnan(cell):
                line = lines[columns[k]]
                for c in range(joint.shape[1]):
                    joint[i, c] += cell * line[c]


@kernel(interpretable=True)
def add_unseen(total: Array, shift: Array, bias: Array, per_class: Array, scale: Array, joint: Array) -> None:
    """What rows of so many occurrences come to in classes that have met none of their columns."""
    for i in range(joint.shape[0]):
        for c in range(joint.shape[1]):
            joint[i, c] += bias[c] + total[i] * per_class[c] + shift[i] * scale[c]


@kernel(interpretable=True)
def add_sparse_lines_sparsely(
    starts: Int64, columns: Int32, cells: Array, line_starts: Int64, line_classes: Int32, line_cells: Array,
    joint: Array,
) -> None:  # fmt: skip
    """The same where the lines are sparse, too: only classes that know a column hear of it.

    A line that has all classes, as those of frequent words do, is taken as it stands.
    """
    for i in range(joint.shape[0]):
        total = joint[i]
        for k in range(starts[i], starts[i + 1]):
            cell, own = cells[k], slice(line_starts[columns[k]], line_starts[columns[k] + 1])
            classes, line = line_classes[own], line_cells[own]
            if len(line) == total.shape[0]:
                for c in range(total.shape[0]):
                    total[c] += cell * line[c]
            else:
                for entry in range(len(line)):
                    total[np.uint32(classes[entry])] += cell * line[entry]  # unsigned: never counted from the end
