"""Inputs on which other libraries break: each ends well here."""

from __future__ import annotations

import resource
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from likely import BayesClassifier, DataError
from likely.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from likely.stats import ClassWeights, FeatureCounts, Moments, ValueCounts

rng = np.random.default_rng(7)


def two_bells(n: int = 400, gap: float = 5.0, columns: int = 1) -> tuple[np.ndarray, np.ndarray]:
    y = np.repeat([0, 1], n // 2)
    return rng.normal(size=(n, columns)) + gap * y[:, None], y


def accuracy(clf: Any, X: Any, y: Any) -> float:
    return float((clf.predict(X) == np.asarray(y)).mean())


def assert_posterior(clf: Any, X: Any) -> np.ndarray:
    posterior = clf.predict_proba(X)
    assert np.isfinite(posterior).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-9)
    return np.asarray(posterior)


def test_an_irrelevant_column_with_a_spread_of_a_million_blinds_nothing() -> None:
    y = np.repeat([0, 1], 500)
    X = np.column_stack([rng.normal(size=1000) * 0.1 + y, rng.normal(size=1000) * 1e6])
    assert accuracy(BayesClassifier().fit(X, y), X, y) == 1.0


@pytest.mark.parametrize("clf", [BayesClassifier(), GaussianNB()], ids=["likely", "drop-in"])
def test_data_shifted_by_1e8_keep_their_variance(clf: Any) -> None:
    X, y = two_bells(2000, gap=3.0)
    near = accuracy(clf.fit(X, y), X, y)
    far = accuracy(clf.fit(X + 1e8, y), X + 1e8, y)
    assert near > 0.9
    assert far == pytest.approx(near, abs=0.005)


@pytest.mark.parametrize("clf", [BayesClassifier(families="bernoulli"), BernoulliNB()], ids=["likely", "drop-in"])
def test_4000_binary_features_give_no_nan(clf: Any) -> None:
    y = np.repeat([0, 1, 2], 100)
    X = (rng.random((300, 4000)) < 0.3 + 0.02 * y[:, None]).astype(float)
    assert_posterior(clf.fit(X, y), X)


@pytest.mark.parametrize("clf", [BayesClassifier(), GaussianNB()], ids=["likely", "drop-in"])
def test_400_gaussian_features_give_no_nan(clf: Any) -> None:
    X, y = two_bells(200, gap=0.5, columns=400)
    assert_posterior(clf.fit(X, y), X)
    assert accuracy(clf, X, y) == 1.0


@pytest.mark.parametrize("far", [40.0, 60.0, -40.0, -60.0, 1e6])
@pytest.mark.parametrize("clf", [BayesClassifier(), GaussianNB()], ids=["likely", "drop-in"])
def test_an_outlier_goes_to_the_nearer_class(clf: Any, far: float) -> None:
    X = np.array([[-1.0], [0.0], [1.0], [4.0], [5.0], [6.0]])
    clf.fit(X, [0, 0, 0, 1, 1, 1])
    assert_posterior(clf, [[far]])
    assert clf.predict([[far]])[0] == (1 if far > 0 else 0)


def test_a_category_never_seen_says_nothing_and_is_named_when_asked() -> None:
    clf = BayesClassifier().fit({"sky": ["grey", "blue", "grey"], "wind": [3.0, 1.0, 4.0]}, ["wet", "dry", "wet"])
    with_it = clf.predict_joint_log_proba({"sky": ["green"], "wind": [2.0]})
    without = clf.predict_joint_log_proba({"sky": [None], "wind": [2.0]})
    np.testing.assert_array_equal(with_it, without)
    assert clf.unseen_values({"sky": ["grey", "green"], "wind": [2.0, 2.0]}).values.tolist() == [[1, "sky", "green"]]
    smooth = clf.resettle(unseen="smooth").predict_joint_log_proba({"sky": ["green"], "wind": [2.0]})
    assert (smooth < without).all()


def test_a_category_code_never_seen_does_not_crash_the_drop_in() -> None:
    clf = CategoricalNB().fit([[0, 1], [1, 0], [1, 1]], ["a", "b", "b"])
    assert_posterior(clf, [[5, 1]])


