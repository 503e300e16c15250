"""What bins, weights, pairs and calibration are worth: `python benchmarks/beyond_naive.py FOLDER_WITH_TABLES`.

Five-fold cross-validation of every table of the folder up to `--most` rows; ratios of log loss and errors to naive
Bayes with ten bins, as geometric means of (x + 0.005) / (h + 0.005). Whatever is learned is learned inside the folds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import likely
from benchmarks.quality_tables import entries
from likely import AODEClassifier, BayesClassifier, CalibratedClassifier

Make = Callable[[Mapping[str, str]], Any]


def _binned(kinds: Mapping[str, str]) -> dict[str, str]:
    return {name: "bins" for name, kind in kinds.items() if kind == "numeric"}


MODELS: dict[str, Make] = {
    "ten bins": lambda kinds: BayesClassifier(schema=kinds, families=_binned(kinds)),
    "Gaussian": lambda kinds: BayesClassifier(schema=kinds),
    "auto": lambda kinds: BayesClassifier(schema=kinds, families="auto", smoothing="auto"),
    "bins, weights": lambda kinds: BayesClassifier(schema=kinds, families=_binned(kinds), weights="learned"),
    "auto, weights": lambda kinds: BayesClassifier(schema=kinds, families="auto", smoothing="auto", weights="learned"),
    "bins, temperature": lambda kinds: CalibratedClassifier(BayesClassifier(schema=kinds, families=_binned(kinds))),
    "AODE": lambda kinds: AODEClassifier(schema=kinds),
    "AODE, temperature": lambda kinds: CalibratedClassifier(AODEClassifier(schema=kinds)),
}


def main() -> None:
    """Measure all models on all tables and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=9000, help="leave out tables with more rows")
    asked = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in MODELS}
    seconds = dict.fromkeys(MODELS, 0.0)
    tables = [entry for entry in entries(asked.folder) if entry.rows <= asked.most]
    for entry in tables:
        X, y = entry.read()
        kinds = {name: "numeric" if X[name].dtype == float else "nominal" for name in X}
        for name, make in MODELS.items():
            start = perf_counter()
            report = likely.evaluate(make(kinds), X, y, cv=5, progress=False)
            seconds[name] += perf_counter() - start
            found[name].append((report.log_loss or 0.0, report.error_rate))
    base = np.array(found["ten bins"]) + 0.005
    print(f"{len(tables)} tables: log loss, errors (ratios to ten bins), seconds")
    for name, figures in found.items():
        loss, error = np.exp(np.log((np.array(figures) + 0.005) / base).mean(axis=0))
        print(f"{name:18} {loss:.3f} {error:.3f} {seconds[name]:8.1f}")


if __name__ == "__main__":
    main()
