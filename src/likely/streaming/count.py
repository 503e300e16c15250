"""Counting a table piece by piece: two cores at work, a bounded number of pieces in memory, one summary at the end."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.typing import NDArray

from likely.engines.memory import Recipes, Rows
from likely.engines.plan import Task, refuse_negative_counts
from likely.errors import DataError, FileError, LikelyError, SchemaError
from likely.io.parse import CATEGORY
from likely.io.protocol import Piece
from likely.parallel import n_threads
from likely.stats import Summary, ValueCounts
from likely.table import Table, as_table, encode_column
from likely.table.schema import Schema
from likely.table.weights import row_weights

if TYPE_CHECKING:
    import pyarrow as pa

MOST_VALUES = 1_000_000
MOST_CELLS = 1 << 24
"""A column with more distinct values, or values × classes, is no category, and would fill the memory."""

MOST_WORKERS = 6
"""Each has a piece of its own in memory, and one thread that reads and checks keeps no more of them busy."""

KINDS = {"numeric": "number", "nominal": CATEGORY, "text": "text"}
"""As what a column of each kind is read."""

LABELS = ("integer", "number", "truth", "date", "time")

Item = TypeVar("Item")
Result = TypeVar("Result")


def label_type(found: str, classes: NDArray[Any] | None = None) -> str:
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
    recipes: Recipes = field(default_factory=dict)

    @property
    def wanted(self) -> dict[str, str]:
        """The columns to be read, and as what: numbers as floats, categories as text just as it is written."""
        wanted = {name: KINDS[self.schema.kinds[name]] for name in self.assigned}
        return wanted if self.schema.weight is None else {**wanted, self.schema.weight: "number"}

    def count(self, piece: Piece) -> Summary:
        """Read a piece and count it."""
        return told(piece, self._count)

    def _count(self, table: Table) -> Summary:
        return self.task(table).count()

    def task(self, table: Table) -> Task:
        """Rows that are to be counted by one thread."""
        labels = encode_column(table.cells(self.target))
        weight = row_weights(None, table, self.schema.weight)
        refuse_negative_counts(table, self.assigned)
        rows = Rows(table, labels.classes, labels.codes, weight, 1, self.recipes)
        return Task(rows, self.schema, self.assigned, weight is not None)


def columns_read(classifier: Any) -> dict[str, str]:
    """The columns that a fitted classifier looks at, and as what each is read from files."""
    kinds, families = classifier.schema_.kinds, getattr(classifier, "families_", None)
    return {name: KINDS[kinds[name]] for name in classifier.schema_.features if families is None or name in families}


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


_ROW = re.compile(r"^Row \d+ of column|, row \d+\b| in row \d+\b")


def _without_row(message: str) -> str:
    """The message without the number that the row has in its piece, which means nothing to a user."""
    return _ROW.sub(lambda found: "Column" if found.group().startswith("Row") else "", message, count=1)


def located(task: Callable[[pa.Table], object], rows: pa.Table, piece: Piece, error: LikelyError) -> LikelyError:
    """The same error for the first row that causes it by itself, with its place in the file."""
    low, high = 0, rows.num_rows
    while high - low > 1:
        middle = (low + high) // 2
        if _failure(task, rows.slice(low, middle - low)):
            high = middle
        else:
            low = middle
    single = _failure(task, rows.slice(low, 1))
    if single is None:
        return DataError(f"{piece.where(0)} and after: {error}")
    kind = SchemaError if isinstance(single, SchemaError) else DataError
    return kind(f"{piece.where(low)}: {_without_row(str(single))}")


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
                    f"Column {name!r} has more than {len(seen.values) - 1:,} distinct values before {piece.where(0)}, "
                    f"too many for a category; leave it out with schema={{{name!r}: 'ignored'}}."
                )


def in_order(
    task: Callable[[Item], Result], pieces: Iterator[Item], n_jobs: int | None
) -> Iterator[tuple[Item, Result]]:
    """Each piece with what `task` makes of it, in order; reading goes on while others are worked on."""
    workers = min(n_threads(n_jobs), MOST_WORKERS)
    if workers == 1:
        for piece in pieces:
            yield piece, task(piece)
        return
    pool = ThreadPoolExecutor(workers)
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    try:
        for piece in pieces:
            waiting.append((piece, pool.submit(task, piece)))
            if len(waiting) > workers + 1:
                first, result = waiting.popleft()
                yield first, result.result()
        while waiting:
            first, result = waiting.popleft()
            yield first, result.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
