"""What is looked up by codes of columns (one byte each), as steps that add it to the log joint of rows on a device."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from likely.arrays import AnyArray, Array, Index, Int32, Int64, UInt8
from likely.engines.gpu.counts import refuse_infinite
from likely.engines.gpu.device import DeviceArray
from likely.engines.gpu.lines import places_of_values
from likely.engines.gpu.scores import Finish, Scoring, Step
from likely.engines.gpu.steps import GEMM_CELLS
from likely.engines.gpu.table import DeviceTable


def codes_of_numbers(table: DeviceTable, column: str, cuts: Array, code_of_bin: UInt8, gap: int) -> DeviceArray:
    """The code of each number by the bin it lies in; one that lies at a cut belongs to the bin below it."""
    here, cells = table.device, table.column(column)
    xp = here.xp
    refuse_infinite(here, cells[:, None], (column,))
    place = xp.searchsorted(xp.asarray(cuts), cells.astype(np.float64), side="left")
    return xp.where(cells == cells, xp.asarray(code_of_bin)[place], np.uint8(gap))


def codes_of_values(
    table: DeviceTable, column: str, values: Sequence[Hashable], code_of_value: UInt8, gap: int, unseen: int
) -> DeviceArray:
    """The code of each cell by its place among some values."""
    lookup = np.concatenate([code_of_value, [gap, unseen]]).astype(np.uint8)
    return table.device.xp.asarray(lookup)[places_of_values(table, column, values)]


def table_step(
    codes: DeviceArray, terms: Sequence[tuple[int, ...]], begins: Int64, groups: UInt8, widths: Int32, tables: Array
) -> Step:
    """Tables of one to three columns each, as the kernel `add_code_tables` reads them; `codes` is columns × rows."""
    columns = np.full((len(terms), 3), -1, dtype=np.int32)
    for place, term in enumerate(terms):
        columns[place, : len(term)] = term
    return _step("add_code_tables", codes, (columns, begins, groups, widths, tables), (np.int32(len(terms)),))


def tree_step(codes: DeviceArray, columns: Int32, sides: UInt8, leaves: Array) -> Step:
    """Trees of as many questions each, as the kernel `add_code_trees` reads them."""
    return _step("add_code_trees", codes, (columns, sides, leaves), tuple(map(np.int32, columns.shape)))


def _step(kernel: str, codes: DeviceArray, tables: Sequence[AnyArray], tail: Sequence[object]) -> Step:
    """A kernel that adds what some tables say about codes."""
    n_columns, n_rows = codes.shape

    def add(scoring: Scoring, finish: Finish | None) -> DeviceArray:
        here = scoring.device
        told = [here.xp.asarray(np.ascontiguousarray(table)) for table in tables]
        rows = (codes, np.int64(n_rows), np.int32(n_columns))
        return scoring.add(kernel, (), lambda _: rows, told, finish, blocks=here.n_blocks, tail=tail)

    return Step(add, True)


def polynomial_step(
    codes: DeviceArray, columns: Index, values: Array, linear: Array, products: Array, pairs: tuple[Index, Index]
) -> Step:
    """Numbers by the codes of some columns (columns × codes), and what these and products of two of them add."""

    def add(scoring: Scoring, finish: Finish | None) -> DeviceArray:
        xp, joint = scoring.device.xp, scoring.joint
        left, right = (xp.asarray(side) for side in pairs)
        of_column, of_one, of_two = xp.asarray(values), xp.asarray(linear), xp.asarray(products)
        size, place = max(GEMM_CELLS // max(len(products), 1), 1), xp.arange(len(columns))
        chosen = codes[xp.asarray(columns)]
        for first in range(0, codes.shape[1], size):
            block = slice(first, first + size)
            z = of_column[place, chosen[:, block].T]
            joint[block] += z @ of_one + (z[:, left] * z[:, right]) @ of_two
        return joint

    return Step(add, False)
