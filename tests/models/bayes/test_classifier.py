"""The classifier for raw tables: what it promises to whoever depends on it."""

from __future__ import annotations

import os
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from likely import BayesClassifier, DataError, NotMergeable, SettingsError
from likely.teaching import datasets
from tests.models.weather import MIXED, NAN, weather


@parametrize_with_checks([BayesClassifier()])
def test_scikit_learn_agrees_that_it_is_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


# Learning more, forgetting, merging


def test_batches_make_the_whole() -> None:
    X, y = weather()
    whole = BayesClassifier(**MIXED).fit(X, y)
    parts = BayesClassifier(**MIXED)
    for start in range(0, len(X), 170):
        parts.partial_fit(X[start : start + 170], y[start : start + 170])
    np.testing.assert_allclose(parts.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    assert parts.summary_.n_rows == whole.summary_.n_rows == len(X)


def test_forgetting_is_the_inverse_of_learning() -> None:
    X, y = weather()
    clf = BayesClassifier(**MIXED).fit(X[:400], y[:400])
    before = clf.predict_log_proba(X)
    clf.partial_fit(X[400:], y[400:])
    assert np.abs(clf.predict_log_proba(X) - before).max() > 1e-3
    clf.forget(X[400:], y[400:])
    np.testing.assert_allclose(clf.predict_log_proba(X), before, rtol=1e-9, atol=1e-9)


def test_a_class_and_a_category_that_are_forgotten_are_gone() -> None:
    clf = BayesClassifier().fit({"sky": ["grey", "blue"]}, ["wet", "dry"])
    clf.partial_fit({"sky": ["green"]}, ["storm"])
    assert clf.classes_.tolist() == ["dry", "storm", "wet"]
    clf.forget({"sky": ["green"]}, ["storm"])
    assert clf.classes_.tolist() == ["dry", "wet"]
    assert clf.summary_["sky"].values == ("blue", "grey")


@pytest.mark.parametrize(
    ("row", "label"),
    [({"sky": ["grey"]}, ["hail"]), ({"sky": ["green"]}, ["wet"]), ({"sky": ["blue"]}, ["wet"])],
    ids=["class never seen", "category never seen", "category never seen with that class"],
)
def test_what_was_never_learned_cannot_be_forgotten(row: Any, label: Any) -> None:
    clf = BayesClassifier().fit({"sky": ["grey", "blue"]}, ["wet", "dry"])
    before = clf.predict_proba(row)
    with pytest.raises(NotMergeable):
        clf.forget(row, label)
    np.testing.assert_array_equal(clf.predict_proba(row), before)


def test_numbers_that_were_never_learned_are_noticed_where_they_can_be() -> None:
    clf = BayesClassifier().fit([[1.0], [2.0], [3.0], [9.0]], [0, 0, 0, 1])
    with pytest.raises(NotMergeable):
        clf.forget([[1000.0]], [0])


def test_forgetting_everything_leaves_nothing_to_predict_with() -> None:
    X, y = {"sky": ["grey", "blue"]}, ["wet", "dry"]
    clf = BayesClassifier().fit(X, y).forget(X, y)
    assert clf.summary_.n_rows == 0
    with pytest.raises(DataError, match="forgotten"):
        clf.predict(X)
    assert clf.partial_fit(X, y).predict(X).tolist() == y


def test_merging_needs_no_rows() -> None:
    X, y = weather()
    north = BayesClassifier(**MIXED).fit(X[:250], y[:250])
    south = BayesClassifier(**MIXED).fit(X[250:], y[250:])
    whole = BayesClassifier(**MIXED).fit(X, y)
    both = north + south
    np.testing.assert_allclose(both.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    assert north.summary_.n_rows == 250
    assert north.merge(south).summary_.n_rows == 600


def test_models_of_other_columns_do_not_merge() -> None:
    a = BayesClassifier().fit({"sky": ["grey", "blue"]}, [0, 1])
    b = BayesClassifier().fit({"wind": [1.0, 2.0]}, [0, 1])
    with pytest.raises(NotMergeable, match="sky"):
        a.merge(b)
    with pytest.raises(NotMergeable, match="calls"):
        BayesClassifier().fit({"calls": [1, 2]}, [0, 1]).merge(
            BayesClassifier(families="poisson").fit({"calls": [1, 2]}, [0, 1])
        )


def test_new_classes_and_categories_come_along() -> None:
    clf = BayesClassifier().partial_fit({"sky": ["grey"], "wind": [3.0]}, ["wet"])
    clf.partial_fit({"wind": [1.0], "sky": ["blue"]}, ["dry"])
    clf.partial_fit({"sky": ["white"], "wind": [2.0]}, [("snow", 2)])
    assert clf.classes_.tolist() == ["dry", "wet", ("snow", 2)]
    assert clf.predict({"sky": ["white"], "wind": [2.0]})[0] == ("snow", 2)


# Labels


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b", "b", "a"],
        [3, 1, 1, 3],
        [True, False, False, True],
        [2.0, 1.0, 1.0, 2.0],
        [(1, "x"), (2, "y"), (2, "y"), (1, "x")],
        [1, "one", "one", 1],
        [frozenset({1}), frozenset({2}), frozenset({2}), frozenset({1})],
    ],
    ids=["str", "int", "bool", "float", "tuple", "mixed", "frozenset"],
)
def test_labels_come_back_as_they_went_in(labels: list[Any]) -> None:
    X = [[0.0], [9.0], [9.5], [0.5]]
    found = BayesClassifier().fit(X, labels).predict(X)
    assert found.tolist() == labels
    assert [type(label) for label in found.tolist()] == [type(label) for label in labels]


