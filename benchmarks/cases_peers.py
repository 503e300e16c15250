"""Other libraries, where they are installed: `pip install river mixed-naive-bayes khiops`."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.cases_tables import mixed_table
from benchmarks.measure import Case
from likely import BayesClassifier, TreeClassifier


def peers(scale: float) -> Iterator[Case]:
    """One table of numbers and strings; each peer gets it in the form that it needs, made beforehand."""
    X, y = mixed_table(int(100_000 * scale))
    numeric, nominal = [c for c in X if c.startswith("number")], [c for c in X if c.startswith("word")]
    for package, case in (
        ("river", river),
        ("mixed_naive_bayes", mixed_naive_bayes),
        ("khiops", khiops),
        ("weka", weka),
    ):
        if find_spec(package) is None:
            print(f"| ({package} is not installed) | | | | | |")
        else:
            yield from case(X, y, numeric, nominal)


def river(X: pd.DataFrame, y: pd.Series, numeric: list[str], nominal: list[str]) -> Iterator[Case]:
    """Online, a row at a time: a tenth of the rows."""
    from river.naive_bayes import GaussianNB

    few, labels = X[numeric][: len(X) // 10], y[: len(X) // 10].tolist()
    rows = few.to_dict("records")

    def learn() -> None:
        model = GaussianNB()
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)

    yield Case(f"fit, {len(few):,} rows, 8 numbers", lambda: BayesClassifier().fit(few, labels), learn,
               peer_name="River GaussianNB", peer_repeats=1)  # fmt: skip


def mixed_naive_bayes(X: pd.DataFrame, y: pd.Series, numeric: list[str], nominal: list[str]) -> Iterator[Case]:
    """Mixed columns, categories as codes."""
    from mixed_naive_bayes import MixedNB

    codes = np.column_stack([pd.factorize(X[name], sort=True)[0] for name in nominal])
    table = np.column_stack([codes, X[numeric]])
    labels = pd.factorize(y, sort=True)[0]
    yield Case(f"fit, {len(X):,} rows, 8 numbers, 6 strings", lambda: BayesClassifier().fit(X, y),
               lambda: MixedNB(categorical_features=list(range(len(nominal)))).fit(table, labels),
               peer_name="mixed-naive-bayes (on codes)")  # fmt: skip


def khiops(X: pd.DataFrame, y: pd.Series, numeric: list[str], nominal: list[str]) -> Iterator[Case]:
    """Optimal bins and selected weights: another model, and an external process for each fit."""
    from khiops.sklearn import KhiopsClassifier

    def learn() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            KhiopsClassifier(n_trees=0).fit(X, y)

    yield Case(f"fit, {len(X):,} rows, 8 numbers, 6 strings", lambda: BayesClassifier().fit(X, y), learn,
               peer_name="Khiops", peer_repeats=1)  # fmt: skip


def weka(X: pd.DataFrame, y: pd.Series, numeric: list[str], nominal: list[str]) -> Iterator[Case]:
    """Weka's NaiveBayes and J48 in a Java machine within this process; the table is loaded from a file beforehand."""
    from weka.classifiers import Classifier
    from weka.core import jvm
    from weka.core.converters import load_any_file

    jvm.start(logging_level=40)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        X.assign(target=y).to_csv(path, index=False)
        rows: Any = load_any_file(str(path), class_index="last")

    def learn() -> None:
        Classifier(classname="weka.classifiers.bayes.NaiveBayes").build_classifier(rows)

    yield Case(f"fit, {len(X):,} rows, 8 numbers, 6 strings", lambda: BayesClassifier().fit(X, y), learn,
               peer_name="Weka NaiveBayes")  # fmt: skip

    def grow() -> None:
        Classifier(classname="weka.classifiers.trees.J48", options=["-S"]).build_classifier(rows)

    tree = TreeClassifier(restrained=True, prune=("confidence", 0.5))  # J48's own way, and its usual 25 % on one side
    yield Case(f"fit a pruned tree, {len(X):,} rows, 8 numbers, 6 strings", lambda: tree.fit(X, y), grow,
               peer_name="Weka J48 (without raising)", peer_repeats=1)  # fmt: skip
