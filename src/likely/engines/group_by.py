"""Queries by class, and by fold where rows are held out: sums of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likely.arrays import AnyArray, Array
from likely.engines.relation import Expression, Relation, ibis_module
from likely.errors import DataError, SchemaError, without_row
from likely.numerics import HEAVIEST
from likely.stats import ClassWeights
from likely.table import Labels, as_table, encode_column, merge_classes

if TYPE_CHECKING:
    import pyarrow as pa

AGGREGATES = 600
"""Aggregates of one query: engines allow for 1600 columns or so."""

CODED_CLASSES = 64
"""Classes up to which a row's class is told by its number where values are unfolded: a number is hashed and compared
faster than a string, but it is found by one comparison after the other."""

CHANGED = -1
"""The number of a class that was not there when classes were counted."""

Aggregate = Callable[[Expression], Expression]
"""Makes an aggregate of a table with the columns `w` (what a row counts for) and those that were asked for."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """The rows of a table by class and fold, with what each counts for; `weights` and `rows` are folds × classes."""

    relation: Relation
    target: str
    weight: str | None
    seen: ClassWeights
    weights: Array
    rows: NDArray[np.int64]
    fold: Expression | None = None

    @property
    def n_folds(self) -> int:
        return len(self.rows)

    @classmethod
    def of(cls, relation: Relation, target: str, weight: str | None) -> Grouping:
        """Count the classes: one row of each comes home."""
        relation.require([target] if weight is None else [target, weight])
        first = cls(relation, target, weight, ClassWeights.empty(), np.zeros((1, 0)), np.zeros((1, 0), dtype=np.int64))
        named: dict[str, Expression] = {} if weight is None else {"v": relation.numbers(weight)}
        table = first.project(named)
        wanted = {"rows": table.count(), "weight": first.weight_of(table)}
        if weight is not None:
            fair = table.v.notnull() & (table.v >= 0.0) & (table.v <= HEAVIEST)
            wanted["bad"] = fair.ifelse(0, 1).sum()
        found = relation.run(table.group_by(first.keys).aggregate(**wanted))
        seen = first._class_weights(found)
        return cls(relation, target, weight, seen, seen.weights[None], seen.rows[None])

    def _class_weights(self, found: pa.Table) -> ClassWeights:
        where = f"{self.relation.name}, column {self.target!r}"
        if not found.num_rows:
            raise DataError(f"{self.relation.name} has no rows; there is nothing to learn from.")
        column = as_table(found.select(["y"]).rename_columns([self.target])).cells(self.target)
        try:
            lost = int(found.column("rows").to_numpy()[column.codes(self.target).codes < 0].sum())
            if lost:
                raise DataError(
                    f"{lost:,} row{'s have' if lost > 1 else ' has'} no label; leave them out with a filter in the "
                    "engine, or give them one."
                )
            labels = encode_column(column)
        except DataError as error:
            raise DataError(f"{where}: ", without_row(error.message)) from None
        except SchemaError as error:  # its sentence names the column
            raise SchemaError(f"{self.relation.name}: ", error.message) from None
        if "bad" in found.column_names and found.column("bad").to_numpy().any():
            raise DataError(
                f"{self.relation.name}: a weight in column {self.weight!r} is missing, negative or infinite."
            )
        weights, rows = np.zeros(len(labels.classes)), np.zeros(len(labels.classes), dtype=np.int64)
        weights[labels.codes] = found.column("weight").cast("float64").to_numpy()
        rows[labels.codes] = found.column("rows").to_numpy()
        if weights.sum() > HEAVIEST:
            raise DataError(f"{self.relation.name}: the weights in column {self.weight!r} add up to too much.")
        return ClassWeights(labels.classes, weights, rows)

    def by_fold(self, fold: Expression, n_folds: int) -> Grouping:
        """The same rows, each class by folds."""
        weights, rows = np.zeros((2, n_folds, self.n_classes))
        found = Grouping(self.relation, self.target, self.weight, self.seen, weights, rows.astype(np.int64), fold)
        counted = found.sums(found.project({}), [found.weight_of, lambda table: table.count()])
        self.refuse_changes(counted[..., 1].sum(axis=0), self.seen.rows)
        return replace(found, weights=counted[..., 0], rows=counted[..., 1].round().astype(np.int64))

    @property
    def n_classes(self) -> int:
        return len(self.seen)

    @cached_property
    def keys(self) -> list[str]:
        """By what rows are grouped."""
        return ["y"] if self.fold is None else ["y", "f"]

    def project(self, columns: Mapping[str, Expression]) -> Expression:
        """Class, fold, weight and some columns, under plain names whatever they are called in the table."""
        table = self.relation.table
        chosen: dict[str, Expression] = {"y": table[self.target]}
        if self.fold is not None:
            chosen["f"] = self.fold
        if self.weight is not None:
            chosen["w"] = self.relation.numbers(self.weight)
        return table.select(**chosen, **columns)

    def weight_of(self, table: Expression, where: Expression | None = None) -> Expression:
        """The weight of all rows of a projected table, or of those where something is known."""
        if self.weight is None:
            return table.count() if where is None else where.count()
        return table.w.sum() if where is None else where.notnull().ifelse(table.w, 0.0).sum()

    def weighed(self, table: Expression, term: Expression) -> Expression:
        """The sum of a term over rows, each as often as it counts."""
        return (term if self.weight is None else term * table.w).sum()

    def sums(self, table: Expression, wanted: Sequence[Aggregate], *, probe: bool = True) -> Array:
        """Aggregates of a projected table (folds × classes × aggregates); zero where there is nothing."""
        out = np.zeros((self.n_folds, self.n_classes, len(wanted)))
        for start in range(0, len(wanted), AGGREGATES):
            some = {f"s{k}": wanted[k](table) for k in range(start, min(start + AGGREGATES, len(wanted)))}
            self.fill(out, table.group_by(self.keys).aggregate(rows=table.count(), **some), probe=probe)
        return out

    def fill(self, out: Array, query: Expression, *, probe: bool = True) -> None:
        """Run a query whose columns `s0`, `s1` … are aggregates, and put these where they belong."""
        found = self.relation.run(query, probe=probe)
        fold, y = self.places(found)
        if "rows" in found.column_names and self.rows.any():
            counted = np.zeros_like(self.rows)
            counted[fold, y] = found.column("rows").to_numpy()
            self.refuse_changes(counted, self.rows)
        for name in found.column_names:
            if name.startswith("s"):
                numbers = found.column(name).cast("float64").fill_null(0.0)
                out[fold, y, int(name[1:])] = numbers.to_numpy()

    def refuse_changes(self, counted: AnyArray, before: AnyArray) -> None:
        """Raise where rows have come or gone since they were first counted: parts of two tables make no model."""
        if not np.allclose(counted, before, rtol=1e-9, atol=0.0):
            raise self._changed()

    def refuse_classes(self, all_of_them: AnyArray) -> None:
        """Raise where there are more classes than when they were counted."""
        if len(all_of_them) > self.n_classes:
            raise self._changed()

    def _changed(self) -> DataError:
        return DataError(f"{self.relation.name} has changed while it was counted; begin again.")

    def places(self, found: pa.Table) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The fold and the class of each row of a result."""
        fold = np.zeros(found.num_rows, dtype=np.intp) if self.fold is None else found.column("f").to_numpy()
        if "c" in found.column_names:
            y = found.column("c").to_numpy()
            changed = bool((y == CHANGED).any())
        else:
            labels: Labels = encode_column(as_table(found).cells("y"))
            merged, _, theirs = merge_classes(self.seen.labels, labels.classes)
            y = theirs[labels.codes]
            changed = len(merged) > self.n_classes
        if changed:
            raise self._changed()
        return fold.astype(np.intp), y.astype(np.int32)

    def numbered(self, table: Expression) -> tuple[list[str], Expression]:
        """The keys and a table where a row's class is its number, if there are few classes and a literal means them."""
        coded = self.n_classes <= CODED_CLASSES and self.relation.cell(self.target) in ("string", "integer", "boolean")
        if not coded:
            return self.keys, table
        ibis = ibis_module()
        numbers = [(label, ibis.literal(code, "int32")) for code, label in enumerate(self.seen.labels.tolist())]
        number = table.y.cases(*numbers, else_=ibis.literal(CHANGED, "int32"))
        return ["c", *self.keys[1:]], table.mutate(c=number).drop("y")
