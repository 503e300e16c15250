"""How often values came with each class, for all columns or pairs of columns in one or few queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.engines.group_by import CHANGED, Grouping
from likely.engines.relation import LONG_BY_UNNEST, Cell, Expression, ibis_module
from likely.errors import DataError, say_kind

if TYPE_CHECKING:
    import pyarrow as pa

ARMS = 64
"""Tables of values that are counted by one query."""

MOST_CELLS = 1 << 22
"""Cells of so many tables that one query may bring: beyond, a column is no category."""

LARGE = 1e289
"""Beyond this a number times 2⁵¹ is no float: such numbers are counted one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class CountedColumns:
    """What is counted: the values of one column, or of two together, where a null is a gap; `name` is for errors.

    With `bits`, numbers are counted on the grid of floats whose last bits are zero, so many of them.
    """

    name: str
    terms: tuple[Expression, ...]
    bits: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CellCounts:
    """Counted cells: the fold and the class of each, its one or two values (as strings), and its weight.

    The second value of a number on a grid says whether it lies below the first.
    """

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
        try:
            return found.cast(kinds[cell])
        except pa.ArrowInvalid:  # without a sign, there are larger whole numbers
            return found.cast(pa.uint64())


def count_cells(grouping: Grouping, tables: Sequence[CountedColumns]) -> list[CellCounts]:
    """How often values came with each class, in the order of the tables."""
    found: dict[int, CellCounts] = {}
    for query, parts in _queries(grouping, tables):
        asked = _asked(grouping, query, [tables[k] for k in parts.values()], list(parts))
        found |= zip(parts.values(), asked, strict=True)
    return [found[k] for k in range(len(tables))]


def _queries(grouping: Grouping, tables: Sequence[CountedColumns]) -> Iterator[tuple[Expression, dict[int, int]]]:
    """Queries, and which table each `part` of their results belongs to."""
    if grouping.relation.engine not in LONG_BY_UNNEST:
        for some in _bundles(range(len(tables))):
            yield _united(grouping, [tables[k] for k in some]), dict(enumerate(some))
        return
    pairs = [k for k, table in enumerate(tables) if len(table.terms) == 2]
    if pairs:
        query, parts = _unfolded_pairs(grouping, [tables[k] for k in pairs])
        yield query, dict(zip(parts, pairs, strict=True))
    for some in _bundles([k for k, table in enumerate(tables) if _is_single(table)]):
        yield _unfolded(grouping, [tables[k] for k in some]), dict(enumerate(some))
    for some in _bundles([k for k, table in enumerate(tables) if table.bits is not None]):
        yield _unfolded_numbers(grouping, [tables[k] for k in some]), dict(enumerate(some))


def _bundles(places: Sequence[int]) -> Iterator[Sequence[int]]:
    return (places[start : start + ARMS] for start in range(0, len(places), ARMS))