@given(st.permutations(["b", "a", "c", "a", "b", "c"]))
def test_classes_do_not_depend_on_the_order_of_rows(labels: list[str]) -> None:
    clf = BayesClassifier()
    for label in labels:
        clf.partial_fit({"v": [label]}, [label])
    assert clf.classes_.tolist() == ["a", "b", "c"]


# Settling again


def test_resettling_needs_no_data() -> None:
    X, y = weather()
    clf = BayesClassifier().fit(X, y)
    for changes in (
        {"smoothing": 0.5},
        {"priors": {"dry": 0.9, "rain": 0.1}},
        {"families": {"calls": "poisson"}},
        {"missing": "value"},
        {"variance": "ml"},
        {"variance_floor": 0.3},
        {"unseen": "smooth"},
    ):
        fresh = BayesClassifier(**{**clf.get_params(), **changes}).fit(X, y)
        np.testing.assert_allclose(
            clf.resettle(**changes).predict_log_proba(X), fresh.predict_log_proba(X), rtol=1e-10, atol=1e-12
        )


@pytest.mark.parametrize(
    "changes",
    [{"smoothing": -1}, {"families": {"calls": "lognormal"}}, {"priors": {"dry": 1.0}}, {"missing": "drop"},
     {"schema": {}}, {"colour": 1}, {"families": {"sky": "gaussian"}}, {"families": "nosuch"}],
    ids=str,
)  # fmt: skip
def test_a_refused_change_changes_nothing(changes: dict[str, Any]) -> None:
    X, y = weather()
    clf = BayesClassifier().fit(X, y)
    before, settings = clf.predict_proba(X), clf.get_params()
    with pytest.raises(SettingsError):
        clf.resettle(**changes)
    np.testing.assert_array_equal(clf.predict_proba(X), before)
    assert clf.get_params() == settings


@pytest.mark.parametrize(
    "settings",
    [
        {"smoothing": 0.1},
        {"priors": "uniform"},
        {"priors": "smoothed"},
        {"families": {"calls": "poisson"}},
        {"schema": {"calls": "nominal"}},
        {"schema": {"pressure": "ignored"}},
        {"missing": "value"},
        {"unseen": "smooth"},
        {"variance": "ml"},
        {"variance_floor": 0.5},
    ],
    ids=str,
)
def test_every_parameter_changes_something(settings: dict[str, Any]) -> None:
    X, y = weather(80)
    X.loc[0, "sky"] = "green"
    usual = BayesClassifier().fit(X[1:], y[1:]).predict_log_proba(X)
    changed = BayesClassifier(**settings).fit(X[1:], y[1:]).predict_log_proba(X)
    assert np.abs(usual - changed).max() > 1e-9


# Results that do not depend on how they are computed


