"""Counting where the data lives: one query by class for sums, one for all tables of values; only summaries travel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import Array
from likely.engines.cell_counts import CellCounts, CountedColumns, count_cells
from likely.engines.contingency import histogram, pair_counts, pair_tables, rounded, value_counts
from likely.engines.deviations import Deviations, scatter
from likely.engines.group_by import Aggregate, Grouping
from likely.engines.memory import USUAL_TOKENIZER, Preprocessing, Rows
from likely.engines.relation import EngineError, Expression, Relation, builtin, ibis_module, moments
from likely.engines.term_counts import token_counts
from likely.errors import DataError, SchemaError, SettingsError, listed, say_kind
from likely.stats import (
    ClassWeights,
    Cuts,
    FeatureCounts,
    Histogram,
    Moments,
    Part,
    Presence,
    Scatter,
    Statistic,
    Summary,
    TokenCounts,
)
from likely.table import Table, as_table, encode_column, merge_classes
from likely.table.cells import shortened
from likely.table.dates import endless
from likely.table.infer import SAMPLE
from likely.table.labels import row_weights
from likely.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    import pyarrow as pa


ENDLESS = ("duckdb", "postgres")
"""Engines that have infinite dates."""


class RelationalRows(Rows):
    """Rows of a table in an engine. They are counted there; `table`, `y` and `weight` are a fair sample of them."""

    def __init__(
        self, grouping: Grouping, sample: Table, n_jobs: int | None = None, preprocessing: Preprocessing | None = None
    ) -> None:
        labels = encode_column(sample.cells(grouping.target))
        merged, _, theirs = merge_classes(grouping.seen.labels, labels.classes)
        grouping.refuse_classes(merged)
        y = theirs.astype(np.int32)[labels.codes]
        weight = row_weights(None, sample, grouping.weight)
        super().__init__(sample, grouping.seen.labels, y, weight, n_jobs, preprocessing)
        self.grouping = grouping

    @classmethod
    def of(
        cls,
        relation: Relation,
        target: str,
        weight: str | None = None,
        *,
        ignored: Sequence[str] = (),
        random_state: int = 0,
        n_jobs: int | None = None,
        preprocessing: Preprocessing | None = None,
    ) -> RelationalRows:
        """Count the classes, and fetch a bounded sample of the rows to judge columns by.

        Columns that are `ignored` need not be readable.
        """
        if target not in relation.names:
            relation.require([target])
        grouping = Grouping.of(relation, target, weight)
        rows = int(grouping.seen.rows.sum())
        try:
            sample = _glance(relation, rows, random_state)
        except EngineError:
            if not ignored:
                raise
            sample = _glance(relation.blanked(ignored), rows, random_state)
        known = sample.filter(sample.column(target).is_valid())
        return cls(grouping, as_table(known), n_jobs, preprocessing)

    @property
    def relation(self) -> Relation:
        """The table in its engine."""
        return self.grouping.relation

    @property
    def looked(self) -> int:
        """How many rows were looked at."""
        return self.table.n_rows

    def with_preprocessing(self, preprocessing: Preprocessing) -> RelationalRows:
        """The same rows, where columns are read otherwise."""
        return RelationalRows(self.grouping, self.table, self.n_jobs, preprocessing)

    def summarise(self, plan: Sequence[Part]) -> Summary:
        """Count every part of the plan in the engine."""
        (summary,) = self._summaries(self.grouping, plan)
        return summary

    def summarise_folds(self, plan: Sequence[Part], key: Sequence[str], n_folds: int, seed: int) -> list[Summary]:
        """The same for each fold; the fold of a row follows from its key."""
        fold = fold_of(self.relation, key, n_folds, seed)
        return self._summaries(self.grouping.by_fold(fold, n_folds), plan)

    def _summaries(self, grouping: Grouping, plan: Sequence[Part]) -> list[Summary]:
        wanted: list[CountedColumns] = []
        spans: dict[Part, slice] = {}
        for part in plan:
            if part.kind in TABLES:
                more = TABLES[part.kind](self, grouping, part)
                spans[part] = slice(len(wanted), len(wanted) + len(more))
                wanted += more
        cells = count_cells(grouping, wanted)
        found: dict[Part, Sequence[Statistic]] = {}
        for part in plan:
            if part in spans:
                own = cells[spans[part]]
                make = COUNTED[part.kind]
                found[part] = [
                    make(self, grouping, part, [some.of_fold(fold) for some in own]) for fold in range(grouping.n_folds)
                ]
            else:
                found[part] = SUMMED[part.kind](self, grouping, part)
        return [self._summary(grouping, found, fold) for fold in range(grouping.n_folds)]

    def _summary(self, grouping: Grouping, found: Mapping[Part, Sequence[Statistic]], fold: int) -> Summary:
        """What was counted in one fold, with the classes that it has."""
        weights, rows = grouping.weights[fold], grouping.rows[fold]
        there = np.flatnonzero(rows)
        classes = ClassWeights(grouping.seen.labels[there], weights[there], rows[there])
        whole = len(there) == len(rows)
        return Summary(classes, {p: s[fold] if whole else s[fold].take_classes(there) for p, s in found.items()})

    def centre(self, columns: Sequence[str], *, in_logs: bool = False) -> Array:
        """The mean of each column in the sample."""
        out = np.zeros(len(columns))
        for k, name in enumerate(columns):
            cells = self.table.numbers(name) if name in self.table else np.zeros(0)
            known = cells[np.isfinite(cells) & ((cells > 0.0) | (not in_logs))]
            with np.errstate(over="ignore"):
                out[k] = (np.log(known) if in_logs else known).mean() if len(known) else 0.0
        return out


def _glance(relation: Relation, rows: int, seed: int) -> pa.Table:
    """A bounded number of rows, drawn by the engine."""
    relation.seed(seed)
    sample = relation.run(relation.sample(relation.table, SAMPLE / max(rows, 1), seed))
    return sample if sample.num_rows else relation.run(relation.table.limit(SAMPLE))


# Sums by class.


def _moments(rows: RelationalRows, grouping: Grouping, part: Part, *, in_logs: bool) -> list[Moments]:
    return _deviations(rows, grouping, part, in_logs=in_logs).moments()


def _scatter(rows: RelationalRows, grouping: Grouping, part: Part) -> list[Scatter]:
    return scatter(_deviations(rows, grouping, part, in_logs=False))


def _deviations(rows: RelationalRows, grouping: Grouping, part: Part, *, in_logs: bool) -> Deviations:
    values = [grouping.relation.numbers(name) for name in part.columns]
    if in_logs:
        refuse_below(rows.relation, part.columns, 0.0, strictly=True)
        values = [value.ln() for value in values]
    return Deviations.of(grouping, part.columns, values, rows.centre(part.columns, in_logs=in_logs))


def _features(rows: RelationalRows, grouping: Grouping, part: Part) -> list[FeatureCounts]:
    """Sums of columns; a gap counts as nothing."""
    refuse_below(grouping.relation, part.columns, 0.0)
    values = {f"x{k}": grouping.relation.known_numbers(name) for k, name in enumerate(part.columns)}
    wanted: list[Aggregate] = [partial(_sum_of, grouping, f"x{k}") for k in range(len(values))]
    return [FeatureCounts(table) for table in grouping.sums(grouping.project(values), wanted)]


def _presence(rows: RelationalRows, grouping: Grouping, part: Part) -> list[Presence]:
    """Weight of rows with a number above zero, and of gaps."""
    ibis = ibis_module()
    values: dict[str, Expression] = {}
    for k, name in enumerate(part.columns):
        x = grouping.relation.known_numbers(name)
        values |= {f"x{k}": (x > 0.0).ifelse(1.0, 0.0), f"g{k}": ibis.ifelse(x.isnull(), 1.0, 0.0)}
    wanted: list[Aggregate] = [partial(_sum_of, grouping, name) for name in values]
    found = grouping.sums(grouping.project(values), wanted)
    return [Presence(FeatureCounts(one[:, 0::2].copy()), FeatureCounts(one[:, 1::2].copy())) for one in found]


def _sum_of(grouping: Grouping, name: str, table: Expression) -> Expression:
    return grouping.weighed(table, table[name])


def refuse_below(relation: Relation, columns: Sequence[str], least: float, *, strictly: bool = False) -> None:
    """Raise for a column with a number below what its family can stand, or an infinite one."""
    if not columns:
        return
    table = relation.table.select(**{f"x{k}": relation.known_numbers(name) for k, name in enumerate(columns)})
    wanted = {f"l{k}": table[f"x{k}"].min() for k in range(len(columns))}
    wanted |= {f"h{k}": table[f"x{k}"].max() for k in range(len(columns))}
    found = relation.run(table.aggregate(**wanted)).to_pylist()[0]
    for k, name in enumerate(columns):
        low, high = found[f"l{k}"], found[f"h{k}"]
        if low is not None and (low < least or (strictly and low <= least) or np.isinf(high)):
            bad = high if np.isinf(high) else low
            raise DataError(
                f"{relation.name}: column {name!r} holds {bad:g}, but its family is for "
                f"{'numbers above zero' if strictly else 'counts from zero up'}: choose another, such as 'gaussian'."
            )


def refuse_no_dates(relation: Relation, names: Iterable[str]) -> None:
    """Raise where a text is no date, or a date is infinite; `names` are what is learned, parts of dates among it."""
    inputs = [name for name in dict.fromkeys(map(relation.input_of, names)) if name not in names]
    _refuse_endless(relation, inputs)
    texts = [name for name in inputs if relation.table[name].type().is_string()]
    if not texts:
        return
    wrong = {f"x{k}": _undated(relation.table[name]).min() for k, name in enumerate(texts)}
    try:
        found = relation.run(relation.table.aggregate(**wrong), probe=False)
    except EngineError as error:  # the form of a date, but a day that no month has
        raise _no_date(relation, texts, error.reason) from None
    for name, (cell,) in zip(texts, found.to_pydict().values(), strict=True):
        if cell is not None:
            raise _no_date(relation, [name], f"{shortened(cell)} is no date such as 2025-01-31 or 2025-01-31 17:05")


def _refuse_endless(relation: Relation, inputs: Sequence[str]) -> None:
    """Raise where a date is infinite; some engines have such."""
    kinds = {name: relation.table[name].type() for name in inputs if not relation.table[name].type().is_string()}
    if not kinds or relation.engine not in ENDLESS:
        return
    wanted = {
        f"x{k}": builtin("isfinite", str(kind), "boolean")(relation.table[name]).all()
        for k, (name, kind) in enumerate(kinds.items())
    }
    found = relation.run(relation.table.aggregate(**wanted)).to_pydict()
    for name, (finite,) in zip(kinds, found.values(), strict=True):
        if finite is False:
            raise endless(name, f"{relation.name}: ")


def _undated(text: Expression) -> Expression:
    """A text that is no date, else null."""
    return (text.notnull() & moments(text).month().isnull()).ifelse(text, ibis_module().null("string"))


def _no_date(relation: Relation, names: Sequence[str], why: str) -> SchemaError:
    return SchemaError(
        f"{relation.name}, column {listed(names)}: {why}; mend the cell, make the column nominal (",
        say_kind(names[0], "nominal"), ") or leave it out (", say_kind(names[0], "ignored"), ").",
    )  # fmt: skip


# Tables of values.


def _tables_of_values(rows: RelationalRows, grouping: Grouping, part: Part) -> list[CountedColumns]:
    return [CountedColumns(name, (grouping.relation.values(name),)) for name in part.columns]


def _count_values(rows: RelationalRows, grouping: Grouping, part: Part, cells: Sequence[CellCounts]) -> Statistic:
    (name,) = part.columns
    return value_counts(name, grouping.relation.cell(name) or "string", cells[0], grouping.n_classes)


def _tables_of_numbers(rows: RelationalRows, grouping: Grouping, part: Part) -> list[CountedColumns]:
    return [rounded(grouping, name, _shift(rows, name)) for name in part.columns]


def _count_numbers(rows: RelationalRows, grouping: Grouping, part: Part, cells: Sequence[CellCounts]) -> Statistic:
    (name,) = part.columns
    return histogram(name, grouping.relation.name, _shift(rows, name), cells[0], grouping.n_classes)


def _shift(rows: RelationalRows, name: str) -> int:
    """The bits that the histogram of the sample drops: that of all rows drops no fewer."""
    cells = rows.table.numbers(name) if name in rows.table else np.zeros(0)
    if np.isinf(cells).any():
        raise DataError(f"{rows.relation.name}: column {name!r} holds an infinite number; make it a gap or a number.")
    return Histogram.observe(cells, rows.y, rows.weight, len(rows.classes)).shift


def _tables_of_pairs(rows: RelationalRows, grouping: Grouping, part: Part) -> list[CountedColumns]:
    return pair_tables(grouping, part.columns, _cuts(rows, part))


def _count_pairs(rows: RelationalRows, grouping: Grouping, part: Part, cells: Sequence[CellCounts]) -> Statistic:
    return pair_counts(grouping, part.columns, _cuts(rows, part), cells)


def _cuts(rows: RelationalRows, part: Part) -> dict[str, Cuts]:
    return {name: cuts for name in part.columns if isinstance(cuts := rows.preprocessing.get(name), Cuts)}


def _tokens(rows: RelationalRows, grouping: Grouping, part: Part) -> list[TokenCounts]:
    (name,) = part.columns
    if grouping.relation.cell(name) != "string":
        raise SchemaError(
            f"Column {name!r} of {grouping.relation.name} is read as text, but it holds no strings there."
        )
    given = rows.preprocessing.get(name)
    return token_counts(grouping, name, given if isinstance(given, Tokenizer) else USUAL_TOKENIZER)


TABLES: dict[str, Callable[[RelationalRows, Grouping, Part], list[CountedColumns]]] = {
    "values": _tables_of_values,
    "histogram": _tables_of_numbers,
    "pairs": _tables_of_pairs,
}
"""Statistics that are tables of values: which ones an engine is asked for …"""

COUNTED: dict[str, Callable[[RelationalRows, Grouping, Part, Sequence[CellCounts]], Statistic]] = {
    "values": _count_values,
    "histogram": _count_numbers,
    "pairs": _count_pairs,
}
"""… and what is made of them."""

SUMMED: dict[str, Callable[[RelationalRows, Grouping, Part], Sequence[Statistic]]] = {
    "moments": partial(_moments, in_logs=False),
    "log moments": partial(_moments, in_logs=True),
    "scatter": _scatter,
    "counts": _features,
    "presence": _presence,
    "tokens": _tokens,
}
"""All others, by fold. With these tables an engine counts every statistic of `stats.STATISTICS`."""


# Folds.

HEX = "0123456789abcdef"
DIGITS = 7
"""Hexadecimal digits of a hash that make a number."""


def md5(text: Expression) -> Expression:
    """The MD5 of a string in hexadecimal digits, the same in every engine."""
    return builtin("md5", "string", "string")(text)


def fold_of(relation: Relation, key: Sequence[str], n_folds: int, seed: int) -> Expression:
    """A number below `n_folds` that follows from the key of a row and the seed alone."""
    ibis = ibis_module()
    relation.require(key)
    if relation.engine == "sqlite":
        raise SettingsError(
            "SQLite has no MD5, by which rows are dealt to folds: cross-validate in memory or in another engine, or "
            "judge a trained classifier on the table (cv=None)."
        )
    text = ibis.literal(str(seed), "string")
    for name in key:
        text = text + ibis.literal("\x1f", "string") + relation.table[name].cast("string").fill_null("\x1e")
    digits = md5(text)
    number = ibis.literal(0, "int64")
    for place in range(DIGITS):
        number = number * 16 + ibis.literal(HEX).find(digits.substr(place, 1))
    return (number % n_folds).cast("int64")
