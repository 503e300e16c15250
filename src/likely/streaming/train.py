"""Training from files of any length: the sum of the summaries of their pieces."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np
import pyarrow as pa

from likely.errors import DataError, FileError, LikelyError, ModelFileError, SettingsError, missing_columns
from likely.io.atomic import write_whole
from likely.io.nesting import TOO_DEEP, is_deep
from likely.io.outputs import CHECKPOINT, PLACES_SUFFIX, Output
from likely.io.protocol import Piece, Place
from likely.io.table import FileTable, open_table
from likely.models.bayes.classifier import BayesClassifier
from likely.models.learner import Learner
from likely.models.settings import Choices
from likely.stats import HasTables, Summary
from likely.streaming.count import Counter, EmptyPiece, RunningSum, in_order, label_type, located
from likely.table import as_table
from likely.table.schema import AS_SAID, Schema

if TYPE_CHECKING:
    from likely.models.evidence.classifier import EvidenceClassifier

SAVE_SECONDS = 30.0

Counts = TypeVar("Counts", bound=Learner)
"""A classifier that counts."""

Learns = TypeVar("Learns", bound="Learner | EvidenceClassifier")
"""A classifier that learns files of any length."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a pass over files has come."""

    rows: int
    share: float


Report = Callable[[Progress], None]


def train_file(
    source: Any,
    target: str,
    *,
    weight: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Report | None = None,
    **settings: Unpack[Choices],
) -> BayesClassifier:
    """Learn a table in files with its target column, in one pass and bounded memory.

    `source` is a `FileTable` or anything that `open_table` takes; `settings` are those of `BayesClassifier`. With
    `checkpoint` the state is saved there now and then, and a training that was broken off goes on from it; the
    file is removed at the end.
    """
    classifier = BayesClassifier(**settings)
    return fit_file(classifier, source, target, weight=weight, checkpoint=checkpoint, progress=progress)


def fit_file(
    classifier: Learns,
    source: Any,
    target: str,
    *,
    weight: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Report | None = None,
) -> Learns:
    """The same for any classifier that counts, as it was constructed; or for evidence, which keeps no checkpoint."""
    if not isinstance(classifier, Learner):
        from likely.streaming.evidence import train_evidence_file

        if checkpoint is not None:
            raise SettingsError("A checkpoint is for classifiers that only count; evidence reads the files twice.")
        train_evidence_file(source, target, classifier=classifier, weight=weight, progress=progress)
        return classifier
    table = source if isinstance(source, FileTable) else open_table(source)
    training = Training.begin(classifier, table, target, weight)
    saved = None if checkpoint is None else Checkpoint(checkpoint, table)
    summary, place = (None, None) if saved is None else saved.load(classifier)
    summary = training.count(summary, place, saved, progress)
    training.remember(summary)
    if saved is not None:
        saved.remove()
    return classifier


@dataclass(frozen=True, slots=True)
class Training:
    """A classifier that is about to learn files: the schema is settled, the rows are not yet counted."""

    classifier: Learner
    table: FileTable
    counter: Counter
    looked: int

    @classmethod
    def begin(cls, classifier: Learner, table: FileTable, target: str, weight: str | None = None) -> Training:
        """Judge the columns from a sample of rows."""
        if target not in table.names:
            raise missing_columns([target], table.names)
        if weight is not None:
            given = classifier.schema
            kinds = given.kinds if isinstance(given, Schema) else given or {}
            classifier.schema = {**kinds, weight: "weight"}
        sample = table.sample()
        if not sample.num_rows:
            raise DataError(f"{table.sources[0].name} has a header but no rows; there is nothing to learn from.")
        known = sample.filter(sample.column(target).is_valid())
        if not known.num_rows:
            raise DataError(f"{table.sources[0].name}: no row looked at has a label in column {target!r}.")
        try:
            task = classifier.task(as_table(known), target)
        except DataError as error:
            raise _located_in_head(classifier, table, sample, target, error) from None
        _refuse_late_changes(table, task.schema, classifier.schema)
        counter = Counter(task.schema, task.assigned, target, task.rows.recipes)
        return cls(classifier, table, counter, known.num_rows)

    def count(
        self, summary: Summary | None, place: Place | None, saved: Checkpoint | None, progress: Report | None
    ) -> Summary:
        """One pass over what is left of the files."""
        total, rows, last_saved = RunningSum([(1 << 40, summary)] if summary else []), 0, time.monotonic()
        pieces = self.table.pieces(self.wanted(), place)
        for piece, counted in in_order(self._counted, pieces, self.classifier.n_jobs):
            rows += piece.n_rows
            if counted is not None:
                total.add(counted)
                total.refuse_endless(piece)
            if progress is not None:
                before, own = self.table.share_before(piece.after.file)
                progress(Progress(rows, before + own * piece.share))
            if saved is not None and time.monotonic() - last_saved > SAVE_SECONDS and (so_far := total.total()):
                self.remember(so_far)
                saved.save(self.classifier, piece.after)
                last_saved = time.monotonic()
        found = total.total()
        if found is None:
            raise DataError(f"{self.table.sources[0].name}: no row is left to learn from.")
        return found

    def remember(self, summary: Summary) -> None:
        """Settle the classifier on what was counted."""
        self.settle(self.classifier, summary)

    def settle(self, classifier: Learner, summary: Summary) -> None:
        """Settle any classifier of these columns on a summary of some of the rows."""
        schema = counted_schema(self.counter.schema, summary, self.looked)
        classifier.schema_ = schema
        classifier.n_features_in_ = len(schema)
        classifier.feature_names_in_ = np.array(schema.names, dtype=object)
        classifier.restore(summary, dict(self.counter.assigned))

    def _counted(self, piece: Piece) -> Summary | None:
        try:
            return self.counter.count(piece)
        except EmptyPiece:
            return None

    def wanted(self) -> dict[str, str]:
        """Which columns are read, and as what."""
        target = self.counter.target
        return {**self.counter.wanted, target: label_type(self.table.types[target])}