def test_one_gap_costs_one_cell() -> None:
    X, y = two_bells(100, columns=2)
    X[3, 0] = np.nan
    clf = BayesClassifier().fit(X, y)
    assert clf.summary_["x0"].n.sum() == 99
    assert clf.summary_["x1"].n.sum() == 100
    gap = clf.predict_joint_log_proba([[np.nan, 1.0]])
    only = BayesClassifier().fit(X[:, 1:], y).predict_joint_log_proba([[1.0]])
    np.testing.assert_allclose(gap, only, rtol=1e-12)


@pytest.mark.parametrize("make", [BayesClassifier, GaussianNB], ids=["likely", "drop-in"])
def test_batches_of_different_scale_give_one_result_in_any_order(make: Any) -> None:
    X, y = two_bells(300, columns=2)
    X[:100] *= 1e4
    X[100:200] *= 1e-4
    batches = [slice(0, 100), slice(100, 200), slice(200, 300)]
    results = []
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        clf = make()
        for k in order:
            clf.partial_fit(X[batches[k]], y[batches[k]], classes=[0, 1])
        results.append(clf.predict_log_proba(X))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(results[0], results[2], rtol=1e-8, atol=1e-8)


MANY_CLASSES = """
import resource, time
import numpy as np
from scipy import sparse
from likely.naive_bayes import MultinomialNB
rng = np.random.default_rng(0)
n, columns, per_row, classes = 200_000, 4_000, 20, 5_000
cells = rng.integers(0, columns, n * per_row, dtype=np.int32)
X = sparse.csr_array((np.ones(len(cells)), cells, np.arange(0, len(cells) + 1, per_row)), shape=(n, columns))
y = rng.integers(0, classes, n)
MultinomialNB().fit(X[:10], y[:10])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
clf = MultinomialNB().fit(X, y)
clf.predict(X[:100])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, len(clf.classes_))
"""


def test_5000_classes_fit_in_little_memory() -> None:
    """Rows × classes would be 8 GB; the counts themselves are at most 160 MB."""
    done = subprocess.run([sys.executable, "-c", MANY_CLASSES], capture_output=True, text=True, check=True)
    grown_mb, classes = done.stdout.split()
    assert int(classes) == 5000
    assert float(grown_mb) < 600


