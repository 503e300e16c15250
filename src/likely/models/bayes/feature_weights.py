"""Weights of columns: exponents of their likelihoods, learned so that what is said twice counts once.

log P(class | row) = offset + log prior + Σ weight · log P(column | class) + constant. Weights from zero up and offsets
minimise the log loss of the rows, each judged by counts from which it is taken out; a ridge draws weights
towards min(1, 3 / √columns), for with many columns most of what one says has been said by others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from likely.arrays import Array
from likely.engines.memory import Rows
from likely.engines.plan import Task
from likely.errors import DataError, ModelFileError
from likely.families import Settings
from likely.families.leave_one_out import less
from likely.models.leave_one_out import LeaveOneOut
from likely.numerics import log_of
from likely.parallel import one_thread_each, row_blocks, run
from likely.scorer import evidence_for
from likely.stats import Summary
from likely.table import index_levels

Unit = tuple[str, ...]

RIDGE = 4.0
OFFSET_RIDGE = 0.01
FARTHEST = -100.0
"""Evidence below this counts as this: what is impossible without a row must not rule the weights."""

MOST_CELLS = 1 << 25
"""Rows × columns × classes that are looked at (256 MiB); of longer tables every so many-th row."""

COMPETING = ("multinomial", "complement")
"""Families whose columns speak together: they have one weight."""


@dataclass(frozen=True, eq=False)
class FeatureWeights:
    """A weight per column, an offset per class (in their order), and whether rows have come or gone since."""

    weights: Mapping[str, float]
    offsets: Array
    stale: bool = False

    def kept(self, columns: Iterable[str]) -> dict[str, Any]:
        """Plain values for a file, the weights in the order of the columns."""
        of = [self.weights[name] for name in columns]
        return {"of": of, "offsets": self.offsets.tolist(), "stale": self.stale}


def units_of(assigned: Mapping[str, str]) -> list[Unit]:
    """Columns that have one weight: each its own, those of competing counts together."""
    together: dict[str, list[str]] = {}
    for name, family in assigned.items():
        together.setdefault(family if family in COMPETING else f"column {name}", []).append(name)
    return [tuple(names) for names in together.values()]


def learn_feature_weights(task: Task, summary: Summary, settings: Settings, n_jobs: int | None) -> FeatureWeights:
    """Weights and offsets from rows that the summary holds."""
    units = units_of(task.assigned)
    # A row of weight 2 stands for two rows: one of them is taken out, the other one stays.
    out = np.minimum(task.rows.weight, 1.0)
    rows = np.flatnonzero((out > 0.0) & (less(summary.classes.weights[task.rows.y], out) > 0.0))
    step = -(-len(rows) * len(units) * len(summary.classes) // MOST_CELLS) or 1
    rows = rows[::step]
    nothing = FeatureWeights({name: 1.0 for unit in units for name in unit}, np.zeros(len(summary.classes)))
    if len(rows) == 0 or len(summary.classes) < 2 or not units:
        return nothing
    evidence = _evidence(task, out, summary, settings, units, rows, n_jobs)
    with one_thread_each():
        prior = log_of(summary.classes.weights)
        weights, base = _descend(evidence, task.rows.y[rows], task.rows.weight[rows], prior)
    offsets = base - log_of(summary.classes.weights)
    by_column = {name: float(w) for unit, w in zip(units, weights, strict=True) for name in unit}
    return FeatureWeights(
        by_column, np.where(np.isfinite(offsets), offsets - offsets[np.isfinite(offsets)].mean(), 0.0)
    )


def _evidence(
    task: Task,
    out_of: Array,
    summary: Summary,
    settings: Settings,
    units: list[Unit],
    rows: NDArray[np.intp],
    n_jobs: int | None,
) -> Array:
    """What each unit says about each of the rows without that row: units × rows × classes."""
    given = task.rows
    lighter = Rows(given.table, given.classes, given.y, out_of, given.n_jobs, given.recipes)
    left = LeaveOneOut(Task(lighter, task.schema, task.assigned, task.weighted), summary, None, settings)
    out = np.empty((len(units), len(rows), len(summary.classes)))

    def judge(place: int) -> None:
        assigned = {name: task.assigned[name] for name in units[place]}
        scorers = [
            scorer
            for family, columns, seen in evidence_for(assigned, summary)
            for scorer in left.scorers(family, columns, seen)
        ]
        for block in row_blocks(task.rows.table.n_rows, len(summary.classes)):
            joint = np.zeros((block.stop - block.start, len(summary.classes)))
            for add_evidence in scorers:
                add_evidence(block, joint)
            first, last = np.searchsorted(rows, (block.start, block.stop))
            out[place, first:last] = joint[rows[first:last] - block.start]

    run(judge, range(len(units)), n_jobs)
    # What all classes have in common says nothing; without it no large numbers are subtracted.
    out -= out.max(axis=2, keepdims=True).clip(np.finfo(np.float64).min, None)
    return np.maximum(out, FARTHEST, out=out)


def _descend(evidence: Array, y: NDArray[np.int32], weight: Array, log_prior: Array) -> tuple[Array, Array]:
    n_units, n_rows, n_classes = evidence.shape
    flat = evidence.reshape(n_units, -1)
    here = np.arange(n_rows)
    centre = min(1.0, 3.0 / np.sqrt(n_units))
    start = np.where(np.isfinite(log_prior), log_prior, 0.0)

    def look(x: Array) -> tuple[float, Array]:
        w, base = x[:n_units], x[n_units:]
        scores = (w @ flat).reshape(n_rows, n_classes) + base
        peak = scores.max(axis=1, keepdims=True)
        shares = np.exp(scores - peak)
        total = shares.sum(axis=1, keepdims=True)
        loss = float(weight @ (np.log(total) + peak)[:, 0] - weight @ scores[here, y])
        shares /= total
        shares[here, y] -= 1.0
        shares *= weight[:, None]
        gap, drift = w - centre, base - start
        loss += 0.5 * RIDGE * float(gap @ gap) + 0.5 * OFFSET_RIDGE * float(drift @ drift)
        return loss, np.concatenate([flat @ shares.ravel() + RIDGE * gap, shares.sum(axis=0) + OFFSET_RIDGE * drift])

    bounds = [(0.0, None)] * n_units + [(None, None)] * n_classes
    found = minimize(
        look, np.concatenate([np.full(n_units, centre), start]), jac=True, method="L-BFGS-B", bounds=bounds
    )
    return found.x[:n_units], found.x[n_units:]


def placed(task: Task, classes: NDArray[Any], n_jobs: int | None) -> Task:
    """The rows of a task among the classes that were learned."""
    rows = task.rows
    places = np.append(index_levels(rows.classes.tolist(), classes.tolist()), -1)[rows.y]
    if (places < 0).any():
        raise DataError("The rows to learn weights from have a class that was never learned.")
    again = Rows(rows.table, classes, places.astype(np.int32), rows.weight, n_jobs, rows.recipes)
    return Task(again, task.schema, task.assigned, task.weighted)


def read_weights(given: Mapping[str, Any], columns: Iterable[str], n_classes: int) -> FeatureWeights:
    """Weights from a file, checked: see `FeatureWeights.kept`."""
    of, offsets = (np.array(given[name], dtype=np.float64) for name in ("of", "offsets"))
    names = list(columns)
    shapes = of.shape == (len(names),) and offsets.shape == (n_classes,)
    if not (shapes and np.isfinite(of).all() and (of >= 0.0).all() and np.isfinite(offsets).all()):
        raise ModelFileError("its weights do not fit its columns and classes")
    return FeatureWeights(dict(zip(names, of.tolist(), strict=True)), offsets, bool(given["stale"]))
