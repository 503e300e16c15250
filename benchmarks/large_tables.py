"""Large tables, many classes, many categories: how time and memory of `fit` and `predict_proba` grow.

`python benchmarks/large_tables.py` makes each table in a process of its own, fits it there, and writes
benchmarks/large_tables.md; `--only rows` measures one kind, `--up-to 1000000` leaves longer tables out. Figures are
kept under build/large_tables, so that a run can be taken up again; `--again` measures anew. "Table" is the resident
memory when the table was made, "peak" the most until the model had predicted 50,000 rows it had not seen, the table
included. Kernels are compiled beforehand.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

HERE = Path(__file__).resolve().parent
KEPT = HERE.parent / "build" / "large_tables"
MIB = 1 << 20
N_NUMBERS, N_WORDS, BLOCK, N_TEST = 30, 20, 500_000, 50_000
CARDINALITIES = (2, 3, 5, 8, 12, 20, 40, 100, 300, 1000)


@dataclass(frozen=True)
class Case:
    """A table: its kind, how many rows it has, and the number that the kind is about."""

    kind: str
    n_rows: int
    size: int

    @property
    def title(self) -> str:
        """The table in words."""
        rows = f"{self.n_rows:,} rows"
        return {
            "rows": f"{rows} × {self.size} columns",
            "file": f"{rows} × {self.size} columns, Parquet",
            "classes": f"{rows} × 20 numbers, {self.size:,} classes",
            "categories": f"{rows} × 5 columns, one of {self.size:,} categories",
        }[self.kind]


CASES = (
    *(Case("rows", n, N_NUMBERS + N_WORDS) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)),
    *(Case("file", n, N_NUMBERS + N_WORDS) for n in (3_000_000, 10_000_000)),
    *(Case("classes", 100_000, n) for n in (10, 100, 1000)),
    *(Case("categories", 1_000_000, n) for n in (100, 10_000, 100_000)),
)


def mixed(rng: np.random.Generator, n_rows: int) -> pa.Table:
    """Numbers with gaps and words of 2 to 1,000 values; three classes that follow from a dozen of them."""
    numbers = rng.normal(size=(N_NUMBERS, n_rows)).astype(np.float32)
    words = [rng.integers(0, CARDINALITIES[k % len(CARDINALITIES)], n_rows, dtype=np.int32) for k in range(N_WORDS)]
    score = numbers[0] + numbers[1] * numbers[2] + np.abs(numbers[3]) + (words[0] == 1) * numbers[4] + words[2] % 2
    noise = rng.logistic(size=n_rows)
    label = np.digitize(score + noise, [0.0, 2.5]).astype(np.int32)
    columns = {
        f"n{k}": pa.array(cells, mask=rng.random(n_rows) < 0.03 if k % 5 == 0 else None)
        for k, cells in enumerate(numbers)
    }
    for k, codes in enumerate(words):
        names = pa.array([f"w{v}" for v in range(CARDINALITIES[k % len(CARDINALITIES)])])
        columns[f"c{k}"] = pa.DictionaryArray.from_arrays(codes, names).cast(pa.string())
    return pa.table({**columns, "label": pa.DictionaryArray.from_arrays(label, ["low", "mid", "high"])})


def many_classes(rng: np.random.Generator, n_rows: int, n_classes: int) -> pa.Table:
    """Twenty numbers whose means belong to the class."""
    label = rng.integers(0, n_classes, n_rows)
    rows = rng.normal(size=(n_rows, 20)) + rng.normal(scale=1.5, size=(n_classes, 20))[label]
    return pa.table({f"n{k}": rows[:, k] for k in range(20)} | {"label": [f"class {c}" for c in label]})


def many_categories(rng: np.random.Generator, n_rows: int, n_categories: int) -> pa.Table:
    """A column of many names, each with a rate of its own, beside four numbers."""
    codes = np.minimum(rng.zipf(1.3, n_rows) - 1, rng.integers(0, n_categories, n_rows)).astype(np.int32)
    rate = rng.normal(size=n_categories)[codes]
    rows = rng.normal(size=(4, n_rows))
    label = rng.random(n_rows) < 1.0 / (1.0 + np.exp(-rate - rows[0]))
    names = pa.array([f"name {v}" for v in range(n_categories)])
    columns = {"name": pa.DictionaryArray.from_arrays(codes, names).cast(pa.string())}
    return pa.table(columns | {f"n{k}": cells for k, cells in enumerate(rows)} | {"label": label})


MAKERS: dict[str, Callable[[np.random.Generator, Case], pa.Table]] = {
    "rows": lambda rng, case: mixed(rng, case.n_rows),
    "classes": lambda rng, case: many_classes(rng, case.n_rows, case.size),
    "categories": lambda rng, case: many_categories(rng, case.n_rows, case.size),
}


def write_file(path: Path, n_rows: int) -> None:
    """The mixed table as a Parquet file, written in blocks."""
    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, n_rows, BLOCK):
        block = mixed(rng, min(BLOCK, n_rows - start))
        writer = writer or parquet.ParquetWriter(path, block.schema)
        writer.write_table(block)
    if writer is not None:
        writer.close()


def measure(case: Case, model: str, path: str) -> dict[str, float]:
    """Fit and predict in this process; seconds by the clock and of the processor, MiB."""
    import likely

    if case.kind == "file":
        source, test = path, mixed(np.random.default_rng(1), N_TEST)
    else:
        whole = MAKERS[case.kind](np.random.default_rng(0), replace(case, n_rows=case.n_rows + N_TEST))
        source, test = whole.slice(0, case.n_rows), whole.slice(case.n_rows)
    before, wall, work = _resident(), time.perf_counter(), time.process_time()
    clf = likely.train(source, "label") if model == "default" else getattr(likely, model)().fit(source, "label")
    wall, work = time.perf_counter() - wall, time.process_time() - work
    began = time.process_time()
    shares = clf.predict_proba(test.drop_columns(["label"]))
    predicting = time.process_time() - began
    labels = np.array([str(label) for label in test.column("label").to_pylist()])
    places = np.array([list(map(str, clf.classes_)).index(label) for label in np.unique(labels)])
    places = places[np.searchsorted(np.unique(labels), labels)]
    loss = float(-np.log(np.maximum(shares[np.arange(len(places)), places], 1e-15)).mean())
    return {
        "seconds": wall,
        "processor": work,
        "predicting": predicting / len(labels) * 1e5,
        "table": before,
        "peak": _peak(),
        "loss": loss,
    }


def _peak() -> float:
    """The most MiB that were resident so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / MIB


