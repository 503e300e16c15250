"""What is known of a column: its kind, and why it was taken for that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from typing import Any, Literal, get_args, overload

import numpy as np

from likely.arrays import AnyArray, Flags, Index
from likely.errors import Aside, Message, SchemaError, did_you_mean, parts_of, say_kind
from likely.table.cells import Codes, Storage
from likely.table.dates import PARTS, Part, is_date, moments_of, name_of_part, parts_in, spells_dates
from likely.table.levels import read_number
from likely.table.table import Numbered, Table

Kind = Literal["numeric", "nominal", "text", "date", "ignored"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its kind, how it is stored, distinct values and gaps where counted, why this kind, and between
    which numbers almost all of it lies."""

    name: str
    kind: Kind
    storage: Storage
    levels: int | None = None
    gaps: int | None = None
    why: str = ""
    low: float | None = None
    high: float | None = None
    parts: tuple[Part, ...] = ()
    """What is learned of a date."""


class ManyColumns(Sequence[Column]):
    """Columns x0, x1, … of a sparse matrix, alike but for a few; made when asked for."""

    def __init__(self, n: int, pattern: Column, changed: Mapping[int, Column] | None = None) -> None:
        self.names = Numbered(n)
        self.pattern = pattern
        self.changed = dict(changed or {})

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, place: int) -> Column: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Column, ...]: ...
    def __getitem__(self, place: int | slice) -> Column | tuple[Column, ...]:
        if isinstance(place, slice):
            return tuple(self[j] for j in range(len(self))[place])
        j = range(len(self))[place]
        return self.changed[j] if j in self.changed else replace(self.pattern, name=self.names[j])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ManyColumns):
            return (self.names, self.pattern, self.changed) == (other.names, other.pattern, other.changed)
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash((self.names, self.pattern))

    def __repr__(self) -> str:
        return f"ManyColumns({len(self)}, {self.pattern!r})"


# What a user should know of a table; `table.notes` finds it.

