"""Tables in engines on the command line: an address and a name, a database file, or files that an engine reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from likely.cli.output import OptionGroup
from likely.errors import SettingsError, listed

if TYPE_CHECKING:
    from likely.engines.relation import Relation

Text = str | None

DATABASES = {".duckdb": "duckdb", ".ddb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite"}
"""Files that hold tables, by their suffix."""

ENGINES = ("duckdb", "spark")
"""Engines that read files of tables."""


@dataclass(frozen=True)
class EngineOptions(OptionGroup):
    """An engine that counts the rows where they are."""

    panel = "Database options"
    rare = True

    connect: Annotated[
        Text,
        typer.Option(
            help="An engine's address, such as postgresql://user@host/db; a password may come from its own places.",
            metavar="URL",
        ),
    ] = None  # fmt: skip
    table: Annotated[Text, typer.Option(help="The table there, or in a database file.", metavar="NAME")] = None
    engine: Annotated[Text, typer.Option(help="Let an engine read and count files.", metavar="duckdb|spark")] = None
    sample: Annotated[
        int | None,
        typer.Option(
            help="Rows that are fetched for corrections; the usual is what fits into memory.",
            metavar="ROWS", min=1,
        ),
    ] = None  # fmt: skip

    def open(self, tables: Sequence[str]) -> Relation | None:
        """The table in its engine; None if it is files that are read here."""
        from likely.api import engine_table

        if self.connect is not None:
            if tables:
                raise SettingsError(f"--connect says where the table is, so {listed(tables)} is one too many.")
            if self.table is None:
                raise SettingsError("Which table? Say --table NAME beside --connect.")
            return engine_table(self.connect, self.table, sample=self.sample)
        if not tables:
            raise SettingsError("Which table? Name files, or say --connect URL --table NAME.")
        suffix = next((end for end in DATABASES if tables[0].endswith(end)), None)
        if suffix is not None:
            if self.table is None or len(tables) > 1:
                raise SettingsError(f"{tables[0]!r} is a database: say --table NAME for one of its tables.")
            return engine_table(f"{DATABASES[suffix]}:///{tables[0]}", self.table, sample=self.sample)
        if self.table is not None:
            raise SettingsError(f"--table is for a database, and {tables[0]!r} is none: leave it out.")
        if self.engine is None:
            return None
        from likely.engines.connect import read_files

        return engine_table(read_files(self.engine, list(tables)), sample=self.sample)

    def name_of(self, tables: Sequence[str]) -> list[str]:
        """What a model is called after: the table if it has a name, else its files."""
        return [self.table.replace("/", "_")] if self.table is not None else list(tables) or ["model"]


def types_of(relation: Relation) -> Mapping[str, str]:
    """What each column holds, in the words for files."""
    words = {"integer": "integer", "float": "number", "boolean": "truth", "string": "text", None: "text"}
    return {name: words[relation.cell(name)] for name in relation.names}
