"""Arguments that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from likely.cli.completing import complete_columns

Tables = Annotated[
    list[str],
    typer.Argument(help="Files, globs, folders, or - for standard input.", metavar="TABLE", show_default=False),
]
Model = Annotated[
    str, typer.Argument(help="A model file, or - for standard input.", metavar="MODEL", show_default=False)
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
Out = Annotated[str | None, typer.Option("--out", "-o", help="Where to write; - is standard output.", metavar="FILE")]
