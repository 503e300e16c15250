"""Training from files larger than memory beside a bare scan of the same file by DuckDB into Arrow batches.

`python benchmarks/run.py --only files --repeats 3` takes files of about 1.2 GB (CSV); `--scale 5` takes 6 GB.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb

from benchmarks.measure import Case
from likely.streaming import predict_file, train_file

ROWS = 12_000_000
THREADS = 2
BATCH = 100_000

NUMBERS = ", ".join(f"(random() * {100 * (k + 1)} - 20)::decimal(12, 4)::double as number_{k}" for k in range(4))
WHOLE = ", ".join(f"(random() * {10 ** (k + 1)})::int as whole_{k}" for k in range(4))
WORDS = ", ".join(f"'level ' || (random() * {n})::int as word_{k}" for k, n in enumerate((2, 3, 5, 10, 40, 200)))
TABLE = f"select {NUMBERS}, {WHOLE}, {WORDS}, if(random() < 0.5, 'yes', 'no') as label from range({{}})"


def scan(path: Path) -> int:
    """What DuckDB needs to hand out all rows as Arrow batches."""
    with duckdb.connect() as connection:
        connection.execute(f"set threads = {THREADS}")
        rows = connection.sql(f"from '{path}'").to_arrow_reader(BATCH)
        return sum(batch.num_rows for batch in rows)


def files(scale: float) -> Iterator[Case]:
    """One CSV and one Parquet file with the same rows; asked for: at most twice the time of the scan."""
    n = int(ROWS * scale)
    with tempfile.TemporaryDirectory(prefix="likely-bench-") as folder:
        csv, parquet = Path(folder, "rows.csv"), Path(folder, "rows.parquet")
        duckdb.sql(f"copy ({TABLE.format(n)}) to '{csv}' (header, delimiter ',')")
        duckdb.sql(f"copy (from '{csv}') to '{parquet}'")
        for path in (csv, parquet):
            size = f"{n:,} rows, {path.stat().st_size / 1e9:.1f} GB {path.suffix[1:].upper()}"
            yield Case(
                f"train_file, {size}",
                lambda path=path: train_file(path, "label"),
                lambda path=path: scan(path),
                peer_name="DuckDB, scan alone",
                limit=0.5,
            )
        clf = train_file(parquet, "label")
        few = Path(folder, "few.csv")
        duckdb.sql(f"copy (from '{csv}' limit {n // 12}) to '{few}' (header)")
        yield Case(
            f"predict_file, {n // 12:,} rows, CSV to CSV",
            lambda: predict_file(clf, few, Path(folder, "out.csv")),
            lambda: scan(few),
            peer_name="DuckDB, scan alone",
        )
