"""`likely convert`: a table from one format to another."""

from __future__ import annotations

from likely.cli.options import Guard, InputOptions, OutTable, Tables
from likely.cli.output import OutputOptions, destination, is_pipe, written_as
from likely.progress import row_bar


def convert(
    tables: Tables,
    input_options: InputOptions,
    output: OutputOptions,
    out: OutTable = None,
    guard: Guard = False,
) -> None:
    """Convert a table to another format.

    \b
    likely convert export.csv -o export.parquet
    likely convert 'parts/*.csv.gz' -o all.jsonl.zst
    likely convert odd.txt --encoding cp1252 --rejects bad.csv -o good.csv
    likely convert rows.parquet | head          CSV to standard output

    The suffix decides: .csv .tsv .parquet .arrow .jsonl .xlsx, text formats also with .gz or .zst. From text to text,
    cells stay as they are written; otherwise columns get the types that were inferred. Lines that cannot be read are
    refused, never guessed at.
    """
    from likely.streaming.transform import convert_file

    table = input_options.open(tables, output)
    to_pipe = is_pipe(out)
    with row_bar("converting", False if to_pipe else output.progress) as progress:
        kind = written_as(out, output)
        rows = convert_file(table, destination(out), guard=guard, kind=kind, progress=progress)
    output.tell_rejected(table)
    if not to_pipe:
        output.say(f"Converted {rows:,} rows; wrote {out}")
