"""How a table is read: the options of every command that reads one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from likely.cli.outputs import Writes
from likely.cli.pairs import listed_in, pairs_in
from likely.errors import SettingsError
from likely.outputs import LEFT_OUT

if TYPE_CHECKING:
    from likely.files import FileTable

PANEL = "How the table is read (found out, unless you say)"
MARKS = {"\\t": "\t", "tab": "\t", "space": " ", "none": ""}

Text = str | None
Texts = list[str] | None


@dataclass(frozen=True)
class Reading:
    """The parameters of `open_table`, under the same names."""

    format: Annotated[
        Text, typer.Option(help="delimited, json, parquet or arrow.", rich_help_panel=PANEL, metavar="NAME")
    ] = None
    delimiter: Annotated[
        Text, typer.Option(help="Between cells: , ; tab space | or any other.", rich_help_panel=PANEL, metavar="MARK")
    ] = None
    encoding: Annotated[
        Text, typer.Option(help="Such as utf-8, cp1252, utf-16.", rich_help_panel=PANEL, metavar="NAME")
    ] = None
    decimal: Annotated[Text, typer.Option(help="Decimal mark: . or ,", rich_help_panel=PANEL, metavar="MARK")] = None
    quote: Annotated[
        Text, typer.Option(help="Quote around cells; none if there is none.", rich_help_panel=PANEL, metavar="MARK")
    ] = None
    escape: Annotated[
        Text, typer.Option(help="Mark before a quote inside of a cell.", rich_help_panel=PANEL, metavar="MARK")
    ] = None
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line has names.", rich_help_panel=PANEL),
    ] = None
    names: Annotated[
        Texts,
        typer.Option(help="Names for the columns, in place of a header: a,b,c", rich_help_panel=PANEL, metavar="NAMES"),
    ] = None
    skip: Annotated[
        int | None, typer.Option(help="Lines before the header.", rich_help_panel=PANEL, metavar="N", min=0)
    ] = None
    na: Annotated[
        Texts, typer.Option(help="A cell that is a gap; may be repeated.", rich_help_panel=PANEL, metavar="CELL")
    ] = None
    type: Annotated[
        Texts,
        typer.Option(
            "--type", help="What a column of text holds: zip=text, n=number; may be repeated.", rich_help_panel=PANEL,
            metavar="COLUMN=TYPE",
        ),
    ] = None  # fmt: skip
    columns: Annotated[
        Texts, typer.Option(help="Read only these columns: a,b,c", rich_help_panel=PANEL, metavar="NAMES")
    ] = None
    rejects: Annotated[
        Text,
        typer.Option(
            help="Leave out lines that cannot be read, and write them to this file (skip: only count them).",
            rich_help_panel=PANEL, metavar="FILE",
        ),
        Writes(LEFT_OUT, words=("skip",)),
    ] = None  # fmt: skip
    multiline: Annotated[
        bool, typer.Option("--multiline", help="A quoted cell may go over many lines.", rich_help_panel=PANEL)
    ] = False

    def open(self, sources: Sequence[str]) -> FileTable:
        """The table in these files."""
        from likely.files import open_table

        return open_table(
            _source(sources),
            format=self.format,
            delimiter=_mark(self.delimiter),
            encoding=self.encoding,
            decimal=self.decimal,
            quote=_mark(self.quote),
            escape=_mark(self.escape),
            header=self.header,
            names=listed_in(self.names),
            skip=self.skip,
            na=self.na or None,
            types=pairs_in("--type", self.type or (), "zip=text"),
            columns=listed_in(self.columns),
            rejects=self.rejects,
            multiline=self.multiline,
        )


def _source(sources: Sequence[str]) -> str | list[str]:
    if len(sources) == 1:
        return sources[0]
    if "-" in sources:
        raise SettingsError("Standard input (-) is a table by itself; name it alone, or name files.")
    return list(sources)


def _mark(given: str | None) -> str | None:
    return given if given is None else MARKS.get(given.lower(), given)


def name_of(sources: Sequence[str]) -> str:
    """What a table is called where it is made into something: the first file, without its folder and suffixes."""
    first = os.path.basename(os.path.normpath(sources[0])) if sources[0] != "-" else "model"
    stem = first.split(".")[0] if not first.startswith(".") else first
    return stem if stem and not set(stem) & set("*?[") else "model"
