"""From a table to a model, for Python and the command line alike: choose a model, learn, load, judge, compare."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import wraps
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from likely.arrays import ColumnLike
from likely.comparison.candidates import Contenders
from likely.comparison.compare import compare as compare_tables
from likely.comparison.compare import in_order
from likely.engines import files
from likely.engines.connect import as_relation, connect, is_relation
from likely.engines.relation import Relation
from likely.errors import (
    Message,
    NamedParameter,
    Part,
    Setting,
    SettingsError,
    did_you_mean,
    listed,
    missing_columns,
)
from likely.evaluation.evaluate import evaluate as evaluate_table
from likely.io.file_table import FileTable, open_table
from likely.io.sources import looks_like_files
from likely.models.persistence import load
from likely.models.registry import entries, entry_named
from likely.models.settings import SKLEARN_NAMES, refuse_unknown
from likely.progress import Shown
from likely.streaming import read_all
from likely.streaming.evaluate import evaluate_file
from likely.streaming.evaluation_in_place import evaluate_in_place, fetch
from likely.streaming.notes import learned_notes, report_notes, rows_with_label
from likely.streaming.train import fit_file
from likely.table import RowsLike, Table, as_table
from likely.table.infer import Note
from likely.table.labels import with_label
from likely.table.notes import schema_notes, unlabelled_note
from likely.table.schema import Schema, schema_for, with_weight

if TYPE_CHECKING:
    from likely.comparison.comparison import Comparison
    from likely.decide import LossLike
    from likely.evaluation.evaluate import HoldOut
    from likely.evaluation.report import Report
    from likely.models.bayes.aode import AODEClassifier
    from likely.models.bayes.classifier import BayesClassifier
    from likely.models.bayes.full import FullBayesClassifier
    from likely.models.evidence.classifier import EvidenceClassifier
    from likely.models.svm.classifier import SVMClassifier
    from likely.models.tree.classifier import TreeClassifier

    Classifier = (
        EvidenceClassifier | BayesClassifier | FullBayesClassifier | AODEClassifier | TreeClassifier | SVMClassifier
    )

__all__ = [
    "ModelReason", "Selection", "compare", "data_notes", "engine_table", "evaluate", "load", "new_classifier",
    "select_model", "train",
]  # fmt: skip

AnySource: TypeAlias = FileTable | Relation | RowsLike | os.PathLike[str]
"""A table in memory, one in files that is opened, one in an engine, or the path of files, a folder or a glob."""

AUTO = "auto"
LOG = logging.getLogger("likely")


def train(
    table: AnySource,
    target: str,
    *,
    model: str = AUTO,
    weight: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    drop_unlabelled: bool = False,
    random_state: int | None = None,
    progress: Shown = None,
    **settings: Any,
) -> Classifier:
    """Train a model on a table with its target column.

    The table may also be a file of any length: a path, a glob, a folder, or what `open_table` gives; or a table in an
    engine, which counts it: an Ibis table, a DuckDB relation, a Spark frame, or what `engine_table` gives. `model`
    is "evidence", "naive", "full", "aode", "tree" or "svm"; "auto" is evidence, which learns files larger than memory
    from codes on disk, or naive Bayes if you ask for something that only naive Bayes has. `settings` are those of the
    model, `weight` names a column of row weights, and `checkpoint` a file to resume from if counting is interrupted.
    `drop_unlabelled` leaves out rows without a label. What you should know about the table (a column that gives the
    class away, identifiers, duplicates …) is logged, and kept in `schema_.notes`.

    >>> clf = train({"sky": ["grey", "grey", "blue"], "day": ["wet", "wet", "dry"]}, target="day", model="naive")
    >>> clf.predict({"sky": ["blue"]}).tolist()
    ['dry']
    """
    if random_state is not None:
        settings["random_state"] = random_state
    if is_relation(table):
        if drop_unlabelled:
            raise SettingsError(
                NamedParameter("drop_unlabelled"), " is for files and tables in memory; filter the table there."
            )
        return _train_in_place(as_relation(table), target, model, settings, weight, checkpoint)
    source = open_source(table)
    source, dropped = labelled_source(source, target) if drop_unlabelled else (source, 0)
    selection = select_model(
        source, target, model, settings, weight=weight, counts=checkpoint is not None, spills=True, progress=progress
    )
    for line in selection.reason.sentences():
        LOG.info(line)
    learned = learn(selection, source, target, weight=weight, checkpoint=checkpoint, progress=progress)
    if dropped:
        learned._take_notes((unlabelled_note(dropped), *learned.schema_.notes))
    for note in learned.schema_.notes:
        LOG.warning(note.message)
    return learned


def data_notes(
    table: AnySource, target: str | None = None, schema: Schema | Mapping[str, str] | None = None
) -> tuple[Note, ...]:
    """What you should know about a table before training on it: a column that gives the class away, identifiers,
    duplicates, categories that differ only in case, dates in other forms than 2025-01-31, a target with many numbers, a
    single class or a rare one. Of files, a sample is looked at.

    >>> [note.about for note in data_notes({"n": list(range(60)), "y": ["a", "b", "b"] * 20}, "y")]
    ['identifier']
    """
    source = open_source(table)
    rows = as_table(source.sample()) if isinstance(source, FileTable) else source
    return schema_notes(rows, schema_for(rows, target, schema))


def labelled_source(source: FileTable | Table, target: str) -> tuple[FileTable | Table, int]:
    """The table without the rows that have no label, and how many these are; files tell so when they are read."""
    if isinstance(source, FileTable):
        return source.labelled(target), 0
    known = with_label(source, target)
    return known, source.n_rows - known.n_rows


def evaluate(
    classifier: object, X: AnySource, y: Any = None, *, cv: HoldOut = 10, loss: LossLike | None = None,
    beta: float = 1.0, groups: ColumnLike | None = None, repeats: int = 1, random_state: int = 0,
    progress: Shown = None, drop_unlabelled: bool = False, **more: Any,
) -> Report:  # fmt: skip
    """How good a classifier, or a model given by name, is on a table: see `likely.evaluation.evaluate`.

    The table may also be in files, of any length for a model that counts, or in an engine. `drop_unlabelled` leaves out
    rows without a label. The report's `notes` say what you should know about the table. `more` depends on where the
    table is: `sample_weight` and `n_jobs` in memory, `weight` and `most` in files and engines, `key` in engines.
    """
    how = {"cv": cv, "loss": loss, "beta": beta, "groups": groups, "repeats": repeats, **more}
    how |= {"random_state": random_state, "progress": progress}
    made = new_classifier(classifier, {}) if isinstance(classifier, str) else classifier
    if is_relation(X):
        return evaluate_in_place(made, X, y, **how)
    source, dropped = _opened(X, y), 0
    if isinstance(source, FileTable):
        if drop_unlabelled and y is not None:
            source = source.labelled(y)
        report = evaluate_file(made, source, y, **how)
    else:
        if drop_unlabelled:
            source, y, dropped = rows_with_label(source, y)
        report = evaluate_table(made, source, y, **how)
    if dropped:
        report.with_notes(lambda: [unlabelled_note(dropped)])
    return report.with_notes(lambda: report_notes(report, made, source, y, fitted=cv is None))


@wraps(compare_tables)
def compare(X: AnySource, y: ColumnLike, classifiers: Contenders = "all", **how: Any) -> Comparison:
    """Which classifier suits a table; one in files is read completely. See `likely.compare`."""
    table, target, contenders = in_order(X, y, classifiers)
    if is_relation(table):
        label = str(target)
        return compare_tables(fetch(as_relation(table), label).table, label, contenders, **how)
    source = _opened(table, target)
    return compare_tables(source.read() if isinstance(source, FileTable) else source, target, contenders, **how)


def engine_table(table: Any, name: str | None = None, *, sample: int | None = None) -> Relation:
    """A table in an engine: an address such as "postgresql://host/db" and the table's name; or one of Ibis, DuckDB or
    Spark. `sample` is how many rows may be fetched where counts are not enough; None for as many as fit into memory.
    """
    if name is not None:
        found = connect(table, name)
    elif isinstance(table, str):
        raise SettingsError("Which table? Give its name after the address.")
    else:
        found = as_relation(table)
    if sample is not None and sample < 1:
        raise SettingsError(f"sample is {sample!r}, but it is a number of rows from 1 up.")
    return replace(found, drawn=sample)


def _train_in_place(
    relation: Relation, target: str, model: str, settings: dict[str, Any], weight: str | None, checkpoint: object
) -> Classifier:
    """Learn a table where it lies."""
    if checkpoint is not None:
        raise SettingsError(NamedParameter("checkpoint"), " is for tables in files: an engine counts in one go.")
    relation.require([target] if weight is None else [target, weight])
    name = model
    if model == AUTO:
        of_evidence = new_classifier("evidence", {}).get_params(deep=False)
        name = "evidence" if all(setting in of_evidence for setting in settings) else "naive"
    given = {**settings, "schema": with_weight(settings.get("schema"), weight)}
    classifier = new_classifier(name, given)
    if name == "evidence" or entry_named(name).counts:
        classifier.fit(relation, target)
    else:
        fetch(relation, target, weight).fit(classifier)
    found: Classifier = classifier.set_params(schema=settings.get("schema"))
    return found


def open_source(table: AnySource) -> FileTable | Table:
    """A table in files or in memory."""
    source = _opened(table)
    return source if isinstance(source, FileTable) else as_table(source, allow_empty=False)


def _opened(table: AnySource, target: object = None) -> FileTable | RowsLike:
    """Files are opened, and a table in memory stays as it is.

    Where labels come beside the table, a list of strings holds texts, not names of files.
    """
    if isinstance(table, FileTable):
        return table
    named = target is None or isinstance(target, str)
    if isinstance(table, os.PathLike) or (named and looks_like_files(table)):
        return open_table(table)
    assert not isinstance(table, Relation)
    return table


# Which model, and why.


@dataclass(frozen=True, slots=True)
class ModelReason:
    """Why a model was chosen, and how it learns: it was named, something asked for needs it, or it is the best."""

    kind: Literal["named", "setting", "counts", "fits", "no columns", "on disk"]
    budget: int = 0

    def sentences(self) -> tuple[str, ...]:
        """What there is to be told; nothing about what somebody asked for."""
        naive = Setting("model", "naive")
        told: dict[str, tuple[str, ...]] = {
            "fits": (
                Message(
                    "model: evidence, best on average over 45 tables (textbook model: ", naive, ")"
                ),
            ),
            "no columns": ("model: naive Bayes, since there are no columns to learn from",),
            "on disk": (
                f"model: evidence; the table would need more than {_mib(self.budget)} MiB of memory, so it is read "
                f"twice, with temporary files in {gettempdir()}",
                Message(naive, " reads it once and needs none, but its probabilities are worse"),
            ),
        }  # fmt: skip
        return told.get(self.kind, ())


@dataclass(frozen=True, slots=True)
class Selection:
    """A model that has learned nothing yet, why it is this one, and the rows of files, if they were read for that."""

    name: str
    classifier: Any
    reason: ModelReason
    rows: read_all.LabelledRows | None = None


def select_model(
    source: FileTable | Table,
    target: str,
    model: str = AUTO,
    settings: Mapping[str, Any] | None = None,
    *,
    weight: str | None = None,
    groups: str | None = None,
    counts: bool = False,
    spills: bool = False,
    progress: Shown = None,
) -> Selection:
    """The model for a table: the one that is named or that a setting asks for, else the best one that fits.

    `counts`: something is wanted that only naive Bayes can do. `spills`: evidence, if it is named, may learn a large
    table in files from codes on disk, as it does if it is chosen here. Rows of files are read here where the model
    needs all of them.
    """
    given, budget = dict(settings or {}), files.BUDGET
    if target not in source.names:
        raise missing_columns([target], source.names)
    name, why = model, ModelReason("named")
    if model == AUTO:
        of_evidence = new_classifier("evidence", {}).get_params(deep=False)
        strange = [setting for setting in given if setting not in of_evidence]
        name, why = (
            ("naive", ModelReason("counts" if counts else "setting")) if counts or strange else ("evidence", why)
        )
    classifier = new_classifier(name, given)
    if entry_named(name).counts:
        return Selection(name, classifier, why)
    free = model == AUTO or (spills and name == "evidence")
    if isinstance(source, FileTable):
        rows = read_all.read_all(
            source, target, schema=given.get("schema"), weight=weight, groups=groups, most=budget if free else None,
            n_jobs=given.get("n_jobs"), progress=progress,
        )  # fmt: skip
        if rows is None:
            return Selection(name, classifier, ModelReason("on disk", budget))
        empty = not rows.X.num_columns
    else:
        rows, empty = None, not schema_for(source, target, with_weight(given.get("schema"), weight)).features
    if model != AUTO:
        return Selection(name, classifier, why, rows)
    if empty:
        return Selection("naive", new_classifier("naive", given), ModelReason("no columns"))
    return Selection(name, classifier, ModelReason("fits", budget), rows)


def new_classifier(model: str, settings: Mapping[str, object]) -> Any:
    """The classifier that a name stands for, with these settings and those that are usual here."""
    offered = {entry.name: entry for entry in entries() if entry.reads_tables}
    if model not in offered:
        names = list(offered)
        raise SettingsError(
            Message(
                NamedParameter("model"), f" is {model!r}, but it is one of {listed(names)}.{did_you_mean(model, names)}"
            )
        )
    known, wanted = offered[model].make().get_params(deep=False), dict(settings)
    if "random_state" not in known:  # models that count draw nothing by chance
        wanted.pop("random_state", None)
    for setting in wanted:
        if setting in SKLEARN_NAMES:
            refuse_unknown(type(offered[model].make()), [setting])
        if setting not in known:
            named: tuple[Part, ...] = (NamedParameter(setting), " is nothing that ", Setting("model", model), " knows.")
            raise SettingsError(Message(*named))
    return offered[model].make(**wanted)


def learn(
    selection: Selection,
    source: FileTable | Table,
    target: str,
    *,
    weight: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Shown = None,
) -> Classifier:
    """Teach the model that was chosen all rows."""
    classifier: Classifier = selection.classifier
    if checkpoint is not None and (selection.rows is not None or isinstance(source, Table)):
        what = " is for models that count" if selection.rows is not None else " is for tables in files"
        which: tuple[Part, ...] = (", and ", Setting("model", selection.name), " does not")
        raise SettingsError(
            Message(NamedParameter("checkpoint"), what, *(which if selection.rows is not None else ()), ".")
        )
    if selection.rows is not None:
        selection.rows.fit(classifier, progress)
    elif isinstance(source, Table):
        wished = classifier.schema
        classifier.set_params(schema=with_weight(wished, weight)).fit(source, target).set_params(schema=wished)
    else:
        fit_file(classifier, source, target, weight=weight, checkpoint=checkpoint, progress=progress)
        if classifier.get_params(deep=False).get("weights") == "learned":  # by rows, and some of them are at hand
            known = source.sample()
            classifier.refresh(known.filter(known.column(target).is_valid()), target)
    labels = None if selection.rows is None else selection.rows.y
    classifier._take_notes(learned_notes(classifier, source, target, labels))
    return classifier


def _mib(n_bytes: int) -> str:
    return f"{max(n_bytes / (1 << 20), 1.0):,.0f}"
