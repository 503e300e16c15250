"""Training where the data lives: DuckDB in SQL and through our kernels, Spark beside MLlib.

    python benchmarks/engines.py duckdb --rows 10000000
    python benchmarks/engines.py spark --rows 20000000
    python benchmarks/engines.py scoring --rows 100000 --postgres postgresql://host/db

Tables have 8 columns of numbers and 12 of strings (5 to 60 distinct values), 4 classes, a fixed seed. Results are
added to benchmarks/engines.json, with the machine; times are the best of the runs that follow a first one.

`scoring` runs the query of `to_sql`: naive Bayes of 300 numbers and 200 strings, evidence with 30 columns and 30
pairs, and evidence with boosted trees and a quadratic discriminant beside its tables. "To plan" is what one row takes;
rows per second are those beyond that, by the clock and by the processor time of the engine, which says more where
others work on the machine. PostgreSQL compiles nothing (jit off).
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
    from likely.engines.files import RunningSum
    from likely.engines.memory import Rows
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
    found: dict[str, float] = {}
    for what, source in sources.items():
        for how, way in ways.items():
            worked: list[float] = []

            def timed(way: Callable[[str], None] = way, s: str = source, worked: list[float] = worked) -> None:
                before = time.process_time()
                way(s)
                worked.append(time.process_time() - before)

            found[f"{what}, {how}"] = best(timed, runs)
            found[f"{what}, {how}, processor seconds"] = min(worked[1:] or worked)
    return found


def spark(rows: int, folder: Path, runs: int, memory: str = "8g") -> dict[str, float]:
    """Ours beside MLlib's naive Bayes and logistic regression, in one session, from the same Parquet.

    Besides wall-clock seconds, processor seconds of Spark's process, which say more where others work on the machine,
    and the most memory that the process has held until then.
    """
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
        .config("spark.driver.memory", memory).config("spark.ui.showConsoleProgress", "false")
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
    naive, logistic = NaiveBayes(modelType="gaussian"), LogisticRegression(maxIter=10)
    tasks: dict[str, tuple[Callable[[], object], int]] = {
        "ours": (lambda: likely.train(frame, "y", model="naive"), runs),
        "MLlib NaiveBayes on codes": (piped([*NUMBERS, *codes], naive), runs),
        "MLlib LogisticRegression on codes, 10 steps": (piped([*NUMBERS, *codes], logistic), 0),
        "MLlib NaiveBayes on one-hot values": (piped([*NUMBERS, *hot], naive, one_hot), 0),
    }
    found: dict[str, float] = {}
    pid = session.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    for name, (task, more) in tasks.items():
        used: list[float] = []

        def timed(task: Callable[[], object] = task, used: list[float] = used) -> None:
            before = processor_seconds(pid)
            task()
            used.append(processor_seconds(pid) - before)

        found[name] = best(timed, more)
        found[f"{name}, processor seconds"] = min(used[1:] or used)
        found[f"{name}, peak MiB of Spark so far"] = peak_memory(pid)
        print(name, {key: round(value, 2) for key, value in found.items() if key.startswith(name)}, flush=True)
    session.stop()
    return found


def processor_seconds(pid: int) -> float:
    """What a process has worked, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_memory(pid: int) -> float:
    """The most memory that a process has held, in MiB."""
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def scored_tables(rows: int) -> dict[str, tuple[Any, Any]]:
    """Tables with the classifiers that have learned some of their rows."""
    import numpy as np
    import pandas as pd

    import likely

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, rows)
    wide: dict[str, Any] = {f"x{k}": rng.normal(0.1 * y, 1.0) for k in range(300)}
    for k in range(200):
        words = np.array([f"v{j}" for j in range(5 + k % 40)])
        wide[f"a{k}"] = words[(rng.integers(0, len(words), rows) + (y if k % 7 == 0 else 0)) % len(words)]
    some: dict[str, Any] = {f"x{k}": rng.normal(size=rows) for k in range(15)}
    some |= {f"a{k}": np.array(list("abcdefgh"))[rng.integers(0, 8, rows)] for k in range(15)}
    told = sum(some[f"x{k}"] * some[f"x{k + 1}"] + 2.0 * (some[f"a{k}"] == some[f"a{k + 1}"]) for k in range(0, 14, 2))
    label = np.where(told + rng.normal(size=rows) > np.mean(told), "yes", "no")
    steps: dict[str, Any] = {f"x{k}": rng.normal(size=rows) for k in range(12)}
    votes = sum((steps[f"x{k}"] > 0).astype(int) for k in range(9)) + rng.normal(0.0, 0.3, rows)
    won, turned = votes > 4.5, rng.normal(size=(rows, 8))
    turned = np.where(won[:, None], turned @ rng.normal(size=(8, 8)), turned @ rng.normal(size=(8, 8)))
    steps |= {f"z{k}": turned[:, k] + rng.normal(0.0, 2.0, rows) for k in range(8)}
    trees = pd.DataFrame(steps).assign(y=np.where(won, "yes", "no"))
    naive, evidence = pd.DataFrame(wide).assign(y=y.astype(str)), pd.DataFrame(some).assign(y=label)
    return {
        "naive Bayes, 500 columns": (naive, likely.BayesClassifier().fit(naive[:5000], "y")),
        "evidence, 60 terms": (
            evidence,
            likely.EvidenceClassifier(max_pairs=30, max_triples=0, depth="triples").fit(evidence[:5000], "y"),
        ),
        "evidence, tables, trees and discriminant": (
            trees,
            likely.EvidenceClassifier(random_state=0).fit(trees[:5000], "y"),
        ),
    }


