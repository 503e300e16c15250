"""A table in files, piece by piece: what its columns are, how pieces are counted, and one pass over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

import numpy as np

from likely.arrays import AnyArray
from likely.engines.memory import Preprocessing, Rows
from likely.engines.plan import Task, assign, refuse_negative_counts, tokenizers_for
from likely.errors import (
    About,
    DataError,
    FileError,
    LikelyError,
    Message,
    SchemaError,
    Setting,
    missing_columns,
    say_kind,
    without_asides,
    without_row,
)
from likely.io.file_table import FileTable
from likely.io.parse import CATEGORY
from likely.io.sources import Piece
from likely.parallel import pipeline
from likely.progress import Progress, Shown, row_bar
from likely.stats import HasTables, Summary, ValueCounts
from likely.table import Table, as_table, encode_column
from likely.table.infer import judged
from likely.table.labels import row_weights
from likely.table.schema import AS_SAID, Schema, SchemaLike, schema_for, with_weight

if TYPE_CHECKING:
    import pyarrow as pa

BUDGET = 512 << 20
"""Bytes that a table may need before it is too large to be learned at once, unless somebody asks for that."""

MOST_VALUES = 1_000_000
MOST_CELLS = 1 << 24
"""A column with more distinct values, or values × classes, is no category, and would fill the memory."""

MOST_WORKERS = 6
"""Each has a piece of its own in memory, and one thread that reads and checks keeps no more of them busy."""

KINDS = {"numeric": "number", "nominal": CATEGORY, "text": "text", "date": "text"}
"""As what a column of each kind is read."""

USUAL_FAMILIES = {"numeric": "gaussian", "nominal": "categorical", "text": "text multinomial"}
"""How columns are counted for a model that has no families to choose."""

LABELS = ("integer", "number", "truth", "date", "time")

Result = TypeVar("Result")


def label_type(found: str, classes: AnyArray | None = None) -> str:
    """As what a column of labels is read, by what it seems to hold: words just as they are written.

    Where the classes are known and are words, the labels of a text file are words, too, whatever they look like.
    """
    if found in LABELS and classes is not None and all(isinstance(label, str) for label in classes.tolist()):
        return CATEGORY
    return CATEGORY if found == "text" else found if found in LABELS else ""


@dataclass(frozen=True, slots=True)
class Counter:
    """How the rows of a piece are counted: under one schema and one choice of families for all."""

    schema: Schema
    assigned: Mapping[str, str]
    target: str
    preprocessing: Preprocessing = field(default_factory=dict)

    @property
    def wanted(self) -> dict[str, str]:
        """The columns to be read, and as what: numbers as floats, categories as text just as it is written."""
        wanted = read_as(self.schema, self.assigned)
        return wanted if self.schema.weight is None else {**wanted, self.schema.weight: "number"}

    def count(self, piece: Piece) -> Summary:
        """Read a piece and count it."""
        return told(piece, lambda table: self.task(table).count())

    def task(self, table: Table) -> Task:
        """Rows that are to be counted by one thread."""
        labels = encode_column(table.cells(self.target))
        weight = row_weights(None, table, self.schema.weight)
        refuse_negative_counts(table, self.assigned)
        rows = Rows(table, labels.classes, labels.codes, weight, 1, self.preprocessing)
        return Task(rows, self.schema, self.assigned, weight is not None)


class KnowsColumns(Protocol):
    """A fitted classifier knows its columns."""

    schema_: Schema


@runtime_checkable
class HasFamilies(Protocol):
    """Some look only at columns that have a family."""

    families_: Mapping[str, str]


def columns_read(classifier: KnowsColumns) -> dict[str, str]:
    """The columns that a fitted classifier looks at, and as what each is read from files."""
    names = classifier.schema_.features
    used = classifier.families_ if isinstance(classifier, HasFamilies) else names
    return read_as(classifier.schema_, [name for name in names if name in used])


def read_as(schema: Schema, names: Iterable[str]) -> dict[str, str]:
    """The columns of a table that what is learned comes from, and as what each is read from files."""
    inputs = dict.fromkeys(schema.input_of(name) for name in names)
    return {name: KINDS[schema.kinds[name]] for name in inputs}


class EmptyPiece(Exception):
    """All lines of a piece were left out."""


def told(piece: Piece, task: Callable[[Table], Result]) -> Result:
    """What a task makes of the rows of a piece; what is wrong is told with the file and the line."""
    rows = piece.read()
    if not rows.num_rows:
        raise EmptyPiece
    try:
        return task(as_table(rows))
    except FileError:
        raise
    except LikelyError as error:
        raise located(lambda some: task(as_table(some)), rows, piece, error) from None


def located(task: Callable[[pa.Table], object], rows: pa.Table, piece: Piece, error: LikelyError) -> LikelyError:
    """The same error for the first row that causes it by itself, with its place in the file."""
    found = first_bad(task, rows, piece)
    return DataError(piece.where(0), " and after: ", error.message) if found is None else found


def first_bad(task: Callable[[pa.Table], object], rows: pa.Table, piece: Piece) -> LikelyError | None:
    """The error of the first row that cannot be worked on by itself, with its place in the file."""
    low, high = 0, rows.num_rows
    while high - low > 1:
        middle = (low + high) // 2
        if _failure(task, rows.slice(low, middle - low)):
            high = middle
        else:
            low = middle
    single = _failure(task, rows.slice(low, 1))
    if single is None:
        return None
    kind = SchemaError if isinstance(single, SchemaError) else DataError
    return kind(piece.where(low), ": ", without_row(single.message))


def _failure(task: Callable[[pa.Table], object], rows: pa.Table) -> LikelyError | None:
    try:
        task(rows)
    except LikelyError as error:
        return error
    return None


@dataclass
class RunningSum:
    """A sum of summaries, added in pairs of like size, so that no summary is copied for every piece."""

    waiting: list[tuple[int, Summary]] = field(default_factory=list)

    def add(self, summary: Summary) -> None:
        """Take in one more."""
        size = 1
        while self.waiting and self.waiting[-1][0] <= size:
            other_size, other = self.waiting.pop()
            summary, size = other + summary, size + other_size
        self.waiting.append((size, summary))

    def total(self) -> Summary | None:
        """The sum so far."""
        while len(self.waiting) > 1:
            size, last = self.waiting.pop()
            other_size, other = self.waiting.pop()
            self.waiting.append((size + other_size, other + last))
        return self.waiting[0][1] if self.waiting else None

    def refuse_endless(self, piece: Piece) -> None:
        """Refuse a column whose distinct values outgrow the memory."""
        summary = self.waiting[-1][1]
        for part, seen in summary.parts_of(ValueCounts).items():
            if len(seen.values) > MOST_VALUES or seen.counts.size > MOST_CELLS:
                name = part.columns[0]
                raise DataError(
                    About("endless values", name, len(seen.values) - 1),
                    f"Column {name!r} has more than {len(seen.values) - 1:,} distinct values before {piece.where(0)}, "
                    "too many for a category; leave it out with ", say_kind(name, "ignored"), ".",
                )  # fmt: skip


# What the columns of a table in files are, as far as a sample of its rows tells.


@dataclass(frozen=True, slots=True)
class JudgedFile:
    """A table in files whose schema is settled, and whose rows are not yet counted."""

    table: FileTable
    counter: Counter
    looked: int

    @classmethod
    def judge(cls, table: FileTable, target: str, look: Callable[[Table], Task], given: SchemaLike) -> JudgedFile:
        """Judge the columns by what `look` makes of a sample; `given` is what the user said of them."""
        if target not in table.names:
            raise missing_columns([target], table.names)
        sample = table.sample()
        if not sample.num_rows:
            why = f"{table.sources[0].name} has a header but no rows; there is nothing to learn from."
            raise DataError(About("no rows"), why)
        known = sample.filter(sample.column(target).is_valid())
        if not known.num_rows:
            why = f"{table.sources[0].name}: no row looked at has a label in column {target!r}."
            raise DataError(About("no labels seen", target), why)
        try:
            task = look(as_table(known))
        except DataError as error:
            raise _located_in_head(look, table, sample, target, error) from None
        _refuse_late_changes(table, task.schema, given)
        return cls(table, Counter(task.schema, task.assigned, target, task.rows.preprocessing), known.num_rows)

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.counter.schema

    @property
    def wanted(self) -> dict[str, str]:
        """Which columns are read, and as what."""
        target = self.counter.target
        return {**self.counter.wanted, target: label_type(self.table.types[target])}

    def no_rows(self) -> DataError:
        """The error where nothing is left to be learned."""
        return DataError(About("no rows left"), f"{self.table.sources[0].name}: no row is left to learn from.")


def judge_usual(
    table: FileTable, target: str, *, schema: SchemaLike = None, weight: str | None = None, text: object = None
) -> JudgedFile:
    """Judge the columns for a model that has no families to choose."""
    given = with_weight(schema, weight)

    def look(rows: Table) -> Task:
        found = schema_for(rows, target, given)
        assigned = assign(found, None, USUAL_FAMILIES, is_sparse=False)
        labels, weights = encode_column(rows.cells(target)), row_weights(None, rows, found.weight)
        counted = Rows(rows, labels.classes, labels.codes, weights, 1, tokenizers_for(rows, assigned, text))
        return Task(counted, found, assigned, weights is not None)

    return JudgedFile.judge(table, target, look, given)


def _located_in_head(
    look: Callable[[Table], Task], table: FileTable, sample: pa.Table, target: str, error: DataError
) -> LikelyError:
    """A row that was looked at and cannot be learned, with its line if it is one of the first."""
    piece = next(iter(table.pieces({target: ""})))
    head = sample.slice(0, piece.n_rows)

    def judge(rows: pa.Table) -> object:
        known = rows.filter(rows.column(target).is_valid())
        return look(as_table(known)) if known.num_rows else None

    found = first_bad(judge, head, piece)
    return DataError(f"{table.sources[0].name}: ", error.message) if found is None else found


def _refuse_late_changes(table: FileTable, schema: Schema, given: SchemaLike) -> None:
    """A column that begins as numbers and goes on as text is a question to the user."""
    said = given.kinds if isinstance(given, Schema) else given or {}
    for name, what in table.late_changes().items():
        if name in schema.inputs and name not in said:
            raise FileError(
                f"Column {name!r} holds numbers, but ", what, "; call it nominal (", say_kind(name, "nominal"),
                ") or leave it out (", say_kind(name, "ignored"), "), name the cell in ", Setting("na"),
                " if it is a gap, or mend the file.",
            )  # fmt: skip


def counted_schema(schema: Schema, summary: Summary, looked: int | None = None) -> Schema:
    """Distinct values and gaps as counted in the whole pass, where every row counts as one.

    Of `looked` rows the schema was judged; if these were all, it says what it would say of a table in memory.
    """
    rows = summary.n_rows
    if looked is not None and looked >= rows:
        return schema
    note = "" if looked is None else judged(looked, rows)
    whole = bool(np.array_equal(summary.classes.weights, summary.classes.rows))
    found: dict[str, tuple[int | None, int | None]] = {}
    for part, seen in summary.parts.items():
        known = seen.known_weights
        if known is None:
            continue
        for place, name in enumerate(part.columns):
            levels = None
            if isinstance(seen, HasTables) and schema.kinds[name] == "nominal":
                levels = seen.class_value_table(place).shape[1]
            found[name] = levels, rows - round(known[:, place].sum())
    columns = []
    for column in schema.columns:
        levels, gaps = found.get(column.name, (None, None))
        why = Message(without_asides(column.why), note if column.why != AS_SAID else "")
        columns.append(replace(column, levels=levels, gaps=gaps if whole else None, why=why))
    return Schema(tuple(columns), schema.target, schema.weight)


# One pass over all pieces.


@dataclass(frozen=True, slots=True)
class Turn:
    """A piece whose turn it is: its number, and that of its first row."""

    piece: Piece
    number: int
    first: int


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass over a table in files, or a part of the whole work: it begins when `done` of that is done."""

    table: FileTable
    wanted: Mapping[str, str]
    n_jobs: int | None
    progress: Shown = None
    what: str = "learning"
    done: float = 0.0
    share: float = 1.0

    def each(
        self, task: Callable[[Turn], Result], pieces: Iterator[Piece] | None = None
    ) -> Iterator[tuple[Piece, Result | None]]:
        """Every piece with what the task makes of it, in order; None where all lines of a piece were left out.

        Pieces are read while others are worked on, and a bounded number of them is in memory.
        """

        def work(turn: Turn) -> Result | None:
            try:
                return task(turn)
            except EmptyPiece:
                return None

        rows, given = 0, self.table.pieces(self.wanted) if pieces is None else pieces
        with row_bar(self.what, self.progress) as tell:
            for turn, result in pipeline(work, _turns(given), self.n_jobs, MOST_WORKERS):
                yield turn.piece, result
                rows += turn.piece.n_rows
                if tell:
                    before, own = self.table.share_before(turn.piece.after.file)
                    share = self.done + self.share * (before + own * turn.piece.share)
                    tell(Progress(rows, share, work=self.what))

    def tables(self, task: Callable[[Table, Turn], Result]) -> Iterator[tuple[Piece, Result | None]]:
        """The same for a task that needs the rows; what is wrong with one is told with its line."""
        return self.each(lambda turn: told(turn.piece, lambda rows: task(rows, turn)))


def _turns(pieces: Iterator[Piece]) -> Iterator[Turn]:
    first = 0
    for number, piece in enumerate(pieces):
        yield Turn(piece, number, first)
        first += piece.n_rows
