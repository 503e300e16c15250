"""`likely train`: from a table to a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from likely.cli.engine_options import EngineOptions, types_of
from likely.cli.model_options import ModelOptions
from likely.cli.models import (
    adds_counts,
    load_counts,
    refuse_other_target,
    save_and_tell,
    shares_learned,
)
from likely.cli.options import (
    OUT,
    DropUnlabelled,
    Force,
    InputOptions,
    Reads,
    Tables,
    Target,
    Weight,
    Writes,
    complete_model_files,
    name_of,
)
from likely.cli.output import PIPE, OutputOptions, many
from likely.errors import Message, SettingsError, listed, missing_columns
from likely.io.outputs import CHECKPOINT, MODEL
from likely.progress import Shown

if TYPE_CHECKING:
    from likely.api import Classifier
    from likely.engines.relation import Relation
    from likely.io.file_table import FileTable

SHOWN_CLASSES = 6
NONE: list[str] = []


def train(
    model_options: ModelOptions,
    input_options: InputOptions,
    engine_options: EngineOptions,
    output: OutputOptions,
    tables: Tables = NONE,
    target: Target = None,
    out: Annotated[str | None, OUT, Writes(MODEL, onto="onto", usual=lambda given: usual_path(**given))] = None,
    weight: Weight = None,
    onto: Annotated[
        str | None,
        typer.Option(help="Add these rows to an existing model.", metavar="MODEL", autocompletion=complete_model_files),
        Reads(),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(help="Save progress to this file; run the command again to resume from it.", metavar="FILE"),
        Writes(CHECKPOINT),
    ] = None,
    drop_unlabelled: DropUnlabelled = False,
    force: Force = False,
) -> None:
    """Train a model on a table.

    \b
    likely train mails.csv --target kind                 writes mails.likely
    likely train 'logs/*.csv.gz' -t outcome -o m.likely  files are one table
    likely train loans.csv -t risk --ignore id --kind zip=nominal
    likely train mails.csv -t kind --model naive         the textbook model
    likely train calls.csv -t churn --family visits=poisson --smoothing 0.5
    likely train more.csv --onto m.likely                add rows
    zcat rows.csv.gz | likely train - -t label -o - | likely show -
    likely train --connect postgresql://host/db --table days -t kind
    likely train warehouse.duckdb --table days -t kind

    The default model is evidence: naive Bayes, corrected for columns that repeat each other and for interactions. A
    table that does not fit into memory (512 MiB) is read twice, with temporary files. --model names another; options
    that only naive Bayes has (--smoothing, --family, --checkpoint …) select naive Bayes. The kind of each column is
    inferred from rows across the whole file: likely schema shows it with reasons, --kind overrides it.
    """
    relation = engine_options.open(tables)
    if relation is not None:
        if onto is not None or checkpoint is not None:
            raise SettingsError("--onto and --checkpoint are for files: an engine counts a table in one query.")
        if drop_unlabelled:
            raise SettingsError("--drop-unlabelled is for files; filter the table in its engine instead.")
        path = out or f"{name_of(engine_options.name_of(tables))}.likely"
        _train_in_place(relation, model_options, target, weight, path, force, output)
        return
    table = input_options.open(tables, output)
    path = out or usual_path(tables, onto)
    if onto is not None:
        from likely.streaming.update import learn_file, target_of

        learned = load_counts(onto, "learn more rows", corrected=True)
        refuse_other_target(path, learned.schema_.target, force)
        other_weight = weight not in (None, learned.schema_.weight)
        said = [("--checkpoint", checkpoint is not None), ("--weight", other_weight)]
        changed = [*model_options.said(), *(option for option, is_said in said if is_said)]
        if changed:
            raise SettingsError(
                f"--onto keeps the settings of {onto}; leave out {listed(changed)}, which would change them."
            )
        if drop_unlabelled:
            table.labelled(target_of(learned, target))
        classifier = learn_file(learned, table, target, progress=output.progress)
        why: tuple[str, ...] = ()
    else:
        label = wanted_target(table, target)
        refuse_other_target(path, label, force)
        if drop_unlabelled:
            table.labelled(label)
        classifier, why = _learn(model_options, table, label, weight, checkpoint, output.progress)
    sources = [source.name for source in table.sources]
    save_and_tell(classifier, path, sources, output, _content(classifier, table), *why, *_told(classifier, table, path))


def _train_in_place(
    relation: Relation, model_options: ModelOptions, target: str | None, weight: str | None, path: str, force: bool,
    output: OutputOptions,
) -> None:  # fmt: skip
    """Train on a table in its engine; the model keeps the table's name, and nothing of the address."""
    from likely.api import AUTO, train

    try:
        label = wanted_target(relation, target)
        refuse_other_target(path, label, force)
        settings = model_options.settings(types_of(relation), label)
        classifier = train(relation, label, model=model_options.model or AUTO, weight=weight, **settings)
    finally:
        relation.close()
    sources = [f"{relation.name} in {relation.engine}"]
    save_and_tell(classifier, path, sources, output, _content(classifier, None), *_told(classifier, None, path))


