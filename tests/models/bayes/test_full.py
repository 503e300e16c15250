"""Full Bayes: what it shares with scikit-learn's discriminant analysis and with naive Bayes, and what it adds."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.utils.estimator_checks import parametrize_with_checks

from likely import BayesClassifier, DataError, FullBayesClassifier, NotMergeable, SettingsError, load

COVARIANCES = ("full", "pooled", "diagonal", "shrunk")
IRIS, FLOWER = load_iris(return_X_y=True)
NAN = float("nan")


@parametrize_with_checks([FullBayesClassifier(), FullBayesClassifier(covariance="shrunk", missing="value")])
def test_scikit_learn_agrees_that_it_is_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def people(n: int = 400, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Two numbers that depend on each other, one with gaps, and a nominal column."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    height = 170 + 9 * rng.normal(size=n)
    weight = 70 + 0.8 * (height - 170) * np.where(ill, -1, 1) + 6 * rng.normal(size=n)
    weight[rng.random(n) < 0.15] = NAN
    town = np.where(ill, rng.choice(["Ulm", "Bonn"], n), "Bonn")
    table = pd.DataFrame({"height": height, "weight": weight, "town": town, "visits": rng.poisson(1 + 2 * ill)})
    return table, np.where(ill, "ill", "well")


# Worked example G and scikit-learn


@pytest.mark.parametrize("variance", ["unbiased", "ml"])
def test_iris_makes_three_errors(variance: Any) -> None:
    clf = FullBayesClassifier(variance=variance).fit(IRIS, FLOWER)
    assert np.flatnonzero(clf.predict(IRIS) != FLOWER).tolist() == [70, 83, 133]


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
def test_full_is_quadratic_discriminant_analysis(load: Any, priors: Any) -> None:
    X, y = load(return_X_y=True)
    theirs = QuadraticDiscriminantAnalysis(priors=priors, store_covariance=True).fit(X, y)
    # Releases of scikit-learn differ in the divisor, n or n − 1: theirs tells which.
    divides_by_n = np.allclose(theirs.covariance_[0], np.cov(X[y == 0].T, ddof=0), rtol=1e-6)
    ours = FullBayesClassifier(priors=priors, variance="ml" if divides_by_n else "unbiased").fit(X, y)
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-12)
    np.testing.assert_allclose(ours.covariances_, theirs.covariance_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.model_.prior, theirs.priors_, rtol=1e-12)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_pooled_is_linear_discriminant_analysis(load: Any) -> None:
    X, y = load(return_X_y=True)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(X, y)
    ours = FullBayesClassifier(covariance="pooled", variance="ml").fit(X, y)
    np.testing.assert_allclose(ours.covariances_[0], theirs.covariance_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-8, atol=1e-8)


# Naive Bayes


@pytest.mark.parametrize("settings", [{}, {"variance": "ml"}, {"missing": "value"}, {"priors": "uniform"}], ids=str)
def test_diagonal_is_naive_bayes_bit_for_bit(settings: dict[str, Any]) -> None:
    X, y = people()
    ours = FullBayesClassifier(covariance="diagonal", **settings).fit(X, y)
    naive = BayesClassifier(**settings).fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X), naive.predict_proba(X))
    np.testing.assert_allclose(ours.explain(X).contributions, naive.explain(X).contributions, rtol=1e-12)


def test_shrunk_goes_from_full_to_naive() -> None:
    X, y = people()
    clf = FullBayesClassifier(covariance="shrunk", shrinkage=1.0).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X), BayesClassifier().fit(X, y).predict_proba(X), rtol=1e-9)
    clf.resettle(shrinkage=0.0)
    np.testing.assert_allclose(clf.predict_proba(X), FullBayesClassifier().fit(X, y).predict_proba(X), rtol=1e-9)
    assert (clf.shrinkages_ == 0.0).all()
    clf.resettle(shrinkage="auto")
    assert ((clf.shrinkages_ > 0.0) & (clf.shrinkages_ < 0.5)).all()


def test_dependence_is_learned() -> None:
    X, y = people(2000)
    naive, full = BayesClassifier().fit(X, y), FullBayesClassifier().fit(X, y)
    assert full.score(X, y) > naive.score(X, y) + 0.03
    assert full.families_ == dict(
        height="multivariate", weight="multivariate", town="categorical", visits="multivariate"
    )


def test_columns_can_be_taken_out_of_the_block() -> None:
    X, y = people()
    clf = FullBayesClassifier(families={"visits": "poisson"}).fit(X, y)
    assert clf.means_.shape == (2, 2)
    assert clf.covariances_.shape == (2, 2, 2)
    np.testing.assert_allclose(clf.explain(X).joint, clf.predict_joint_log_proba(X), rtol=1e-12)
    only_towns = FullBayesClassifier().fit(X[["town"]], y)
    assert only_towns.predict(X[["town"]]).shape == (400,)
    assert not hasattr(only_towns, "means_")


# Learning more, forgetting, merging


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_batches_threads_and_order_make_the_same(covariance: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from likely import parallel

    monkeypatch.setattr(parallel, "MOST_ROWS", 64)
    monkeypatch.setattr(parallel, "FEWEST_ROWS", 64)
    X, y = people()
    weight = np.random.default_rng(1).random(len(y)) + 0.5
    one, two = (
        FullBayesClassifier(covariance=covariance, n_jobs=n_jobs).fit(X, y, weight).predict_log_proba(X)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)
    parts = FullBayesClassifier(covariance=covariance)
    for start in range(0, 400, 130):
        some = slice(start, start + 130)
        parts.partial_fit(X[some], y[some], sample_weight=weight[some])
    np.testing.assert_allclose(parts.predict_log_proba(X), one, rtol=1e-8, atol=1e-8)
    pieces = np.vstack([parts.predict_log_proba(X[start : start + 90]) for start in range(0, 400, 90)])
    np.testing.assert_allclose(pieces, one, rtol=1e-8, atol=1e-8)


def test_forgetting_is_the_inverse_of_learning() -> None:
    X, y = people()
    clf = FullBayesClassifier().fit(X[:300], y[:300])
    before = clf.predict_log_proba(X)
    clf.partial_fit(X[300:], y[300:])
    assert np.abs(clf.predict_log_proba(X) - before).max() > 1e-3
    clf.forget(X[300:], y[300:])
    np.testing.assert_allclose(clf.predict_log_proba(X), before, rtol=1e-8, atol=1e-8)
    with pytest.raises(NotMergeable):
        clf.forget(pd.DataFrame({"height": [9.0], "weight": [900.0], "town": ["Bonn"], "visits": [99]}), ["well"])


def test_merging_needs_no_rows_and_new_classes_come_along() -> None:
    whole = FullBayesClassifier().fit(IRIS, FLOWER)
    both = FullBayesClassifier().fit(IRIS[:75], FLOWER[:75]) + FullBayesClassifier().fit(IRIS[75:], FLOWER[75:])
    np.testing.assert_allclose(both.predict_log_proba(IRIS), whole.predict_log_proba(IRIS), rtol=1e-8, atol=1e-8)
    with pytest.raises(NotMergeable):
        both.merge(BayesClassifier().fit(IRIS, FLOWER))  # type: ignore[arg-type]


def test_whole_weights_are_repeated_rows() -> None:
    X, y = people(100)
    times = np.random.default_rng(1).integers(0, 4, 100)
    rows = np.repeat(np.arange(100), times)
    weighted = FullBayesClassifier().fit(X, y, sample_weight=times)
    repeated = FullBayesClassifier().fit(X.iloc[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_log_proba(X), repeated.predict_log_proba(X), rtol=1e-8, atol=1e-8)


def test_the_covariance_can_be_changed_without_rows() -> None:
    clf = FullBayesClassifier().fit(IRIS, FLOWER)
    for covariance in COVARIANCES:
        fresh = FullBayesClassifier(covariance=covariance).fit(IRIS, FLOWER)
        np.testing.assert_array_equal(
            clf.resettle(covariance=covariance).predict_proba(IRIS), fresh.predict_proba(IRIS)
        )


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_file_keeps_it(covariance: Any, tmp_path: Path) -> None:
    X, y = people()
    for rows in (X, X.fillna(70.0)):
        clf = FullBayesClassifier(covariance=covariance, shrinkage=0.2).fit(rows, y)
        clf.save(tmp_path / "m.likely")
        back = load(tmp_path / "m.likely")
        assert isinstance(back, FullBayesClassifier)
        np.testing.assert_array_equal(back.predict_proba(X), clf.predict_proba(X))
        back.forget(rows[:50], y[:50])
        fresh = FullBayesClassifier(covariance=covariance, shrinkage=0.2).fit(rows[50:], y[50:])
        np.testing.assert_allclose(back.predict_proba(X), fresh.predict_proba(X), rtol=1e-8)


def test_leaving_one_out_is_fitting_without_it() -> None:
    X, y = people(40)
    clf = FullBayesClassifier()
    posterior = np.empty((40, 2))

    def keep(block: slice, shares: np.ndarray) -> None:
        posterior[block] = shares

    clf._leave_one_out(clf._task(X, y), keep)
    for row in (0, 7, 39):
        rest = np.arange(40) != row
        alone = FullBayesClassifier().fit(X[rest], y[rest]).predict_proba(X[row : row + 1])
        np.testing.assert_allclose(posterior[row], alone[0], rtol=1e-7, atol=1e-9)


# Gaps


def test_a_gap_is_a_column_that_was_never_asked() -> None:
    """Marginal and conditional agree: leaving a column out is the same as a model without it."""
    clf = FullBayesClassifier().fit(IRIS, FLOWER)
    without = FullBayesClassifier().fit(IRIS[:, [0, 2, 3]], FLOWER)
    holed = IRIS.copy()
    holed[:, 1] = NAN
    np.testing.assert_allclose(
        clf.predict_log_proba(holed), without.predict_log_proba(IRIS[:, [0, 2, 3]]), rtol=1e-8, atol=1e-8
    )
    holed[:] = NAN
    np.testing.assert_allclose(clf.predict_proba(holed), 1 / 3, rtol=1e-12)


def test_gaps_while_learning_cost_little() -> None:
    rng = np.random.default_rng(3)
    holed = np.where(rng.random(IRIS.shape) < 0.15, NAN, IRIS)
    assert FullBayesClassifier().fit(holed, FLOWER).score(IRIS, FLOWER) > 0.95


def test_infinity_is_refused_by_name() -> None:
    clf = FullBayesClassifier().fit(IRIS, FLOWER)
    for bad in (np.inf, -np.inf):
        query = IRIS.copy()
        query[7, 2] = bad
        with pytest.raises(DataError, match="Row 7 of column 'x2'"):
            clf.predict(query)
        with pytest.raises(DataError, match="Row 7 of column 'x2'"):
            FullBayesClassifier().fit(query, FLOWER)
        query[7, 0] = NAN
        with pytest.raises(DataError, match="Row 7 of column 'x2'"):
            clf.predict(query)


# Where a covariance matrix would be singular


def assert_sound(clf: FullBayesClassifier, X: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        posterior = clf.predict_proba(X)
        holed = X.copy()
        holed[::2, 0] = NAN
        again = clf.predict_proba(holed)
    for shares in (posterior, again):
        assert not np.isnan(shares).any()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-9)
    assert np.isfinite(clf.covariances_).all()


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("variance", ["unbiased", "ml"])
def test_singular_tables_end_well(covariance: Any, variance: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 3)) + 2 * y[:, None]
    tables = {
        "copy": np.column_stack([X, 2 * X[:, 0]]),
        "sum": np.column_stack([X, X.sum(axis=1)]),
        "constant": np.column_stack([X, np.full(40, 0.1)]),
        "constant in a class": np.column_stack([X, np.where(y, X[:, 0], 7.0)]),
        "wide": np.column_stack([X, rng.normal(size=(40, 100))]),
        "all constant": np.ones((40, 3)),
    }
    for rows in tables.values():
        assert_sound(FullBayesClassifier(covariance=covariance, variance=variance).fit(rows, y), rows)
    singles = np.arange(5)
    assert_sound(FullBayesClassifier(covariance=covariance, variance=variance).fit(X[:5], singles), X)
    mixed = np.array([0] * 20 + [1])
    clf = FullBayesClassifier(covariance=covariance, variance=variance).fit(X[:21], mixed)
    assert_sound(clf, X)
    assert clf.predict(X[20:21])[0] == 1


def test_a_copied_column_changes_no_decision() -> None:
    """A second copy brings no news: full Bayes sees that, naive Bayes counts it twice."""
    doubled = np.column_stack([IRIS, IRIS[:, 0]])
    clf = FullBayesClassifier().fit(doubled, FLOWER)
    assert np.flatnonzero(clf.predict(doubled) != FLOWER).tolist() == [70, 83, 133]


def test_a_class_with_one_row_borrows_the_covariance_within_classes() -> None:
    X, y = np.vstack([IRIS[:100], IRIS[100:101]]), np.append(FLOWER[:100], 2)
    clf = FullBayesClassifier().fit(X, y)
    pooled = FullBayesClassifier(covariance="pooled").fit(X, y)
    np.testing.assert_allclose(clf.covariances_[2], pooled.covariances_[2], rtol=1e-9)


@given(st.integers(0, 2**32 - 1), st.sampled_from(COVARIANCES), st.integers(1, 6), st.integers(2, 12))
def test_any_small_table_gives_probabilities(seed: int, covariance: Any, width: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, width)), 1) * 10.0 ** rng.integers(-3, 4, width)
    X[rng.random(X.shape) < 0.2] = NAN
    clf = FullBayesClassifier(covariance=covariance, schema=dict.fromkeys([f"x{j}" for j in range(width)], "numeric"))
    clf.fit(X, rng.integers(0, 3, n))
    query = np.vstack([X, 1e3 * rng.normal(size=(3, width))])
    posterior = clf.predict_proba(query)
    assert not np.isnan(posterior).any()
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(clf.explain(query).joint, clf.predict_joint_log_proba(query), rtol=1e-6, atol=1e-6)


# Extremes


def test_columns_of_any_size_and_place() -> None:
    plain = FullBayesClassifier().fit(IRIS, FLOWER).predict_log_proba(IRIS)
    wild = IRIS * [1e154, 1e-170, 1.0, 1.0]
    np.testing.assert_allclose(
        FullBayesClassifier().fit(wild, FLOWER).predict_log_proba(wild), plain, rtol=1e-8, atol=1e-8
    )
    exact = np.round(IRIS * 1024) / 1024
    far = FullBayesClassifier().fit(exact + 1e8, FLOWER).predict_log_proba(exact + 1e8)
    np.testing.assert_allclose(far, FullBayesClassifier().fit(exact, FLOWER).predict_log_proba(exact), atol=1e-4)


def test_a_query_out_of_this_world() -> None:
    clf = FullBayesClassifier().fit(IRIS, FLOWER)
    query = np.vstack([np.full(4, 1e200), [1e300, -1e300, 0.0, NAN], np.full(4, -1e150)])
    assert np.isfinite(clf.predict_joint_log_proba(query)).all()
    np.testing.assert_allclose(clf.predict_proba(query).sum(axis=1), 1.0)


# Explanations and settings


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_contributions_add_up(covariance: Any) -> None:
    X, y = people()
    for missing in ("ignore", "value"):
        clf = FullBayesClassifier(covariance=covariance, missing=missing).fit(X, y)
        why = clf.explain(X[:30])
        assert why.columns == ("height", "weight", "town", "visits")
        np.testing.assert_allclose(why.joint, clf.predict_joint_log_proba(X[:30]), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(why.posterior, clf.predict_proba(X[:30]), rtol=1e-9)


def test_a_nomogram_needs_columns_that_speak_for_themselves() -> None:
    X, y = people()
    clf = FullBayesClassifier().fit(X, y)
    with pytest.raises(SettingsError, match="height"):
        clf.nomogram("ill")
    clf.resettle(covariance="diagonal").nomogram("ill")


@pytest.mark.parametrize(
    "settings", [{"covariance": "fat"}, {"shrinkage": 1.5}, {"shrinkage": "some"}, {"variance_floor": -1}], ids=str
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(settings))):
        FullBayesClassifier(**settings).fit(IRIS, FLOWER)


@pytest.mark.parametrize(
    "settings",
    [
        {"covariance": "pooled"},
        {"covariance": "diagonal"},
        {"covariance": "shrunk"},
        {"covariance": "shrunk", "shrinkage": 0.3},
        {"smoothing": 5},
        {"priors": "uniform"},
        {"families": {"visits": "poisson"}},
        {"schema": {"visits": "nominal"}},
        {"missing": "value"},
        {"variance": "ml"},
        {"variance_floor": 0.9},
    ],
    ids=str,
)
def test_every_parameter_changes_something(settings: dict[str, Any]) -> None:
    X, y = people(120)
    usual = FullBayesClassifier().fit(X, y).predict_log_proba(X)
    assert np.abs(FullBayesClassifier(**settings).fit(X, y).predict_log_proba(X) - usual).max() > 1e-9


def test_a_sparse_matrix_is_refused_with_a_way_out() -> None:
    with pytest.raises(SettingsError, match="dense"):
        FullBayesClassifier().fit(sparse.csr_array(IRIS), FLOWER)
