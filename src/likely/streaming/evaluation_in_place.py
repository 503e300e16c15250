"""How good a classifier is on a table in an engine: folds are counted there, and a bounded number of rows is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa

from likely.arrays import AnyArray, Array, Int32
from likely.decide import Loss, LossLike, as_loss
from likely.engines.connect import as_relation
from likely.engines.files import columns_read
from likely.engines.in_place import label_column, stratified_sample, weight_column
from likely.engines.plan import plan
from likely.engines.relation import Relation
from likely.engines.relational import RelationalRows, fold_of
from likely.errors import DataError, Setting, SettingsError, listed
from likely.evaluation.cross_validation import Counting, write_posterior
from likely.evaluation.evaluate import HoldOut, evaluate
from likely.evaluation.folds import check_design, sums_without_each
from likely.evaluation.predictions import PredictionBuffer
from likely.evaluation.report import Report
from likely.evaluation.splits import is_split
from likely.models.evidence.in_place import rows_in_memory
from likely.streaming.passes import MOST_FOLDS, MOST_ROWS
from likely.streaming.predictions_in_place import EngineEvaluation, Evaluated, can_be_written
from likely.table import Table, as_table, encode_column, merge_classes
from likely.table.labels import row_weights
from likely.table.schema import with_weight

MOST_FETCHED = 50_000
"""Rows that are fetched where the engine judges all of them."""

FOLD = "likely fold"
"""What the column of folds is called among the rows that are fetched."""


def evaluate_in_place(
    classifier: Any,
    table: object,
    target: str | None = None,
    *,
    cv: HoldOut = 10,
    key: str | Sequence[str] | None = None,
    loss: LossLike | None = None,
    beta: float = 1.0,
    groups: str | None = None,
    repeats: int = 1,
    random_state: int = 0,
    weight: str | None = None,
    most: int = MOST_FETCHED,
    progress: object = None,
) -> Report:
    """How good a classifier is on a table in an engine; see `likely.evaluate` for the parameters.

    With a number of folds a classifier that counts learns all rows where they lie: the fold of a row is a hash of its
    `key` (all its columns, if none is named), the same in every engine. Up to `most` rows are fetched and judged here.
    More are judged by the engine: every figure follows from all of them, but areas under curves (and how far figures
    may be off by chance) from about `most` rows that are drawn. A classifier that cannot be written as SQL judges up to
    two million rows here. All other ways fetch the rows, or as many of them, drawn by chance, as fit into memory.
    """
    check_design(beta, repeats, random_state)
    relation = as_relation(table)
    known = getattr(classifier, "schema_", None)
    label = target if target is not None or known is None else known.target
    if label is None:
        raise SettingsError("Say which column holds the labels: ", Setting("target"), ".")
    label_column(relation, label)
    if cv is None:
        return _as_it_is(classifier, relation, label, loss, beta, random_state, most)
    if is_split(cv) or cv == "prequential":
        raise SettingsError("Rows in an engine have no order and no numbers: give cv a number of folds, and a key.")
    copy = type(classifier)(**classifier.get_params(deep=False))
    copy.set_params(schema=with_weight(copy.schema, weight))
    adds_up = isinstance(copy, Counting) and copy.adds_up
    if adds_up and isinstance(cv, int) and 1 < cv <= MOST_FOLDS and groups is None and repeats == 1:
        keys = list(relation.names) if key is None else [key] if isinstance(key, str) else list(key)
        return _by_folds(copy, relation, label, cv, keys, loss, beta, random_state, most)
    return _in_memory(copy, relation, label, cv, loss, beta, groups, repeats, random_state)


def _by_folds(
    clf: Any, relation: Relation, target: str, n_folds: int, key: Sequence[str], loss: LossLike | None, beta: float,
    seed: int, most: int,
) -> Report:  # fmt: skip
    task = clf._task(relation, target)
    rows = task.rows
    assert isinstance(rows, RelationalRows)
    if rows.grouping.seen.rows.sum() < n_folds:
        raise SettingsError(f"cv asks for {n_folds} folds, but there are only {rows.grouping.seen.rows.sum()} rows.")
    parts = rows.summarise_folds(plan(task.assigned), key, n_folds, seed)
    if any(not len(part.classes) for part in parts):
        raise DataError(
            f"{relation.name}: a fold is empty, since rows are alike in {listed(key)}; name a key that differs."
        )
    models = [clf._learned(task, summary) for summary in sums_without_each(parts, add)]
    how = f"{n_folds}-fold cross-validation by a hash of {'all columns' if len(key) > 3 else listed(key)}, seed {seed}"
    fold_column = fold_of(relation, key, n_folds, seed)
    folds = [relation.table.filter(fold_column == k) for k in range(n_folds)]
    total = int(rows.grouping.seen.rows.sum())
    judge = EngineEvaluation(relation, target, task.schema.weight, rows.classes, _loss(loss))
    if total > most and all(map(can_be_written, models, [relation] * n_folds)):
        return _report(judge.run(models, folds, most / total, seed), how, clf, beta, seed)
    most = max(most, MOST_ROWS)
    found, drawn = _fetched(
        relation, [*task.schema.inputs, target, *_some(task.schema.weight)], most, seed, (key, n_folds)
    )
    fold: Int32 = found.column(FOLD).to_numpy().astype(np.int32)
    judged = as_table(found.drop_columns([FOLD]))
    truth, weights = _truth(judged, target, task.schema.weight, rows.classes)
    buffer = PredictionBuffer(rows.classes, truth, weights, np.arange(len(truth)), _loss(loss))
    for k, model in enumerate(models):
        own = np.flatnonzero(fold == k)
        if len(own):
            write_posterior(model, judged.take(own), own, buffer, 0)
    buffer.fold[:] = fold
    return Report(buffer.finish(clf.n_jobs), how + drawn, type(clf).__name__, float(beta), seed)


def _fetched(
    relation: Relation, columns: Sequence[str], most: int, seed: int, folds: tuple[Sequence[str], int] | None = None
) -> tuple[pa.Table, str]:
    """Rows to be judged, with their folds: all of them, or so many drawn by chance; and how that is told."""
    total = int(relation.run(relation.table.aggregate(n=relation.table.count())).column("n")[0].as_py())
    relation.seed(seed)
    some = replace(relation, table=relation.sample(relation.table, min(1.0, most / max(total, 1)), seed))
    chosen = {name: some.table[name] for name in dict.fromkeys(columns)}
    if folds is not None:
        chosen[FOLD] = fold_of(some, folds[0], folds[1], seed)
    found = relation.run(some.table.select(**chosen))
    drawn = f"; {found.num_rows:,} of {total:,} rows, drawn by chance, are judged" if found.num_rows < total else ""
    return found, drawn


def _truth(table: Table, target: str, weight: str | None, classes: AnyArray) -> tuple[Int32, Array]:
    labels = encode_column(table.cells(target))
    places = merge_classes(classes, labels.classes)[2].astype(np.int32)
    given = row_weights(None, table, weight)
    return places[labels.codes], np.ones(table.n_rows) if given is None else given


def _as_it_is(
    clf: Any, relation: Relation, target: str, loss: LossLike | None, beta: float, seed: int, most: int
) -> Report:
    """Judge rows by a classifier that has learned others."""
    weight = clf.schema_.weight if clf.schema_.weight in relation.names else None  # testers may not know it
    columns = [*columns_read(clf), target, *_some(weight)]
    relation.require(columns)
    total = int(relation.run(relation.table.aggregate(n=relation.table.count())).column("n")[0].as_py())
    if total > most and can_be_written(clf, relation):
        return _judged_as_it_is(clf, relation, target, weight, loss, beta, seed, most / total)
    found, drawn = _fetched(relation, columns, max(most, MOST_ROWS), seed)
    table = as_table(found.filter(found.column(target).is_valid()), allow_empty=False)
    labels = encode_column(table.cells(target))
    classes, places, known = merge_classes(labels.classes, clf.classes_)
    _refuse_strangers(target, places, known, labels.classes, clf.classes_)
    truth, weights = _truth(table, target, weight, classes)
    buffer = PredictionBuffer(classes, truth, weights, np.arange(len(truth)), _loss(loss))
    write_posterior(clf, table, np.arange(table.n_rows), buffer, 0)
    n_jobs = clf.get_params(deep=False).get("n_jobs")
    return Report(buffer.finish(n_jobs), f"a given test set{drawn}", type(clf).__name__, float(beta), 0)


def _judged_as_it_is(
    clf: Any,
    relation: Relation,
    target: str,
    weight: str | None,
    loss: LossLike | None,
    beta: float,
    seed: int,
    share: float,
) -> Report:
    """The same, judged by the engine; labels that were not learned are classes, too."""
    table = relation.table.filter(relation.table[target].notnull())
    labels = encode_column(as_table(relation.run(table.select(x=table[target]).distinct())).cells("x"))
    classes, places, known = merge_classes(labels.classes, clf.classes_)
    _refuse_strangers(target, places, known, labels.classes, clf.classes_)
    judge = EngineEvaluation(relation, target, weight, classes, _loss(loss))
    return _report(judge.run([clf], [table], share, seed), "a given test set", clf, beta, 0)


def _refuse_strangers(target: str, places: AnyArray, known: AnyArray, there: AnyArray, learned: AnyArray) -> None:
    if not np.intersect1d(places, known).size:
        raise DataError(
            f"No label in column {target!r} is a class that was learned: there {listed(there.tolist())}, "
            f"learned {listed(learned.tolist())}."
        )


def _report(judged: Evaluated, how: str, clf: Any, beta: float, seed: int) -> Report:
    """A report of all rows, which the engine has judged; curves are those of the rows that were fetched."""
    told = f"{how}; judged where they are, curves and spreads by {len(judged.drawn):,} rows drawn by chance"
    name = type(clf).__name__
    return Report(judged.drawn, told, name, float(beta), seed, counted=(judged.cells, judged.rows))


def _in_memory(
    clf: Any, relation: Relation, target: str, cv: HoldOut, loss: LossLike | None, beta: float, groups: str | None,
    repeats: int, seed: int,
) -> Report:  # fmt: skip
    """The ways that need rows: those that fit into memory."""
    weight = weight_column(clf.schema)
    rows = RelationalRows.of(relation, target, weight)
    columns = [name for name in relation.names if name not in (target, weight)]
    drawn = stratified_sample(rows, columns, rows_in_memory(relation, len(columns)), seed)
    y = drawn.classes[drawn.y]
    given = None if weight is None and drawn.table.n_rows == rows.grouping.seen.rows.sum() else drawn.weight
    of_groups = None if groups is None else drawn.table.codes(groups).codes
    learned = [name for name in columns if name != groups]
    table = Table(learned, drawn.table.n_rows, lambda k: drawn.table.cells(learned[k]), named=True)
    if isinstance(clf.schema, dict):
        clf.set_params(schema={name: kind for name, kind in clf.schema.items() if kind not in ("weight", "target")})
    return evaluate(
        clf, table, y, cv=cv, loss=loss, beta=beta, groups=of_groups, repeats=repeats, random_state=seed,
        sample_weight=given, progress=False,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fetched:
    """Rows that were fetched for a classifier that needs them."""

    table: pa.Table
    target: str

    def fit(self, classifier: Any) -> Any:
        """Teach a classifier these rows."""
        return classifier.fit(self.table, self.target)


def fetch(relation: Relation, target: str, weight: str | None = None) -> Fetched:
    """All rows, for a classifier that needs them; more than fit into memory are refused."""
    relation.require([target])
    total = int(relation.run(relation.table.aggregate(n=relation.table.count())).column("n")[0].as_py())
    most = rows_in_memory(relation, len(relation.names))
    if total > most:
        raise DataError(
            f"{relation.name} has {total:,} rows, and this model needs all in memory, where about {most:,} fit: "
            "draw some in the engine, or take a model that counts, such as 'naive' or 'evidence'."
        )
    return Fetched(relation.run(relation.table), target)


def _some(name: str | None) -> list[str]:
    return [] if name is None else [name]


def _loss(loss: LossLike | None) -> Loss | None:
    return None if loss is None else as_loss(loss)