def _asked(
    grouping: Grouping, query: Expression, tables: Sequence[CountedColumns], parts: Sequence[int]
) -> list[CellCounts]:
    most = MOST_CELLS * -(-len(tables) // ARMS)
    found = grouping.relation.run(query.limit(most + 1))
    part = found.column("part").to_numpy()
    if found.num_rows > most:
        name = tables[parts.index(int(np.bincount(part).argmax()))].name
        raise DataError(
            f"{grouping.relation.name}: column {name!r} has too many distinct values for a category; leave it out ",
            "with ", say_kind(name, "ignored"), ".",
        )  # fmt: skip
    fold, y = grouping.places(found)
    weight = found.column("n").cast("float64").fill_null(0.0).to_numpy()
    known = found.column("a").is_valid().to_numpy()
    both = known & found.column("b").is_valid().to_numpy()
    order = np.argsort(part, kind="stable")
    starts, ends = (np.searchsorted(part[order], parts, side) for side in ("left", "right"))
    out = []
    for table, start, end in zip(tables, starts, ends, strict=True):
        own = order[start:end]
        counted = np.zeros_like(grouping.weights)
        np.add.at(counted, (fold[own], y[own]), weight[own])
        grouping.refuse_changes(counted, grouping.weights)
        own = own[(known if _is_single(table) else both)[own]]
        some = found.take(own)
        columns = tuple(some.column(name) for name in ("a" if _is_single(table) else "ab"))
        out.append(CellCounts(fold[own], y[own], columns, weight[own]))
    return out


def _is_single(table: CountedColumns) -> bool:
    return len(table.terms) == 1 and table.bits is None


# Numbers on the grid of floats: those that agree in all but their last bits are counted together.
#
# No engine shows the bits of a float, but arithmetic does: with c = x · (2ˢ + 1), c − (c − x) is the float nearest to
# x whose last s bits are zero (Veltkamp). Whether x lies below it tells on which side of that point of the grid it is.


def _on_grid(x: Expression, factor: Expression | float) -> tuple[Expression, Expression]:
    """The point of the grid next to each number, and whether the number lies below it."""
    product = x * factor
    near = ibis_module().ifelse(x.abs() > LARGE, x, product - (product - x))
    return near, x < near


def _factor(table: CountedColumns) -> float:
    return float(2 ** (table.bits or 0) + 1)


def _united(grouping: Grouping, tables: Sequence[CountedColumns]) -> Expression:
    """One aggregation after the other in one query: each reads its own columns only."""
    ibis, none = ibis_module(), ibis_module().literal(None, "string")
    arms = []
    for k, table in enumerate(tables):
        terms = table.terms if table.bits is None else _on_grid(table.terms[0], _factor(table))
        rows = grouping.project(dict(zip("ab", terms, strict=False)))
        keys = [*grouping.keys, *"ab"[: len(terms)]]
        counted = rows.group_by(keys).aggregate(n=grouping.weight_of(rows))
        written = {"b": none} | {name: counted[name].cast("string") for name in "ab"[: len(terms)]}
        own = {name: counted[name] for name in grouping.keys}
        arms.append(counted.select(part=ibis.literal(k, "int32"), **own, a=written["a"], b=written["b"], n=counted.n))
    return ibis.union(*arms) if len(arms) > 1 else arms[0]


# All rows once: each gives its values one under the other, and one aggregation counts them all. What is computed for a
# value is computed after that, so that the code that Spark writes for a row stays short enough to be compiled.


def _unfolded(grouping: Grouping, tables: Sequence[CountedColumns]) -> Expression:
    ibis = ibis_module()
    texts = ibis.array([table.terms[0].cast("string") for table in tables])
    keys, rows = grouping.numbered(grouping.project({"a": texts}))
    alone = rows.unnest("a", offset="part")
    if "c" not in keys:
        by = ["a", *keys, "part"]  # Spark hashes the first key best: a fifth less work than in other orders
        return alone.group_by(by).aggregate(n=grouping.weight_of(alone)).mutate(b=ibis.literal(None, "string"))
    width = grouping.n_classes + 1  # class and column as one number: one key less to hash and to compare
    alone = alone.mutate(k=alone.part * width + (alone.c - CHANGED))
    counted = alone.group_by(["a", "k", *keys[1:]]).aggregate(n=grouping.weight_of(alone))
    part, c = counted.k // width, counted.k % width + CHANGED
    return counted.mutate(part=part.cast("int32"), c=c.cast("int32"), b=ibis.literal(None, "string"))


def _unfolded_numbers(grouping: Grouping, tables: Sequence[CountedColumns]) -> Expression:
    ibis = ibis_module()
    keys, rows = grouping.numbered(grouping.project({"x": ibis.array([table.terms[0] for table in tables])}))
    alone = rows.unnest("x", offset="part")
    factors = [_factor(table) for table in tables]
    factor = ibis.array(factors)[alone.part] if len(set(factors)) > 1 else factors[0]
    near, below = _on_grid(alone.x, factor)
    placed = alone.mutate(a=near, b=below)
    counted = placed.group_by(["a", "b", *keys, "part"]).aggregate(n=grouping.weight_of(placed))
    return counted.mutate(a=counted.a.cast("string"), b=counted.b.cast("string"))


def _unfolded_pairs(grouping: Grouping, tables: Sequence[CountedColumns]) -> tuple[Expression, list[int]]:
    """Each value of a row with every later one, and the `part` of each table in the result.

    Values are placed in the order in which the tables name them, the first value of one before its second.
    """
    ibis = ibis_module()
    place: dict[Expression, int] = {}
    for table in tables:
        for term in table.terms:
            place.setdefault(term.op(), len(place))
    texts = ibis.array([term.to_expr().cast("string") for term in place])
    keys, rows = grouping.numbered(grouping.project({"a": texts, "b": texts}))
    both = rows.unnest("a", offset="p").unnest("b", offset="q")
    both = both.filter(both.p < both.q)
    both = both.mutate(part=both.p * len(place) + both.q)
    query = both.group_by(["a", "b", *keys, "part"]).aggregate(n=grouping.weight_of(both))
    parts = [[place[term.op()] for term in table.terms] for table in tables]
    return query, [first * len(place) + second for first, second in parts]