def _resident() -> float:
    """The MiB that are resident now, where the system tells; the most so far elsewhere."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * resource.getpagesize() / MIB if status.exists() else _peak()


def apart(case: Case, model: str, path: str = "") -> dict[str, float]:
    """The same in a process of its own."""
    task = [case.kind, str(case.n_rows), str(case.size), model, path]
    done = subprocess.run([sys.executable, __file__, "--measure", *task], check=True, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def kept(case: Case, model: str, *, again: bool) -> dict[str, float]:
    """The figures of a table, from an earlier run if there was one."""
    place = _place(case, model)
    if again or not place.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        apart(Case(case.kind if case.kind != "file" else "rows", 2_000, min(case.size, 10)), model)
        with tempfile.TemporaryDirectory(prefix="likely-bench-") as folder:
            path = str(Path(folder, "rows.parquet"))
            if case.kind == "file":
                write_file(Path(path), case.n_rows)
            place.write_text(json.dumps(apart(case, model, path)))
    found: dict[str, float] = json.loads(place.read_text())
    return found


def _place(case: Case, model: str) -> Path:
    return KEPT / f"{case.kind}-{case.n_rows}-{case.size}-{model}.json"


def growth(found: list[tuple[Case, dict[str, float]]]) -> float:
    """The exponent of time over rows: 1 is linear."""
    rows = [np.log(case.n_rows) for case, _ in found]
    return float(np.polyfit(rows, [np.log(figures["processor"]) for _, figures in found], 1)[0])


HEADER = "| table | model | fit, seconds | processor | predict 100,000 rows | table, MiB | peak, MiB | log loss |"


def line(case: Case, model: str, found: dict[str, float]) -> str:
    """One line of the report."""
    figures = (f"{found[k]:.1f}" for k in ("seconds", "processor", "predicting"))
    memory = (f"{found[k]:,.0f}" for k in ("table", "peak"))
    name = "`likely.train`" if model == "default" else f"`{model}`"
    return f"| {case.title} | {name} | {' | '.join(figures)} | {' | '.join(memory)} | {found['loss']:.4f} |"


def main() -> None:
    """Read the arguments, measure, write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=sorted({case.kind for case in CASES}))
    parser.add_argument("--models", nargs="*", default=["EvidenceClassifier", "BayesClassifier"])
    parser.add_argument("--up-to", type=int, default=max(case.n_rows for case in CASES), metavar="ROWS")
    parser.add_argument("--again", action="store_true", help="measure what is kept anew")
    parser.add_argument("--kept", action="store_true", help="report what is kept, and measure nothing")
    parser.add_argument("--out", type=Path, default=HERE / "large_tables.md")
    parser.add_argument("--measure", nargs=5, help="used by the script itself")
    given = parser.parse_args()
    if given.measure:
        kind, n_rows, size, model, path = given.measure
        print(json.dumps(measure(Case(kind, int(n_rows), int(size)), model, path)))
        return
    cases = [case for case in CASES if (not given.only or case.kind in given.only) and case.n_rows <= given.up_to]
    lines = [HEADER, "|---" * HEADER.count(" |") + "|"]
    curves: dict[str, list[tuple[Case, dict[str, float]]]] = {}
    for case in cases:
        for model in ["default"] if case.kind == "file" else given.models:
            if given.kept and not _place(case, model).exists():
                continue
            found = kept(case, model, again=given.again)
            lines.append(line(case, model, found))
            print(lines[-1], flush=True)
            if case.kind == "rows":
                curves.setdefault(model, []).append((case, found))
    grown = [
        f"Processor time of `{model}` grows with rows to the power of {growth(found):.2f}."
        for model, found in curves.items()
        if len(found) > 1
    ]
    notes = [
        "Each table in a process of its own. Seconds are by the clock and of the processor; 50,000 rows that were not",
        "learned are predicted. Memory is resident, in MiB: when the table was made, and the most, the table included.",
    ]
    given.out.write_text("\n".join(["# Large tables", "", *notes, "", *lines, "", *grown, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
