"""Evidence from files larger than a budget of memory: what it takes, in time and in resident memory, and what it gives.

`python benchmarks/spilling.py --rows 3000000 --memory 64` writes a CSV and a Parquet file of 20 columns to a temporary
folder and learns each in a process of its own: with codes on disk, with codes in memory, and from the whole table in
memory. "Before" is what the process had needed before it began; kernels are compiled beforehand.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from pyarrow import parquet

NUMBERS = ", ".join(f"(2 * random() - 1 + {k} * (2 * random() - 1))::decimal(9, 4)::double as n{k}" for k in range(12))
WORDS = ", ".join(f"'w' || (random() * {n})::int as c{k}" for k, n in enumerate((1, 2, 4, 8, 15, 40, 100, 400)))
SCORE = "2 * n0 + n1 * n2 + sin(n3) + if(c0 = 'w1', n4 / 2, -n4 / 2) + if(c1 = c2, 1, -0.5) + if(c5 < c6, 0.5, -0.5)"
TABLE = f"""
select * exclude (score), if(random() < 1 / (1 + exp(-score)), 'good', 'bad') as label
from (select *, {SCORE} as score from (select {NUMBERS}, {WORDS} from range({{}})))
"""
MIB = 1 << 20


def learn(path: str, way: str, memory: int, test: str) -> dict[str, float]:
    """Learn a file in one of the ways, in this process."""
    from likely.io import open_table
    from likely.models.evidence.classifier import EvidenceClassifier
    from likely.streaming import train_evidence_file
    from likely.streaming.read_all import read_all

    began, before = time.perf_counter(), _peak()
    if way == "table":
        rows = read_all(open_table(path), "label")
        clf = rows.fit(EvidenceClassifier())
    else:
        clf = train_evidence_file(path, "label", memory=memory if way == "disk" else 1 << 40)
    took = time.perf_counter() - began
    peak = _peak()
    known = parquet.read_table(test)
    shares, labels = clf.predict_log_proba(known), known.column("label").to_numpy(zero_copy_only=False)
    places = np.searchsorted(clf.classes_, labels)
    loss = float(-shares[np.arange(len(places)), places].mean())
    return {"seconds": took, "before": before, "peak": peak, "loss": loss, "terms": len(clf.pairs_)}


def _peak() -> float:
    """The most MiB that were resident so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / MIB


def apart(*task: object) -> dict[str, float]:
    """The same in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--learn", *map(str, task)], check=True, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def report(n_rows: int, memory: int, ways: list[str]) -> None:
    """Make the files, learn them, print a table."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="likely-bench-") as folder:
        some, test = Path(folder, "some.csv"), Path(folder, "test.parquet")
        csv, packed = Path(folder, "rows.csv"), Path(folder, "rows.parquet")
        for path, n in ((some, 30_000), (test, 100_000), (csv, n_rows)):
            duckdb.sql(f"set threads = 1; select setseed({n % 97 / 97})")
            duckdb.sql(f"copy ({TABLE.format(n)}) to '{path}'")
        duckdb.sql(f"copy (from '{csv}') to '{packed}'")
        apart(some, "disk", memory, test)
        print(f"{n_rows:,} rows × 20 columns; codes {n_rows * 32 / MIB:,.0f} MiB; budget {memory / MIB:,.0f} MiB")
        print(
            f"{'file':10}{'MiB':>8}  {'way':8}{'seconds':>9}{'before':>9}{'peak MiB':>10}{'log loss':>10}{'terms':>7}"
        )
        for path in (csv, packed):
            for way in ways:
                got = apart(path, way, memory, test)
                print(
                    f"{path.suffix[1:]:10}{os.path.getsize(path) / MIB:8,.0f}  {way:8}{got['seconds']:9,.0f}"
                    f"{got['before']:9,.0f}{got['peak']:10,.0f}{got['loss']:10.5f}{got['terms']:7,.0f}",
                    flush=True,
                )


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--memory", type=int, default=64, help="MiB")
    parser.add_argument("--ways", default="disk,memory,table")
    parser.add_argument("--learn", nargs=4, metavar=("FILE", "WAY", "BYTES", "TEST"), help="used by the script itself")
    given = parser.parse_args()
    if given.learn:
        path, way, memory, test = given.learn
        print(json.dumps(learn(path, way, int(memory), test)))
    else:
        report(given.rows, given.memory * MIB, given.ways.split(","))


if __name__ == "__main__":
    main()
