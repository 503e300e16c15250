"""Learning on from files, and forgetting their rows: their summary is added to what is known, or taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from likely.engines import files
from likely.engines.files import Counter, Pass, RunningSum, Turn, columns_read, counted_schema, label_type, told
from likely.engines.memory import Rows
from likely.engines.plan import preprocessing_in
from likely.errors import DataError, Setting, SettingsError, refuse_missing
from likely.io.file_table import FileTable, as_file_table
from likely.io.sources import FileSource
from likely.models.classifier import Classifier
from likely.models.evidence.prepare import count_rows
from likely.models.learner import Learner
from likely.models.protocols import Refreshes
from likely.progress import Shown
from likely.stats import Summary
from likely.streaming.read_all import RowSample
from likely.streaming.train import Learns
from likely.table import Table, encode_column
from likely.table.labels import row_weights

if TYPE_CHECKING:
    from likely.models.bayes.classifier import BayesClassifier
    from likely.models.evidence.classifier import EvidenceClassifier


def learn_file(
    classifier: Learns, source: FileTable | FileSource, target: str | None = None, *, progress: Shown = None
) -> Learns:
    """Learn more rows, from a table in files; the target is the one that was learned, unless another is named.

    Evidence counts them, and its corrections are stale until `refresh_file`.
    """
    more = _count(classifier, source, target, progress)
    return classifier if more is None else _settled(classifier, classifier.summary_ + more)


def forget_file(
    classifier: Learns, source: FileTable | FileSource, target: str | None = None, *, progress: Shown = None
) -> Learns:
    """Take out the rows of a table in files: afterwards the classifier is as if it had never counted them."""
    less = _count(classifier, source, target, progress)
    return classifier if less is None else _settled(classifier, classifier.summary_ - less)


def target_of(classifier: Classifier, target: str | None) -> str:
    """The column of labels: as named, or as it was when the classifier learned."""
    if target in classifier.schema_.inputs:
        raise SettingsError(f"The classifier learns from the column {target!r}, so its labels are in another one.")
    known = target or classifier.schema_.target
    if known is None:
        raise SettingsError(
            "The classifier learned labels that had no name; say which column holds them: ", Setting("target"), "."
        )
    return str(known)


def wanted_by(classifier: Classifier, table: FileTable, label: str, weight: str | None) -> dict[str, str]:
    """The columns that a fitted classifier learns from, weights and labels, and as what each is read."""
    wanted = {**columns_read(classifier), **({} if weight is None else {weight: "number"}), label: ""}
    refuse_missing(wanted, table.names)
    return {**wanted, label: label_type(table.types[label], classifier.classes_)}


def _count(
    classifier: Learner | EvidenceClassifier, source: FileTable | FileSource, target: str | None, progress: Shown
) -> Summary | None:
    """What there is to count in the files, by the columns, families and preprocessing of the classifier."""
    table = as_file_table(source)
    label = target_of(classifier, target)
    wanted = wanted_by(classifier, table, label, classifier.schema_.weight)
    preprocessing = preprocessing_in(classifier.summary_)
    counter = Counter(classifier.schema_, classifier.families_, label, preprocessing)

    def by_cells(rows: Table) -> Summary:
        labels, given = encode_column(rows.cells(label)), row_weights(None, rows, classifier.schema_.weight)
        weight = np.ones(rows.n_rows) if given is None else given
        there = weight > 0.0  # a row without weight is as if it were not there
        counted = Rows(rows.take(there), labels.classes, labels.codes[there], weight[there], 1, preprocessing)
        return count_rows(counted, classifier.schema_)

    def count(turn: Turn) -> Summary:
        return counter.count(turn.piece) if isinstance(classifier, Learner) else told(turn.piece, by_cells)

    total = RunningSum()
    for piece, counted in Pass(table, wanted, classifier.n_jobs, progress).each(count):
        if counted is not None:
            total.add(counted)
            total.refuse_endless(piece)
    return total.total()


def _settled(classifier: Learns, summary: Summary) -> Learns:
    if isinstance(classifier, Learner):
        classifier._restore(summary, classifier.families_)
    else:
        cast("EvidenceClassifier", classifier)._recount(summary)
    schema = counted_schema(classifier.schema_, summary)
    classifier._remember_columns(schema, named="feature_names_in_" in vars(classifier))
    return classifier


# Correcting a classifier anew by the rows of files: all of them, or by chance as many as fit into memory.

Refreshed = TypeVar("Refreshed", bound="BayesClassifier | EvidenceClassifier")


def refresh_file(
    classifier: Refreshed,
    source: FileTable | FileSource,
    target: str | None = None,
    *,
    memory: int | None = None,
    progress: Shown = None,
) -> tuple[Refreshed, int]:
    """Correct a classifier with rows of a table in files that it has counted; returns it and how many were used.

    If the rows need more than `memory` bytes (None for 512 MiB), a random sample is used.
    """
    if not isinstance(classifier, Refreshes):
        raise SettingsError(f"A {type(classifier).__name__} has nothing to refresh: all it knows follows from counts.")
    table = as_file_table(source)
    label = target_of(classifier, target)
    drawn = RowSample(files.BUDGET if memory is None else memory, len(classifier.schema_.features))
    wanted = wanted_by(classifier, table, label, classifier.schema_.weight)
    for _, read in Pass(table, wanted, classifier.n_jobs, progress).each(lambda turn: turn.piece.read()):
        if read is not None:
            drawn.add(read)
    whole = drawn.rows()
    if whole is None:
        raise DataError(f"{table.sources[0].name}: no row is left to refresh with.")
    classifier.refresh(whole, label)
    return classifier, int(whole.num_rows)
