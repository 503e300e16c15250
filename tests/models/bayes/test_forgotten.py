"""A model from which every row was taken out again: it says so, or shows that it knows nothing, and learns anew."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely import AODEClassifier, BayesClassifier, DataError, FullBayesClassifier, SettingsError
from tests.test_odd_tables import CALLS, outcome, public

rng = np.random.default_rng(0)
Y = np.array(["no", "yes"])[np.arange(24) % 2]
X = pd.DataFrame({"a": rng.normal(size=24) + np.arange(24) % 2, "b": rng.choice(["u", "v"], 24)})
X["t"] = ["the quick fox", "lazy dog over"] * 12
NEEDS_CLASSES = {"with_priors"}
"""Shares of no classes cannot be given."""

KINDS = [BayesClassifier(), BayesClassifier(families={"a": "bins"}, missing="value"), FullBayesClassifier()]


@pytest.mark.parametrize("made", [*KINDS, AODEClassifier()], ids=str)
def test_every_method_answers_or_refuses_in_a_sentence(made: Any, tmp_path: Path) -> None:
    rows = X[["a", "b"]] if isinstance(made, AODEClassifier) else X
    clf = copy.deepcopy(made).fit(rows, Y).forget(rows, Y)
    assert len(clf.classes_) == 0
    asked = (public(clf) | {"shown"}) - NEEDS_CLASSES
    told = {name: outcome(lambda name=name: CALLS[name](copy.deepcopy(clf), rows, Y, tmp_path)) for name in asked}  # type: ignore[misc]
    assert {name: wrong for name, wrong in told.items() if wrong} == {}
    with pytest.raises(DataError, match="All rows have been forgotten"):
        clf.predict(rows)
    with pytest.raises(SettingsError, match="All rows have been forgotten: learn some before writing the model"):
        clf.to_sql()
    anew = copy.deepcopy(made).fit(rows, Y)
    np.testing.assert_allclose(clf.partial_fit(rows, Y).predict_proba(rows), anew.predict_proba(rows), rtol=1e-9)


def test_no_column_tells_anything() -> None:
    ranked = BayesClassifier().fit(X, Y).forget(X, Y).rank()
    assert set(ranked["column"]) == {"a", "b", "t"}
    assert not ranked[["held_out", "share", "gaps", "information"]].to_numpy().any()
