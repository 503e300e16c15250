"""`likely schema`: the kind of each column of a table, and why."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from likely.cli.options import InputOptions, Tables, Target
from likely.cli.output import OutputOptions, in_options, many, write, write_json, write_table
from likely.errors import missing_columns

if TYPE_CHECKING:
    from likely.table.infer import Column


def schema(tables: Tables, input_options: InputOptions, output: OutputOptions, target: Target = None) -> None:
    """Show how a table is read: the kind of each column, and why.

    \b
    likely schema loans.csv
    likely schema loans.csv --target risk --delimiter ';'
    likely schema 'parts/*.csv' --json

    Nothing is trained. To override what is inferred, say so to likely train: --kind zip=nominal, --type id=text,
    --ignore name.
    """
    from likely.table import as_table
    from likely.table.notes import schema_notes
    from likely.table.schema import Schema

    table = input_options.open(tables)
    if target is not None and target not in table.names:
        raise missing_columns([target], table.names)
    sample = table.sample()
    found = Schema.infer(sample, target)
    late, notes = table.late_changes(), schema_notes(as_table(sample), found)
    dialect = table.dialect
    if output.json:
        written = dialect.describe() if dialect is not None else None
        columns = [{**asdict(column), "type": table.types[column.name]} for column in found]
        write_json(
            {
                "files": [source.name for source in table.sources], "written": written, "target": target,
                "rows_judged": sample.num_rows, "columns": columns, "changes": dict(late),
                "notes": [*table.notes, *map(str, notes)],
            }
        )  # fmt: skip
        return
    names = [source.name for source in table.sources]
    some = names[0] if len(names) == 1 else f"{len(names)} files, {names[0]} …"
    write(f"{some}: {dialect.describe() if dialect is not None else 'columns with their own types'}")
    write(f"inferred from {many(sample.num_rows, 'row')} across the table\n\n")
    head = ["column", "type", "kind", "values", "missing", "why"]
    write_table("", head, [_line(column, table.types[column.name]) for column in found], left=(0, 1, 2, 5))
    for name, what in late.items():
        output.say(f"note: column {name!r} starts with numbers, but {what}: say --kind {name}=nominal")
    output.tell_notes([*table.notes, *notes])


def _line(column: Column, holds: str) -> list[str]:
    counts = ["" if n is None else f"{n:,}" for n in (column.levels, column.gaps)]
    return [column.name, holds, column.kind, *counts, in_options(column.why)]
