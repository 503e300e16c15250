"""The commands under one roof."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from likely.cli.commands import (
    compare,
    convert,
    demo,
    evaluate,
    explain,
    export,
    forget,
    merge,
    predict,
    rank,
    refresh,
    schema,
    show,
    train,
)
from likely.cli.parameters import expanded, flowing
from likely.cli.running import told_in_words
from likely.version import __version__


class Commands(TyperGroup):
    """All commands; what any of them refuses is told in one sentence."""

    def invoke(self, ctx: Any) -> Any:
        with told_in_words():
            return super().invoke(ctx)


app = typer.Typer(
    name="likely",
    cls=Commands,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Learn": {
        "train": train.train,
        "evaluate": evaluate.evaluate,
        "compare": compare.compare,
        "merge": merge.merge,
        "forget": forget.forget,
        "refresh": refresh.refresh,
    },
    "Use and look": {"predict": predict.predict, "explain": explain.explain, "show": show.show, "rank": rank.rank},
    "Tables and exports": {
        "schema": schema.schema,
        "convert": convert.convert,
        "export": export.export,
        "demo": demo.demo,
    },
}
"""The commands as the help shows them. A new one is a file and its place here."""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"likely {__version__}")
        raise typer.Exit()


def start(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Bayes classification for real tables and texts.

    \b
    likely train mails.csv --target kind      learn; writes mails.likely
    likely predict mails.likely new.csv       prediction and probabilities
    likely evaluate mails.csv --target kind   how good is it?
    likely explain mails.likely new.csv       why?

    A table is a CSV of any dialect, Parquet, Arrow or JSON lines, packed or not, a glob, a folder, or - for standard
    input; files may be larger than memory. Every command has examples: likely COMMAND --help
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


app.callback(invoke_without_command=True)(flowing(start))
for panel, commands in PANELS.items():
    for name, command in commands.items():
        app.command(name, rich_help_panel=panel)(expanded(command))