def scoring(rows: int, postgres: str | None) -> dict[str, float]:
    """Rows per second of queries, in DuckDB and, where there is one, in PostgreSQL."""
    import duckdb

    import likely

    found: dict[str, float] = {}
    for name, (table, clf) in scored_tables(rows).items():
        con = duckdb.connect()
        con.register("given", table)
        con.execute("create table t as from given")
        con.execute("create table one as from t limit 1")
        begun = time.process_time()
        queries = {source: clf.to_sql("duckdb", source) for source in ("one", "t")}
        found[f"{name}: processor seconds to write"] = (time.process_time() - begun) / 2
        found[f"{name}: characters"] = len(queries["t"])
        if isinstance(clf, likely.EvidenceClassifier):
            evidence = clf.model_.evidence
            found[f"{name}: terms"] = len(clf.pairs_) + table.shape[1] - 1
            found[f"{name}: trees"] = len(evidence.trees)
            found[f"{name}: columns of the discriminant"] = len(evidence.discriminant)
        share = f'sum("P({clf.classes_[0]})")'
        asked = {source: f"select {share} from ({query}) z" for source, query in queries.items()}
        figures = {"DuckDB": rates(lambda q, c=con: c.sql(q).fetchall(), os.getpid(), asked, rows)}
        begun, worked = time.perf_counter(), time.process_time()
        clf.predict_proba(table)
        figures["in memory"] = {
            "rows/s": rows / (time.perf_counter() - begun),
            "rows per processor second": rows / (time.process_time() - worked),
        }
        if postgres is not None:
            figures["PostgreSQL"] = in_postgres(postgres, table, clf, share)
        found |= {f"{name}, {engine}: {what}": x for engine, all_ in figures.items() for what, x in all_.items()}
        print(name, {key: round(value, 2) for key, value in found.items() if key.startswith(name)}, flush=True)
    return found


def rates(ask: Callable[[str], object], pid: int, asked: dict[str, str], rows: int) -> dict[str, float]:
    """What one row takes, and how many rows pass beyond that, while a process works."""
    worked = dict.fromkeys(asked, float("inf"))

    def task(source: str) -> None:
        before = processor_seconds(pid)
        ask(asked[source])
        worked[source] = min(worked[source], processor_seconds(pid) - before)

    times = {source: best(lambda s=source: task(s), 3) for source in asked}
    return {
        "seconds to plan": times["one"],
        "processor seconds to plan": worked["one"],
        "rows/s": rows / max(times["t"] - times["one"], 1e-3),
        "rows per processor second": rows / max(worked["t"] - worked["one"], 1e-2),
    }


def in_postgres(url: str, table: Any, clf: Any, share: str) -> dict[str, float]:
    """The same in PostgreSQL, in tables that are gone afterwards; the server runs on this machine."""
    import psycopg

    columns = ", ".join(f'"{name}" {"float8" if table[name].dtype == float else "text"}' for name in table)
    with psycopg.connect(url, autocommit=True) as con, con.cursor() as cursor:
        cursor.execute(f"set jit = off; create temporary table t ({columns})")
        with cursor.copy("copy t from stdin") as copy:
            for row in table.itertuples(index=False):
                copy.write_row(row)
        cursor.execute("create temporary table one as select * from t limit 1; analyze t")
        asked = {source: f"select {share} from ({clf.to_sql('postgres', source)}) z" for source in ("one", "t")}
        return rates(lambda q: cursor.execute(q).fetchall(), con.info.backend_pid, asked, len(table))


def main() -> None:
    """Measure one engine and add what came out to the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=["duckdb", "spark", "scoring"])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--postgres", help="the address of a server for scoring")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.engine == "scoring":
            seconds = scoring(given.rows, given.postgres)
        else:
            seconds = {"duckdb": duck, "spark": spark}[given.engine](given.rows, Path(folder), given.runs)
    path = HERE / "engines.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    known[f"{given.engine}, {given.rows:,} rows{'' if given.engine == 'scoring' else ' × 20'}"] = {
        "figures" if given.engine == "scoring" else "seconds": {
            name: round(value, 2) for name, value in seconds.items()
        },
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("duckdb", "ibis-framework", "pyspark")},
        "peak MiB of this process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }
    path.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    for name, value in seconds.items():
        print(f"{name:55} {value:12,.2f}")


if __name__ == "__main__":
    main()
