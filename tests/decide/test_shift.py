"""Classes that become more or less common: other priors, given or estimated without labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from likely import BayesClassifier, DataError, Loss, SettingsError
from likely.decide import priors
from likely.decide.priors import shifted_prior


def drawn(shares: Any, n: int, seed: int, apart: float = 1.5) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.choice(len(shares), n, p=shares)
    return rng.normal(size=(n, 2)) + apart * np.column_stack([y, y % 2]), np.array(["a", "b", "c"])[y]


def test_other_priors_share_the_summary() -> None:
    X, y = drawn([0.2, 0.5, 0.3], 500, 0)
    clf = BayesClassifier().fit(X, y)
    before = clf.predict_proba(X)
    new = {"a": 0.7, "b": 0.2, "c": 0.1}
    other = clf.with_priors(new)
    assert other.summary_ is clf.summary_
    assert other.priors == new
    assert clf.priors is None
    np.testing.assert_array_equal(clf.predict_proba(X), before)
    by_hand = before / clf.model_.prior * np.array([0.7, 0.2, 0.1])
    np.testing.assert_allclose(other.predict_proba(X), by_hand / by_hand.sum(axis=1, keepdims=True), rtol=1e-9)
    again = clone(other).fit(X, y)
    np.testing.assert_allclose(again.predict_proba(X), other.predict_proba(X), rtol=1e-12)
    with pytest.raises(SettingsError, match="'b'"):
        clf.with_priors({"a": 1.0})
    other.partial_fit(X, y)
    assert clf.summary_.n_rows == 500
    np.testing.assert_array_equal(clf.predict_proba(X), before)


@pytest.mark.parametrize("new", [[0.05, 0.15, 0.8], [0.6, 0.1, 0.3], [0.0, 0.5, 0.5]], ids=str)
def test_shifted_priors_are_recovered(new: list[float]) -> None:
    X, y = drawn([0.4, 0.4, 0.2], 20_000, 0)
    clf = BayesClassifier().fit(X, y)
    fresh, truth = drawn(new, 20_000, 1)
    found = clf.estimate_priors(fresh)
    assert list(found) == ["a", "b", "c"]
    assert sum(found.values()) == pytest.approx(1.0)
    np.testing.assert_allclose(list(found.values()), new, atol=0.015)
    shifted = clf.with_priors(found)
    loss = Loss.zero_one(clf.classes_)
    assert loss.paid(shifted.decide(fresh, loss), truth).mean() < loss.paid(clf.decide(fresh, loss), truth).mean()


def test_without_a_shift_little_changes() -> None:
    X, y = drawn([0.4, 0.4, 0.2], 10_000, 0)
    clf = BayesClassifier().fit(X, y)
    np.testing.assert_allclose(list(clf.estimate_priors(X).values()), clf.model_.prior, atol=0.01)


def test_it_ends_at_the_most_likely_priors() -> None:
    """Checked against the slope: at the maximum it is 1 for every class that is there, and less for the others."""
    rng = np.random.default_rng(0)
    ratios = np.exp(rng.normal(size=(400, 4)))
    found = shifted_prior(ratios, np.full(4, 0.25), tolerance=1e-9)
    slope = (ratios / (ratios @ found)[:, None]).mean(axis=0)
    assert slope.max() <= 1 + 1e-9
    np.testing.assert_allclose(slope[found > 1e-3], 1.0, atol=1e-6)


def test_known_rows_are_counted() -> None:
    """Where every row is sure of its class, the estimate is the share of the classes, in one step."""
    ratios = np.eye(3)[[0, 0, 1, 2, 2, 2]]
    np.testing.assert_allclose(shifted_prior(ratios, np.full(3, 1 / 3)), [2 / 6, 1 / 6, 3 / 6], rtol=1e-12)


def test_rows_that_tell_nothing_are_left_out() -> None:
    ratios = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(shifted_prior(ratios, np.array([0.5, 0.5])), [2 / 3, 1 / 3], rtol=1e-12)
    with pytest.raises(DataError, match="No row"):
        shifted_prior(ratios[1:2], np.array([0.5, 0.5]))
    with pytest.raises(SettingsError, match="tolerance"):
        shifted_prior(ratios, np.array([0.5, 0.5]), tolerance=0.0)


def test_classes_that_can_hardly_be_told_apart_are_said_to_be_so() -> None:
    X, y = drawn([0.3, 0.3, 0.4], 5000, 0, apart=0.02)
    with pytest.warns(ConvergenceWarning, match="hard to tell apart"):
        BayesClassifier().fit(X, y).estimate_priors(drawn([0.8, 0.1, 0.1], 5000, 1, apart=0.02)[0], max_iterations=3)


def test_one_class_and_a_class_of_prior_zero() -> None:
    assert BayesClassifier().fit([[1.0], [2.0]], ["a", "a"]).estimate_priors([[1.0]]) == {"a": 1.0}
    clf = BayesClassifier(priors={"a": 1.0, "b": 0.0}).fit([[1.0], [2.0], [5.0], [6.0]], list("aabb"))
    assert clf.estimate_priors([[1.0], [5.0]]) == {"a": 1.0, "b": 0.0}


def test_of_very_many_rows_some_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = drawn([0.4, 0.4, 0.2], 9000, 0)
    clf = BayesClassifier().fit(X, y)
    monkeypatch.setattr(priors, "MOST_CELLS", 3 * 3000)
    kept = priors.likelihood_ratios(clf._scores(X), clf.model_.prior)
    np.testing.assert_allclose(kept, (clf.predict_proba(X) / clf.model_.prior)[::3], rtol=1e-12)
    monkeypatch.setattr(priors, "MOST_CELLS", 3 * 777)
    assert len(priors.likelihood_ratios(clf._scores(X), clf.model_.prior)) == 9000 // 12


def test_shares_are_as_likely_as_the_tolerance_promises() -> None:
    ratios = np.random.default_rng(5).random((400, 3)) ** 2
    start = np.full(3, 1.0 / 3.0)

    def likelihood(shares: Any) -> float:
        return float(np.log(ratios @ shares).sum())

    best = likelihood(shifted_prior(ratios, start, tolerance=1e-12, max_iterations=100_000))
    for tolerance in (1e-3, 1e-6):
        assert best - likelihood(shifted_prior(ratios, start, tolerance)) <= tolerance
    np.testing.assert_array_equal(shifted_prior(ratios, start), shifted_prior(ratios, start, 1e-3))


@pytest.mark.filterwarnings("error")
def test_classes_that_overlap_take_tens_of_steps() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=2_000) + 0.3 * rng.integers(0, 2, 2_000)
    ratios = np.column_stack([np.exp(-0.5 * x**2), np.exp(-0.5 * (x - 0.3) ** 2)])
    shifted_prior(ratios, np.array([0.99, 0.01]), tolerance=1e-6, max_iterations=100)  # plain steps take more than 400
