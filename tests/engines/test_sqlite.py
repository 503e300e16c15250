"""SQLite, as far as it goes without special code, and a clear sentence where it ends."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import likely
from likely.errors import DataError, SettingsError
from tests.engines import tables

CLASSIFIERS = {
    "naive": likely.BayesClassifier(),
    "chosen": likely.BayesClassifier(families="auto"),
    "full": likely.FullBayesClassifier(),
    "aode": likely.AODEClassifier(),
    "evidence": likely.EvidenceClassifier(max_pairs=2),
}


def written(name: str) -> pd.DataFrame:
    """A table in the types that SQLite has: numbers and texts."""
    rows = tables.TABLES[name]().to_pandas() if name in tables.TABLES else tables.texts().to_pandas()
    if name == "plain":
        return rows.drop(columns="known").astype({"count": "float64"})
    if name == "dates":
        return rows.assign(
            **{part: rows[part].astype(str).replace(["NaT", "None"], None) for part in ("day", "moment")}
        )
    return rows


@pytest.fixture
def opened(tmp_path: Path) -> Any:
    def put(name: str) -> tuple[pd.DataFrame, Any]:
        rows = written(name)
        with sqlite3.connect(tmp_path / "rows.sqlite") as con:
            rows.to_sql(name, con, index=False)
        return rows, likely.engine_table(f"sqlite:///{tmp_path / 'rows.sqlite'}", name)

    return put


@pytest.mark.parametrize("how", CLASSIFIERS)
@pytest.mark.parametrize("name", ["plain", "dates"])
def test_models_are_those_of_memory(how: str, name: str, opened: Any, request: pytest.FixtureRequest) -> None:
    if (how, name) == ("aode", "dates"):
        request.applymarker(pytest.mark.xfail(strict=True, reason="SQLite's parser has no room for 64 unions in a row"))
    rows, relation = opened(name)
    here, there = (type(CLASSIFIERS[how])(**CLASSIFIERS[how].get_params(deep=False)) for _ in range(2))
    here.fit(rows, "label")
    there.fit(relation, "label")
    np.testing.assert_allclose(there.predict_proba(rows), here.predict_proba(rows), atol=1e-9)
    relation.close()


def test_where_it_ends(opened: Any) -> None:
    _, plain = opened("plain")
    with pytest.raises(
        SettingsError, match=r"SQLite has no MD5, .* judge a trained classifier on the table \(cv=None\)"
    ):
        likely.evaluate(likely.BayesClassifier(), plain, "label", cv=3)
    clf = likely.BayesClassifier().fit(plain, "label")
    assert likely.evaluate(clf, plain, "label", cv=None).accuracy > 0.5
    _, texts = opened("texts")
    with pytest.raises(DataError, match=r"column 'body' holds 'Ä' .* which sqlite reads otherwise than Python does"):
        likely.BayesClassifier(schema={"body": "text"}).fit(texts, "label")
    for relation in (plain, texts):
        relation.close()
