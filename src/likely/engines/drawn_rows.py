"""A fair sample of the rows of a table in an engine, drawn there: every class has its share, and none is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import Array
from likely.engines.memory import Rows
from likely.engines.relational import RelationalRows
from likely.errors import DataError
from likely.table import as_table, encode_column, merge_classes
from likely.table.labels import row_weights

if TYPE_CHECKING:
    import pyarrow as pa

MIN_PER_CLASS = 50
"""Rows of each class that are drawn at least, if there are as many."""


def draw(rows: RelationalRows, columns: Sequence[str], most: int, seed: int) -> Rows:
    """About `most` rows with some columns, in memory; all of them if they are not more.

    Rows of rare classes are drawn more often and count for less, so that each class has the share of the weight that it
    has in the whole table; a row counts for about one.
    """
    grouping, relation = rows.grouping, rows.relation
    wanted = [*columns, grouping.target, *([] if grouping.weight is None else [grouping.weight])]
    table = relation.table.select(list(dict.fromkeys(wanted)))
    counts, total = grouping.seen.rows, int(grouping.seen.rows.sum())
    relation.seed(seed)
    if total <= most:
        return _read(rows, relation.run(table), None)
    share = most / total
    rare = np.flatnonzero((counts * share < MIN_PER_CLASS) & (counts > 0))
    drawn = relation.run(relation.sample(relation.table, share, seed).select(table.columns))
    if not len(rare):
        return _read(rows, drawn, grouping.seen.weights)
    import pyarrow as pa

    labels = grouping.seen.labels[rare].tolist()
    more = relation.sample(relation.table, min(1.0, most / int(counts[rare].sum())), seed)
    of_rare = relation.run(more.filter(more[grouping.target].isin(labels)).select(table.columns))
    common = drawn.filter(_is_common(drawn, grouping.target, labels))
    return _read(rows, pa.concat_tables([common, of_rare], promote_options="permissive"), grouping.seen.weights)


def _is_common(drawn: pa.Table, target: str, labels: Sequence[object]) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = drawn.column(target)
    return pc.invert(pc.is_in(column, pa.array(labels, column.type)))


def _read(rows: RelationalRows, found: pa.Table, weights: Array | None) -> Rows:
    """Rows in memory, their classes among all, and what each counts for."""
    table, grouping = as_table(found), rows.grouping
    if not table.n_rows:
        raise DataError(f"{rows.relation.name}: no row was drawn; ask for more of them.")
    labels = encode_column(table.cells(grouping.target))
    merged, _, theirs = merge_classes(grouping.seen.labels, labels.classes)
    if len(merged) > grouping.n_classes:
        raise DataError(f"{rows.relation.name} has changed while it was counted; begin again.")
    y = theirs.astype(np.int32)[labels.codes]
    weight = row_weights(None, table, grouping.weight)
    if weights is not None:
        own = np.ones(len(y)) if weight is None else weight
        held = np.bincount(y, weights=own, minlength=grouping.n_classes)
        there = weights * (held > 0.0)
        factor = np.divide(there, held, out=np.zeros_like(held), where=held > 0.0) * (held.sum() / there.sum())
        weight = own * factor[y]
    return Rows(table, grouping.seen.labels, y, weight, rows.n_jobs, rows.preprocessing)