def test_1000_classes_of_categories_are_counted_not_spread_out() -> None:
    X = rng.integers(0, 10, size=(20_000, 20))
    y = rng.integers(0, 1000, 20_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    clf = CategoricalNB().fit(X, y)
    assert sum(table.sum() for table in clf.category_count_) == X.size
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


@pytest.mark.parametrize("make", [BayesClassifier, GaussianNB, CategoricalNB, MultinomialNB, BernoulliNB])
def test_one_class_only(make: Any) -> None:
    clf = make().fit([[1, 2], [2, 1], [1, 1]], ["a", "a", "a"])
    assert assert_posterior(clf, [[1, 2]]).tolist() == [[1.0]]
    assert clf.predict([[2, 2]]).tolist() == ["a"]


def test_a_constant_column_changes_nothing() -> None:
    X, y = two_bells(100)
    constant = np.column_stack([X, np.full(100, 42.0)])
    clf = BayesClassifier().fit(constant, y)
    expected = BayesClassifier().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(clf.predict_proba(constant), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(assert_posterior(clf, [[1.0, 1e200]]), clf.predict_proba([[1.0, 42.0]]))


def test_a_class_with_one_row_borrows_a_deviation() -> None:
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    clf = BayesClassifier().fit(X, ["a", "a", "a", "b"])
    assert clf.predict([[9.0], [1.5]]).tolist() == ["b", "a"]
    assert_posterior(clf, X)


def test_a_column_that_is_missing_altogether_is_ignored_and_said_so() -> None:
    table = {"a": [1.0, 2.0, 9.0, 8.0], "void": [None, None, None, None]}
    clf = BayesClassifier().fit(table, [0, 0, 1, 1])
    assert clf.schema_["void"].kind == "ignored"
    assert clf.schema_["void"].why
    assert clf.predict(table).tolist() == [0, 0, 1, 1]


def test_a_column_missing_in_one_class_does_not_decide() -> None:
    X = np.array([[1.0, np.nan], [1.2, np.nan], [5.0, 3.0], [5.2, 3.5], [4.9, 2.0]])
    clf = BayesClassifier().fit(X, [0, 0, 1, 1, 1])
    assert clf.predict([[1.1, 3.0], [5.0, np.nan]]).tolist() == [0, 1]


def test_a_batch_without_rows_changes_nothing() -> None:
    X, y = two_bells(50)
    clf = BayesClassifier().fit(X, y)
    before = clf.predict_proba(X)
    clf.partial_fit(X[:0], y[:0])
    np.testing.assert_array_equal(clf.predict_proba(X), before)


@pytest.mark.parametrize("scale", [1e154, 1e-170, 1e300, 1e-300])
@pytest.mark.parametrize("clf", [BayesClassifier(), GaussianNB()], ids=["likely", "drop-in"])
def test_columns_of_extreme_scale(clf: Any, scale: float) -> None:
    X, y = two_bells(200)
    assert_posterior(clf.fit(X * scale, y), X * scale)
    if isinstance(clf, BayesClassifier):
        np.testing.assert_allclose(
            clf.predict_proba(X * scale), BayesClassifier().fit(X, y).predict_proba(X), rtol=1e-6
        )


@pytest.mark.parametrize("clf", [BayesClassifier(), GaussianNB()], ids=["likely", "drop-in"])
def test_a_query_at_1e200(clf: Any) -> None:
    X, y = two_bells(200)
    clf.fit(X, y)
    assert_posterior(clf, [[1e200], [-1e200], [1e308], [-1e308]])
    # However far away: the class with the larger deviation is the more probable one.
    wide = BayesClassifier().fit([[-1.0], [1.0], [-9.0], [9.0]], ["narrow", "narrow", "wide", "wide"])
    assert wide.predict([[1e200], [-1e308], [1e120]]).tolist() == ["wide", "wide", "wide"]


def test_category_code_of_a_billion_asks_for_no_gigabytes() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    clf = CategoricalNB().fit([[0], [1_000_000_000]], ["a", "b"])
    assert clf.predict([[0], [1_000_000_000]]).tolist() == ["a", "b"]
    table = BayesClassifier(families="categorical").fit(np.array([[0], [1_000_000_000]]), ["a", "b"])
    assert table.predict(np.array([[1_000_000_000]])).tolist() == ["b"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


def test_merging_an_empty_statistic_is_no_division_by_zero() -> None:
    for empty in (Moments.empty(), ValueCounts.empty(), FeatureCounts.empty(), ClassWeights.empty()):
        both = empty + empty  # type: ignore[operator]
        assert type(both) is type(empty)
    assert (Moments.empty(2, 3) + Moments.empty(2, 3)).mean.tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinity_is_refused_by_name_and_row(bad: float) -> None:
    X, y = two_bells(20, columns=2)
    clf = BayesClassifier().fit(X, y)
    X[7, 1] = bad
    with pytest.raises(DataError, match="Row 7 of column 'x1'"):
        BayesClassifier().fit(X, y)
    with pytest.raises(DataError, match="Row 7 of column 'x1'"):
        clf.predict(X)


def test_negative_counts_are_refused_by_name_and_row() -> None:
    table = {"clicks": [1.0, 2.0, -3.0], "visits": [1.0, 0.0, 2.0]}
    with pytest.raises(DataError, match="Row 2 of column 'clicks' holds -3"):
        BayesClassifier(families="multinomial").fit(table, [0, 1, 1])
    with pytest.raises(DataError, match="Row 2 of column 'clicks' holds -3"):
        BayesClassifier(families={"clicks": "poisson"}).fit(table, [0, 1, 1])
    with pytest.raises(DataError, match="Row 1 of column 'visits' holds 0"):
        BayesClassifier(families={"visits": "lognormal"}).fit(table, [0, 1, 1])


def test_a_row_impossible_under_every_class_gets_the_prior() -> None:
    table = {"a": ["x", "x", "y"], "b": ["u", "u", "v"]}
    clf = BayesClassifier(smoothing=0).fit(table, [0, 0, 1])
    crossed = {"a": ["x"], "b": ["v"]}
    assert (clf.predict_joint_log_proba(crossed) == -np.inf).all()
    np.testing.assert_allclose(clf.predict_proba(crossed), [[2 / 3, 1 / 3]])
    assert clf.predict(crossed).tolist() == [0]


def test_sparse_matrix_of_counts_in_the_table_classifier() -> None:
    X = sparse.random_array((60, 500), density=0.05, rng=np.random.default_rng(1), format="csr")
    y = np.repeat(["a", "b", "c"], 20)
    np.testing.assert_allclose(
        BayesClassifier().fit(X, y).predict_log_proba(X), MultinomialNB().fit(X, y).predict_log_proba(X), rtol=1e-10
    )
