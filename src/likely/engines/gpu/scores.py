"""Log joints and posteriors of rows on a device, from what settled families say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from likely.arrays import AnyArray, Array
from likely.engines.gpu.counts import refuse_infinite
from likely.engines.gpu.device import DeviceArray, c_type
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

TILE_BYTES = 112 * 1024
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
        self, kernel: str, types: Sequence[str], rows: Sequence[object], tables: Sequence[object],
        finish: Finish | None, *, blocks: int, threads: int = 0, shared: int = 0, tail: Sequence[object] = (),
    ) -> DeviceArray:  # fmt: skip
        """Start a kernel that adds terms, for some classes at a time."""
        n, fresh = self.n_classes, self._joint is None
        out = None if finish is None else self.out(finish)
        if finish is None and fresh:
            self._joint = self.device.xp.empty((self.table.n_rows, n), dtype=np.float64)
        some = min(n, MOST_CLASSES)
        of_out = "double" if out is None else c_type(out)
        for first in range(0, n, some):
            told = (
                *rows, np.int32(n), np.int32(first), *tables, self.start, self.prior, self._joint, out,
                np.int32(fresh), np.int32(0 if finish is None else FINISH[finish]), *tail,
            )  # fmt: skip
            self.device.launch(kernel, (*types, str(some), of_out), (blocks,), shared, told, threads=threads)
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
    """Bell curves, all columns in one pass."""

    def add(scoring: _Scoring, finish: Finish | None) -> DeviceArray:
        here, table = scoring.device, scoring.table
        columns = tuple(name for term in terms for name in term.columns)
        cells = table.block(columns)
        mean, precision, heights = (
            np.concatenate([getattr(term, part) for term in terms], axis=1).T
            for part in ("mean", "precision", "height")
        )
        bells, odd = np.stack([mean, precision * np.sqrt(0.5)], axis=2), here.xp.zeros(2, dtype=np.int32)
        some, n_columns, threads = min(scoring.n_classes, MOST_CLASSES), len(columns), here.threads // 2
        tile = max(min(n_columns, TILE_BYTES // (16 * some + 4 * threads * cells.itemsize) - 1), 1)
        tile = -(-n_columns // -(-n_columns // tile))  # tiles of one size
        shared = 16 * tile * some + 4 * threads * (tile | 1) * cells.itemsize
        heights = np.vstack([heights, heights.sum(axis=0)])
        out = scoring.add(
            "add_bells", (c_type(cells),), (*_layout(cells), np.int64(table.n_rows), np.int32(n_columns)),
            [here.xp.asarray(np.ascontiguousarray(part)) for part in (bells, heights)], finish,
            blocks=here.n_blocks, threads=threads, shared=shared, tail=(np.int32(tile), odd),
        )  # fmt: skip
        infinite, missing = here.fetch(odd).tolist()
        if infinite:
            refuse_infinite(here, cells, columns)
        if missing and not scoring.gaps:
            raise DataError("Input X contains NaN: this classifier has no use for missing values.")
        return out

    return add


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
        return scoring.add("add_lines", (c_type(cells),), rows, told, finish, blocks=here.n_blocks)

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
            "add_sparse_counts", types, matrix, (lines,), finish, blocks=here.n_blocks, shared=shared, tail=(wrong,)
        )
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
