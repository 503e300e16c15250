"""What a user should know of a table before believing a model of it: leaks, identifiers, copies, odd targets.

Notes are data: what they are about, the column, a figure, and a sentence that every door words in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from likely.arrays import AnyArray, Array, Index, Int64
from likely.errors import DataError, LikelyError, Message, listed, say_kind
from likely.table.cells import GAP
from likely.table.infer import Column, Note
from likely.table.labels import Labels, encode_column, with_label
from likely.table.schema import AS_SAID, Schema
from likely.table.table import Table

ROWS = 10_000  # so many rows are looked at
CELLS = 2_000_000  # and so many cells, so that wide tables are quick too
ENOUGH = 50  # fewer rows prove nothing
DECIDES = 0.99  # a column leaks that alone is right in so many rows
LEFT = 0.1  # and leaves at most this part of the mistakes that the commonest class makes
SMALLEST_BIN, MOST_BINS = 8, 256  # of the numbers of a column that may leak
OWN_VALUES = 0.5  # identifiers have a value of their own in more than this part of the rows
QUANTITY = 20  # numbers with more distinct values are quantities, if each value is rare
RARE = 20
COMMON = 0.9  # if one class has so many of the rows, accuracy says little
COPIES = 0.01
OTHER_DATE = re.compile(r"\s*\d{1,4}([./-])\d{1,2}\1\d{1,4}([T ,]+\d{1,2}:\d{2}.*)?\s*")  # 31.01.2025, 1/31/25 9:05


def data_notes(table: Table, schema: Schema, labels: Labels | None = None) -> tuple[Note, ...]:
    """What there is to know of the columns of a table; a bounded number of its rows is looked at."""
    if table.sparse is not None or not table.n_rows:
        return ()
    rows = max(min(ROWS, CELLS // max(len(schema), 1)), ENOUGH)
    looked = np.arange(0, table.n_rows, max(-(-table.n_rows // rows), 1))
    some = table if len(looked) == table.n_rows else table.take(looked)
    known = None if labels is None else Labels(labels.classes, labels.codes[looked])
    leaks = [] if known is None else list(_leaks(some, schema, known))
    dates = list(_dates(some, schema))
    others = _identifiers(some, schema, {note.column for note in (*leaks, *dates)})
    return (*leaks, *dates, *others, *_spellings(some, schema), *_copies(some, schema, known))


def schema_notes(table: Table, schema: Schema) -> tuple[Note, ...]:
    """What there is to know of rows that were looked at, by their schema; rows without a label are passed over."""
    target = schema.target
    if target is None:
        return data_notes(table, schema)
    known = with_label(table, target)
    try:
        labels = encode_column(known.cells(target))
    except DataError as error:  # such as a price: whoever trains is told so
        return (Note("numeric target", error.message, target), *data_notes(known, schema))
    counts = np.bincount(labels.codes, minlength=len(labels.classes))
    found = (*target_notes(target, labels.classes, counts, " in the sample"), *data_notes(known, schema, labels))
    if known is table:
        return found
    return Note("unlabelled", f"{table.n_rows - known.n_rows:,} rows have no label", target), *found


def unlabelled_note(rows: int) -> Note:
    """So many rows without a label were left out."""
    return Note("unlabelled", f"{_rows(rows)} without a label {'was' if rows == 1 else 'were'} left out")


# The target.


def target_notes(target: str | None, classes: AnyArray, counts: AnyArray, looked: str = "") -> Iterator[Note]:
    """What there is to know of the labels, by how often each class comes; `looked` says of which rows that is."""
    called = "the target" if target is None else f"the target {target!r}"
    rows, labels = int(counts.sum()), classes.tolist()
    if len(labels) == 1 and rows > 1:
        yield Note(
            "one class", f"{called} is {labels[0]!r} in every row{looked}: there is nothing to tell apart", target
        )
        return
    if classes.dtype.kind in "iuf" and len(labels) > QUANTITY and rows < RARE * len(labels):
        said = f"{called} holds {len(labels):,} different numbers, each a class of its own: if they are a quantity, "
        yield Note("numeric target", f"{said}cut them into ranges first", target)
        return
    share = counts.max(initial=0) / max(rows, 1)
    if rows >= ENOUGH and len(labels) > 1 and share >= COMMON:
        most = labels[int(counts.argmax())]
        said = f"{share:.1%} of the rows{looked} have the class {most!r}, so always saying {most!r} is right as often: "
        yield Note(
            "imbalance", f"{said}look at log loss and recall, or give the costs of mistakes", target, float(share)
        )
    alike = _alike(labels)
    if alike:
        said = f"{called} holds {listed(alike)}, which differ only in case or spaces and are classes of their own: "
        yield Note("spellings", f"{said}write them alike if they mean the same", target)
    lone = [labels[k] for k in np.flatnonzero(counts == 1)]
    if lone and rows >= ENOUGH:
        said = f"{len(lone)} classes have" if len(lone) > 1 else "one class has"
        yield Note("lone rows", f"{said} a single row{looked} ({listed(lone)}), too few to learn from or judge", target)


# A column that alone nearly decides the class.


def _leaks(table: Table, schema: Schema, labels: Labels) -> Iterator[Note]:
    counts = np.bincount(labels.codes, minlength=len(labels.classes))
    rows = len(labels)
    if rows < ENOUGH or np.count_nonzero(counts) < 2:
        return
    wrong = LEFT * (1.0 - counts.max() / rows)
    for name in (*schema.numeric, *schema.nominal):
        codes = _coded(table, name, schema[name])
        if codes is None:
            continue
        share = right_alone(codes, labels.codes.astype(np.int64), len(labels.classes))
        if share >= DECIDES and 1.0 - share <= wrong:
            part = "every row" if share == 1.0 else f"{share:.1%} of the rows"
            said = f"column {name!r} alone decides the class in {part}: if it becomes known only "
            remedy = Message(f"{said}afterwards, leave it out (", say_kind(name, "ignored"), ")")
            yield Note("leak", remedy, name, share)


def right_alone(codes: Int64, y: Int64, n_classes: int) -> float:
    """The share of rows whose class is the commonest among the *other* rows of the same value."""
    cells, counts = np.unique(codes * n_classes + y, return_counts=True)
    values = cells // n_classes
    order = np.lexsort((-counts, values))
    values, counts = values[order], counts[order]
    first = np.append(True, values[1:] != values[:-1])  # of each value, its commonest class, then the next one
    second = np.append(np.where(first[1:], 0, counts[1:]), 0)
    return float(counts[first & (counts - 1 > second)].sum() / max(len(codes), 1))


def _coded(table: Table, name: str, column: Column) -> Int64 | None:
    """The values of a column as codes from 0, a gap as one of them; numbers in small bins."""
    try:
        if column.kind == "nominal":
            return table.codes(name).codes.astype(np.int64) + 1
        return _binned(table.numbers(name))
    except LikelyError:  # whoever learns the column will say what is wrong with it
        return None


def _binned(numbers: Array) -> Int64:
    values, codes = np.unique(numbers, return_inverse=True)
    if len(values) > MOST_BINS // 2:
        order = np.argsort(numbers, kind="stable")
        size = max(SMALLEST_BIN, len(numbers) // MOST_BINS)
        bins = np.empty(len(numbers), dtype=np.int64)
        bins[order] = np.arange(len(numbers)) // size
        first = np.full(len(values), len(numbers), dtype=np.int64)
        np.minimum.at(first, codes, bins)  # equal numbers share a bin
        codes = first[codes]
    return np.asarray(np.where(np.isnan(numbers), -1, codes) + 1, dtype=np.int64)


# Identifiers and copies.


def _identifiers(table: Table, schema: Schema, told: set[str | None]) -> Iterator[Note]:
    for column in schema:
        name = column.name
        if name in told or column.why == AS_SAID or column.kind not in ("nominal", "numeric"):
            continue
        if column.kind == "nominal" and column.storage in ("string", "mixed"):
            coded = table.codes(name)
            known = int(np.count_nonzero(coded.codes != GAP))
            share = len(coded.levels) / max(known, 1)
            if known >= ENOUGH and share > OWN_VALUES:
                said = f"column {name!r} has {len(coded.levels):,} different values in {known:,} rows, almost an "
                remedy = Message(f"{said}identifier: leave it out (", say_kind(name, "ignored"), ")")
                yield Note("identifier", remedy, name, share)
        elif column.storage == "integer" and table.n_rows >= ENOUGH and _counts_up(table.numbers(name)):
            said = f"column {name!r} numbers the rows, as identifiers do: leave it out ("
            yield Note("identifier", Message(said, say_kind(name, "ignored"), ")"), name, 1.0)


def _dates(table: Table, schema: Schema) -> Iterator[Note]:
    """Strings that are dates to a person, but whose day and month could be taken for each other."""
    for column in schema:
        name = column.name
        if column.kind not in ("nominal", "ignored") or column.storage != "string" or column.why == AS_SAID:
            continue
        levels = table.codes(name).levels
        if levels and all(isinstance(level, str) and OTHER_DATE.fullmatch(level) for level in levels):
            said = f"column {name!r} holds dates such as {levels[0]!r}, which are not read as dates: write them as "
            yield Note("dates", f"{said}2025-01-31, so that year, month and weekday can be learned", name)


def _spellings(table: Table, schema: Schema) -> Iterator[Note]:
    """Categories that a person would take for one."""
    for column in schema:
        if column.kind != "nominal" or column.storage not in ("string", "mixed", "category"):
            continue
        alike = _alike(table.codes(column.name).levels)
        if alike:
            said = f"column {column.name!r} holds {listed(alike)}, which differ only in case or spaces and are "
            yield Note("spellings", f"{said}different categories: write them alike if they mean the same", column.name)


def _alike(levels: Sequence[object]) -> list[str]:
    """The first strings among the levels that are the same but for case and spaces."""
    groups: dict[str, list[str]] = {}
    for level in levels:
        if isinstance(level, str):
            groups.setdefault(" ".join(level.split()).casefold(), []).append(level)
    return next((group for group in groups.values() if len(group) > 1), [])


def _counts_up(numbers: Array) -> bool:
    """Whether each number is larger than the one before by the same step."""
    steps = np.diff(numbers)
    return bool(len(steps)) and bool(steps[0] > 0) and bool((steps == steps[0]).all())


def _copies(table: Table, schema: Schema, labels: Labels | None) -> Iterator[Note]:
    """Rows that are the same in all columns, where that is no chance: some column tells most rows apart, or if there
    are many copies, most of the different rows, and the other columns do so as well.
    """
    if table.n_rows < ENOUGH:
        return
    keys: list[AnyArray] = [] if labels is None else [labels.codes]
    finest, place = 0, 0
    for name in schema.features:
        try:
            cells = table.numbers(name) if schema.kinds[name] == "numeric" else table.codes(name).codes
        except LikelyError:
            return
        values, codes = np.unique(cells, return_inverse=True)
        if len(values) > finest:
            finest, place = len(values), len(keys)
        keys.append(codes)
    if not keys:
        return
    different = _distinct_rows(keys)
    copies = table.n_rows - different
    share, others = copies / table.n_rows, keys[:place] + keys[place + 1 :]
    is_chance = finest <= OWN_VALUES * table.n_rows and (
        finest <= OWN_VALUES * different or not others or _distinct_rows(others) <= OWN_VALUES * different
    )
    if share >= COPIES and not is_chance:
        said = f"{_rows(copies)} of {table.n_rows:,} ({share:.1%}) {'is a copy' if copies == 1 else 'are copies'} of "
        yield Note(
            "duplicates", f"{said}another: cross-validation flatters a model that has seen the copy", share=share
        )


def _distinct_rows(keys: Sequence[AnyArray]) -> int:
    """How many different rows there are, one key for each column."""
    row: Index = np.zeros(len(keys[0]), dtype=np.intp)
    for key in keys:
        _, codes = np.unique(key, return_inverse=True)
        _, row = np.unique(row * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    return int(row.max(initial=-1)) + 1


def _rows(n: int) -> str:
    return f"{n:,} row{'s' * (n != 1)}"
