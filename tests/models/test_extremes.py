"""Weights and numbers at the ends of the floats: learned rightly, or refused in one sentence."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import likely
from likely import (
    AODEClassifier,
    BayesClassifier,
    EvidenceClassifier,
    FullBayesClassifier,
    SVMClassifier,
    TreeClassifier,
    naive_bayes,
)
from likely.errors import DataError, LikelyError, NotMergeable, SettingsError
from likely.numerics import HEAVIEST

WEIGHTS = (None, 1e300, 1e308, 1e-320, np.inf, np.nan, -1.0, 1e90)
VALUES = (1.0, 1e150, 1e300, 1.7e308)

rng = np.random.default_rng(5)
Y = np.repeat(["a", "b"], 30)
X = rng.normal(size=(60, 2)) + 3.0 * (Y == "b")[:, None]
SIGNED = X / np.abs(X).max()
POSITIVE = np.abs(SIGNED)

MAKERS: dict[str, tuple[Callable[[], Any], np.ndarray]] = {
    "bayes": (BayesClassifier, SIGNED),
    "bins": (lambda: BayesClassifier(families="bins"), SIGNED),
    "poisson": (lambda: BayesClassifier(families="poisson"), POSITIVE),
    "multinomial": (lambda: BayesClassifier(families="multinomial"), POSITIVE),
    "lognormal": (lambda: BayesClassifier(families="lognormal"), POSITIVE),
    "full": (FullBayesClassifier, SIGNED),
    "aode": (AODEClassifier, SIGNED),
    "evidence": (lambda: EvidenceClassifier(max_pairs=0, n_jobs=1), SIGNED),
    "tree": (TreeClassifier, SIGNED),
    "binned tree": (lambda: TreeClassifier(binned=True), SIGNED),
    "svm": (SVMClassifier, SIGNED),
    "BernoulliNB": (naive_bayes.BernoulliNB, SIGNED),
    "ComplementNB": (naive_bayes.ComplementNB, POSITIVE),
    "GaussianNB": (naive_bayes.GaussianNB, SIGNED),
    "MultinomialNB": (naive_bayes.MultinomialNB, POSITIVE),
}
CODES = np.floor(4.0 * POSITIVE)


def posterior(make: Callable[[], Any], rows: np.ndarray, weight: float | None, folder: Path) -> np.ndarray | None:
    """P(class | row) of the rows learned, from the model and from its file; None if learning was refused."""
    try:
        clf = make().fit(rows, Y, sample_weight=None if weight is None else np.full(len(rows), weight))
    except LikelyError as error:
        assert "." in str(error)
        return None
    found = clf.predict_proba(rows)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-9)
    if hasattr(clf, "save"):
        clf.save(folder / "model.likely")
        np.testing.assert_array_equal(likely.load(folder / "model.likely").predict_proba(rows), found)
    return np.asarray(found)


@pytest.mark.parametrize("name", MAKERS)
def test_every_weight_and_number_is_learned_or_refused(name: str, tmp_path: Path) -> None:
    make, cells = MAKERS[name]
    for weight, value in itertools.product(WEIGHTS, VALUES):
        found = posterior(make, cells * value, weight, tmp_path)
        if weight is not None and not 0.0 <= weight <= HEAVIEST:
            assert found is None, f"weights of {weight}"
        elif value <= 1e150:
            assert found is not None, f"weights of {weight}, numbers up to {value}"


@pytest.mark.parametrize("weight", WEIGHTS)
def test_codes_of_any_weight(weight: float | None, tmp_path: Path) -> None:
    found = posterior(naive_bayes.CategoricalNB, CODES, weight, tmp_path)
    assert (found is None) == (weight is not None and not 0.0 <= weight <= HEAVIEST)


@pytest.mark.parametrize("name", ["bayes", "full", "GaussianNB"])
def test_only_the_ratios_of_heavy_weights_matter(name: str) -> None:
    make, cells = MAKERS[name]
    by_weight = [make().fit(cells, Y, sample_weight=np.full(60, w)).predict_proba(cells) for w in (1e12, 1e90)]
    np.testing.assert_allclose(*by_weight, rtol=1e-6)


def test_rows_of_next_to_no_weight_have_the_mean_and_spread_of_rows() -> None:
    light = naive_bayes.GaussianNB().fit(X, Y, sample_weight=np.full(60, 1e-320))
    whole = naive_bayes.GaussianNB().fit(X, Y)
    np.testing.assert_allclose(light.var_, whole.var_, rtol=1e-12)
    np.testing.assert_allclose(light.theta_, whole.theta_, rtol=1e-12)


@pytest.mark.parametrize("missing", ["weights", "surrogates"])
@pytest.mark.parametrize("times, weight", [(1000, None), (1, 1e8), (1, 1e90)])
def test_a_gap_finds_its_branch_in_a_tree_of_many_cases(
    missing: Any, times: int, weight: float | None, tmp_path: Path
) -> None:
    """From 16,384 up a case is more than what rounding may be about."""
    rows, labels = np.tile(X, (times, 1)), np.tile(Y, times)
    weights = None if weight is None else np.full(len(rows), weight)
    clf = TreeClassifier(missing=missing).fit(rows, labels, weights)
    inner = clf.tree_.column >= 0
    assert inner.any()
    assert ((clf.tree_.majority_branch >= 0) & (clf.tree_.majority_branch < clf.tree_.n_children))[inner].all()
    clf.save(tmp_path / "tree.likely")
    gap = np.full((1, 2), np.nan)
    np.testing.assert_array_equal(likely.load(tmp_path / "tree.likely").predict_proba(gap), clf.predict_proba(gap))


@pytest.mark.parametrize("name", ["bayes", "full", "GaussianNB", "MultinomialNB", "poisson"])
def test_a_column_that_does_not_add_up_is_named(name: str) -> None:
    make, cells = MAKERS[name]
    rows = np.column_stack([cells[:, 0], 1.7e308 * cells[:, 1]])
    with pytest.raises(DataError, match=r"olumn ('x1'|1) holds numbers so large"):
        make().fit(rows, Y)


def test_a_row_that_weighs_too_much_is_named() -> None:
    weight = np.where(np.arange(60) == 17, 2.0 * HEAVIEST, 1.0)
    with pytest.raises(DataError, match=r"weight of row 17 is 2e\+100 .* 1e\+100 is the most"):
        BayesClassifier().fit(X, Y, weight)


@pytest.mark.parametrize("name", ["bayes", "bins", "multinomial", "full", "aode", "GaussianNB", "MultinomialNB"])
def test_what_is_added_must_add_up(name: str) -> None:
    make, cells = MAKERS[name]
    clf = make().fit(cells, Y, sample_weight=np.full(60, 0.9 * HEAVIEST / 60))
    before = clf.predict_proba(cells)
    with pytest.raises(NotMergeable, match="1e\\+100 is the most"):
        clf.partial_fit(cells, Y, sample_weight=np.full(60, 0.9 * HEAVIEST / 60))
    np.testing.assert_array_equal(clf.predict_proba(cells), before)
    if isinstance(clf, BayesClassifier | FullBayesClassifier | AODEClassifier):
        with pytest.raises(NotMergeable, match="1e\\+100 is the most"):
            clf + clf


def test_columns_that_only_together_are_too_large_are_named() -> None:
    one, two = (BayesClassifier().fit(np.full((4, 2), [1.0, side]) + 0.0, list("abab")) for side in (8e303, 9e303))
    with pytest.raises(DataError, match="'x1' holds numbers so large"):
        for _ in range(12):
            one.merge(two)


def test_counts_beyond_doubt_are_predicted_for_in_proportion() -> None:
    clf = BayesClassifier(families="multinomial").fit([[3.0, 1.0], [1.0, 3.0]], ["a", "b"])
    for rows in (np.array([[1.7e308, 1.6e308], [1.6e308, 1.7e308], [0.0, 1.0]]),):
        assert clf.predict(rows).tolist() == ["a", "b", "b"]
        assert clf.predict(sparse.csr_array(rows)).tolist() == ["a", "b", "b"]
    rates = BayesClassifier(families="poisson").fit([[1.0], [2.0], [8.0], [9.0]], list("aabb"))
    assert rates.predict([[1.7e308], [0.0]]).tolist() == ["b", "a"]


@pytest.mark.parametrize("name", ["bayes", "full", "aode", "evidence", "tree", "svm"])
def test_no_threads_at_all_are_refused(name: str) -> None:
    clf = MAKERS[name][0]().set_params(n_jobs=0)
    with pytest.raises(SettingsError, match="n_jobs is 0"):
        clf.fit(SIGNED, Y)


@pytest.mark.parametrize("place", [-5, 3, 999_999])
@pytest.mark.parametrize("name", ["multinomial", "svm", "MultinomialNB", "BernoulliNB"])
def test_places_outside_of_a_sparse_matrix_are_refused(name: str, place: int) -> None:
    whole = sparse.csr_array(np.eye(4, 3))
    broken = sparse.csr_array(np.eye(4, 3))
    broken.indices[1] = place
    clf = MAKERS[name][0]()
    with pytest.raises(DataError, match="sparse matrix is malformed"):
        clf.fit(broken, list("abab"))
    clf.fit(whole, list("abab"))
    with pytest.raises(DataError, match="sparse matrix is malformed"):
        clf.predict(broken)
