"""Trees of other programs, where they are installed: `pip install c50py python-weka-wrapper3`, R with its rpart.

Weka's J48 stands in `cases_peers`, beside its naive Bayes, which shares the Java machine with it.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from benchmarks.cases_tables import mixed_table
from benchmarks.measure import Case
from likely import TreeClassifier


def tree_peers(scale: float) -> Iterator[Case]:
    """One table of numbers and strings, for each program in the way that it has."""
    if find_spec("c50py") is None:
        print("| (c50py is not installed) | | | | | |")
    else:
        yield from c50py(*mixed_table(int(10_000 * scale)))
    if shutil.which("Rscript") is None or not has_rpart():
        print("| (R with rpart is not installed) | | | | | |")
    else:
        yield from rpart(*mixed_table(int(100_000 * scale)))


def c50py(X: pd.DataFrame, y: pd.Series) -> Iterator[Case]:
    """C5.0's way in pure Python: a tenth of the rows."""
    from c50py import C5Classifier

    ours = TreeClassifier(restrained=True, prune=("confidence", 0.5))  # its usual 25 % on one side
    yield Case(f"fit a pruned tree, {len(X):,} rows, 8 numbers, 6 strings", lambda: ours.fit(X, y),
               lambda: C5Classifier().fit(X, y), peer_name="c50py", peer_repeats=1)  # fmt: skip


def rpart(X: pd.DataFrame, y: pd.Series) -> Iterator[Case]:
    """CART in R, which waits for us with the table in memory: grown in full, without stand-ins and without folds."""
    settings = "xval = 0, cp = 0, maxdepth = 30, minbucket = 2, minsplit = 4, usesurrogate = 0, maxsurrogate = 0"
    session = Session()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        X.assign(target=y).to_csv(path, index=False)
        session.do(f"library(rpart); rows <- read.csv({str(path)!r}, stringsAsFactors = TRUE)")
        session.do("rows$target <- factor(rows$target)")
    ours = TreeClassifier(measure="gini", subsets=True, max_depth=30, prune=None)
    yield Case(f"grow a tree, {len(X):,} rows, 8 numbers, 6 strings", lambda: ours.fit(X, y),
               lambda: session.do(f"tree <- rpart(target ~ ., rows, control = rpart.control({settings}))"),
               peer_name="R rpart", peer_repeats=1, memory=False)  # fmt: skip
    session.end()


def has_rpart() -> bool:
    """Whether R finds the package."""
    return subprocess.run(["Rscript", "-e", "library(rpart)"], capture_output=True, check=False).returncode == 0


class Session:
    """An R that does one thing after the other."""

    def __init__(self) -> None:
        command = ["R", "--no-save", "--no-restore", "--no-echo"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def do(self, line: str) -> None:
        """Run a line and wait for it."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f'{line}\ncat("\\ndone\\n")\n')
        self.process.stdin.flush()
        while (said := self.process.stdout.readline()) != "done\n":
            if not said:
                raise RuntimeError(f"R stopped at: {line}")

    def end(self) -> None:
        """Let it go."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
