"""Learning on from files, and forgetting their rows: their summary is added to what is known, or taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from likely.errors import SettingsError, missing_columns
from likely.estimators.learning import Learner
from likely.evidence.counted import count_rows
from likely.files.counting import Counter, EmptyPiece, RunningSum, columns_read, in_order, label_type, told
from likely.files.pieces import Piece
from likely.files.table import FileTable, open_table
from likely.files.training import Learns, Progress, Report, counted_schema
from likely.recipes import recipes_in
from likely.stats import Summary
from likely.table import Labels, Table, encode_column
from likely.weights import row_weights

if TYPE_CHECKING:
    from likely.estimators.evidence import EvidenceClassifier


def learn_file(classifier: Learns, source: Any, target: str | None = None, *, progress: Report | None = None) -> Learns:
    """Learn more rows, from a table in files; the target is the one that was learned, unless another is named.

    Evidence counts them, and its corrections are stale until `refresh_file`.
    """
    more = _count(classifier, source, target, progress)
    return classifier if more is None else _settled(classifier, classifier.summary_ + more)


def forget_file(
    classifier: Learns, source: Any, target: str | None = None, *, progress: Report | None = None
) -> Learns:
    """Unlearn the rows of a table in files: afterwards the classifier is as if it had never counted them."""
    less = _count(classifier, source, target, progress)
    return classifier if less is None else _settled(classifier, classifier.summary_ - less)


def target_of(classifier: Any, target: str | None) -> str:
    """The column of labels: as named, or as it was when the classifier learned."""
    if target in classifier.schema_.features:
        raise SettingsError(f"The classifier learns from the column {target!r}, so its labels are in another one.")
    known = target or classifier.schema_.target
    if known is None:
        raise SettingsError("The classifier learned labels that had no name; say which column holds them: target=.")
    return str(known)


def wanted_by(classifier: Any, table: FileTable, label: str) -> dict[str, str]:
    """The columns that a fitted classifier learns from, its weights and labels, and as what each is read."""
    weight = classifier.schema_.weight
    wanted = {**columns_read(classifier), **({} if weight is None else {weight: "number"}), label: ""}
    missing = [name for name in wanted if name not in table.names]
    if missing:
        raise missing_columns(missing, table.names)
    return {**wanted, label: label_type(table.types[label], classifier.classes_)}


def _count(
    classifier: Learner | EvidenceClassifier, source: Any, target: str | None, progress: Report | None
) -> Summary | None:
    """What there is to count in the files, by the columns, families and recipes of the classifier."""
    table = source if isinstance(source, FileTable) else open_table(source)
    label = target_of(classifier, target)
    wanted = wanted_by(classifier, table, label)
    recipes = recipes_in(classifier.summary_)
    counter = Counter(classifier.schema_, classifier.families_, label, recipes)

    def by_cells(rows: Table) -> Summary:
        labels, given = encode_column(rows.cells(label)), row_weights(None, rows, classifier.schema_.weight)
        weight = np.ones(rows.n_rows) if given is None else given
        there = weight > 0.0  # a row without weight is as if it were not there
        codes = Labels(labels.classes, labels.codes[there])
        return count_rows(rows.take(there), classifier.schema_, codes, weight[there], recipes, 1)

    def count(piece: Piece) -> Summary | None:
        try:
            return counter.count(piece) if isinstance(classifier, Learner) else told(piece, by_cells)
        except EmptyPiece:
            return None

    total, rows = RunningSum(), 0
    for piece, counted in in_order(count, table.pieces(wanted), classifier.n_jobs):
        rows += piece.n_rows
        if counted is not None:
            total.add(counted)
            total.refuse_endless(piece)
        if progress is not None:
            before, own = table.share_before(piece.after.file)
            progress(Progress(rows, before + own * piece.share))
    return total.total()


def _settled(classifier: Learns, summary: Summary) -> Learns:
    if isinstance(classifier, Learner):
        classifier.restore(summary, classifier.families_)
    else:
        cast("EvidenceClassifier", classifier).recount(summary)
    classifier.schema_ = counted_schema(classifier.schema_, summary, summary.n_rows)
    return classifier
