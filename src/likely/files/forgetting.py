"""Learning on from files, and forgetting their rows: their summary is added to what is known, or taken out."""

from __future__ import annotations

from typing import Any

from likely.errors import SettingsError, missing_columns
from likely.files.counting import Counter, EmptyPiece, RunningSum, in_order, label_type
from likely.files.pieces import Piece
from likely.files.table import FileTable, open_table
from likely.files.training import Counts, Progress, Report, counted_schema
from likely.recipes import recipes_in
from likely.stats import Summary


def learn_file(classifier: Counts, source: Any, target: str | None = None, *, progress: Report | None = None) -> Counts:
    """Learn more rows, from a table in files; the target is the one that was learned, unless another is named."""
    more = _count(classifier, source, target, progress)
    return classifier if more is None else _settled(classifier, classifier.summary_ + more)


def forget_file(
    classifier: Counts, source: Any, target: str | None = None, *, progress: Report | None = None
) -> Counts:
    """Unlearn the rows of a table in files: afterwards the classifier is as if it had never seen them."""
    less = _count(classifier, source, target, progress)
    return classifier if less is None else _settled(classifier, classifier.summary_ - less)


def target_of(classifier: Any, target: str | None) -> str:
    """The column of labels: as named, or as it was when the classifier learned."""
    known = target or classifier.schema_.target
    if known is None:
        raise SettingsError("The classifier learned labels that had no name; say which column holds them: target=.")
    return str(known)


def _count(classifier: Counts, source: Any, target: str | None, progress: Report | None) -> Summary | None:
    """What there is to count in the files, by the columns, families and recipes of the classifier."""
    table = source if isinstance(source, FileTable) else open_table(source)
    label = target_of(classifier, target)
    counter = Counter(classifier.schema_, classifier.families_, label, recipes_in(classifier.summary_))
    wanted = {**counter.wanted, label: ""}
    missing = [name for name in wanted if name not in table.names]
    if missing:
        raise missing_columns(missing, table.names)
    wanted[label] = label_type(table.types[label], classifier.classes_)

    def count(piece: Piece) -> Summary | None:
        try:
            return counter.count(piece)
        except EmptyPiece:
            return None

    total, rows = RunningSum(), 0
    for piece, counted in in_order(count, table.pieces(wanted), classifier.n_jobs):
        rows += piece.n_rows
        if counted is not None:
            total.add(counted)
        if progress is not None:
            before, own = table.share_before(piece.after.file)
            progress(Progress(rows, before + own * piece.share))
    return total.total()


def _settled(classifier: Counts, summary: Summary) -> Counts:
    classifier.restore(summary, classifier.families_)
    classifier.schema_ = counted_schema(classifier.schema_, summary, summary.n_rows)
    return classifier
