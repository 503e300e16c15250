"""Training where the data lives: DuckDB in SQL and through our kernels, Spark beside MLlib.

    python benchmarks/engines.py duckdb --rows 10000000
    python benchmarks/engines.py spark --rows 20000000

Tables have 8 columns of numbers and 12 of strings (5 to 60 distinct values), 4 classes, a fixed seed. Results are
added to benchmarks/engines.json, with the machine; times are the best of the runs that follow a first one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NUMBERS, STRINGS = [f"x{k}" for k in range(8)], [f"a{k}" for k in range(12)]


def generated(rows: int) -> str:
    """The query that makes the table."""
    numbers = [f"(random() * {3 * (k + 1)} + {100 * k})::double as x{k}" for k in range(8)]
    strings = [f"'v' || (random() * {4 + 5 * k})::int as a{k}" for k in range(12)]
    return f"select 'c' || (random() * 3)::int as y, {', '.join([*numbers, *strings])} from range({rows})"


def best(task: Callable[[], object], runs: int) -> float:
    """Seconds of the fastest run; the first one warms up."""
    times = []
    for _ in range(runs + 1):
        begun = time.perf_counter()
        task()
        times.append(time.perf_counter() - begun)
        print(f"  {times[-1]:.2f} s", flush=True)
    return min(times[1:]) if runs else times[0]


def duck(rows: int, folder: Path, runs: int) -> dict[str, float]:
    """From a table of DuckDB, and from Parquet: in SQL, and through our kernels over Arrow batches."""
    import duckdb

    import likely
    from likely.engines.memory import Rows
    from likely.engines.pieces import RunningSum
    from likely.engines.plan import plan
    from likely.table import as_table, encode_column

    con = duckdb.connect(str(folder / "rows.duckdb"))
    con.execute("select setseed(0.5)")
    con.execute(f"create table t as {generated(rows)}")
    con.execute(f"copy t to '{folder}/rows.parquet'")
    assigned = {**dict.fromkeys(NUMBERS, "gaussian"), **dict.fromkeys(STRINGS, "categorical")}

    def in_sql(source: str) -> None:
        likely.train(con.sql(f"from {source}"), "y", model="naive")

    def in_kernels(source: str) -> None:
        total = RunningSum()
        for batch in con.sql(f"from {source}").to_arrow_reader(1 << 18):
            table = as_table(batch)
            labels = encode_column(table.cells("y"))
            total.add(Rows(table, labels.classes, labels.codes, None, None).summarise(plan(assigned)))
        found = total.total()
        assert found is not None and found.n_rows == rows

    sources = {"table": "t", "Parquet": f"'{folder}/rows.parquet'"}
    ways = {"in SQL": in_sql, "kernels over Arrow": in_kernels}
    return {
        f"{what}, {how}": best(lambda w=way, s=s: w(s), runs)
        for what, s in sources.items()
        for how, way in ways.items()
    }


def spark(rows: int, folder: Path, runs: int) -> dict[str, float]:
    """Ours beside MLlib's naive Bayes and logistic regression, in one session, from the same Parquet."""
    import duckdb
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import LogisticRegression, NaiveBayes
    from pyspark.ml.feature import OneHotEncoder, StringIndexer, VectorAssembler
    from pyspark.sql import SparkSession

    import likely

    con = duckdb.connect()
    con.execute("select setseed(0.5)")
    con.execute(f"copy ({generated(rows)}) to '{folder}/rows.parquet'")
    session = (
        SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "8g").config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "8").getOrCreate()
    )  # fmt: skip
    session.sparkContext.setLogLevel("OFF")
    frame = session.read.parquet(f"{folder}/rows.parquet")
    codes, hot = [f"{name}_code" for name in STRINGS], [f"{name}_hot" for name in STRINGS]
    index = StringIndexer(inputCols=["y", *STRINGS], outputCols=["label", *codes])

    def piped(columns: list[str], last: Any, *between: Any) -> Callable[[], object]:
        stages = [index, *between, VectorAssembler(inputCols=columns, outputCol="features"), last]
        return lambda: Pipeline(stages=stages).fit(frame)

    one_hot = OneHotEncoder(inputCols=codes, outputCols=hot)
    found = {"ours": best(lambda: likely.train(frame, "y", model="naive"), runs)}
    found["MLlib NaiveBayes on codes"] = best(piped([*NUMBERS, *codes], NaiveBayes(modelType="gaussian")), runs)
    found["MLlib NaiveBayes on one-hot values"] = best(
        piped([*NUMBERS, *hot], NaiveBayes(modelType="gaussian"), one_hot), 0
    )
    found["MLlib LogisticRegression on codes, 10 steps"] = best(
        piped([*NUMBERS, *codes], LogisticRegression(maxIter=10)), 0
    )
    session.stop()
    return found


def main() -> None:
    """Measure one engine and add what came out to the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=["duckdb", "spark"])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seconds = {"duckdb": duck, "spark": spark}[given.engine](given.rows, Path(folder), given.runs)
    path = HERE / "engines.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    known[f"{given.engine}, {given.rows:,} rows × 20"] = {
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("duckdb", "ibis-framework", "pyspark")},
        "peak MiB of this process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }
    path.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    for name, value in seconds.items():
        print(f"{name:45} {value:8.2f} s")


if __name__ == "__main__":
    main()
