"""Weighted naive Bayes: the problem that feature weights solve, whatever the likelihoods of columns are.

score_c = b_c + Σ_j w_j · log P(x_j | c). Weights w ≥ 0 and intercepts b minimise the log loss of rows, each scored
without itself, plus a ridge ½ · 4 · |w − w₀|² towards w₀ = min(1, 3/√d): of many columns most repeat what others say.

Each model has its own pass over the rows and its own minimiser. Tables of codes are passed over by a compiled loop,
maybe from disk, so evaluations are dear, and `numerics.lbfgs` with its preconditioner takes few of them. Likelihoods
of any family are one matrix in memory, so SciPy's L-BFGS-B is used, which is more exact where classes are separable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from likely.arrays import AnyArray, Array
from likely.engines.memory import Rows
from likely.engines.plan import Task
from likely.errors import DataError, ModelFileError
from likely.families import Settings
from likely.models.leave_one_out import LeaveOneOut
from likely.numerics import log_normalise, log_of
from likely.parallel import one_thread_each, row_blocks, run
from likely.scorer import evidence_for
from likely.stats import Summary
from likely.stats.protocol import less
from likely.table import index_levels

RIDGE = 4.0

Loss = Callable[[Array, Array], tuple[float, Array, Array]]
"""Of feature weights and intercepts: Σ weight · log loss of the rows, and its gradients by both."""


def default_feature_weight(n_weights: int) -> float:
    """Prior mean of a feature weight, min(1, 3/√n)."""
    return min(1.0, 3.0 / float(np.sqrt(max(n_weights, 1))))


def penalised(
    loss: Loss, n_weights: int, intercept: Array, intercept_ridge: float = 0.0
) -> tuple[Callable[[Array], tuple[float, Array]], Array]:
    """The objective, of weights and intercepts in one array, with its gradient; and where to start.

    `intercept` is the start of the intercepts, towards which their own ridge draws them.
    """
    default = default_feature_weight(n_weights)

    def objective(x: Array) -> tuple[float, Array]:
        weights, intercepts = x[:n_weights], x[n_weights:]
        value, gradient, intercept_gradient = loss(weights, intercepts)
        shift, drift = weights - default, intercepts - intercept
        value += 0.5 * RIDGE * float(shift @ shift) + 0.5 * intercept_ridge * float(drift @ drift)
        return value, np.concatenate([gradient + RIDGE * shift, intercept_gradient + intercept_ridge * drift])

    return objective, np.concatenate([np.full(n_weights, default), intercept])


# Weights of the columns of a Bayes classifier, whatever their families are.

Unit = tuple[str, ...]

OFFSET_RIDGE = 0.01
LARGEST = 1e9
"""Weights and offsets in a file: beyond this nothing is learned, and what columns say would overflow."""

MIN_LOG_LIKELIHOOD = -100.0
"""Log likelihoods are clipped here: what is impossible without a row must not rule the weights."""

MAX_CELLS = 1 << 25
"""Rows × columns × classes in memory (256 MiB); of longer tables an evenly spaced sample of rows is used."""

JOINT_FAMILIES = ("multinomial", "complement")
"""Families of several columns with one likelihood: they have one weight."""


@dataclass(frozen=True, eq=False)
class FeatureWeights:
    """A weight per column, an offset per class (in their order), and whether rows have come or gone since."""

    weights: Mapping[str, float]
    offsets: Array
    stale: bool = False

    def kept(self, columns: Iterable[str]) -> dict[str, object]:
        """Plain values for a file, the weights in the order of the columns."""
        of = [self.weights[name] for name in columns]
        return {"of": of, "offsets": self.offsets.tolist(), "stale": self.stale}


def units_of(assigned: Mapping[str, str]) -> list[Unit]:
    """Columns that share a weight: each has its own, those of one joint likelihood share one."""
    groups: dict[str, list[str]] = {}
    for name, family in assigned.items():
        groups.setdefault(family if family in JOINT_FAMILIES else f"column {name}", []).append(name)
    return [tuple(names) for names in groups.values()]


def learn_feature_weights(task: Task, summary: Summary, settings: Settings, n_jobs: int | None) -> FeatureWeights:
    """Weights and offsets from rows that the summary holds."""
    units = units_of(task.assigned)
    # A row of weight 2 stands for two rows: one of them is taken out, the other one stays.
    out = np.minimum(task.rows.weight, 1.0)
    rows = np.flatnonzero((out > 0.0) & (less(summary.classes.weights[task.rows.y], out) > 0.0))
    step = -(-len(rows) * len(units) * len(summary.classes) // MAX_CELLS) or 1
    rows = rows[::step]
    default = FeatureWeights({name: 1.0 for unit in units for name in unit}, np.zeros(len(summary.classes)))
    if len(rows) == 0 or len(summary.classes) < 2 or not units:
        return default
    log_likelihoods = _leave_one_out(task, out, summary, settings, units, rows, n_jobs)
    with one_thread_each():
        prior = log_of(summary.classes.weights)
        weights, intercept = _fit(log_likelihoods, task.rows.y[rows], task.rows.weight[rows], prior)
    offsets = intercept - log_of(summary.classes.weights)
    by_column = {name: float(w) for unit, w in zip(units, weights, strict=True) for name in unit}
    return FeatureWeights(
        by_column, np.where(np.isfinite(offsets), offsets - offsets[np.isfinite(offsets)].mean(), 0.0)
    )


def _leave_one_out(
    task: Task,
    removed: Array,
    summary: Summary,
    settings: Settings,
    units: list[Unit],
    rows: NDArray[np.intp],
    n_jobs: int | None,
) -> Array:
    """Log likelihoods of each unit of columns, each row without itself: units × rows × classes, largest 0."""
    given = task.rows
    taken_out = Rows(given.table, given.classes, given.y, removed, given.n_jobs, given.preprocessing)
    leave_one_out = LeaveOneOut(Task(taken_out, task.schema, task.assigned, task.weighted), summary, None, settings)
    out = np.empty((len(units), len(rows), len(summary.classes)))

    def score_unit(k: int) -> None:
        assigned = {name: task.assigned[name] for name in units[k]}
        scorers = [
            scorer
            for family, columns, seen in evidence_for(assigned, summary)
            for scorer in leave_one_out.scorers(family, columns, seen)
        ]
        for block in row_blocks(task.rows.table.n_rows, len(summary.classes)):
            joint = np.zeros((block.stop - block.start, len(summary.classes)))
            for add_evidence in scorers:
                add_evidence(block, joint)
            first, last = np.searchsorted(rows, (block.start, block.stop))
            out[k, first:last] = joint[rows[first:last] - block.start]

    run(score_unit, range(len(units)), n_jobs)
    # A constant over classes changes no posterior; without it no large numbers are subtracted.
    out -= out.max(axis=2, keepdims=True).clip(np.finfo(np.float64).min, None)
    return np.maximum(out, MIN_LOG_LIKELIHOOD, out=out)


def _fit(log_likelihoods: Array, y: NDArray[np.int32], weight: Array, log_prior: Array) -> tuple[Array, Array]:
    """Weights of units and intercepts of classes, given units × rows × classes of leave-one-out log likelihoods."""
    n_units, n_rows, n_classes = log_likelihoods.shape
    flat = log_likelihoods.reshape(n_units, -1)
    rows = np.arange(n_rows)

    def loss(weights: Array, intercept: Array) -> tuple[float, Array, Array]:
        residual, log_p = log_normalise((weights @ flat).reshape(n_rows, n_classes) + intercept)
        value = -float(weight @ log_p[rows, y])
        residual[rows, y] -= 1.0
        residual *= weight[:, None]
        return value, flat @ residual.ravel(), residual.sum(axis=0)

    objective, start = penalised(loss, n_units, np.where(np.isfinite(log_prior), log_prior, 0.0), OFFSET_RIDGE)
    bounds = [(0.0, None)] * n_units + [(None, None)] * n_classes
    x = scipy.optimize.minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return x[:n_units], x[n_units:]


def placed(task: Task, classes: AnyArray, n_jobs: int | None) -> Task:
    """The rows of a task among the classes that were learned."""
    rows = task.rows
    places = np.append(index_levels(rows.classes.tolist(), classes.tolist()), -1)[rows.y]
    if (places < 0).any():
        raise DataError("The rows to learn weights from have a class that was never learned.")
    again = Rows(rows.table, classes, places.astype(np.int32), rows.weight, n_jobs, rows.preprocessing)
    return Task(again, task.schema, task.assigned, task.weighted)


def read_weights(given: Mapping[str, object], columns: Iterable[str], n_classes: int) -> FeatureWeights:
    """Weights from a file, checked: see `FeatureWeights.kept`."""
    of, offsets = (np.array(given[name], dtype=np.float64) for name in ("of", "offsets"))
    names = list(columns)
    shapes = of.shape == (len(names),) and offsets.shape == (n_classes,)
    if not shapes or not (((of >= 0.0) & (of <= LARGEST)).all() and (np.abs(offsets) <= LARGEST).all()):
        raise ModelFileError("its weights do not fit its columns and classes")
    return FeatureWeights(dict(zip(names, of.tolist(), strict=True)), offsets, bool(given["stale"]))
