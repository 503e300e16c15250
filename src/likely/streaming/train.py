"""Training from files of any length: the sum of the summaries of their pieces."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack

from likely.engines.files import JudgedFile, Pass, RunningSum, counted_schema
from likely.errors import FileError, ModelFileError, SettingsError
from likely.io.file_table import FileTable, as_file_table
from likely.io.outputs import CHECKPOINT, PLACES_SUFFIX, Output, write_whole
from likely.io.scan import TOO_DEEP, is_deep
from likely.io.sources import FileSource, Place
from likely.models.bayes.classifier import BayesClassifier
from likely.models.learner import Learner
from likely.models.settings import Choices
from likely.progress import Shown
from likely.stats import Summary
from likely.table.schema import with_weight

if TYPE_CHECKING:
    from likely.models.evidence.classifier import EvidenceClassifier

SAVE_SECONDS = 30.0

Counts = TypeVar("Counts", bound=Learner)
"""A classifier that counts."""

Learns = TypeVar("Learns", bound="Learner | EvidenceClassifier")
"""A classifier that learns files of any length."""


def train_file(
    source: FileTable | FileSource,
    target: str,
    *,
    weight: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Shown = None,
    **settings: Unpack[Choices],
) -> BayesClassifier:
    """Train naive Bayes on a table in files, in one pass and bounded memory.

    `source` is a `FileTable` or anything that `open_table` takes; `settings` are those of `BayesClassifier`. With
    `checkpoint` the state is saved there from time to time, and a training run that was interrupted resumes from it;
    the file is removed at the end.
    """
    classifier = BayesClassifier(**settings)
    return fit_file(classifier, source, target, weight=weight, checkpoint=checkpoint, progress=progress)


def fit_file(
    classifier: Learns,
    source: FileTable | FileSource,
    target: str,
    *,
    weight: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Shown = None,
) -> Learns:
    """The same for any unfitted classifier that counts, or for an `EvidenceClassifier`, which has no checkpoint."""
    if not isinstance(classifier, Learner):
        from likely.models.evidence.stream import train_evidence_file

        if checkpoint is not None:
            raise SettingsError("A checkpoint is for classifiers that only count; evidence reads the files twice.")
        train_evidence_file(source, target, classifier=classifier, weight=weight, progress=progress)
        return classifier
    table = as_file_table(source)
    training = Training.begin(classifier, table, target, weight)
    saved = None if checkpoint is None else Checkpoint(checkpoint, table)
    summary, place = (None, None) if saved is None else saved.load(classifier, training.judged.schema.weight)
    summary = training.count(summary, place, saved, progress)
    training.settle(classifier, summary)
    if saved is not None:
        saved.remove()
    return classifier


@dataclass(frozen=True, slots=True)
class Training:
    """A classifier that is about to learn files: the schema is settled, the rows are not yet counted."""

    classifier: Learner
    judged: JudgedFile

    @classmethod
    def begin(cls, classifier: Learner, table: FileTable, target: str, weight: str | None = None) -> Training:
        """Judge the columns from a sample of rows; the parameters of the classifier stay as they are."""
        given = with_weight(classifier.schema, weight)
        judge = type(classifier)(**{**classifier.get_params(deep=False), "schema": given})
        return cls(classifier, JudgedFile.judge(table, target, lambda rows: judge._task(rows, target), given))

    def count(self, summary: Summary | None, place: Place | None, saved: Checkpoint | None, progress: Shown) -> Summary:
        """One pass over what is left of the files."""
        total, last_saved = RunningSum([(1 << 40, summary)] if summary else []), time.monotonic()
        table, wanted = self.judged.table, self.judged.wanted
        whole = Pass(table, wanted, self.classifier.n_jobs, progress)
        counter = self.judged.counter
        for piece, counted in whole.each(lambda turn: counter.count(turn.piece), table.pieces(wanted, place)):
            if counted is not None:
                total.add(counted)
                total.refuse_endless(piece)
            if saved is not None and time.monotonic() - last_saved > SAVE_SECONDS and (so_far := total.total()):
                self.settle(self.classifier, so_far)
                saved.save(self.classifier, piece.after)
                last_saved = time.monotonic()
        found = total.total()
        if found is None:
            raise self.judged.no_rows()
        return found

    def settle(self, classifier: Learner, summary: Summary) -> None:
        """Settle any classifier of these columns on a summary of some of the rows."""
        schema = counted_schema(self.judged.schema, summary, self.judged.looked)
        classifier._remember_columns(schema)
        classifier._restore(summary, dict(self.judged.counter.assigned))


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
        self._last: dict[str, dict[str, int]] = {}

    def load(self, classifier: Learner, weight: str | None) -> tuple[Summary | None, Place | None]:
        """What was counted before and where to go on, or nothing."""
        if not self.path.exists() or not self.places.exists():
            return None, None
        from likely.models.persistence import load

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
        wanted = (repr(classifier.get_params(deep=False)), weight)
        if (repr(found.get_params(deep=False)), found.schema_.weight) != wanted:
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
