"""How good a classifier is on a table in files: one pass makes the summaries of all folds, another judges the rows."""

from __future__ import annotations

from operator import add

import numpy as np
import pyarrow as pa

from likely.arrays import AnyArray
from likely.decide import Loss, LossLike, as_loss
from likely.errors import DataError, Setting, SettingsError, listed, refuse_missing
from likely.evaluation.cross_validation import write_posterior
from likely.evaluation.evaluate import HoldOut, evaluate
from likely.evaluation.folds import check_design, sums_without_each
from likely.evaluation.predictions import PredictionBuffer
from likely.evaluation.report import Report
from likely.io.file_table import FileTable, as_file_table
from likely.io.sources import FileSource
from likely.models.classifier import Classifier
from likely.models.learner import Learner
from likely.progress import Shown
from likely.scorer import remaining_priors
from likely.stats import Summary
from likely.streaming.passes import MOST_FOLDS, MOST_ROWS, CountedPiece, Folds, Passes
from likely.streaming.read_all import read_all
from likely.streaming.train import Training
from likely.streaming.update import target_of, wanted_by
from likely.table import Table, encode_column, merge_classes
from likely.table.labels import row_weights


def evaluate_file(
    classifier: object,
    source: FileTable | FileSource,
    target: str | None = None,
    *,
    cv: HoldOut = 10,
    loss: LossLike | None = None,
    beta: float = 1.0,
    groups: str | None = None,
    repeats: int = 1,
    random_state: int = 0,
    weight: str | None = None,
    most: int = MOST_ROWS,
    progress: Shown = None,
) -> Report:
    """How good a classifier is on a table in files; see `likely.evaluate` for the parameters.

    With a number of folds for a classifier that counts, or with `cv=None` for one that is fitted already, files may be
    larger than memory: all rows are learned, and if there are more than `most`, a random sample of that size is judged.
    All other ways read the whole table. `groups` names a column.
    """
    check_design(beta, repeats, random_state)
    table, loss = as_file_table(source), None if loss is None else as_loss(loss)
    if isinstance(classifier, Classifier) and cv is None:
        return _as_it_is(classifier, table, target_of(classifier, target), loss, beta, random_state, most, progress)
    if target is None:
        raise SettingsError("Say which column holds the labels: ", Setting("target"), ".")
    if not isinstance(classifier, Learner):
        settings = classifier.get_params(deep=False) if isinstance(classifier, Classifier) else {}
        rows = read_all(table, target, schema=settings.get("schema"), weight=weight, groups=groups, progress=progress)
        assert rows is not None  # there is no limit
        return evaluate(
            type(classifier)(**{**settings, "schema": rows.kinds}) if "schema" in settings else classifier,
            rows.X, rows.y, cv=cv, loss=loss, beta=beta, groups=rows.groups, repeats=repeats,
            random_state=random_state, sample_weight=rows.weight, progress=progress,
        )  # fmt: skip
    copy = type(classifier)(**classifier.get_params(deep=False))
    training = Training.begin(copy, table, target, weight)
    if not (isinstance(cv, int) and 1 < cv <= MOST_FOLDS and groups is None and repeats == 1):
        return _in_memory(training, cv, loss, beta, groups, repeats, random_state)
    passes = Passes(table, training.judged.wanted, copy.n_jobs, progress, random_state, most)
    folds = Folds(training.judged.counter, cv, random_state)
    seen = passes.first(folds.count)
    models = [_model(training, summary, seen.classes) for summary in sums_without_each(seen.folds(cv), add)]
    buffer = PredictionBuffer(seen.classes, seen.truth, seen.weight, np.arange(len(seen)), loss)

    def judge(rows: Table, number: int) -> int:
        first, chosen = seen.starts[number], seen.chosen(number, rows.n_rows)
        fold = folds.deal(number, encode_column(rows.cells(target)).codes)[chosen]
        for k in np.unique(fold):
            own = np.flatnonzero(fold == k)
            write_posterior(models[k], rows.take(chosen[own]), own, buffer, first)
        buffer.fold[first : first + len(fold)] = fold
        return rows.n_rows

    passes.second(judge, seen)
    blocks = "" if len(seen.starts) == 1 else " in each block"
    how = f"{cv}-fold cross-validation, stratified{blocks}, seed {random_state}{seen.drawn}"
    return Report(buffer.finish(copy.n_jobs), how, type(classifier).__name__, float(beta), random_state)


def _as_it_is(
    clf: Classifier,
    table: FileTable,
    target: str,
    loss: Loss | None,
    beta: float,
    seed: int,
    most: int,
    progress: Shown,
) -> Report:
    """Judge the rows of a test set by a classifier that has learned others."""
    weight = clf.schema_.weight if clf.schema_.weight in table.names else None  # testers may not know it
    wanted = wanted_by(clf, table, target, weight)
    n_jobs = clf.get_params(deep=False).get("n_jobs")
    passes = Passes(table, wanted, n_jobs, progress, seed, most)

    def look(rows: Table, _: int) -> CountedPiece:
        labels, given = encode_column(rows.cells(target)), row_weights(None, rows, weight)
        return CountedPiece(labels.classes, labels.codes, np.ones(rows.n_rows) if given is None else given, [])

    seen = passes.first(look)
    classes, places, known = merge_classes(seen.classes, clf.classes_)
    if not np.intersect1d(places, known).size:
        raise DataError(
            f"No label in column {target!r} is a class that was learned: there {listed(seen.classes.tolist())}, "
            f"learned {listed(clf.classes_.tolist())}."
        )
    truth = places.astype(np.int32)[seen.truth]
    buffer = PredictionBuffer(classes, truth, seen.weight, np.arange(len(truth)), loss)

    def judge(rows: Table, number: int) -> int:
        chosen = seen.chosen(number, rows.n_rows)
        some = rows if len(chosen) == rows.n_rows else rows.take(chosen)
        if len(chosen):
            write_posterior(clf, some, np.arange(len(chosen)), buffer, seen.starts[number])
        return rows.n_rows

    passes.second(judge, seen)
    return Report(buffer.finish(n_jobs), f"a given test set{seen.drawn}", type(clf).__name__, float(beta), 0)


def _in_memory(
    training: Training, cv: HoldOut, loss: Loss | None, beta: float, groups: str | None, repeats: int,
    seed: int,
) -> Report:  # fmt: skip
    """The ways that need all rows at once."""
    table, wanted = training.judged.table, training.judged.wanted
    if groups is not None:
        refuse_missing([groups], table.names)
        wanted.setdefault(groups, "")
    rows = pa.concat_tables([piece.read() for piece in table.pieces(wanted)], promote_options="permissive")
    clf = training.classifier
    clf.schema = training.judged.counter.schema
    of_groups = None if groups is None else rows.column(groups)
    learned = rows if groups is None or groups in training.judged.counter.wanted else rows.drop_columns([groups])
    return evaluate(
        clf, learned.unify_dictionaries(), training.judged.counter.target, cv=cv, loss=loss, beta=beta,
        groups=of_groups, repeats=repeats, random_state=seed, progress=False,
    )  # fmt: skip


def _model(training: Training, summary: Summary, classes: AnyArray) -> Learner:
    clf = training.classifier
    model = type(clf)(**{**clf.get_params(deep=False), "n_jobs": 1})
    model.priors = remaining_priors(clf.priors, classes, summary.classes.labels)
    training.settle(model, summary)
    return model
