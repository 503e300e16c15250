"""Queries for SQLite, run by SQLite: it knows infinity as a number beyond all, and not by its name."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from likely import AODEClassifier, BayesClassifier, EvidenceClassifier, FullBayesClassifier, TreeClassifier
from likely.errors import SettingsError
from likely.models.classifier import Classifier

CLASSIFIERS: dict[str, Callable[[], Classifier]] = {
    "naive": BayesClassifier,
    "gaps as values": lambda: BayesClassifier(missing="value", unseen="smooth"),
    "no smoothing": lambda: BayesClassifier(smoothing=0),
    "bins": lambda: BayesClassifier(families={"size": "bins", "count": "poisson"}),
    "full": FullBayesClassifier,
    "aode": AODEClassifier,
    "evidence": lambda: EvidenceClassifier(random_state=0, n_jobs=1),
    "tree": lambda: TreeClassifier(prune=None),
    "tree with surrogates": lambda: TreeClassifier(prune=None, missing="surrogates"),
}


def rows() -> pd.DataFrame:
    """Numbers and texts with gaps; one town lies in one class only."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    found = pd.DataFrame(
        {
            "size": rng.normal(y, 1.0),
            "count": rng.poisson(2 + y).astype(float),
            "town": np.where(y & (rng.random(300) < 0.3), "Trier", rng.choice(["Ulm", "Bonn"], 300)),
            "y": y,
        }
    )
    found["town"] = found["town"].astype(object)
    found.loc[rng.random(300) < 0.1, ["size"]] = np.nan
    found.loc[rng.random(300) < 0.1, ["town"]] = None
    return found


def scored(clf: Classifier, table: pd.DataFrame) -> np.ndarray:
    """The probabilities that SQLite finds, NaN for null."""
    query = clf.to_sql("sqlite", columns=["place"])
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            database.execute("SELECT ln(exp(1.0))")
        except sqlite3.OperationalError:
            pytest.skip("this SQLite was built without logarithms")
        table.assign(place=range(len(table))).to_sql("data", database, index=False)
        found = pd.read_sql(query, database).sort_values("place")
    return found[[f"P({label})" for label in clf.classes_.tolist()]].to_numpy(dtype=float)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_sqlite_scores_what_the_classifier_scores(name: str) -> None:
    table = rows()
    clf = CLASSIFIERS[name]().fit(table, "y")
    new = table.drop(columns="y").iloc[:80].reset_index(drop=True)
    new.loc[0, "town"] = "never seen"
    np.testing.assert_allclose(scored(clf, new), clf.predict_proba(new), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["bins", "tree"])
def test_an_infinite_number_in_no_interval_makes_the_row_null(name: str) -> None:
    table = rows()
    clf = CLASSIFIERS[name]().fit(table, "y")
    new = table.drop(columns="y").iloc[:2].assign(size=[np.inf, 0.5])
    assert np.isnan(scored(clf, new)).all(axis=1).tolist() == [True, False]


def test_a_column_without_a_name_is_refused() -> None:
    clf = BayesClassifier().fit(pd.DataFrame({"": [1.0, 2.0]}), [0, 1])
    with pytest.raises(SettingsError, match="no name at all"):
        clf.to_sql()
