"""Rows made ready, beside scikit-learn's own ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from likely.errors import DataError
from likely.models.svm.features import Preparation
from likely.table import as_table
from likely.table.schema import Schema
from likely.text.tokenizer import Tokenizer


def prepared(X: object, kinds: dict[str, str] | None = None, *, scale: bool = True) -> tuple[Preparation, np.ndarray]:
    table = as_table(X)
    schema = Schema.infer(table, overrides=kinds)
    made = Preparation.of(table, schema, scale, dict.fromkeys(schema.text, Tokenizer()))
    rows = made.rows(table)
    return made, rows.toarray() if sparse.issparse(rows) else rows


def test_numbers_are_standardised() -> None:
    X = np.random.default_rng(0).normal(5.0, 3.0, size=(50, 4))
    np.testing.assert_allclose(prepared(X)[1], StandardScaler().fit_transform(X), atol=1e-12)
    np.testing.assert_array_equal(prepared(X, scale=False)[1], X)


def test_gaps_are_filled_and_marked() -> None:
    made, rows = prepared({"a": [1.0, None, 3.0], "b": [4.0, 5.0, 9.0]}, scale=False)
    assert [feature.name for feature in made.features] == ["a", "b", "a (gap)"]
    assert rows.tolist() == [[1.0, 4.0, 0.0], [2.0, 5.0, 1.0], [3.0, 9.0, 0.0]]
    later = made.rows(as_table({"a": [None], "b": [None]}))
    assert later.tolist() == [[2.0, 6.0, 1.0]]  # b had no gap when it was learned: only its mean is left to say


def test_categories_have_one_place_each() -> None:
    made, rows = prepared({"town": ["Ulm", None, "Bonn"], "n": ["x", "x", "y"]})
    assert [feature.name for feature in made.features] == ["town = Bonn", "town = Ulm", "town (gap)", "n = x", "n = y"]
    assert [feature.column for feature in made.features] == ["town"] * 3 + ["n"] * 2
    assert rows.tolist() == [[0, 1, 0, 1, 0], [0, 0, 1, 1, 0], [1, 0, 0, 0, 1]]
    assert made.rows(as_table({"town": ["Rom"], "n": [None]})).tolist() == [[0.0] * 5]


def test_texts_are_tf_idf() -> None:
    texts = ["to be or not to be", "be quick", None, "the quick brown fox, quick!", ""]
    made, rows = prepared({"t": texts}, {"t": "text"})
    their = TfidfVectorizer(sublinear_tf=True)
    wanted = their.fit_transform([text or "" for text in texts]).toarray()
    assert [feature.name for feature in made.features] == [f"t: {word}" for word in their.get_feature_names_out()]
    np.testing.assert_allclose(rows, wanted, atol=1e-12)
    new = made.rows(as_table({"t": ["quick strangers", None]})).toarray()
    np.testing.assert_allclose(new, their.transform(["quick strangers", ""]).toarray(), atol=1e-12)


def test_weights_count_as_repetitions() -> None:
    X = {"a": [1.0, 2.0, 7.0], "b": [3.0, None, 1.0]}
    table = as_table(X)
    schema = Schema.infer(table)
    weighed = Preparation.of(table, schema, True, {}, np.array([1.0, 3.0, 2.0])).rows(table)
    long = as_table(pd.DataFrame(X).loc[[0, 1, 1, 1, 2, 2]])
    np.testing.assert_allclose(Preparation.of(long, schema, True, {}).rows(long)[[0, 1, 4]], weighed, atol=1e-12)


def test_many_categories_stay_sparse() -> None:
    table = as_table({"id": [f"v{k}" for k in range(300)], "x": np.arange(300.0)})
    schema = Schema.infer(table, overrides={"id": "nominal"})
    rows = Preparation.of(table, schema, True, {}).rows(table)
    assert sparse.issparse(rows)
    assert rows.shape == (300, 301)


def test_a_sparse_matrix_keeps_its_zeros() -> None:
    X = sparse.random(40, 6, 0.3, format="csr", random_state=0)
    table = as_table(X)
    made = Preparation.of(table, Schema.infer(table), True, {})
    rows = made.rows(table)
    assert rows.nnz == X.nnz
    np.testing.assert_allclose(rows.toarray(), X.toarray() / X.toarray().std(axis=0), atol=1e-9)
    np.testing.assert_allclose(made.rows(as_table(X.toarray())).toarray(), rows.toarray(), atol=1e-12)


@pytest.mark.parametrize(
    "column", [[3.0] * 5, [0.1 + 0.2] * 5, [None] * 5, [1e200, -1e200, 0.0, 1.0, 2.0], [1e-200, 0, 0, 0, 0]]
)
def test_odd_columns_stay_finite(column: list[float | None]) -> None:
    rows = prepared({"a": column, "b": [1.0, 2.0, 3.0, 4.0, 5.0]}, {"a": "numeric"})[1]
    assert np.isfinite(rows).all()
    assert np.abs(rows).max() < 10.0


def test_infinity_is_named() -> None:
    with pytest.raises(DataError, match="Row 1 of column 'a'"):
        prepared({"a": [1.0, float("inf")]})


def test_no_columns_is_an_error() -> None:
    with pytest.raises(DataError, match="No column is left"):
        prepared({"a": [1.0, 2.0]}, {"a": "ignored"})
