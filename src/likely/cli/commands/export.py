"""`likely export`: a model for programs that do not have likely."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likely.cli.models import load_model, provenance_of
from likely.cli.options import OUT, LossOptions, Model, Writes
from likely.cli.output import OutputOptions, destination, is_pipe
from likely.errors import SettingsError

Text = str | None

FORMATS = ("json", "csv", "sql", "onnx", "pmml", "dot")
"""Formats that every classifier is asked for, and may refuse itself."""


def export(
    model: Model,
    costs: LossOptions,
    output: OutputOptions,
    out: Annotated[str | None, OUT, Writes(format="to")] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="The format, by default the suffix of the file; dot is for trees.",
            metavar="|".join(FORMATS),
        ),
    ] = None,
    table: Annotated[str, typer.Option(help="For SQL: the table to score.", metavar="NAME")] = "data",
    dialect: Annotated[
        Text, typer.Option(help="For SQL: duckdb, postgres, spark, bigquery, snowflake …", metavar="ENGINE")
    ] = None,
    gives: Annotated[
        Text,
        typer.Option("--output", help="For SQL: what the query returns.", metavar="probabilities|decision|explanation"),
    ] = None,
) -> None:
    """Export a model as JSON, ONNX, PMML, SQL or a table of its parameters.

    \b
    likely export mails.likely -o mails.json    everything
    likely export mails.likely -o numbers.csv   a line per parameter and class
    likely export loans.likely -o loans.onnx    for onnxruntime
    likely export loans.likely -o loans.pmml    naive Bayes and trees
    likely export loans.likely -o score.sql --table loans
    likely export loans.likely --to sql | duckdb loans.duckdb
    likely export loans.likely -o q.sql --dialect postgres --output decision

    The SQL query returns the columns of the table with prediction and P(class), as likely predict does; with --output
    decision also the decision and its risk, with --output explanation the contribution of each column.
    """
    from likely.models.export import export_file

    to_pipe = is_pipe(out)
    target = destination(out)
    kind = to or ("json" if to_pipe else Path(str(out)).suffix.lower()[1:] or None)
    classifier = load_model(model)
    in_sql = kind == "sql"
    loss = costs.read(classifier.classes_.tolist(), output)
    for option, given in (("--dialect", dialect), ("--output", gives), ("--loss or --refuse", loss)):
        if given is not None and not in_sql:
            raise SettingsError(f"{option} is for SQL: say --to sql, or leave it out.")
    usual = "probabilities" if loss is None else "decision"
    export_file(
        classifier, target, kind=kind, table=table, dialect=dialect or "duckdb", output=gives or usual, loss=loss,
        origin=provenance_of(model),
    )  # fmt: skip
    if not to_pipe:
        output.wrote(out)
