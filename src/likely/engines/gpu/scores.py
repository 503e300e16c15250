"""Log joints and posteriors of rows on a device, from what settled families say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

import numpy as np

from likely.arrays import AnyArray, Array
from likely.engines.gpu.counts import refuse_infinite
from likely.engines.gpu.device import C_TYPES, DeviceArray, address, c_type
from likely.engines.gpu.table import DeviceTable, host_numbers
from likely.errors import DataError, SettingsError
from likely.families import FittedFamily
from likely.families.on_device import (
    BellTerm,
    CountTerm,
    DeviceTerm,
    IntervalTerm,
    ScoresOnDevice,
    ValueTerm,
    WhitenedTerm,
)
from likely.numerics import log_of

MOST_CLASSES = 16
"""Classes whose scores one thread keeps at once."""

ROWS_OF_THREAD = 2
"""Rows that a thread scores at once, as `add_bells` has it."""

COPIED_ROWS = 1 << 22
"""Rows that are laid side by side at a time, where they are not."""

GEMM_CELLS = 1 << 26
MOST_RANGE = 1 << 16
FETCHED_ROWS = 1 << 20

Finish = Literal["proba", "log_proba", "choice"]
FINISH: dict[Finish, int] = {"proba": 1, "log_proba": 2, "choice": 3}


def terms_of(beliefs: Sequence[FittedFamily]) -> list[DeviceTerm]:
    """What these families add on a device."""
    found: list[DeviceTerm] = []
    for belief in beliefs:
        terms = belief.device_terms() if isinstance(belief, ScoresOnDevice) else None
        if terms is None:
            raise SettingsError(
                f"The family {belief.name!r} (of {belief.columns[0]!r}) is not scored on a GPU: bring the rows to the "
                "host, for instance by .get() or .cpu()."
            )
        found += terms
    return found


@dataclass(frozen=True, eq=False)
class DeviceLogJoint:
    """log P(class, row) of rows on a device; what comes out lies there, too, in the library of the rows."""

    table: DeviceTable
    prior: Array
    start: Array
    terms: Sequence[DeviceTerm]
    dtype: np.dtype[np.floating] | None = None
    gaps: bool = True

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    def array(self) -> Any:
        """All of it, rows × classes."""
        return self._given_back(self._joint())

    def posterior(self, *, in_logs: bool = False) -> Any:
        """P(class | row), or its logarithm."""
        return self._given_back(self._finished("log_proba" if in_logs else "proba"))

    def choose(self) -> DeviceArray:
        """Position of the most probable class of every row."""
        return self._finished("choice")

    def labels(self, classes: AnyArray) -> Any:
        """The most probable class of every row: on the device for numbers, on the host for other labels."""
        chosen = self.choose()
        if classes.dtype.kind in "iufb":
            return self._given_back(self.table.device.xp.asarray(classes)[chosen])
        return np.asarray(classes[self.table.device.fetch(chosen)])

    def each_block(self, use: Callable[[slice, Array], None]) -> None:
        """Hand the log joint of every block of rows to `use`, on the host."""
        joint = self._joint()
        for first in range(0, self.n_rows, FETCHED_ROWS):
            block = slice(first, min(first + FETCHED_ROWS, self.n_rows))
            use(block, host_numbers(self.table.device, joint[block]))

    def _given_back(self, array: DeviceArray) -> Any:
        return self.table.device.give_back(array, self.table.given)

    def _joint(self) -> DeviceArray:
        scoring = _Scoring(self.table, self.start, self.prior, gaps=self.gaps)
        for add in _steps(self.table, self.terms):
            add(scoring, None)
        return scoring.joint

    def _finished(self, finish: Finish) -> DeviceArray:
        """Add up and finish; the last columns finish in one go if all classes fit into a thread."""
        scoring = _Scoring(self.table, self.start, self.prior, self.dtype, self.gaps)
        steps = _steps(self.table, self.terms)
        for place, add in enumerate(steps):
            if place == len(steps) - 1 and len(self.start) <= MOST_CLASSES and add.finishes:
                return add(scoring, finish)
            add(scoring, None)
        return scoring.finished(finish)


class _Scoring:
    """The log joint while it is added up; it has no memory before somebody writes to it."""

    def __init__(self, table: DeviceTable, start: Array, prior: Array, dtype: Any = None, gaps: bool = True) -> None:
        xp = table.device.xp
        self.table, self.device, self.n_classes = table, table.device, len(start)
        self.start, self.prior = xp.asarray(start), xp.asarray(prior)
        self.dtype, self.gaps = np.dtype(np.float64 if dtype is None else dtype), gaps
        self._joint: DeviceArray | None = None

    @property
    def joint(self) -> DeviceArray:
        """Rows × classes; those of the prior if nothing was added yet."""
        if self._joint is None:
            xp = self.device.xp
            self._joint = xp.empty((self.table.n_rows, self.n_classes), dtype=np.float64)
            self._joint[:] = self.start
        return self._joint

    def out(self, finish: Finish) -> DeviceArray:
        """Room for what comes out."""
        xp, n_rows = self.device.xp, self.table.n_rows
        if finish == "choice":
            return xp.empty(n_rows, dtype=np.int32)
        return xp.empty((n_rows, self.n_classes), dtype=self.dtype)

    def finished(self, finish: Finish) -> DeviceArray:
        """The joint, finished by itself."""
        out = self.out(finish)
        told = (
            self.joint,
            np.int64(self.table.n_rows),
            np.int32(self.n_classes),
            self.prior,
            out,
            np.int32(FINISH[finish]),
        )
        self.device.launch("finish_scores", (c_type(out),), (self.device.n_blocks,), 0, told)
        return out

    def add(
        self, kernel: str, types: Sequence[str], rows: Callable[[slice], Sequence[object]], tables: Sequence[object],
        finish: Finish | None, *, blocks: int, threads: int = 0, shared: int = 0, tail: Sequence[object] = (),
        size: int = 0, last_types: Sequence[str] = (),
    ) -> DeviceArray:  # fmt: skip
        """Start a kernel that adds terms, for some classes and `size` rows at a time; `rows` are what it reads."""
        n_rows, n, fresh = self.table.n_rows, self.n_classes, self._joint is None
        out = None if finish is None else self.out(finish)
        if finish is None and fresh:
            self._joint = self.device.xp.empty((n_rows, n), dtype=np.float64)
        some = min(n, MOST_CLASSES)
        of_out = "double" if out is None else c_type(out)
        for begin in range(0, n_rows, size or max(n_rows, 1)):
            block = slice(begin, min(begin + size, n_rows) if size else n_rows)
            read = rows(block)
            written = [None if array is None else array[block] for array in (self._joint, out)]
            for first in range(0, n, some):
                told = (
                    *read, np.int32(n), np.int32(first), *tables, self.start, self.prior, *written,
                    np.int32(fresh), np.int32(0 if finish is None else FINISH[finish]), *tail,
                )  # fmt: skip
                names = (*types, str(some), of_out, *last_types)
                self.device.launch(kernel, names, (blocks,), shared, told, threads=threads)
        return out


@dataclass(frozen=True)
class _Step:
    """Terms that are added together; `finishes` if posteriors may be made in the same go."""

    run: Callable[[_Scoring, Finish | None], DeviceArray]
    finishes: bool

    def __call__(self, scoring: _Scoring, finish: Finish | None) -> DeviceArray:
        return self.run(scoring, finish)


def _steps(table: DeviceTable, terms: Sequence[DeviceTerm]) -> list[_Step]:
    """Terms of one kind are one step; those that can finish a posterior come last."""
    steps = [_Step(_product(term), False) for term in terms if isinstance(term, WhitenedTerm)]
    counted = [term for term in terms if isinstance(term, CountTerm)]
    if table.sparse is None:
        steps += [_Step(_product(term), False) for term in counted]
    else:
        steps += [_Step(_sparse_counts(term), True) for term in counted]
    looked_up = [term for term in terms if isinstance(term, ValueTerm | IntervalTerm)]
    bells = [term for term in terms if isinstance(term, BellTerm)]
    steps += [_Step(_looked_up(looked_up), True)] if looked_up else []
    return [*steps, _Step(_bells(bells), True)] if bells else steps


def _bells(terms: Sequence[BellTerm]) -> Callable[[_Scoring, Finish | None], DeviceArray]:
    """Bell curves, as many columns in one pass as a multiprocessor has room for."""

    def add(scoring: _Scoring, finish: Finish | None) -> DeviceArray:
        here = scoring.device
        columns = tuple(name for term in terms for name in term.columns)
        cells, odd = scoring.table.block(columns), here.xp.zeros(2, dtype=np.int32)
        mean, precision, heights = (
            np.concatenate([getattr(term, part) for term in terms], axis=1).T
            for part in ("mean", "precision", "height")
        )
        bells = np.stack([mean, precision * np.sqrt(0.5)], axis=2)
        out, width = None, _width_of_bells(scoring, cells)
        for first in range(0, len(columns), width):
            some = slice(first, first + width)
            last = finish if first + width >= len(columns) else None
            out = _some_bells(scoring, cells[:, some], bells[some], heights[some], last, odd)
        infinite, missing = here.fetch(odd).tolist()
        if infinite:
            refuse_infinite(here, cells, columns)
        if missing and not scoring.gaps:
            raise DataError("Input X contains NaN: this classifier has no use for missing values.")
        return out

    return add


def _width_of_bells(scoring: _Scoring, cells: DeviceArray) -> int:
    """Columns that are scored at once: all, if two blocks have room for them, else as many as leave room for four."""
    here, n_columns = scoring.device, cells.shape[1]
    threads = here.threads // 2
    column_bytes = ROWS_OF_THREAD * threads * _cell_bytes(cells) + 16 * min(scoring.n_classes, MOST_CLASSES)
    padding = ROWS_OF_THREAD * threads * 16 + 1024
    if n_columns * column_bytes + padding <= here.shared_bytes // 2:
        return n_columns
    most = max((here.shared_bytes // 4 - padding) // column_bytes // 4 * 4, 4)
    n_slices = ceil(n_columns / most)
    return 4 * ceil(n_columns / n_slices / 4)


def _cell_bytes(cells: DeviceArray) -> int:
    return 4 if str(cells.dtype) == "float32" else 8


def _some_bells(
    scoring: _Scoring, cells: DeviceArray, bells: Array, heights: Array, finish: Finish | None, odd: DeviceArray
) -> DeviceArray:
    """Bell curves of some columns. Rows that do not lie side by side are laid so, a few at a time."""
    here, n_columns, size = scoring.device, cells.shape[1], _cell_bytes(cells)
    xp, threads, row_bytes = here.xp, here.threads // 2, n_columns * size
    dtype = np.dtype(np.float32 if size == 4 else np.float64)
    at_once = next(n for n in (16, 8, 4) if row_bytes % n == 0)
    pitch = (row_bytes // at_once | 1) * at_once // size
    lies_well = str(cells.dtype) == dtype.name and cells.strides[1] == size and cells.strides[0] >= row_bytes
    row_step = cells.strides[0] // size if lies_well else n_columns
    begin = address(cells) if lies_well else 0
    unit = next(n for n in (16, 8, 4) if all(k % n == 0 for k in (begin, row_step * size, row_bytes, pitch * size)))
    if pitch == row_step == n_columns and begin % 16 == 0:
        unit = 0  # many rows are copied as one

    def rows(block: slice) -> Sequence[object]:
        some = cells[block] if lies_well else xp.ascontiguousarray(cells[block], dtype=dtype)
        return some, np.int64(row_step), np.int64(block.stop - block.start), np.int32(n_columns)

    told = [xp.asarray(np.ascontiguousarray(part)) for part in (bells, np.vstack([heights, heights.sum(axis=0)]))]
    room = 16 * n_columns * min(scoring.n_classes, MOST_CLASSES) + ROWS_OF_THREAD * threads * pitch * size
    return scoring.add(
        "add_bells", (C_TYPES[dtype.name],), rows, told, finish, last_types=(str(at_once // size),),
        blocks=here.n_blocks, threads=threads, shared=room, size=0 if lies_well else COPIED_ROWS,
        tail=(np.int32(pitch), np.int32(unit), odd),
    )  # fmt: skip


def _layout(cells: DeviceArray) -> tuple[object, ...]:
    return cells, *(np.int64(step // cells.itemsize) for step in cells.strides)


def _looked_up(terms: Sequence[ValueTerm | IntervalTerm]) -> Callable[[_Scoring, Finish | None], DeviceArray]:
    """Lines of tables. Whole numbers are looked up as they are; other columns become places of lines first."""

    def add(scoring: _Scoring, finish: Finish | None) -> DeviceArray:
        here, table = scoring.device, scoring.table
        plain = [term for term in terms if isinstance(term, ValueTerm) and _is_plain(table, term)]
        if len(plain) == len(terms) and table.matrix is not None:
            cells, tables = table.block([term.columns[0] for term in terms]), [_plain_lines(term) for term in plain]
        else:
            cells = here.xp.stack([_places(table, term) for term in terms], axis=1)
            tables = [(0, _all_lines(term)) for term in terms]
        sizes = np.array([len(lines) - 1 for _, lines in tables], dtype=np.int64)
        begins = np.concatenate([[0], np.cumsum(sizes + 1)[:-1]]).astype(np.int64)
        least = np.array([low for low, _ in tables], dtype=np.int64)
        lines = np.concatenate([lines for _, lines in tables])
        told = [here.xp.asarray(np.ascontiguousarray(part)) for part in (begins, least, sizes, lines)]
        rows = (*_layout(cells), np.int64(table.n_rows), np.int32(len(terms)))
        return scoring.add("add_lines", (c_type(cells),), lambda _: rows, told, finish, blocks=here.n_blocks)

    return add


def _is_plain(table: DeviceTable, term: ValueTerm) -> bool:
    """Whether the values are whole numbers that lie close together, in a column of whole numbers."""
    if table.column(term.columns[0]).dtype.kind not in "iub":
        return False
    values = [value for value in term.values if isinstance(value, int)]
    return len(values) == len(term.values) and (not values or max(values) - min(values) < MOST_RANGE)


def _plain_lines(term: ValueTerm) -> tuple[int, Array]:
    """The least value, and lines from there on; last comes that of any other value."""
    values = np.array([int(value) for value in term.values if isinstance(value, int)], dtype=np.int64)
    least = int(values.min(initial=0)) if len(values) else 0
    lines = np.tile(term.other, (int(values.max(initial=least)) - least + 2, 1))
    lines[values - least] = term.lines
    return least, lines


def _all_lines(term: ValueTerm | IntervalTerm) -> Array:
    """The lines of values or intervals, that of a gap, and last that of any other value."""
    other = term.other if isinstance(term, ValueTerm) else term.gap
    return np.vstack([term.lines, term.gap, other])


def _places(table: DeviceTable, term: ValueTerm | IntervalTerm) -> DeviceArray:
    """The line of each row."""
    here, cells = table.device, table.column(term.columns[0])
    xp, n = here.xp, len(term.lines)
    known = cells == cells
    if isinstance(term, IntervalTerm):
        refuse_infinite(here, cells[:, None], term.columns)
        found = xp.searchsorted(xp.asarray(term.cuts), cells.astype(np.float64), side="right")
        return xp.where(known, found, n).astype(np.int32)
    if not all(isinstance(value, int | float) for value in term.values):
        raise DataError(
            f"Column {term.columns[0]!r} was learned as {term.values[0]!r} and the like, but on a GPU it holds "
            "numbers: bring the rows to the host."
        )
    values = np.array([float(value) for value in term.values if isinstance(value, int | float)])
    order = np.argsort(values)
    sorted_values, numbers = xp.asarray(values[order]), cells.astype(np.float64)
    if not n:
        return xp.where(known, n + 1, n).astype(np.int32)
    place = xp.minimum(xp.searchsorted(sorted_values, numbers), n - 1)
    found = xp.where(sorted_values[place] == numbers, xp.asarray(order)[place], n + 1)
    return xp.where(known, found, n).astype(np.int32)


def _sparse_counts(term: CountTerm) -> Callable[[_Scoring, Finish | None], DeviceArray]:
    """Counts of a sparse matrix."""

    def add(scoring: _Scoring, finish: Finish | None) -> DeviceArray:
        here, rows = scoring.device, scoring.table.sparse
        wrong = here.xp.zeros(1, dtype=np.int32)
        if term.bias.any():
            scoring.start = scoring.start + here.xp.asarray(term.bias)
        size = (np.int64(scoring.table.n_rows), np.int64(len(term.columns)))
        lines = here.xp.asarray(np.ascontiguousarray(term.lines))
        types = (c_type(rows.data), c_type(rows.indices))
        matrix = (rows.data, rows.indices, rows.indptr, *size)
        shared = 8 * here.threads * min(scoring.n_classes, MOST_CLASSES)
        out = scoring.add(
            "add_sparse_counts", types, lambda _: matrix, (lines,), finish, blocks=here.n_blocks, shared=shared,
            tail=(wrong,),
        )  # fmt: skip
        if int(wrong[0]):
            raise DataError("A sparse matrix holds a number that is infinite or none, or a column that there is not.")
        return out

    return add


def _product(term: CountTerm | WhitenedTerm) -> Callable[[_Scoring, Finish | None], DeviceArray]:
    """What takes a matrix product, so many rows at a time."""

    def add(scoring: _Scoring, finish: Finish | None) -> DeviceArray:
        here, cells = scoring.device, scoring.table.block(term.columns)
        xp, joint = here.xp, scoring.joint
        refuse_infinite(here, cells, term.columns)
        size = max(GEMM_CELLS // max(len(term.columns), 1), 1)
        for first in range(0, len(cells), size):
            block = slice(first, first + size)
            part = cells[block].astype(np.float64)
            if isinstance(term, CountTerm):
                joint[block] += xp.nan_to_num(part, nan=0.0) @ xp.asarray(term.lines) + xp.asarray(term.bias)
                continue
            if bool(xp.isnan(part).any()):
                raise DataError(
                    "Rows with missing values are not scored by full Bayes on a GPU: bring them to the host."
                )
            for c, height in enumerate(term.height.tolist()):
                turn = xp.asarray(term.turn[c if len(term.turn) > 1 else 0])
                z = (part - xp.asarray(term.mean[c])) * xp.asarray(term.precision[c]) @ turn
                joint[block, c] += height - 0.5 * (z * z).sum(axis=1)
        return joint

    return add


def log_joint_on_device(table: DeviceTable, prior: Array, beliefs: Sequence[FittedFamily]) -> DeviceLogJoint:
    """The log joint of rows under class priors and settled families."""
    return DeviceLogJoint(table, prior, log_of(prior), terms_of(beliefs))
