"""`likely help`: the commands, or how one of them is used."""

from __future__ import annotations

from typing import Annotated

import typer

from likely.cli.output import ALL_OPTIONS
from likely.errors import SettingsError, did_you_mean, listed


def help(
    ctx: typer.Context,
    command: Annotated[
        str | None, typer.Argument(help="The command; leave it out for a list.", metavar="COMMAND", show_default=False)
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show all options, also those that are rarely needed.")
    ] = False,
) -> None:
    """List the commands, or show how one of them is used.

    \b
    likely help
    likely help train
    likely help train --all    the same as likely train --help-all
    """
    above = ctx.parent or ctx
    names = sorted(vars(above.command)["commands"])
    if command is None:
        typer.echo(above.get_help())
        return
    if command not in names:
        hint = did_you_mean(command, names)
        raise SettingsError(f"There is no command {command!r}; the commands are {listed(names)}.{hint}")
    chosen = vars(above.command)["commands"][command]
    with typer.Context(chosen, parent=above, info_name=command) as own:
        own.meta[ALL_OPTIONS] = everything
        typer.echo(chosen.get_help(own))