def test_threads_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    from likely import parallel

    monkeypatch.setattr(parallel, "MOST_ROWS", 64)
    monkeypatch.setattr(parallel, "FEWEST_ROWS", 64)
    X, y = weather(1000)
    results = [
        BayesClassifier(n_jobs=n_jobs, **MIXED).fit(X, y, sample_weight=np.linspace(0.1, 2, 1000)).predict_log_proba(X)
        for n_jobs in (1, 2, 4)
    ]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_rows_is_free(seed: int) -> None:
    X, y = weather(60)
    order = np.random.default_rng(seed).permutation(60)
    one = BayesClassifier(**MIXED).fit(X, y)
    other = BayesClassifier(**MIXED).fit(X.iloc[order], y[order])
    np.testing.assert_allclose(one.predict_log_proba(X), other.predict_log_proba(X), rtol=1e-9, atol=1e-9)


def test_large_matrices_are_sampled_for_the_schema_but_their_gaps_are_counted() -> None:
    X = np.random.default_rng(0).normal(size=(30_000, 2))
    X[[5, 77, 29_999], 1] = NAN
    clf = BayesClassifier().fit(X, X[:, 0] > 0)
    assert [column.gaps for column in clf.schema_] == [0, 3]


def test_sparse_dense_and_named_counts_agree() -> None:
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, size=(90, 12)).astype(float)
    y = rng.integers(0, 3, 90)
    for family in ("multinomial", "bernoulli", "complement"):
        dense = BayesClassifier(families=family).fit(X, y)
        thin = BayesClassifier(families=family).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(dense.predict_log_proba(X), thin.predict_log_proba(sparse.coo_array(X)), rtol=1e-10)
    with pytest.raises(SettingsError, match="sparse"):
        BayesClassifier(families="gaussian").fit(sparse.csr_array(X), y)


def test_copies_are_independent() -> None:
    X, y = weather(100)
    clf = BayesClassifier(**MIXED).fit(X, y)
    copy = pickle.loads(pickle.dumps(clf))  # noqa: S301
    np.testing.assert_array_equal(copy.predict_proba(X), clf.predict_proba(X))
    assert not hasattr(clone(clf), "summary_")


def test_an_empty_variable_for_threads_means_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    from likely.parallel import n_threads

    monkeypatch.setenv("LIKELY_THREADS", "3")
    assert n_threads(None) == 3
    monkeypatch.delenv("LIKELY_THREADS")
    assert n_threads(None) >= 1
    assert n_threads(-1) == n_threads(None)
    assert n_threads(2) == 2
    with pytest.raises(SettingsError):
        n_threads(-5)
    assert os.environ.get("LIKELY_THREADS") is None


# Explanation


def test_contributions_add_up() -> None:
    X, y = weather()
    for settings in ({}, MIXED, {"missing": "value", "unseen": "smooth"}):
        clf = BayesClassifier(**settings).fit(X, y)
        seen = X[:20].copy()
        seen.loc[3, "sky"] = "green"
        why = clf.explain(seen)
        np.testing.assert_allclose(why.joint, clf.predict_joint_log_proba(seen), rtol=1e-12)
        np.testing.assert_allclose(why.posterior, clf.predict_proba(seen), rtol=1e-9)
        assert why.columns == ("pressure", "calls", "sky", "weekend")
        frame = why.to_frame()
        assert len(frame) == 20 * (4 + 3)
        first = frame[(frame["row"] == 0) & ~frame["factor"].isin(["posterior", "log joint"])]
        np.testing.assert_allclose(first[["dry", "rain"]].sum(), why.joint[0], rtol=1e-9)


def test_counts_explain_themselves_column_by_column() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.7, size=(50, 6)).astype(float), rng.integers(0, 3, 50)
    for family in ("multinomial", "bernoulli", "complement", "poisson", "lognormal"):
        data = X + 1 if family == "lognormal" else X
        clf = BayesClassifier(families=family).fit(data, y)
        np.testing.assert_allclose(clf.explain(data).joint, clf.predict_joint_log_proba(data), rtol=1e-10)


def test_an_explanation_can_be_read() -> None:
    table = datasets.patients()
    drug = table.pop("drug")
    text = str(
        BayesClassifier(smoothing=0)
        .fit(table, drug)
        .explain({"sex": [None], "age": [61], "blood_pressure": ["normal"]})
    )
    assert "age = 61" in text
    assert "0.004787" in text
    assert "sex (gap)" in text


# Data that come with scikit-learn


def test_iris_from_a_frame() -> None:
    data = load_iris(as_frame=True)
    clf = BayesClassifier().fit(data.data, data.target)
    assert clf.score(data.data, data.target) == 144 / 150
    assert clf.feature_names_in_.tolist() == list(data.data.columns)
