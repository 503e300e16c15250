"""Queries by class, and by fold where rows are held out: sums of columns, and how often values came."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.engines.relation import LONG_BY_UNNEST, Cell, Expression, Relation, ibis_module
from likely.errors import DataError, say_kind, without_row
from likely.numerics import HEAVIEST
from likely.stats import ClassWeights
from likely.table import Labels, as_table, encode_column, merge_classes

if TYPE_CHECKING:
    import pyarrow as pa

AGGREGATES = 600
"""Aggregates of one query: engines allow for 1600 columns or so."""

ARMS = 64
"""Tables of values that are counted by one query."""

MOST_CELLS = 1 << 22
"""Cells of tables of values that one query may bring: beyond, a column is no category."""

Aggregate = Callable[[Expression], Expression]
"""Makes an aggregate of a table with the columns `w` (what a row counts for) and those that were asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class CellCounts:
    """Counted cells: the fold and the class of each, its one or two values (as strings), and its weight."""

    fold: NDArray[np.intp]
    y: NDArray[np.int32]
    values: tuple[pa.ChunkedArray, ...]
    weight: Array

    def of_fold(self, fold: int) -> CellCounts:
        """Those of one fold."""
        import pyarrow as pa

        own = np.flatnonzero(self.fold == fold)
        taken = pa.array(own)
        return CellCounts(self.fold[own], self.y[own], tuple(v.take(taken) for v in self.values), self.weight[own])

    def decoded(self, cell: Cell, place: int = 0) -> pa.ChunkedArray:
        """The values of one kind in their own type."""
        import pyarrow as pa
        import pyarrow.compute as pc

        found = self.values[place]
        if cell == "boolean":
            return pc.equal(found, "true")
        kinds = {"string": pa.string(), "integer": pa.int64(), "float": pa.float64()}
        return found.cast(kinds[cell])


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
        column = as_table(found).cells("y")
        if column.gaps():
            known = found.column("y").is_valid().to_numpy()
            lost = int(found.column("rows").to_numpy()[~known].sum()) or 1
            raise DataError(
                f"{where}: {lost:,} row{'s have' if lost > 1 else ' has'} no label; leave them out with a filter in "
                "the engine, or give them one."
            )
        try:
            labels = encode_column(column)
        except DataError as error:
            raise DataError(f"{where}: ", without_row(error.message)) from None
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
            self.fill(out, table.group_by(self.keys).aggregate(**some), probe=probe)
        return out

    def fill(self, out: Array, query: Expression, *, probe: bool = True) -> None:
        """Run a query whose columns `s0`, `s1` … are aggregates, and put these where they belong."""
        found = self.relation.run(query, probe=probe)
        fold, y = self.places(found)
        for name in found.column_names:
            if name.startswith("s"):
                numbers = found.column(name).cast("float64").fill_null(0.0)
                out[fold, y, int(name[1:])] = numbers.to_numpy()

    def places(self, found: pa.Table) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The fold and the class of each row of a result."""
        labels: Labels = encode_column(as_table(found).cells("y"))
        merged, _, theirs = merge_classes(self.seen.labels, labels.classes)
        if len(merged) > self.n_classes:
            raise DataError(f"{self.relation.name} has changed while it was counted; begin again.")
        fold = np.zeros(found.num_rows, dtype=np.intp) if self.fold is None else found.column("f").to_numpy()
        return fold.astype(np.intp), theirs.astype(np.int32)[labels.codes]

    def cells(self, tables: Sequence[tuple[str, Sequence[Expression]]]) -> list[CellCounts]:
        """How often one or two values came with each class, for several columns or pairs of them in one query.

        Each table has a name for errors and its one or two values, where a null is a gap.
        """
        found: list[CellCounts] = []
        for start in range(0, len(tables), ARMS):
            found += self._some_cells(tables[start : start + ARMS])
        return found

    def _some_cells(self, tables: Sequence[tuple[str, Sequence[Expression]]]) -> list[CellCounts]:
        by_unnest = self.relation.engine in LONG_BY_UNNEST
        query = self._unnested(tables) if by_unnest else self._united(tables)
        found = self.relation.run(query.limit(MOST_CELLS + 1))
        part = found.column("part").to_numpy()
        if found.num_rows > MOST_CELLS:
            name = tables[int(np.bincount(part).argmax())][0]
            raise DataError(
                f"{self.relation.name}: column {name!r} has too many distinct values for a category; leave it out ",
                "with ",
                say_kind(name, "ignored"), ".",
            )  # fmt: skip
        fold, y = self.places(found)
        weight = found.column("n").cast("float64").fill_null(0.0).to_numpy()
        known = found.column("a").is_valid().to_numpy()
        two = found.column("b").is_valid().to_numpy()
        out = []
        for k, (_, values) in enumerate(tables):
            own = np.flatnonzero((part == k) & known & (two if len(values) > 1 else True))
            some = found.take(own)
            columns = tuple(some.column(name) for name in ("a", "b")[: len(values)])
            out.append(CellCounts(fold[own], y[own], columns, weight[own]))
        return out

    def _united(self, tables: Sequence[tuple[str, Sequence[Expression]]]) -> Expression:
        """One aggregation after the other in one query: each reads its own columns only."""
        ibis, none = ibis_module(), ibis_module().literal(None, "string")
        arms = []
        for k, (_, values) in enumerate(tables):
            table = self.project(dict(zip("ab", values, strict=False)))
            keys = [*self.keys, *"ab"[: len(values)]]
            counted = table.group_by(keys).aggregate(n=self.weight_of(table))
            written = {"b": none} | {name: counted[name].cast("string") for name in "ab"[: len(values)]}
            own = {name: counted[name] for name in self.keys}
            arms.append(
                counted.select(part=ibis.literal(k, "int32"), **own, a=written["a"], b=written["b"], n=counted.n)
            )
        return ibis.union(*arms) if len(arms) > 1 else arms[0]

    def _unnested(self, tables: Sequence[tuple[str, Sequence[Expression]]]) -> Expression:
        """All rows once: each gives its values one under the other, and one aggregation counts them all."""
        ibis = ibis_module()
        if all(len(values) == 1 for _, values in tables):
            texts = ibis.array([values[0].cast("string") for _, values in tables])
            alone = self.project({"a": texts}).unnest("a", offset="part")
            keys = ["a", *self.keys, "part"]  # Spark hashes the first key best: a fifth less work than in other orders
            return alone.group_by(keys).aggregate(n=self.weight_of(alone)).mutate(b=ibis.literal(None, "string"))

        def cell(k: int, values: Sequence[Expression]) -> Expression:
            texts = [value.cast("string") for value in values] + [ibis.literal(None, "string")]
            return ibis.struct({"part": ibis.literal(k, "int32"), "a": texts[0], "b": texts[1]})

        cells = ibis.array([cell(k, values) for k, (_, values) in enumerate(tables)])
        table = self.project({"u": cells.unnest()})
        weight = {} if self.weight is None else {"w": table.w}
        own = {name: table[name] for name in self.keys}
        flat = table.select(part=table.u["part"], **own, a=table.u["a"], b=table.u["b"], **weight)
        return flat.group_by(["a", "b", *self.keys, "part"]).aggregate(n=self.weight_of(flat))