def _learn(
    model_options: ModelOptions,
    table: FileTable,
    label: str,
    weight: str | None,
    checkpoint: str | None,
    progress: Shown,
) -> tuple[Classifier, tuple[str, ...]]:
    from likely.api import AUTO, learn, select_model

    selection = select_model(
        table, label, model_options.model or AUTO, model_options.settings(table.types, label), weight=weight,
        counts=checkpoint is not None, spills=True, progress=progress,
    )  # fmt: skip
    classifier = learn(selection, table, label, weight=weight, checkpoint=checkpoint, progress=progress)
    return classifier, selection.reason.sentences()


def usual_path(tables: Sequence[str], onto: str | None = None, **others: object) -> str:
    """Where a model is written by default: over the one that rows are added to, or under the name of the table."""
    return onto if onto and onto != PIPE else f"{name_of(tables or [str(others.get('table') or 'model')])}.likely"


def wanted_target(table: FileTable | Relation, target: str | None) -> str:
    """The column to predict, or an error that lists the columns."""
    if target is None:
        raise SettingsError(
            f"Which column should be predicted? Say --target COLUMN; the columns are {listed(table.names)}."
        )
    if target not in table.names:
        raise missing_columns([target], table.names)
    return target


def _columns(classifier: Classifier) -> dict[str, str]:
    """The family of each column, or its kind where the model has no families."""
    families = classifier.families_ if adds_counts(classifier) else {}
    return dict(families) or {name: classifier.schema_.kinds[name] for name in classifier.schema_.features}


def _content(classifier: Classifier, table: FileTable | None) -> dict[str, object]:
    return {
        "kind": type(classifier).__name__,
        "rows": classifier._rows_learned(),
        "rejected": 0 if table is None else len(table.rejected),
        "classes": shares_learned(classifier),
        "columns": _columns(classifier),
        "ignored": {column.name: column.why for column in classifier.schema_ if column.kind == "ignored"},
        "notes": [*([] if table is None else table.notes), *map(str, classifier.schema_.notes)],
    }


def _told(classifier: Classifier, table: FileTable | None, path: str) -> Iterator[str]:
    rows, shares = classifier._rows_learned(), shares_learned(classifier)
    n_columns = sum(column.kind not in ("ignored", "weight") for column in classifier.schema_)  # a date is one
    for column in classifier.schema_:
        if column.kind == "ignored":
            yield Message(f"note: column {column.name!r} is left out: ", column.why)
    for note in classifier.schema_.notes:
        yield Message("note: ", note.message)
    if table is not None and len(table.rejected):
        yield str(table.rejected)
    where = "standard output" if path == PIPE else path
    yield (
        f"Learned {many(rows, 'row')}, {many(n_columns, 'column')}, "
        f"{many(len(shares), 'class', 'classes')} ({_some(shares)}); wrote {where}"
    )


def _some(shares: dict[str, float | None]) -> str:
    shown = list(shares.items())[:SHOWN_CLASSES]
    first = [str(label) if share is None else f"{label} {share:.1%}" for label, share in shown]
    more = len(shares) - len(first)
    return ", ".join([*first, *([f"and {more} more"] if more > 0 else [])])
