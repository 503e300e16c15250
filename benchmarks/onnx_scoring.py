"""Rows per second: `predict_proba` and the same model in onnxruntime, on the same rows, in one process.

    python -m benchmarks.onnx_scoring [--rows 200000]

A made table of ten numbers and ten categories (one with 5,000 values), a tenth of the cells missing, three classes.
Both begin with their own inputs (a frame; arrays by column), take turns, and the median of five runs counts.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import onnxruntime
import pandas as pd

from likely import AODEClassifier, BayesClassifier, EvidenceClassifier, FullBayesClassifier, TreeClassifier
from likely.models.classifier import Classifier

LEARNED = 20_000
RUNS = 5


def made(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows and labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    rows = {f"number {k}": rng.normal(y * 0.3 * (k % 3), 1.0) for k in range(10)}
    for values in rows.values():
        values[rng.random(n) < 0.1] = np.nan
    table = pd.DataFrame(rows)
    for k in range(10):
        n_values = 5000 if k == 9 else 6
        table[f"kind {k}"] = pd.Series([f"v{v}" for v in (rng.integers(0, n_values, n) + y * (k % 2)) % n_values])
        table.loc[rng.random(n) < 0.1, f"kind {k}"] = None
    return table, y


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Print a line for each classifier."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    n = parser.parse_args().rows
    table, y = made(n)
    feeds = {
        name: (column if name.startswith("number") else column.fillna("").astype(object)).to_numpy()[:, None]
        for name, column in table.items()
    }
    one = {name: column[:1] for name, column in feeds.items()}
    titles = ("likely rows/s", "onnxruntime", "MB", "one row, µs", "differs by")
    print(f"{'classifier':22s}", *(f"{title:>14s}" for title in titles))
    classifiers: list[Classifier] = [
        BayesClassifier(), FullBayesClassifier(), AODEClassifier(), EvidenceClassifier(), TreeClassifier(),
    ]  # fmt: skip
    for clf in classifiers:
        clf.fit(table[:LEARNED], y[:LEARNED])
        written = clf.to_onnx().SerializeToString()
        session = onnxruntime.InferenceSession(written, providers=["CPUExecutionProvider"])
        apart = float(np.abs(session.run(None, feeds)[1] - clf.predict_proba(table)).max())
        ours, theirs = [], []
        for _ in range(RUNS):
            ours.append(seconds(lambda clf=clf: clf.predict_proba(table)))  # type: ignore[misc]
            theirs.append(seconds(lambda session=session: session.run(None, feeds)))  # type: ignore[misc]
        alone = statistics.median(seconds(lambda session=session: session.run(None, one)) for _ in range(200))  # type: ignore[misc]
        rates = [n / statistics.median(times) for times in (ours, theirs)]
        figures = [
            f"{rates[0]:,.0f}",
            f"{rates[1]:,.0f}",
            f"{len(written) / 1e6:.2f}",
            f"{alone * 1e6:,.0f}",
            f"{apart:.1e}",
        ]
        print(f"{type(clf).__name__:22s}", *(f"{figure:>14s}" for figure in figures))


if __name__ == "__main__":
    main()
