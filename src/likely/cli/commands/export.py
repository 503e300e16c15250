"""`likely export`: a model for programs and people without likely."""

from __future__ import annotations

from typing import Annotated

import typer

from likely.cli.arguments import Model, Out
from likely.cli.models import load_counts, provenance_of
from likely.cli.talking import Manner, destination, is_pipe


def export(
    model: Model,
    manner: Manner,
    out: Out = None,
    to: Annotated[
        str | None, typer.Option("--to", help="json, csv or sql, if no suffix says it.", metavar="FORMAT")
    ] = None,
    table: Annotated[str, typer.Option(help="For SQL: the table to be scored.", metavar="NAME")] = "data",
) -> None:
    """Write a model as JSON, as a table of its parameters, or as an SQL query that scores a table.

    \b
    likely export mails.likely -o mails.json    everything
    likely export mails.likely -o numbers.csv   a line per parameter and class
    likely export loans.likely -o score.sql --table loans
    likely export loans.likely --to sql | duckdb loans.duckdb

    The query (in DuckDB's dialect) gives the same probabilities as likely predict, also of evidence with its pairs; it
    cannot cut texts into words.
    """
    from likely.files.exporting import export_file

    to_pipe = is_pipe(out)
    target = destination(out)
    kind = to or ("json" if to_pipe else None)
    export_file(
        load_counts(model, "be exported", corrected=True), target, kind=kind, table=table, origin=provenance_of(model)
    )
    if not to_pipe:
        manner.say(f"Wrote {out}")
