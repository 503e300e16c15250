"""What settled families say of themselves, as steps that add it to the log joint of rows on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from likely.arrays import Array
from likely.engines.gpu.bells import bell_steps
from likely.engines.gpu.counts import refuse_infinite
from likely.engines.gpu.device import DeviceArray, c_type
from likely.engines.gpu.lines import line_steps
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
    return [*steps, *line_steps(looked_up), *bell_steps([term for term in terms if isinstance(term, BellTerm)])]


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
