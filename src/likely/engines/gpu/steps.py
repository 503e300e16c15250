"""What settled families say of themselves, as steps that add it to the log joint of rows on a device."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from likely.arrays import Array
from likely.engines.gpu.bells import bell_steps
from likely.engines.gpu.counts import refuse_infinite
from likely.engines.gpu.device import DeviceArray, c_type
from likely.engines.gpu.scores import MOST_CLASSES, DeviceLogJoint, Finish, Scoring, Step
from likely.engines.gpu.table import NO_GAPS, DeviceTable
from likely.errors import DataError, SettingsError
from likely.families import FittedFamily
from likely.families.on_device import (
    BellTerm,
    CountTerm,
    DeviceTerm,
    IntervalTerm,
    RateTerm,
    ScoresOnDevice,
    ValueTerm,
    WhitenedTerm,
)
from likely.families.poisson import LARGEST_COUNT
from likely.numerics import log_of

GEMM_CELLS = 1 << 26
MOST_RANGE = 1 << 16


def log_joint_on_device(table: DeviceTable, prior: Array, beliefs: Sequence[FittedFamily]) -> DeviceLogJoint:
    """The log joint of rows under class priors and settled families."""
    return DeviceLogJoint(table, prior, log_of(prior), steps_of(table, terms_of(beliefs)))


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


def steps_of(table: DeviceTable, terms: Sequence[DeviceTerm]) -> list[Step]:
    """Terms of one kind are one step; those that can finish a posterior come last."""
    steps = [Step(_product(term), False) for term in terms if isinstance(term, WhitenedTerm)]
    counted = [term for term in terms if isinstance(term, CountTerm)]
    if table.sparse is None:
        steps += [Step(_product(term), False) for term in counted]
    else:
        steps += [Step(_sparse_counts(term), True) for term in counted]
    looked_up = [term for term in terms if isinstance(term, ValueTerm | IntervalTerm)]
    steps += [Step(_rates(term), False) for term in terms if isinstance(term, RateTerm)]
    steps += [Step(_looked_up(looked_up), True)] if looked_up else []
    return [*steps, *bell_steps([term for term in terms if isinstance(term, BellTerm)])]


def _layout(cells: DeviceArray) -> tuple[object, ...]:
    return cells, *(np.int64(step // cells.itemsize) for step in cells.strides)


def _looked_up(terms: Sequence[ValueTerm | IntervalTerm]) -> Callable[[Scoring, Finish | None], DeviceArray]:
    """Lines of tables. Whole numbers are looked up as they are; other columns become places of lines first."""

    def add(scoring: Scoring, finish: Finish | None) -> DeviceArray:
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
    return places_of_values(table, term.columns[0], term.values)


def places_of_values(table: DeviceTable, column: str, values: Sequence[Hashable]) -> DeviceArray:
    """The place of each cell among some values; their number for a gap, one more for any other value."""
    xp, cells, n = table.device.xp, table.column(column), len(values)
    known, numbers = cells == cells, cells.astype(np.float64)
    if not all(isinstance(value, int | float) for value in values):
        raise DataError(
            f"Column {column!r} was learned as {values[0]!r} and the like, but on a GPU it holds numbers: bring the "
            "rows to the host."
        )
    if not n:
        return xp.where(known, n + 1, n).astype(np.int32)
    learned = np.array([float(value) for value in values if isinstance(value, int | float)])
    order = np.argsort(learned)
    sorted_values = xp.asarray(learned[order])
    place = xp.minimum(xp.searchsorted(sorted_values, numbers), n - 1)
    found = xp.where(sorted_values[place] == numbers, xp.asarray(order)[place], n + 1)
    return xp.where(known, found, n).astype(np.int32)


def _sparse_counts(term: CountTerm) -> Callable[[Scoring, Finish | None], DeviceArray]:
    """Counts of a sparse matrix."""

    def add(scoring: Scoring, finish: Finish | None) -> DeviceArray:
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


def _product(term: CountTerm | WhitenedTerm) -> Callable[[Scoring, Finish | None], DeviceArray]:
    """What takes a matrix product, so many rows at a time."""

    def add(scoring: Scoring, finish: Finish | None) -> DeviceArray:
        here, cells = scoring.device, scoring.table.block(term.columns)
        xp, joint = here.xp, scoring.joint
        refuse_infinite(here, cells, term.columns)
        size = max(GEMM_CELLS // max(len(term.columns), 1), 1)
        for first in range(0, len(cells), size):
            block = slice(first, first + size)
            part = cells[block].astype(np.float64)
            if isinstance(term, CountTerm):
                if not scoring.gaps and bool(xp.isnan(part).any()):
                    raise DataError(NO_GAPS)
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


def _rates(term: RateTerm) -> Callable[[Scoring, Finish | None], DeviceArray]:
    """Poisson probabilities as products of counts and logarithms of rates, so many rows at a time."""

    def add(scoring: Scoring, finish: Finish | None) -> DeviceArray:
        here, cells = scoring.device, scoring.table.block(term.columns)
        xp, joint, size = here.xp, scoring.joint, max(GEMM_CELLS // len(term.columns), 1)
        refuse_infinite(here, cells, term.columns)
        rate, never = term.rate.T, term.rate.T <= 0.0
        logs, rate_there = xp.asarray(log_of(np.where(never, 1.0, rate))), xp.asarray(rate)
        for first in range(0, len(cells), size):
            block = slice(first, first + size)
            numbers = cells[block].astype(np.float64)
            inside = (numbers >= 0.0).astype(np.float64)
            events = xp.where(inside > 0.0, xp.minimum(numbers, LARGEST_COUNT), 0.0)
            told = events @ logs - inside @ rate_there - here.log_gamma(events + 1.0).sum(axis=1)[:, None]
            joint[block] += term.weight * told
            if never.any():
                happened = (events > 0.0).astype(np.float64) @ xp.asarray(never.astype(np.float64)) > 0.0
                joint[block] = xp.where(happened, -np.inf, joint[block])
        return joint

    return add
