"""Arguments that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from likely.cli.completing import complete_columns
from likely.cli.outputs import Reads, Writes
from likely.outputs import MODEL, PAGE

Tables = Annotated[
    list[str],
    typer.Argument(help="Files, globs, folders, or - for standard input.", metavar="TABLE", show_default=False),
    Reads(),
]
Model = Annotated[
    str, typer.Argument(help="A model file, or - for standard input.", metavar="MODEL", show_default=False), Reads()
]
Target = Annotated[
    str | None,
    typer.Option("--target", "-t", help="The column to predict.", metavar="COLUMN", autocompletion=complete_columns),
]
Weight = Annotated[
    str | None,
    typer.Option(
        help="A column that says what each row counts for.", metavar="COLUMN", autocompletion=complete_columns
    ),
]
OUT = typer.Option("--out", "-o", help="Where to write; - is standard output.", metavar="FILE")
OutTable = Annotated[str | None, OUT, Writes()]
OutModel = Annotated[str | None, OUT, Writes(MODEL, onto="model", usual=lambda given: given.get("model"))]
"""A model that may be written where it was read."""
Page = Annotated[
    str | None, typer.Option("--html", help="Write a page that opens offline.", metavar="FILE"), Writes(PAGE)
]
Force = Annotated[bool, typer.Option("--force", help="Replace even a model that predicts another column.")]
