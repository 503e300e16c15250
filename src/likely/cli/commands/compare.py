"""`likely compare`: which classifier suits a table."""

from __future__ import annotations

from typing import Annotated

import typer

from likely.cli.commands.evaluate import refuse_picture, way_in, write_pages
from likely.cli.commands.train import wanted_target
from likely.cli.options import (
    DropUnlabelled,
    InputOptions,
    LossOptions,
    Page,
    Seed,
    Tables,
    Target,
    Writes,
    complete_models,
    listed_in,
)
from likely.cli.output import OutputOptions, terminal_width, write
from likely.errors import missing_columns


def compare(
    tables: Tables,
    input_options: InputOptions,
    costs: LossOptions,
    output: OutputOptions,
    target: Target = None,
    classifiers: Annotated[
        list[str] | None,
        typer.Option(
            "--with", help="Only these: naive, logistic, tree, full …", metavar="NAMES", autocompletion=complete_models
        ),
    ] = None,
    cv: Annotated[str, typer.Option(help="Folds (10), or a share to test on (0.3).", metavar="HOW")] = "10",
    by: Annotated[
        str | None,
        typer.Option(help="What decides; the cost if there is one, else log_loss.", metavar="MEASURE"),
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Leave these columns out: a,b,c.", metavar="NAMES")] = None,
    drop_unlabelled: DropUnlabelled = False,
    seed: Seed = 0,
    html: Page = None,
    plot: Annotated[
        str | None, typer.Option(help="Draw the leaderboard: .svg, .png or .html.", metavar="FILE"), Writes()
    ] = None,
) -> None:
    """Judge several classifiers on the same folds, and say which is good enough.

    \b
    likely compare mails.csv --target kind                all of them, ten folds
    likely compare mails.csv -t kind --with bayes,tree    only these
    likely compare loans.csv -t risk --loss costs.csv     by what mistakes cost
    likely compare loans.csv -t risk --by error --html board.html

    Naive and full Bayes, AODE, evidence, tree and SVM, and from outside logistic regression and gradient boosting.
    The line "majority class" knows the class shares alone: what a model must beat. Marked is the simplest classifier
    that is not worse than the best by more than noise, its probabilities included. Reads the whole table into memory.
    """
    import likely
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
    board = likely.compare(
        rows.drop_columns(left_out), label, listed_in(classifiers) or "all",
        cv=way_in(cv), loss=loss, by=by, random_state=seed, progress=output.progress,
    )  # fmt: skip
    write(board.to_json() if output.json else board.text(terminal_width()))
    write_pages(board, output, html, plot, table.sources[0].name)
    output.tell_rejected(table)
