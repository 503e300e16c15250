"""`likely evaluate`: how good a model is on rows it was not trained on."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from likely.cli.commands.train import wanted_target
from likely.cli.model_options import ModelOptions
from likely.cli.models import is_model, load_model, provenance_of
from likely.cli.options import (
    DropUnlabelled,
    InputOptions,
    LossOptions,
    Page,
    Reads,
    Seed,
    Studio,
    Target,
    Weight,
    Writes,
)
from likely.cli.output import NEGATIVE, OutputOptions, write
from likely.cli.studio_link import model_name, studio_link
from likely.errors import SettingsError
from likely.progress import Shown

if TYPE_CHECKING:
    from likely.api import Classifier, Selection
    from likely.comparison.comparison import Comparison
    from likely.evaluation.report import Report
    from likely.io.file_table import FileTable

Inputs = Annotated[
    list[str],
    typer.Argument(
        help="A model and a test table, or a training table alone.", metavar="[MODEL] TABLE", show_default=False
    ),
    Reads(),
]


def evaluate(
    inputs: Inputs,
    model_options: ModelOptions,
    input_options: InputOptions,
    costs: LossOptions,
    output: OutputOptions,
    target: Target = None,
    cv: Annotated[
        str,
        typer.Option(
            help="Number of folds, loo (leave one out), prequential (in row order), or a test fraction (0.3).",
            metavar="HOW",
        ),
    ] = "10",
    groups: Annotated[
        str | None, typer.Option(help="Hold out rows with the same value of this column together.", metavar="COLUMN")
    ] = None,
    repeats: Annotated[int, typer.Option(help="Repeat the cross-validation with other folds.", metavar="N", min=1)] = 1,
    seed: Seed = 0,
    beta: Annotated[float, typer.Option(help="Beta of the F measure; above 1 favours recall.", metavar="NUMBER")] = 1.0,
    weight: Weight = None,
    drop_unlabelled: DropUnlabelled = False,
    all_measures: Annotated[
        bool, typer.Option("--all-measures", help="Print every measure, not only the most important ones.")
    ] = False,
    html: Page = None,
    studio: Studio = None,
    plot: Annotated[
        str | None,
        typer.Option(help="Draw confusion, calibration and ROC curves: .svg, .png or .html.", metavar="FILE"),
        Writes(),
    ] = None,
    fail_under: Annotated[
        float | None, typer.Option(help="Exit with code 1 if the accuracy is lower.", metavar="ACCURACY")
    ] = None,
) -> None:
    """Measure how good a model is on rows it was not trained on.

    \b
    likely evaluate mails.csv --target kind             ten folds
    likely evaluate mails.csv --target kind --cv loo    one row at a time
    likely evaluate mails.likely test.csv               a model, a test table
    likely evaluate loans.csv -t risk --loss costs.csv --html report.html
    likely evaluate m.likely test.csv --fail-under 0.9  for scripts
    likely evaluate m.likely test.csv --html report.html --studio studio.html

    A table is cross-validated with the model that likely train would choose; the model options are the same, so that
    settings can be compared on the same folds. Naive Bayes needs two passes over the file, which may be larger than
    memory. --cv loo selects naive Bayes, which alone can forget one row at a time.
    """
    refuse_picture(plot)
    model, tables = (inputs[0], inputs[1:]) if len(inputs) > 1 and is_model(inputs[0]) else (None, inputs)
    if model is None and is_model(inputs[0]):
        raise SettingsError(
            f"{inputs[0]!r} is a model; name a table to test it on as well, or only a table to cross-validate."
        )
    table = input_options.open(tables, output)
    how: dict[str, Any] = {"beta": beta, "groups": groups, "repeats": repeats, "random_state": seed}
    if model is not None:
        from likely.streaming.evaluate import evaluate_file
        from likely.streaming.notes import report_notes
        from likely.streaming.update import target_of

        _warn_of_known(model, table, output)
        classifier = load_model(model)
        how |= {"loss": costs.read(classifier.classes_.tolist(), output), "weight": weight, "progress": output.progress}
        label = target_of(classifier, target)
        if drop_unlabelled:
            table.labelled(label)
        report = evaluate_file(classifier, table, label, cv=None, **how)
        report.with_notes(lambda: report_notes(report, classifier, table, label, fitted=True))
        why: tuple[str, ...] = ()
    else:
        label = wanted_target(table, target)
        if drop_unlabelled:
            table.labelled(label)
        loss = costs.read(_classes(table, label) if costs.loss or costs.refuse is not None else (), output)
        how |= {"cv": way_in(cv), "loss": loss}
        report, why, selection = _of_table(model_options, table, label, weight, how, output.progress)
    for line in why:
        output.say(line)
    write(report.to_json() if output.json else report.text(all_measures))
    output.tell_notes(report.notes)
    write_pages(report, output, html, plot, table.sources[0].name, studio)
    if studio is not None:
        from likely.api import learn

        if model is None:  # the folds were judged; what is shown has learned all rows
            classifier = learn(selection, table, label, weight=weight, progress=output.progress)
        _write_studio(studio, classifier, model, table, report)
        output.wrote(studio)
    output.tell_rejected(table)
    if fail_under is not None and report.accuracy < fail_under:
        output.say(f"The accuracy {report.accuracy:.4f} is below {fail_under:g}.")
        raise typer.Exit(NEGATIVE)


def _of_table(
    model_options: ModelOptions, table: FileTable, label: str, weight: str | None, how: dict[str, Any], progress: Shown
) -> tuple[Report, tuple[str, ...], Selection]:
    """Cross-validate the model that would be trained: from counts in files, or by refitting in memory."""
    from likely.api import AUTO, select_model
    from likely.evaluation.evaluate import evaluate as in_memory
    from likely.streaming.evaluate import evaluate_file
    from likely.streaming.notes import report_notes
    from likely.streaming.read_all import read_all

    selection = select_model(
        table, label, model_options.model or AUTO, model_options.settings(table.types, label), weight=weight,
        groups=how["groups"], counts=how["cv"] == "loo", progress=progress,
    )  # fmt: skip
    classifier, rows, why = selection.classifier, selection.rows, selection.reason.sentences()
    if selection.reason.kind == "on disk":  # every fold would need codes of its own, so some rows have to do
        rows = read_all(
            table, label, schema=classifier.schema, weight=weight, groups=how["groups"], most=selection.reason.budget,
            sampled=True, n_jobs=classifier.n_jobs, progress=progress,
        )  # fmt: skip
        if rows is not None:
            why = (
                f"The folds are of {len(rows.y):,} rows drawn at random, which fit into memory; all rows teach more.",
            )
    if rows is not None:
        judged = type(classifier)(**{**classifier.get_params(deep=False), "schema": rows.kinds})
        how = {**how, "groups": rows.groups, "sample_weight": rows.weight, "progress": progress}
        report = in_memory(judged, rows.X, rows.y, **how)
        return report.with_notes(lambda: report_notes(report, judged, table, label, fitted=False)), why, selection
    report = evaluate_file(classifier, table, label, weight=weight, progress=progress, **how)
    return report.with_notes(lambda: report_notes(report, classifier, table, label, fitted=False)), why, selection


def _write_studio(path: str, classifier: Classifier, model: str | None, table: FileTable, report: Report) -> None:
    from likely.studio import write_page
    from likely.studio.material import first_rows

    origin = None if model is None else provenance_of(model)
    learned = () if origin is None else origin.sources
    write_page(
        path, classifier, name="model" if model is None else model_name(model), rows=first_rows(table), report=report,
        data_name=Path(table.sources[0].name).name, origin=origin,
        honest=not any(Path(source.name).name in learned for source in table.sources),
    )  # fmt: skip


def _warn_of_known(model: str, table: FileTable, output: OutputOptions) -> None:
    """Figures on the training rows are too good."""
    origin = provenance_of(model)
    learned = set(origin.sources) if origin is not None else set()
    for source in table.sources:
        if Path(source.name).name in learned:
            output.say(
                f"note: the model seems to have been trained on {source.name}, so these figures are too good; "
                f"for honest ones, say: likely evaluate {source.name} --target COLUMN"
            )


def way_in(given: str) -> int | float | Literal["loo", "prequential"]:
    """How to hold rows out."""
    if given in ("loo", "prequential"):
        return cast(Literal["loo", "prequential"], given)
    try:
        return int(given) if given.isdigit() else float(given)
    except ValueError:
        raise SettingsError(
            f"--cv is {given!r}, but it is a number of folds, loo, prequential, or a test fraction such as 0.3."
        ) from None


def _classes(table: FileTable, label: str) -> list[Hashable]:
    """The labels, as far as a sample of the rows has them."""
    return [cell for cell in table.sample().column(label).unique().to_pylist() if cell is not None]


def refuse_picture(plot: str | None) -> None:
    """A picture that could not be drawn in the end, refused before the work begins."""
    if plot is not None:
        from likely.render.picture import suffix_of

        suffix_of(plot)


def write_pages(
    shown: Report | Comparison,
    output: OutputOptions,
    html: str | None,
    plot: str | None,
    source: str,
    studio: str | None,
) -> None:
    """What was found in a table as a page and as a picture, where these are wanted."""
    if html is not None:
        from likely.io.outputs import write_text

        write_text(html, shown.to_html(source=source, studio=studio_link(studio, html)))
    if plot is not None:
        shown.plot().save(plot)
    output.wrote(html, plot)
