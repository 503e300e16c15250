"""Options for tables in engines: an address and a name, a database file, or files that an engine reads."""

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
            help="Address of a database, such as postgresql://user@host/db; passwords may come from its usual places.",
            metavar="URL",
        ),
    ] = None  # fmt: skip
    table: Annotated[Text, typer.Option(help="Name of the table in the database or database file.", metavar="NAME")] = (
        None
    )
    engine: Annotated[Text, typer.Option(help="Let this engine read and count the files.", metavar="duckdb|spark")] = (
        None
    )
    sample: Annotated[
        int | None,
        typer.Option(
            help="Rows to fetch for corrections; by default as many as fit into memory.",
            metavar="ROWS", min=1,
        ),
    ] = None  # fmt: skip

    def open(self, tables: Sequence[str]) -> Relation | None:
        """The table in its engine; None if it is files that are read here."""
        from likely.api import engine_table

        if self.connect is not None:
            if tables:
                raise SettingsError(f"--connect already says where the table is; leave out {listed(tables)}.")
            if self.table is None:
                raise SettingsError("Which table? Say --table NAME beside --connect.")
            return engine_table(self.connect, self.table, sample=self.sample)
        if not tables:
            raise SettingsError("Which table? Name files, or say --connect URL --table NAME.")
        suffix = next((end for end in DATABASES if tables[0].endswith(end)), None)
        if suffix is not None:
            if self.table is None or len(tables) > 1:
                raise SettingsError(f"{tables[0]!r} is a database; say which table: --table NAME.")
            return engine_table(f"{DATABASES[suffix]}:///{tables[0]}", self.table, sample=self.sample)
        if self.table is not None:
            raise SettingsError(f"--table is for databases, but {tables[0]!r} is a file; leave --table out.")
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
