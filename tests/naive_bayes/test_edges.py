"""What breaks others: extreme numbers, strange codes, wrong input, parameters that do not fit."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as theirs
from scipy import sparse
from sklearn.exceptions import NotFittedError

from likely import Loss
from likely.errors import LikelyError, SettingsError
from likely.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

CLASSES = (GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB)
X = np.array([[2.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 2.0, 2.0]])
Y = np.array(["a", "a", "b", "b"])


def sound(clf: Any, rows: Any) -> Any:
    """Probabilities without NaN that sum to one."""
    proba = clf.predict_proba(rows)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    assert not np.isnan(clf.predict_joint_log_proba(rows)).any()
    assert not np.isnan(clf.predict_log_proba(rows)).any()
    return proba


# Numbers.


@pytest.mark.parametrize("scale", [1e154, 1e-170, 1e300, 1e-300, 1e8, 1e-8])
def test_any_scale(scale: float) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    rows = rng.normal(size=(100, 3)) + 2.0 * y[:, None]
    plain, scaled = GaussianNB().fit(rows, y), GaussianNB().fit(rows * scale, y)
    np.testing.assert_allclose(sound(scaled, rows * scale), plain.predict_proba(rows), rtol=1e-6, atol=1e-9)


def test_float32_beyond_its_range() -> None:
    rows = (np.random.default_rng(0).normal(size=(40, 2)) * 1e30).astype(np.float32)
    y = (rows[:, 0] > 0).astype(int)
    clf = GaussianNB().fit(rows, y)
    assert clf.theta_.dtype == np.float32
    assert (clf.predict(rows) == y).mean() > 0.8
    assert not np.isnan(clf.predict_proba(rows)).any()


@pytest.mark.parametrize("smoothing", [1e-9, 0.0])
def test_a_constant_column_and_a_query_far_away(smoothing: float) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    rows = np.column_stack([rng.normal(size=40) + 5 * y, np.full(40, 3.0)])
    clf = GaussianNB(var_smoothing=smoothing).fit(rows, y)
    assert (clf.predict(rows) == y).all()
    sound(clf, [[0.0, 1e200], [5.0, -1e308], [1e308, 3.0], [2.5, 3.0]])


def test_all_columns_constant() -> None:
    clf = GaussianNB().fit(np.ones((4, 2)), [0, 0, 0, 1])
    np.testing.assert_allclose(sound(clf, np.ones((1, 2))), [[0.75, 0.25]])
    sound(clf, [[1e200, 0.0]])


def test_data_far_from_zero_keep_their_variance() -> None:
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(100_000, 3)), rng.integers(0, 2, 100_000)
    near, far = GaussianNB().fit(rows, y), GaussianNB().fit(rows + 1e8, y)
    np.testing.assert_allclose(far.var_, near.var_, rtol=1e-7)
    drifting = GaussianNB().fit(np.sort(rows, axis=0) + 1e8, y)
    np.testing.assert_allclose(drifting.var_.mean(), near.var_.mean(), rtol=0.01)


def test_a_variance_set_by_hand_is_used() -> None:
    clf = GaussianNB().fit(X, Y)
    before = clf.predict_proba(X)
    clf.var_ = clf.var_ * 100
    assert abs(clf.predict_proba(X) - 0.5).max() < abs(before - 0.5).max()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cls", CLASSES)
def test_no_number_is_refused_in_scikit_learns_words(cls: Any, weighted: bool, bad: float) -> None:
    rows, weight = X.copy(), [1.0, 0.0, 2.0, 3.0] if weighted else None
    rows[1, 2] = bad
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)") as expected:
        getattr(theirs, cls.__name__)().fit(rows, Y, weight)
    for call in (lambda: cls().fit(rows, Y, weight), lambda: cls().fit(X, Y).predict_proba(rows)):
        with pytest.raises(ValueError) as found:
            call()
        # The type at the end is that of X; for codes, theirs names the one that they would become.
        first, wanted = (str(error.value).splitlines()[0].split(" for dtype")[0] for error in (found, expected))
        assert first == wanted


# Codes.


def test_a_category_never_heard_of_adds_nothing() -> None:
    clf = CategoricalNB().fit([[0, 1], [0, 0], [1, 1], [2, 0]], Y)
    known = CategoricalNB().fit([[1], [0], [1], [0]], Y)
    np.testing.assert_allclose(sound(clf, [[7, 1], [10**9, 0]]), known.predict_proba([[1], [0]]))


def test_a_huge_code_takes_little_room() -> None:
    tracemalloc.start()
    clf = CategoricalNB(min_categories=3).fit([[1_000_000_000, 0], [3, 1]], [0, 1])
    proba = sound(clf, [[1_000_000_000, 0], [3, 1], [4, 0], [2_000_000_000, 0]])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6
    assert clf.n_categories_.tolist() == [1_000_000_001, 3]
    assert proba[0, 0] > 0.5 > proba[1, 0]
    np.testing.assert_allclose(proba[2], proba[3])


def test_scattered_codes_count_as_others_do() -> None:
    """The same as scikit-learn, where its tables are still small enough to be made."""
    rng = np.random.default_rng(0)
    codes = np.array([0, 5, 900, 2000])[rng.integers(0, 4, (60, 3))]
    y = rng.integers(0, 3, 60)
    mine, other = CategoricalNB(min_categories=2100), theirs.CategoricalNB(min_categories=2100)
    for batch in (slice(0, 5), slice(5, 30), slice(30, 60)):
        mine.partial_fit(codes[batch], y[batch], classes=[0, 1, 2])
        other.partial_fit(codes[batch], y[batch], classes=[0, 1, 2])
    assert any(len(levels) < 100 for levels in mine._seen[1].levels)
    queries = np.array([0, 5, 900, 2000, 17, 2099])[rng.integers(0, 6, (50, 3))]
    np.testing.assert_allclose(mine.predict_joint_log_proba(queries), other.predict_joint_log_proba(queries))
    for name in ("category_count_", "feature_log_prob_"):
        np.testing.assert_allclose(np.array(getattr(mine, name)), np.array(getattr(other, name)))


def test_negative_codes_are_refused() -> None:
    clf = CategoricalNB().fit([[0, 1], [1, 0]], [0, 1])
    for call in (lambda: clf.fit([[0, -1], [1, 0]], [0, 1]), lambda: clf.predict([[0, 1], [-1, 0]])):
        with pytest.raises(ValueError, match=r"Negative values in data passed to CategoricalNB \(input X\)"):
            call()
    with pytest.raises(ValueError, match="Negative values"):
        CategoricalNB().fit([[10**9, -1], [1, 0]], [0, 1]).predict([[-5, 0]])


def test_wrong_least_numbers_of_categories() -> None:
    with pytest.raises(ValueError, match="should have integral type"):
        CategoricalNB(min_categories=[2.5, 1.0]).fit([[0, 1]], [0])
    with pytest.raises(ValueError, match="should have shape"):
        CategoricalNB(min_categories=[2, 2, 2]).fit([[0, 1]], [0])


# Counts.


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("cls", [MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB])
def test_without_smoothing_there_is_no_nan(cls: Any, container: Any) -> None:
    if cls is CategoricalNB:
        container = np.asarray
    rows = container(np.array([[2, 0, 0], [1, 0, 0], [0, 3, 0]]))
    clf = cls(alpha=0.0).fit(rows, [0, 0, 1])
    np.testing.assert_array_equal(clf.predict(rows), [0, 0, 1])
    sound(clf, rows)
    sound(clf, container(np.array([[1, 1, 0], [0, 0, 1]])))
    later = cls(alpha=0.0).partial_fit(rows, [0, 0, 1], classes=[0, 1, 2])
    sound(later, rows)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_complement_norm_of_a_single_column(as_sparse: bool) -> None:
    rows = np.array([[1.0], [2.0]])
    clf = ComplementNB(norm=True).fit(sparse.csr_array(rows) if as_sparse else rows, [0, 1])
    sound(clf, rows)


def test_bernoulli_takes_an_array_of_pseudo_counts() -> None:
    alpha = np.array([1.0, 2.0, 3.0])
    clf = BernoulliNB(alpha=alpha).fit(X, Y)
    expected = np.log((clf.feature_count_ + alpha) / (clf.class_count_[:, None] + 2 * alpha))
    np.testing.assert_allclose(clf.feature_log_prob_, expected)
    sound(clf, X)


def test_cells_named_twice_are_one_cell() -> None:
    twice = sparse.csr_array((np.ones(4), ([0, 0, 1, 1], [0, 0, 1, 0])), shape=(2, 2))
    doubled = sparse.csr_array((np.ones(4), np.array([0, 0, 1, 0]), np.array([0, 2, 4])), shape=(2, 2))
    np.testing.assert_array_equal(BernoulliNB().fit(doubled, [0, 1]).feature_count_, [[1, 0], [1, 1]])
    np.testing.assert_array_equal(MultinomialNB().fit(doubled, [0, 1]).feature_count_, twice.toarray())


@pytest.mark.parametrize("cls", [MultinomialNB, ComplementNB])
def test_negative_counts_are_refused(cls: Any) -> None:
    for rows in (-X, sparse.csr_array(-X)):
        with pytest.raises(ValueError, match=rf"Negative values in data passed to {cls.__name__} \(input X\)"):
            cls().fit(rows, Y)


def test_full_tables_cannot_be_changed_by_accident() -> None:
    clf = MultinomialNB().fit(X, Y)
    with pytest.raises(ValueError, match="read-only"):
        clf.feature_log_prob_[0, 0] = 1.0


# Labels, classes, weights.


@pytest.mark.parametrize(
    "labels", [["x", "y", "y", "x"], [True, False, True, True], [2.0, 1.0, 1.0, 2.0], [3, 1, 3, 1]]
)
@pytest.mark.parametrize("cls", CLASSES)
def test_labels_come_back_as_they_went_in(cls: Any, labels: Any) -> None:
    for given in (labels, np.array(labels), np.array(labels, dtype=object), pd.Series(labels)):
        clf = cls().fit(X, given)
        expected = np.unique(np.asarray(given))
        np.testing.assert_array_equal(clf.classes_, expected)
        assert set(clf.predict(X).tolist()) <= set(labels)


@pytest.mark.parametrize("cls", CLASSES)
def test_classes_are_agreed_upon_at_first(cls: Any) -> None:
    clf = cls()
    with pytest.raises(ValueError, match=r"classes must be passed on the first call to partial_fit\."):
        clf.partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"The target label\(s\) \['b'\] in y do not exist in the initial classes"):
        clf.partial_fit(X, Y, classes=["a", "c"])
    with pytest.raises(NotFittedError):
        clf.predict(X)
    clf.partial_fit(X, Y, classes=["c", "b", "a"])
    with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
        clf.partial_fit(X, Y, classes=["a", "b"])
    assert clf.class_count_.tolist() == [2, 2, 0]
    assert clf.predict_proba(X)[:, 2].max() == 0.0 or cls is ComplementNB


@pytest.mark.parametrize("cls", CLASSES)
def test_a_class_that_comes_later_is_learned(cls: Any) -> None:
    clf = cls().partial_fit(X[:2], Y[:2], classes=["a", "b"])
    assert set(clf.predict(X)) == {"a"} or cls is ComplementNB
    clf.partial_fit(X[2:], Y[2:])
    np.testing.assert_allclose(clf.predict_proba(X), cls().fit(X, Y).predict_proba(X))


@pytest.mark.parametrize("cls", CLASSES)
def test_a_weight_is_a_repetition(cls: Any) -> None:
    weight = np.array([1, 3, 1, 2])
    weighted, repeated = cls(), cls()
    if cls is GaussianNB:
        weighted, repeated = cls(var_smoothing=0), cls(var_smoothing=0)
    again = np.repeat(np.arange(4), weight)
    weighted.fit(X, Y, weight)
    repeated.fit(X[again], Y[again])
    np.testing.assert_array_equal(weighted.class_count_, repeated.class_count_)
    if cls is GaussianNB:
        np.testing.assert_allclose(weighted.var_, repeated.var_)
    else:
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("weight", [[1, -1, 1, 1], [1, np.nan, 1, 1], [1, 1], [0, 0, 0, 0], np.ones((4, 2))])
@pytest.mark.parametrize("cls", CLASSES)
def test_weights_that_make_no_sense(cls: Any, weight: Any) -> None:
    with pytest.raises(ValueError):
        cls().fit(X, Y, sample_weight=weight)


# State.


@pytest.mark.parametrize("cls", CLASSES)
def test_a_fit_that_fails_on_its_rows_changes_nothing(cls: Any) -> None:
    clf = cls().fit(X, Y)
    before = clf.predict_proba(X)
    with pytest.raises(ValueError):
        clf.fit(np.full((4, 3), np.nan), Y)
    with pytest.raises(ValueError):
        clf.fit(X, Y[:3])
    np.testing.assert_array_equal(clf.predict_proba(X), before)


def test_a_fit_that_fails_on_its_parameters_leaves_no_old_beliefs() -> None:
    clf = MultinomialNB(class_prior=[0.5, 0.5]).fit(X, Y)
    with pytest.raises(LikelyError, match="Number of priors must match"):
        clf.fit(X, ["a", "b", "c", "c"])
    with pytest.raises(NotFittedError):
        clf.predict(X)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_model_survives_being_put_away(cls: Any) -> None:
    clf = cls().fit(X, Y)
    again = pickle.loads(pickle.dumps(clf))  # noqa: S301 (our own)
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    again.partial_fit(X, Y)
    assert again.class_count_.tolist() == [4, 4]


@pytest.mark.parametrize("cls", CLASSES)
def test_columns_are_known_by_name(cls: Any) -> None:
    frame = pd.DataFrame(X, columns=["p", "q", "r"])
    clf = cls().fit(frame, Y)
    assert clf.feature_names_in_.tolist() == ["p", "q", "r"]
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(frame[["q", "p", "r"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        clf.predict(X)
    with pytest.raises(ValueError, match=f"X has 2 features, but {cls.__name__} is expecting 3 features"):
        cls().fit(X, Y).predict(X[:, :2])


@pytest.mark.parametrize("make", [GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB])
def test_all_of_them_decide_by_cost(make: Any) -> None:
    X, y = [[0, 3], [1, 2], [3, 0], [2, 1]], ["ham", "ham", "spam", "spam"]
    clf = make().fit(X, y)
    assert clf.decide(X, Loss.zero_one(clf.classes_)).tolist() == clf.predict(X).tolist()
    assert set(clf.decide(X, Loss.binary(false_alarm=1e300, miss=1, positive="spam"))) == {"ham"}
    assert clf.risk(X, Loss.zero_one(clf.classes_)).shape == (4, 2)
    if make is ComplementNB:
        with pytest.raises(SettingsError, match="density"):
            clf.novelty(X)
    else:
        clf.novelty(X)
