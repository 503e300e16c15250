"""Tables in files that are read whole, for classifiers that need all rows at once; of those too large, a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pyarrow as pa

from likely.arrays import AnyArray, Array
from likely.engines.files import JudgedFile, Pass, columns_read, judge_usual, located, read_as
from likely.errors import About, DataError, FileError, LikelyError, refuse_missing
from likely.io.file_table import FileTable
from likely.io.sources import Piece
from likely.models.classifier import Classifier
from likely.models.evidence.encoding import finite_numbers
from likely.progress import Shown, busy
from likely.table import as_table, encode_column
from likely.table.labels import row_weights
from likely.table.schema import Schema, SchemaLike

Fits = TypeVar("Fits", bound=Classifier)

PER_CELL = 48
"""Bytes of work for each cell beside the table as it was read: codes alone and in pairs, inner folds, copies.

Measured: 6 million cells needed 320 MiB beyond what the program needs without them.
"""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """All rows of a table: the columns to learn from, labels, weights if a column holds them, and groups."""

    X: pa.Table
    y: AnyArray
    weight: Array | None
    groups: pa.ChunkedArray | None
    schema: Schema
    looked: int

    @property
    def kinds(self) -> Schema:
        """The columns to learn from, as they were judged."""
        there = set(self.X.column_names)
        return Schema(tuple(column for column in self.schema.columns if column.name in there))

    def fit(self, classifier: Fits, progress: Shown = False) -> Fits:
        """Teach a classifier all rows; what it says of its columns is what the whole table would have said."""
        if not self.X.num_columns:
            why = "No column is left to learn from, only how common classes are: take naive Bayes, or mend the table."
            raise DataError(About("no columns left"), why)
        known = classifier.get_params(deep=False)
        told = {"progress": progress} if "progress" in known else {}
        classifier.set_params(schema=self.kinds, **told)
        given = {} if self.weight is None else {"sample_weight": self.weight}
        with busy(f"learning {len(self.y):,} rows", progress if not told else False):
            classifier.fit(self.X, self.y, **given)
        classifier.set_params(schema=known["schema"], **{name: known[name] for name in told})
        classifier._remember_columns(self._counted(classifier.schema_))
        return classifier

    def _counted(self, found: Schema) -> Schema:
        """The columns as they were judged; where that was by some of the rows, with the counts of all."""
        if self.looked >= len(self.y):
            return self.schema
        counted = {column.name: column for column in found}
        whole = [(column, counted.get(column.name, column)) for column in self.schema.columns]
        columns = [replace(column, levels=seen.levels, gaps=seen.gaps) for column, seen in whole]
        return replace(self.schema, columns=tuple(columns))


def read_all(
    table: FileTable,
    target: str,
    *,
    schema: SchemaLike = None,
    weight: str | None = None,
    groups: str | None = None,
    most: int | None = None,
    sampled: bool = False,
    n_jobs: int | None = None,
    progress: Shown = None,
) -> LabelledRows | None:
    """Read the table. If that, and the work on it, would need more than `most` bytes: a random sample of its rows that
    does not, where `sampled`, else None.

    Columns are judged from a sample, as when a file of any length is learned, and a bad row is told with its line.
    """
    judged = judge_usual(table, target, schema=schema, weight=weight)
    wanted = judged.wanted if groups is None else {groups: "", **judged.wanted}
    if most is not None and not sampled and sum(source.size for source in table.sources) > most:
        return None
    columns = list(read_as(judged.schema, judged.counter.assigned))
    drawn = RowSample(most, len(columns))
    for _, part in Pass(table, wanted, n_jobs, progress, "reading").each(lambda turn: _checked(judged, turn.piece)):
        if part is not None:
            drawn.add(part)
        if drawn.share < 1.0 and not sampled:
            return None
    whole = drawn.rows()
    if whole is None:
        raise judged.no_rows()
    found, known = judged.schema, as_table(whole)
    labels = encode_column(known.cells(target))
    given = row_weights(None, known, found.weight)
    of_groups = None if groups is None else whole.column(groups)
    y = labels.classes[labels.codes]
    return LabelledRows(whole.select(columns), y, given, of_groups, found, judged.looked)


def _checked(judged: JudgedFile, piece: Piece) -> pa.Table:
    """The rows of a piece, which can be learned: what is wrong with one is told with its place in the file."""
    rows = piece.read()

    def look(some: pa.Table) -> None:
        task = judged.counter.task(as_table(some))
        for name in judged.counter.schema.numeric:
            finite_numbers(task.rows.table, name)

    if rows.num_rows:
        try:
            look(rows)
        except FileError:
            raise
        except LikelyError as error:
            raise located(look, rows, piece, error) from None
    return rows


# Some rows of a table in files, as a classifier reads them.


def sample_rows(
    classifier: Classifier, table: FileTable, first: int, count: int, further: Mapping[str, str] | None = None
) -> pa.Table:
    """So many rows from one on (counted from 0), with the columns of the classifier; no more is read than needed."""
    wanted = {**columns_read(classifier), **(further or {})}
    refuse_missing(wanted, table.names)
    found: list[pa.Table] = []
    passed = 0
    for piece in table.pieces(wanted):
        rows = piece.read()
        start, stop = max(first - passed, 0), min(first + count - passed, rows.num_rows)
        if start < stop:
            found.append(rows.slice(start, stop - start))
        passed += rows.num_rows
        if passed >= first + count:
            break
    return pa.concat_tables(found) if found else pa.table({name: pa.array([]) for name in wanted})


class RowSample:
    """Rows of pieces, thinned out by half whenever they, and the work on them, need more memory than there is."""

    def __init__(self, memory: int | None, n_columns: int) -> None:
        self.memory, self.n_columns, self.share = memory, n_columns, 1.0
        self.parts: list[tuple[pa.Table, Array]] = []
        self.random = np.random.default_rng(0)

    def add(self, rows: pa.Table) -> None:
        """More rows, of which those stay whose lot is below the share that is kept."""
        if not rows.num_rows:
            return
        self.parts.append(self._below(rows, self.random.random(rows.num_rows)))
        while self.memory is not None and self._need() > self.memory and self._kept() > 1:
            self.share *= 0.5
            self.parts = [self._below(*part) for part in self.parts]

    def rows(self) -> pa.Table | None:
        """All that were kept; None if there are none."""
        parts = [rows for rows, _ in self.parts if rows.num_rows]
        return pa.concat_tables(parts, promote_options="permissive").unify_dictionaries() if parts else None

    def _need(self) -> int:
        """Bytes of the rows that were kept, and of the work on them."""
        return sum(int(rows.nbytes) for rows, _ in self.parts) + PER_CELL * self._kept() * self.n_columns

    def _below(self, rows: pa.Table, lots: Array) -> tuple[pa.Table, Array]:
        stays = lots < self.share
        return (rows, lots) if stays.all() else (rows.filter(pa.array(stays)), lots[stays])

    def _kept(self) -> int:
        return sum(rows.num_rows for rows, _ in self.parts)
