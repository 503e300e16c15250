"""`likely compare`: which classifier suits a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likely.cli.commands.evaluate import refuse_picture, way_in, write_pages
from likely.cli.commands.train import wanted_target
from likely.cli.options import (
    DropUnlabelled,
    InputOptions,
    LossOptions,
    Page,
    Seed,
    Studio,
    Tables,
    Target,
    Writes,
    complete_compared,
    listed_in,
)
from likely.cli.output import OutputOptions, terminal_width, write
from likely.errors import SettingsError, missing_columns
from likely.models.registry import Entry, entries

if TYPE_CHECKING:
    from likely.comparison.comparison import Comparison


def compare(
    tables: Tables,
    input_options: InputOptions,
    costs: LossOptions,
    output: OutputOptions,
    target: Target = None,
    classifiers: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            help="Only these: naive, logistic, tree, full …",
            metavar="NAMES",
            autocompletion=complete_compared,
        ),
    ] = None,
    cv: Annotated[str, typer.Option(help="Number of folds, or a test fraction (0.3).", metavar="HOW")] = "10",
    by: Annotated[
        str | None,
        typer.Option(
            help="Measure to rank by; the default is log_loss, or the cost with --loss.",
            metavar="error|log_loss|brier|expected_cost",
        ),
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Columns to leave out: a,b,c.", metavar="NAMES")] = None,
    drop_unlabelled: DropUnlabelled = False,
    seed: Seed = 0,
    html: Page = None,
    studio: Studio = None,
    plot: Annotated[
        str | None, typer.Option(help="Draw the leaderboard: .svg, .png or .html.", metavar="FILE"), Writes()
    ] = None,
) -> None:
    """Compare several classifiers on the same folds.

    \b
    likely compare mails.csv --target kind                all of them, ten folds
    likely compare mails.csv -t kind --with naive,tree    only these
    likely compare loans.csv -t risk --loss costs.csv     by expected cost
    likely compare loans.csv -t risk --by error --html board.html
    likely compare loans.csv -t risk --html board.html --studio studio.html

    Naive and full Bayes, AODE, evidence, tree and SVM, and scikit-learn's logistic regression and gradient boosting.
    "evidence, columns" is evidence with one table per column, so that it can be read in full; a line says how much
    worse that is. evidence-pairs and evidence-triples lie in between: name them with --with.
    "majority class" knows only the class proportions: it is the line to beat. The mark ◀ is at the simplest classifier
    that is as good as the best within noise, and whose probabilities are, too. The table is read into memory.
    """
    import likely
    from likely.comparison.comparison import WIDTH
    from likely.table.notes import unlabelled_note

    refuse_picture(plot)
    table = input_options.open(tables, output)
    label = wanted_target(table, target)
    left_out = listed_in(ignore) or []
    unknown = [name for name in left_out if name not in table.names]
    if unknown:
        raise missing_columns(unknown, table.names)
    rows = (table.labelled(label) if drop_unlabelled else table).read()
    if table.unlabelled:
        output.tell_notes([unlabelled_note(table.unlabelled)])
    loss = costs.read(rows.column(label).drop_null().unique().to_pylist(), output)
    rows = rows.drop_columns(left_out)
    board = likely.compare(
        rows, label, listed_in(classifiers) or "all",
        cv=way_in(cv), loss=loss, by=by, random_state=seed, progress=output.progress,
    )  # fmt: skip
    best = None if studio is None else own_best(board)
    write(board.to_json() if output.json else board.text(terminal_width() or WIDTH))
    write_pages(board, output, html, plot, table.sources[0].name, studio)
    if studio is not None and best is not None:
        from likely.studio import write_page

        name = next(entry.name for entry in entries() if entry.home == best.home)
        settings: dict[str, Any] = dict(best.settings)
        classifier = likely.train(rows, label, model=name, progress=output.progress, **settings)
        report = board.reports[best.title]
        source = table.sources[0].name
        write_page(studio, classifier, rows=rows, report=report, comparison=board, data_name=Path(source).name)
        output.wrote(studio)
    output.tell_rejected(table)


def own_best(board: Comparison) -> Entry:
    """The model for a studio: the simplest that is as good as the best, or else the best that the package makes."""
    from likely.comparison.candidates import COLUMNS, PAIRS, TRIPLES

    own = {entry.title: entry for entry in (*entries(), COLUMNS, PAIRS, TRIPLES) if entry.reads_tables}
    ranked = [board.simplest, *(entry.name for entry in board.entries)]
    found = next((own[title] for title in ranked if title in own), None)
    if found is None:
        raise SettingsError("None of the models that were compared has a studio; compare at least one of likely's own.")
    return found
