"""Rows of a GPU as something to learn from: what `engines.memory.Rows` is to rows of the host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from likely.arrays import AnyArray, Array
from likely.engines.gpu import counts, tables
from likely.engines.gpu.counts import DeviceCounter
from likely.engines.gpu.table import DeviceTable, labels_on, weights_on
from likely.engines.memory import Preprocessing, Rows
from likely.engines.plan import Task
from likely.errors import BadCell, DataError, SchemaError
from likely.stats import ClassWeights, Cuts, Part, Statistic, Summary
from likely.table import Table
from likely.table.schema import Schema


class DeviceRows(Rows):
    """Rows on a device. They are counted there; `table`, `y` and `weight` are the first of them, on the host."""

    def __init__(
        self,
        counter: DeviceCounter,
        sample: Table,
        n_jobs: int | None = None,
        preprocessing: Preprocessing | None = None,
    ) -> None:
        here, some = counter.device, slice(0, sample.n_rows)
        y = np.asarray(here.fetch(counter.labels.codes[some]), dtype=np.int32)
        weight = None if counter.weight is None else np.asarray(here.fetch(counter.weight[some]), dtype=np.float64)
        super().__init__(sample, counter.labels.classes, y, weight, n_jobs, preprocessing)
        self.counter = counter

    @classmethod
    def of(cls, X: object, y: object, sample_weight: object, n_jobs: int | None = None) -> DeviceRows:
        """Read rows, labels and weights."""
        counter = counter_of(X, y, sample_weight)
        return cls(counter, counter.table.sample(), n_jobs)

    @property
    def looked(self) -> int:
        """How many rows were looked at on the host."""
        return self.table.n_rows

    def with_preprocessing(self, preprocessing: Preprocessing) -> DeviceRows:
        """The same rows, where columns are read otherwise."""
        return DeviceRows(self.counter, self.table, self.n_jobs, preprocessing)

    def summarise(self, plan: Sequence[Part]) -> Summary:
        """Count every part of the plan on the device."""
        weights, rows = self.counter.class_weights()
        classes = ClassWeights(self.counter.labels.classes, weights, rows)
        return Summary(classes, {part: self._observe(part) for part in plan})

    def _observe(self, part: Part) -> Statistic:
        if part.kind == "pairs":
            cuts = {name: cut for name, cut in self.preprocessing.items() if isinstance(cut, Cuts)}
            return tables.pair_counts(self.counter, part.columns, cuts)
        count = COUNTED.get(part.kind)
        if count is None:
            raise DataError(f"Texts ({part.columns[0]!r}) are not counted on a GPU: bring these rows to the host.")
        return count(self.counter, part.columns)


def counter_of(X: object, y: object, sample_weight: object) -> DeviceCounter:
    """Rows, labels and weights as arrays of the device."""
    table = DeviceTable.of(X)
    if not table.n_rows:
        raise SchemaError(
            f"Found array with 0 sample(s) (shape=(0, {len(table.names)})) while a minimum of 1 is required."
        )
    labels = labels_on(table, y)
    if isinstance(y, str):
        table = table.aligned([name for name in table.names if name != y], "this table")
    return DeviceCounter(table, labels, weights_on(table, sample_weight))


COUNTED: dict[str, Callable[[DeviceCounter, tuple[str, ...]], Statistic]] = {
    "values": tables.value_counts,
    "histogram": tables.histogram,
    "moments": counts.moments,
    "log moments": counts.log_moments,
    "scatter": counts.scatter,
    "counts": tables.feature_counts,
    "presence": tables.presence,
}
"""What is counted on a device, beside pairs; a new statistic is one more line."""


def task_on_device(
    X: object,
    y: object,
    sample_weight: object,
    look: Callable[[Table, AnyArray, Array | None], Task],
    n_jobs: int | None,
) -> Task:
    """What is to be counted on the device: kinds and families are those that `look` finds for the first rows."""
    rows = DeviceRows.of(X, y, sample_weight, n_jobs)
    judged = look(rows.table, rows.classes[rows.y], None if sample_weight is None else rows.weight)
    _refuse_below_zero(rows.counter.table, judged.assigned)
    found = rows.with_preprocessing(judged.rows.preprocessing)
    return Task(found, judged.schema, judged.assigned, sample_weight is not None)


def further_on_device(
    X: object,
    y: object,
    sample_weight: object,
    schema: Schema,
    assigned: Mapping[str, str],
    preprocessing: Preprocessing,
    n_jobs: int | None,
) -> Task:
    """Further rows on a device, read as the first ones were."""
    rows = DeviceRows.of(X, y, sample_weight, n_jobs)
    table = rows.counter.table.aligned(schema.features, "this classifier")
    _refuse_below_zero(table, assigned)
    counter = DeviceCounter(table, rows.counter.labels, rows.counter.weight)
    return Task(DeviceRows(counter, table.sample(), n_jobs, preprocessing), schema, assigned, sample_weight is not None)


def _refuse_below_zero(table: DeviceTable, assigned: Mapping[str, str]) -> None:
    """A Poisson column must not hold anything below zero when it is learned."""
    xp = table.device.xp
    for name in [name for name, family in assigned.items() if family == "poisson"]:
        below = xp.flatnonzero(table.column(name) < 0)
        if len(below):
            wanted = "a Poisson column holds counts from zero up: choose another family, such as 'gaussian'"
            raise BadCell(int(below[0]), 0, float(table.column(name)[below[0]]), wanted).named((name,))