Subject = Literal[
    "leak", "identifier", "duplicates", "one class", "numeric target", "imbalance", "lone rows", "unlabelled",
    "new values", "missing values", "range", "spellings", "dates",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """Something about a table: what about, in which column, how large, and a sentence."""

    about: Subject
    message: str
    column: str | None = None
    share: float | None = None

    def __str__(self) -> str:
        return str(self.message)


# What a column looks like: numbers, categories, text, or nothing to learn from; and why.

SAMPLE = 10_000  # rows that are looked at where reading all would cost a pass
GLANCE = 100  # rows that tell broken numbers from whole ones without looking at more
SAMPLE_CELLS = 5_000_000  # and cells, so that wide matrices are quick too
RANGE_ROWS, LEAST_RANGE_ROWS, RANGE_CELLS = 1_000, 50, 500_000  # rows and cells that tell the usual range of numbers
OUTER = 0.005  # the part of the numbers that lies below it, and above
FEW_LEVELS = 10  # whole numbers with so few distinct values may be categories
TEXT_WORDS = 4.0  # free text has so many words in the mean
MOSTLY = 0.5  # and is distinct in more than this part of the rows
IDENTIFIER_ROWS = 20  # so many short strings, all distinct, identify rows


IGNORED = {
    "empty": "every cell is missing",
    "date": "durations and times of day are not learned from; compute numbers or categories from them",
    "nested": "its cells are lists, dicts or other containers",
}


def infer_column(table: Table, name: str) -> Column:
    """Look at one column of a frame: its storage, its exact gaps, and a sample or all of its values."""
    storage = table.storage(name)
    if storage == "date" and is_date(table.cells(name)):
        return _infer_dates(table, name, storage, "dates")
    if storage in ("float", "integer"):
        rows = _sample(table.n_rows)
        values = table.cells(name).at(rows).numbers(name) if len(rows) < table.n_rows else table.numbers(name)
        return replace(*_infer_numbers([name], values[:, None], storage, table.n_rows), gaps=table.gaps(name))
    if storage in ("string", "mixed"):
        return _infer_strings(table, name, storage)
    gaps = table.gaps(name)
    if storage in ("boolean", "category"):
        levels = len(table.codes(name).levels)
        why = "truth values" if storage == "boolean" else "categories"
        return Column(name, "nominal", storage, levels, gaps, why + _constant(levels))
    return Column(name, "ignored", storage, None, gaps, IGNORED[storage])


def _infer_dates(table: Table, name: str, storage: Storage, what: str) -> Column:
    """A column of dates, and which of its parts are learned from."""
    gaps = table.gaps(name)
    parts = date_parts(table, name)
    *others, last = parts
    listed_parts = (piece for other in others for piece in (", ", other))
    told = Message(what, ", learned by ", *list(listed_parts)[1:], " and ", last, "; ")
    return Column(
        name, "date", storage, None, gaps, Message(told, say_kind(name, "ignored"), " leaves it out"), parts=parts
    )


def date_parts(table: Table, name: str) -> tuple[Part, ...]:
    """The parts of a date column, as far as its rows have any; real columns of the same name are not replaced."""
    rows = _sample(table.n_rows)
    return tuple(
        part for part in parts_in(moments_of(table.cells(name).at(rows), name))
        if name_of_part(name, part) not in table.names
    )  # fmt: skip


def without_parts(column: Column, wanted: Mapping[str, Kind]) -> Column:
    """A date without the parts that the user leaves out."""
    for part in column.parts:
        name = name_of_part(column.name, part)
        if wanted.get(name, "ignored") != "ignored":
            raise SchemaError(f"A part of a date is learned as it is or left out: {name!r} can only be 'ignored'.")
    return replace(column, parts=tuple(p for p in column.parts if name_of_part(column.name, p) not in wanted))


def infer_matrix(table: Table, matrix: AnyArray) -> list[Column]:
    """Look at a sample of rows of a plain matrix, all columns at once."""
    rows = min(SAMPLE, max(SAMPLE_CELLS // table.n_columns, 1))
    seen = np.ascontiguousarray(matrix[:: max(-(-len(matrix) // rows), 1)])  # gathered once, for it is read often
    if matrix.dtype.kind == "b":
        return [_truths(name, n, len(seen), len(matrix)) for name, n in zip(table.names, _distinct(seen), strict=True)]
    storage: Storage = "float" if matrix.dtype.kind == "f" else "integer"
    gaps = np.isnan(seen).sum(axis=0) if storage == "float" else np.zeros(seen.shape[1])
    inferred = list(_infer_numbers(table.names, seen, storage, len(matrix)))
    for j, name in enumerate(table.names):
        if len(seen) and gaps[j] == len(seen) and table.storage(name) == "empty":
            inferred[j] = Column(name, "ignored", "empty", None, len(matrix), IGNORED["empty"])
        elif len(seen) == len(matrix) or storage == "integer":
            inferred[j] = replace(inferred[j], gaps=int(gaps[j]))
    return inferred


def sparse_pattern(dtype: np.dtype[np.generic]) -> Column:
    """What all columns of a sparse matrix are: numbers; nothing is read."""
    kinds: dict[str, Storage] = {"f": "float", "b": "boolean"}
    return Column("", "numeric", kinds.get(dtype.kind, "integer"), why="sparse numbers")


def _infer_numbers(names: Sequence[str], seen: AnyArray, storage: Storage, n_rows: int) -> Iterator[Column]:
    """Columns of numbers by some of their rows; their gaps are not counted."""
    known = ~np.isnan(seen) if seen.dtype.kind == "f" else np.ones(seen.shape, dtype=np.bool_)
    whole = _all_known(seen, known, np.floor)
    levels = np.full(seen.shape[1], -1)
    levels[whole] = _distinct(seen[:, whole])
    levels[_constant_columns(seen, known)] = 1
    for name, distinct, looked, ends in zip(names, levels.tolist(), known.sum(axis=0), usual_ranges(seen), strict=True):
        why = _about_numbers(name, storage, distinct, looked) + judged(len(seen), n_rows)
        counted = None if distinct < 0 or len(seen) < n_rows else distinct
        yield Column(name, "numeric", storage, counted, None, why, *ends)


def usual_ranges(numbers: AnyArray) -> list[tuple[float | None, float | None]]:
    """For each column the numbers between which almost all of it lies, by some rows; None where these are too few."""
    n_rows, n_columns = numbers.shape
    most = min(RANGE_ROWS, RANGE_CELLS // max(n_columns, 1))
    if min(n_rows, most) < LEAST_RANGE_ROWS:
        return [(None, None)] * n_columns
    ordered = np.sort(numbers[:: max(n_rows // most, 1)].astype(np.float64, copy=False), axis=0)  # NaN comes last
    known = (~np.isnan(ordered)).sum(axis=0)
    low, high = np.floor(OUTER * (known - 1)).astype(int), np.ceil((1 - OUTER) * (known - 1)).astype(int)
    ends = zip(known, *(ordered[np.maximum(end, 0), np.arange(n_columns)].tolist() for end in (low, high)), strict=True)
    return [(a, b) if n >= LEAST_RANGE_ROWS and abs(b - a) < np.inf else (None, None) for n, a, b in ends]


def _infer_strings(table: Table, name: str, storage: Storage) -> Column:
    rows = _sample(table.n_rows)
    if len(rows) < table.n_rows and storage == "string":
        part = table.cells(name).at(rows).codes(name)
        if _is_text(part):
            # All levels of a long column of texts would be a second copy of it.
            why: str = "free text" + judged(len(rows), table.n_rows)
            return Column(name, "text", storage, None, table.gaps(name), why)
    try:
        coded = table.codes(name)
    except SchemaError:
        why = "some cells are lists, dicts or other containers"
        return Column(name, "ignored", "nested", None, table.gaps(name), why)
    levels, gaps = len(coded.levels), int(np.count_nonzero(coded.codes < 0))
    known = len(coded) - gaps
    if _is_text(coded):
        return Column(name, "text", storage, levels, gaps, "free text: several words, mostly distinct")
    if spells_dates(coded.levels):
        return _infer_dates(table, name, storage, "dates, written as 2025-01-31")
    if known >= IDENTIFIER_ROWS and levels == known:
        why = Message("every row has its own value, as identifiers do; ", say_kind(name, "nominal"), " keeps it")
        return Column(name, "ignored", storage, levels, gaps, why)
    what = "values of several types" if storage == "mixed" else "strings"
    why = Message(what, ", few distinct" if levels <= known * MOSTLY else "")
    return Column(name, "nominal", storage, levels, gaps, Message(why, _spelt_numbers(name, coded), _constant(levels)))


def _is_text(coded: Codes) -> bool:
    """Several words in the mean, and mostly distinct."""
    known = int(np.count_nonzero(coded.codes >= 0))
    if not known or len(coded.levels) <= known * MOSTLY:
        return False
    chosen = [coded.levels[i] for i in _sample(len(coded.levels))]
    words = [len(level.split()) for level in chosen if isinstance(level, str)]
    return len(words) == len(chosen) and sum(words) >= TEXT_WORDS * len(words)


def _spelt_numbers(name: str, coded: Codes) -> str:
    some = coded.levels[: FEW_LEVELS * FEW_LEVELS]
    if some and all(isinstance(level, str) and read_number(level) is not None for level in some):
        return Message("; they spell numbers: ", say_kind(name, "numeric"), " reads them so")
    return ""


def _sample(n_rows: int) -> Index:
    """Evenly spaced rows, at most `SAMPLE`."""
    return np.arange(0, n_rows, max(-(-n_rows // SAMPLE), 1))


def _truths(name: str, levels: int, looked: int, rows: int) -> Column:
    why = "truth values" + _constant(levels) + judged(looked, rows)
    return Column(name, "nominal", "boolean", int(levels) if looked == rows else None, 0, why)


def _about_numbers(name: str, storage: Storage, distinct: int, looked: int) -> str:
    what = "whole numbers" if storage == "integer" or distinct > 1 else "numbers"
    if not 1 < distinct <= min(FEW_LEVELS, MOSTLY * looked):
        return what + _constant(distinct)
    told = (what, ", only ", str(distinct), " distinct: ")  # parts, so that other languages can word them
    return Message(*told, say_kind(name, "nominal"), " if they are categories")


def _constant(levels: int) -> str:
    return "; constant, so it says nothing about the class" if levels == 1 else ""


JUDGED = " (judged from "


def judged(looked: int, rows: int) -> Message:
    """How many rows a column was judged from, if these were not all."""
    return Message(Aside(f"{JUDGED}{looked:,} of {rows:,} rows)") if looked < rows else "")


def _distinct(seen: AnyArray) -> Index:
    """Distinct known values of each column."""
    if not len(seen):
        return np.zeros(seen.shape[1], dtype=np.intp)
    ordered = np.sort(seen, axis=0)  # NaN comes last
    fresh = (ordered[1:] != ordered[:-1]).sum(axis=0) + 1
    if seen.dtype.kind == "f":
        fresh -= np.isnan(ordered).sum(axis=0)  # each NaN differs from the cell before it
    return np.asarray(fresh, dtype=np.intp)


def _constant_columns(seen: AnyArray, known: Flags) -> Flags:
    """Columns with one known value."""
    if not len(seen):
        return np.zeros(seen.shape[1], dtype=np.bool_)
    first = np.take_along_axis(seen, known.argmax(axis=0)[None, :], axis=0)
    return _all_known(seen, known, lambda cells: np.broadcast_to(first, cells.shape))


def _all_known(seen: AnyArray, known: Flags, wanted: Callable[[AnyArray], AnyArray]) -> Flags:
    """Columns all of whose known cells are what `wanted` makes of them; a glance at a few rules out most columns."""

    def holds(rows: slice) -> Flags:
        cells = seen[rows]
        return np.asarray(((cells == wanted(cells)) | ~known[rows]).all(axis=0))

    found = holds(slice(0, GLANCE))
    if found.any():
        found &= holds(slice(None)) & known.any(axis=0)
    return found


# A column in plain types, and back.

KINDS: tuple[Kind, ...] = get_args(Kind)
ROLES = ("target", "weight")


def as_kind(kind: object, name: str) -> Kind:
    """A kind as a user writes it, checked."""
    for known in KINDS:
        if kind == known:
            return known
    hint = did_you_mean(str(kind), (*KINDS, *ROLES))
    raise SchemaError(f"Column {name!r} cannot be {kind!r}; the kinds are {', '.join(KINDS)}.{hint}")


def column_to_dict(column: Column) -> dict[str, object]:
    """A column in plain types; only a date has parts."""
    told = asdict(column)
    parts = told.pop("parts")
    said = _first_words(column.why)
    told |= {"why_parts": said} if len(said) > 1 else {}
    return {**told, "parts": list(parts)} if parts else told


def column_from_dict(data: Mapping[str, Any]) -> Column:
    """The column that `column_to_dict` wrote."""
    name, storage, levels, gaps, why = (data[key] for key in ("name", "storage", "levels", "gaps", "why"))
    words = isinstance(name, str) and isinstance(why, str) and storage in get_args(Storage)
    if not words or not all(number is None or type(number) is int for number in (levels, gaps)):
        raise TypeError(f"column {name!r}")
    low, high = (data.get(key) for key in ("low", "high"))
    if not all(end is None or type(end) in (int, float) for end in (low, high)):
        raise TypeError(f"column {name!r}")
    kind, parts = as_kind(data["kind"], name), tuple(data.get("parts", ()))
    if not all(part in PARTS for part in parts) or bool(parts) > (kind == "date") or len(set(parts)) != len(parts):
        raise TypeError(f"column {name!r}")
    return Column(name, kind, storage, levels, gaps, _parted(why, name, data.get("why_parts", [])), low, high, parts)


def _first_words(why: str) -> list[str]:
    """The parts of a reason up to what to set, so that other languages can word them one by one."""
    return [str(part) for part in takewhile(lambda part: isinstance(part, str), parts_of(why))]


def _parted(why: str, name: str, first: object) -> str:
    """A reason that was written as text, with the parts that it had; `first` are those at its beginning."""
    if not isinstance(first, list) or not all(isinstance(part, str) for part in first):
        raise TypeError(f"column {name!r}")
    words = "".join(first)
    if words and why.startswith(words):
        return Message(*first, _parted(why.removeprefix(words), name, []))
    text, mark, rest = why.partition(JUDGED)
    rows, end, more = rest.partition(")")
    told = Message(Aside(f"{mark}{rows}{end}") if mark else "", more)
    for kind in KINDS:
        before, said, after = text.partition(str(say_kind(name, kind)))
        if said:
            return Message(before, say_kind(name, kind), after, told)
    return Message(text, told)
