"""`likely datasets`: small tables to try the other commands on."""

from __future__ import annotations

from typing import Annotated

import typer

from likely.cli.options import OutTable
from likely.cli.output import OutputOptions, destination, is_pipe, write_json, write_table, written_as


def complete_datasets(incomplete: str) -> list[str]:
    """The names of the tables."""
    from likely.teaching.datasets import DATASETS

    return [name for name in DATASETS if name.startswith(incomplete)]


def datasets(
    output: OutputOptions,
    name: Annotated[
        str | None,
        typer.Argument(
            help="The table; leave it out for a list.",
            metavar="NAME",
            show_default=False,
            autocompletion=complete_datasets,
        ),
    ] = None,
    out: OutTable = None,
) -> None:
    """Write a small example table, or list the tables.

    \b
    likely datasets                          all tables
    likely datasets mails > mails.csv        an inbox with every kind of column
    likely datasets new-mails > new.csv      later mails to predict
    likely datasets iris -o iris.parquet

    The tables come with the package or are generated, the same each time; nothing is downloaded.
    """
    from likely.teaching.datasets import DATASETS, dataset

    if name is None:
        if output.json:
            write_json({name: {"about": entry.about, "target": entry.target} for name, entry in DATASETS.items()})
        else:
            lines = [[name, entry.target or "", entry.about] for name, entry in DATASETS.items()]
            write_table("", ["table", "target", "about"], lines, left=(0, 1, 2))
        return
    import pyarrow as pa

    from likely.io.write import table_writer

    table = pa.table(dataset(name))
    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):  # nobody wants to read microseconds
            table = table.set_column(place, field.name, table.column(place).cast(pa.timestamp("s")))
    with table_writer(destination(out), kind=written_as(out, output), guard=False) as write_rows:
        write_rows(table)
    if not is_pipe(out):
        output.wrote(out)
