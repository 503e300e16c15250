"""Tables, targets and weights of every make."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from likely import BayesClassifier, LikelyError, SchemaError, SettingsError, train
from likely.teaching import datasets
from tests.models.weather import MIXED, NAN, weather


def as_records(X: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {name: cell for name, cell in row.items() if cell == cell and cell is not None} for row in X.to_dict("records")
    ]


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X,
        lambda X: X.convert_dtypes(dtype_backend="pyarrow"),
        lambda X: X.astype({"sky": "category"}),
        lambda X: pl.from_pandas(X),
        lambda X: pa.Table.from_pandas(X, preserve_index=False),
        lambda X: pa.Table.from_pandas(X, preserve_index=False).to_batches()[0],
        lambda X: {name: X[name].tolist() for name in X},
        as_records,
        lambda X: X[["weekend", "sky", "pressure", "calls"]].assign(extra=1),
    ],
    ids=["pandas", "arrow dtypes", "category", "polars", "pyarrow", "record batch", "dict", "records", "reordered"],
)
def test_every_make_of_table_gives_the_same_posterior(convert: Any) -> None:
    X, y = weather()
    clf = BayesClassifier(**MIXED).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(convert(X)), clf.predict_proba(X), rtol=1e-12)
    strange = isinstance(convert(X), pd.DataFrame) and "extra" in convert(X)
    learned = BayesClassifier(**MIXED, schema={"extra": "ignored"} if strange else None).fit(convert(X), y)
    np.testing.assert_allclose(learned.predict_proba(X), clf.predict_proba(X), rtol=1e-9)


def test_missing_columns_are_named() -> None:
    X, y = weather()
    clf = BayesClassifier().fit(X, y)
    with pytest.raises(SchemaError, match="'sky'"):
        clf.predict(X.drop(columns="sky"))


def test_a_target_and_a_weight_column_by_name() -> None:
    table = datasets.golf()
    weights = [1.0, 2.0] * 7
    by_name = train({**table, "w": weights}, target="play", weight="w", model="naive")
    X = {name: cells for name, cells in table.items() if name != "play"}
    by_hand = BayesClassifier().fit(X, table["play"], sample_weight=weights)
    np.testing.assert_allclose(by_name.predict_proba(X), by_hand.predict_proba(X), rtol=1e-12)
    assert by_name.schema_.target == "play"
    assert by_name.schema_.weight == "w"
    with pytest.raises(SchemaError, match="Did you mean 'play'"):
        train(table, target="plays")


def test_whole_weights_are_repeated_rows() -> None:
    X, y = weather(100)
    times = np.random.default_rng(1).integers(0, 4, 100)
    rows = np.repeat(np.arange(100), times)
    weighted = BayesClassifier(**MIXED).fit(X, y, sample_weight=times)
    repeated = BayesClassifier(**MIXED).fit(X.iloc[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_log_proba(X), repeated.predict_log_proba(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("bad", [[1.0, -1.0], [1.0, NAN], [1.0], [[1.0], [2.0]]], ids=str)
def test_bad_weights_are_refused(bad: Any) -> None:
    with pytest.raises(LikelyError, match="eight"):
        BayesClassifier().fit([[1.0], [2.0]], [0, 1], sample_weight=bad)


def test_priors_that_make_no_sense_are_refused() -> None:
    for priors in ("often", {"a": 0.5}, {"a": 0.5, "b": 0.5, "c": 0.0}, [0.5, 0.4], [1.0], {"a": -1, "b": 2}):
        with pytest.raises(SettingsError):
            BayesClassifier(priors=priors).fit([[1.0], [2.0]], ["a", "b"])