def _located_in_head(
    classifier: Learner, table: FileTable, sample: pa.Table, target: str, error: DataError
) -> LikelyError:
    """A row that was looked at and cannot be learned, with its line if it is one of the first."""
    piece = next(iter(table.pieces({target: ""})))
    head = sample.slice(0, piece.n_rows)

    def judge(rows: pa.Table) -> object:
        known = rows.filter(rows.column(target).is_valid())
        return classifier.task(as_table(known), target) if known.num_rows else None

    found = located(judge, head, piece, error)
    return found if "and after" not in str(found) else DataError(f"{table.sources[0].name}: {error}")


def _refuse_late_changes(table: FileTable, schema: Schema, given: Any) -> None:
    """A column that begins as numbers and goes on as text is a question to the user."""
    said = given.kinds if isinstance(given, Schema) else given or {}
    for name, what in table.late_changes().items():
        if name in schema.features and name not in said:
            raise FileError(
                f"Column {name!r} holds numbers, but {what}; call it nominal (schema={{{name!r}: 'nominal'}}) or "
                f"leave it out (schema={{{name!r}: 'ignored'}}), name the cell in na= if it is a gap, or mend the file."
            )


_JUDGED = re.compile(r" \(judged from [\d,]+ of [\d,]+ rows\)")


def counted_schema(schema: Schema, summary: Summary, looked: int) -> Schema:
    """Distinct values and gaps as counted in the whole pass, where every row counts as one."""
    rows = summary.n_rows
    judged = f" (judged from {looked:,} of {rows:,} rows)" if looked < rows else ""
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
        why = _JUDGED.sub("", column.why) + (judged if column.why != AS_SAID else "")
        columns.append(replace(column, levels=levels, gaps=gaps if whole else None, why=why))
    return Schema(tuple(columns), schema.target, schema.weight)


# A long training that can go on where it was broken off: a saved model, and the place in the files.


class Checkpoint:
    """The model at `path`, and beside it the places that belong to numbers of rows.

    The places of the model that lies there and of the one about to be written are both kept, and the number of rows
    says which belongs to it: so nothing is lost whenever the process is killed.
    """

    def __init__(self, path: str | os.PathLike[str], table: FileTable) -> None:
        table.refuse_losses(Output(path, CHECKPOINT))
        self.path, self.places = Path(path), Path(f"{os.fspath(path)}{PLACES_SUFFIX}")
        self._is_ours = False
        self._files = [[source.name, source.size, source.path.stat().st_mtime_ns] for source in table.sources]
        self._last: dict[str, Any] = {}

    def load(self, classifier: Learner) -> tuple[Summary | None, Place | None]:
        """What was counted before and where to go on, or nothing."""
        if not self.path.exists() or not self.places.exists():
            return None, None
        from likely.models.saving import load

        try:
            found, text = load(self.path), self.places.read_bytes()
            if is_deep(text):
                raise ValueError(TOO_DEEP)
            written = json.loads(text)
            place = Place(**written["places"][str(found.summary_.n_rows)])
        except (KeyError, TypeError, ValueError, ModelFileError) as error:
            raise FileError(
                f"{str(self.path)!r} is no checkpoint that can be gone on from ({error}); remove it."
            ) from None
        if written["files"] != self._files:
            raise FileError(f"The files have changed since {str(self.path)!r} was written; remove it to begin anew.")
        if repr(found.get_params(deep=False)) != repr(classifier.get_params(deep=False)):
            raise FileError(f"{str(self.path)!r} was begun with other settings; use those, or remove it to begin anew.")
        self._last = {str(found.summary_.n_rows): asdict(place)}
        self._is_ours = True
        return found.summary_, place

    def save(self, classifier: Learner, place: Place) -> None:
        """Write the places first, then the model: each whole or not at all."""
        self._is_ours = True
        rows = str(classifier.summary_.n_rows)
        now = {rows: asdict(place)}
        text = json.dumps({"files": self._files, "places": {**self._last, **now}})
        write_whole(self.places, text.encode())
        classifier.save(self.path, [str(name) for name, _, _ in self._files])
        self._last = now

    def remove(self) -> None:
        """The training is done: nothing is left to go on with. What was not written or gone on from stays."""
        if not self._is_ours:
            return
        for path in (self.path, self.places):
            with suppress(FileNotFoundError):
                path.unlink()
