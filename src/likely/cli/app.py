"""All commands in one program, and groups of options that several of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from inspect import Parameter, Signature, signature
from textwrap import dedent
from typing import Annotated, Any, TypeAlias, get_args, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.models import OptionInfo

from likely.cli.commands import (
    compare,
    convert,
    datasets,
    demo,
    evaluate,
    explain,
    export,
    forget,
    help,
    mail,
    merge,
    predict,
    rank,
    refresh,
    schema,
    serve,
    show,
    studio,
    train,
    version,
    warm_up,
)
from likely.cli.options import complete_choices, refuse_losses
from likely.cli.output import ALL_OPTIONS, OptionGroup, OutputOptions, told_in_words
from likely.compilation import WATCHER
from likely.version import __version__

Clicked: TypeAlias = Any
"""What Typer hands on from Click, of which it has a copy without public types."""


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every parameter that is a dataclass of options replaced by the fields of that.

    Typer reads the signature; so it sees all options, and the command gets them as one value each group.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type[OptionGroup]] = {}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        kind = hints[name]
        if isinstance(kind, type) and issubclass(kind, OptionGroup):
            groups[name] = kind
            parameters += _options(kind)
        else:
            parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=parameter.default, annotation=kind))

    parameters.append(Parameter("help_all", Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll))
    annotations = {parameter.name: parameter.annotation for parameter in parameters}
    for mark in _marks(annotations.values()):
        if "|" in (mark.metavar or "") and mark.autocompletion is None:
            mark.autocompletion = complete_choices(str(mark.metavar))

    def run(**given: object) -> None:
        refuse_losses(annotations, given)
        del given["help_all"]
        values = {name: kind(**{f.name: given.pop(f.name) for f in fields(kind)}) for name, kind in groups.items()}
        WATCHER.quiet = any(isinstance(value, OutputOptions) and value.quiet for value in values.values())
        command(**given, **values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = annotations
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return flowing(run)


def flowing(command: Callable[..., None]) -> Callable[..., None]:
    """The command with a help text whose paragraphs fit any width; examples (after a `\\b`) keep their lines."""
    paragraphs = (command.__doc__ or "").split("\n\n")
    texts = [dedent(text).strip("\n") if "\b" in text else " ".join(text.split()) for text in paragraphs]
    command.__doc__ = "\n\n".join(texts)
    return command


def _options(group: type[OptionGroup]) -> list[Parameter]:
    """The options of a group as parameters, each under the heading of the group."""
    hints = get_type_hints(group, include_extras=True)
    if group.rare:
        RARE.add(group.panel)
    for mark in _marks(hints[entry.name] for entry in fields(group)):
        mark.rich_help_panel = group.panel
    return [
        Parameter(entry.name, Parameter.KEYWORD_ONLY, default=entry.default, annotation=hints[entry.name])
        for entry in fields(group)
    ]


def _marks(annotations: Iterable[object]) -> Iterator[OptionInfo]:
    """What the annotations say about options."""
    return (mark for kind in annotations for mark in get_args(kind) if isinstance(mark, OptionInfo))


# The short help, and all of it.

RARE: set[str] = set()
"""Headings of options that the short help leaves out."""


def _show_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        ctx.meta[ALL_OPTIONS] = True
        typer.echo(ctx.get_help())
        raise typer.Exit()


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all", callback=_show_all, is_eager=True, help="Show all options, also those that are rarely needed."
    ),
]


class Command(TyperCommand):
    """A command whose help is short, unless all of it is asked for."""

    def format_help(self, ctx: Clicked, formatter: Clicked) -> None:
        _tidy(self.get_params(ctx))
        rare = [] if ctx.meta.get(ALL_OPTIONS) else [option for option in self.params if _is_rare(option)]
        for option in rare:
            vars(option)["hidden"] = True
        try:
            super().format_help(ctx, formatter)
        finally:
            for option in rare:
                vars(option)["hidden"] = False
        if rare:
            left_out = sorted({vars(option)["rich_help_panel"].split(" (")[0].lower() for option in rare})
            typer.echo(f" {len(rare)} more options ({', '.join(left_out)}): {ctx.command_path} --help-all\n")


def _is_rare(option: object) -> bool:
    return vars(option).get("rich_help_panel") in RARE and "--model" not in vars(option)["opts"]


LONG = 22
"""Characters of choices beyond which the help lists them in its sentence: in the column of values they would wrap."""


def _tidy(parameters: Iterable[object]) -> None:
    """Leave Python's types (`<bool>`, `<list[str]>`) out of the help; what a value looks like, its metavar says."""
    for parameter in parameters:
        said = vars(parameter)
        if said.get("is_flag"):
            said["metavar"] = ""
        elif "|" in (said.get("metavar") or "") and len(said["metavar"]) > LONG:
            *others, last = said["metavar"].split("|")
            said["help"] = f"{said['help'].rstrip('.')}. One of {', '.join(others)} or {last}."
            said["metavar"] = "CHOICE"
        elif isinstance(parameter, TyperArgument):
            said["display_type_rich"] = lambda ctx: None


# All commands in one program.


class Commands(TyperGroup):
    """All commands; what any of them refuses is told in one sentence."""

    def format_help(self, ctx: Clicked, formatter: Clicked) -> None:
        _tidy(self.get_params(ctx))
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Clicked) -> object:
        with told_in_words():
            return super().invoke(ctx)


def _by_name(*commands: Callable[..., None]) -> dict[str, Callable[..., None]]:
    return {command.__name__.replace("_", "-"): command for command in commands}


app = typer.Typer(
    name="likely",
    cls=Commands,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Learn": _by_name(train.train, evaluate.evaluate, compare.compare, merge.merge, forget.forget, refresh.refresh),
    "Use and understand": _by_name(predict.predict, explain.explain, show.show, studio.studio, rank.rank),
    "Run as a service": _by_name(serve.serve, mail.mail),
    "Tables and exports": _by_name(
        schema.schema, convert.convert, export.export, datasets.datasets, demo.demo, warm_up.warm_up
    ),
    "About": _by_name(help.help, version.version),
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
    likely train mails.csv --target kind      train; writes mails.likely
    likely predict mails.likely new.csv       prediction and probabilities
    likely evaluate mails.csv --target kind   how good is it?
    likely explain mails.likely new.csv       why?

    A table is a CSV file of any dialect, Parquet, Arrow, JSON lines or Excel, compressed or not; a glob, a folder, or -
    for standard input. Files may be larger than memory. Every command has examples: likely COMMAND --help
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


app.callback(invoke_without_command=True)(flowing(start))
for panel, commands in PANELS.items():
    for name, command in commands.items():
        app.command(name, cls=Command, rich_help_panel=panel)(expanded(command))
