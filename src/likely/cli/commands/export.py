"""`likely export`: a model for programs and people without likely."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likely.cli.models import adds_counts, load_model, provenance_of
from likely.cli.options import OUT, Model, Writes
from likely.cli.output import OutputOptions, destination, is_pipe
from likely.errors import SettingsError

FORMATS = ("json", "csv", "sql", "onnx", "pmml", "dot")


def complete_formats(incomplete: str) -> list[str]:
    """What a model may be written as."""
    return [name for name in FORMATS if name.startswith(incomplete)]


def export(
    model: Model,
    output: OutputOptions,
    out: Annotated[str | None, OUT, Writes(format="to")] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="json, csv, sql, onnx, pmml, or dot of a tree.",
            metavar="FORMAT",
            autocompletion=complete_formats,
        ),
    ] = None,
    table: Annotated[str, typer.Option(help="For SQL: the table to be scored.", metavar="NAME")] = "data",
) -> None:
    """Write a model for other programs: as JSON, ONNX, PMML, a table of its parameters, or an SQL query.

    \b
    likely export mails.likely -o mails.json    everything
    likely export mails.likely -o numbers.csv   a line per parameter and class
    likely export loans.likely -o loans.onnx    for onnxruntime
    likely export loans.likely -o loans.pmml    naive Bayes and trees
    likely export loans.likely -o score.sql --table loans
    likely export loans.likely --to sql | duckdb loans.duckdb

    The query (in DuckDB's dialect) gives the same probabilities as likely predict, also of evidence with its pairs; it
    cannot cut texts into words. A tree becomes a CASE, or a graph for Graphviz; a row with a gap that it asks for has
    no prediction there.
    """
    from likely.models.export import export_file
    from likely.models.protocols import Exports

    to_pipe = is_pipe(out)
    target = destination(out)
    kind = to or ("json" if to_pipe else Path(str(out)).suffix.lower()[1:] or None)
    classifier = load_model(model)
    if kind not in ("onnx", "pmml") and not (adds_counts(classifier) or isinstance(classifier, Exports)):
        raise SettingsError(
            f"The {type(classifier).__name__} in {model!r} cannot be exported: it is neither counts nor a tree."
        )
    export_file(classifier, target, kind=kind, table=table, origin=provenance_of(model))
    if not to_pipe:
        output.wrote(out)
