"""Families of numbers and smoothing, chosen by leave-one-out likelihood: against leaving rows out one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.utils.estimator_checks import parametrize_with_checks

import likely
from likely import BayesClassifier, Laplace, SettingsError
from likely.arrays import Array
from likely.families import Settings
from likely.families.select import GAMMAS, best_gamma, best_of, leave_one_out_shares, likelihoods
from likely.stats import Histogram

rng = np.random.default_rng(12)
N = 300
Y = rng.choice(["a", "b", "c"], N)
SHIFT = (Y == "b") * 1.0
TABLE = {
    "bell": rng.normal(size=N) + SHIFT,
    "income": np.exp(rng.normal(size=N) + SHIFT),
    "visits": rng.poisson(2 + 2 * SHIFT).astype(float),
    "two humps": np.where(rng.random(N) < 0.5, rng.normal(-4, 0.3, N), rng.normal(4, 0.3, N) + SHIFT),
    "town": rng.choice(["u", "v", "w"], N),
}
TABLE["bell"][::7] = np.nan


@parametrize_with_checks([BayesClassifier(families="auto", smoothing="auto")])
def test_estimator_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("family", ["gaussian", "lognormal", "poisson", "bins"])
@pytest.mark.parametrize("variance", ["unbiased", "ml"])
def test_likelihood_is_that_of_rows_left_out(family: str, variance: Any) -> None:
    values, y = rng.poisson(3, 60) + 1.0, np.arange(60) % 2
    y[-6:], values[-6:] = [2, 2, 2, 3, 3, 3], [1.0, 3.0, 6.0, 2.0, 5.0, 9.0]  # classes of which two rows are left
    seen = Histogram.observe(values, y.astype(np.int32))
    told = likelihoods("x", seen, Settings(unbiased=variance == "unbiased"))[family]
    total = 0.0
    for row in range(60):
        rest = np.arange(60) != row
        left = BayesClassifier(families=family, variance=variance, priors="uniform").fit(values[rest, None], y[rest])
        total += left.predict_joint_log_proba(values[[row], None])[0, y[row]] - np.log(0.25)
    # The overall mean, towards which a rate is smoothed, has the row in it still.
    assert told == pytest.approx(total / 60, rel=1e-9 if family != "poisson" else 1e-3)


def test_bells_that_all_lie_on_the_floor() -> None:
    """Four times the variance of all rows is more than any of them has."""
    values, y = np.array([1.0, 2.0, 4.0, 5.0, 6.0, 9.0]), np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    for unbiased in (True, False):
        found = likelihoods("x", Histogram.observe(values, y), Settings(variance_floor=4.0, unbiased=unbiased))
        centre = np.array([values[(y == y[row]) & (np.arange(6) != row)].mean() for row in range(6)])
        expected = stats.norm(centre, 2.0 * values.std()).logpdf(values).mean()
        assert found["gaussian"] == pytest.approx(expected)


def test_who_competes_for_a_column() -> None:
    """Counts only where all numbers are known to be whole; nobody where there is but one number, or hardly a class."""

    def asked(values: Array, y: Array, weight: Array | None = None) -> set[str]:
        seen = Histogram.observe(np.asarray(values, dtype=float), np.asarray(y).astype(np.int32), weight)
        found = likelihoods("x", seen, Settings())
        assert np.isfinite(list(found.values())).all()
        return set(found)

    everyone = {"gaussian", "lognormal", "poisson", "bins"}
    whole, two = np.arange(1.0, 61.0), np.repeat([1.0, 2.0], 30)
    assert asked(whole, whole % 2) == asked(two, np.tile([0, 1], 30)) == everyone
    assert asked(whole - 1.0, whole % 2) == everyone - {"lognormal"}
    assert asked(whole + 0.5, whole % 2) == everyone - {"poisson"}
    assert asked(whole - 2.5, whole % 2) == everyone - {"poisson", "lognormal"}
    many = np.arange(1.0, 5001.0)
    assert asked(many, many % 2) == everyone - {"poisson"}, "cells of a histogram, whose numbers are not known"
    constant = Histogram.observe(np.full(9, 7.0), np.zeros(9, dtype=np.int32))
    assert likelihoods("x", constant, Settings()) == {"gaussian": 0.0}
    three = np.array([1.0, 2.0, 4.0])
    assert asked(three, np.zeros(3)) == everyone
    assert asked(three, np.zeros(3), np.array([1.0, 1.0, 0.9])) == {"gaussian"}


def test_rows_without_themselves_by_hand() -> None:
    """Two classes, three values: of a count of 2 among 3 one is left among 2; a weight below one is left out whole."""
    counts = np.array([[2.0, 1.0, 0.0], [0.0, 0.5, 4.0]])
    logs = [2 * np.log((1 + 0.5) / (2 + 1.5)), np.log(0.5 / (2 + 1.5)), 0.5 * np.log(0.5 / (4 + 1.5)),
            4 * np.log((3 + 0.5) / (3.5 + 1.5))]  # fmt: skip
    assert leave_one_out_shares(counts, 0.5) == pytest.approx(sum(logs))


def test_the_scale_of_smoothing() -> None:
    np.testing.assert_allclose(GAMMAS, np.geomspace(1 / 128, 16, 23))
    apart, alike = np.array([[50.0, 0.0], [0.0, 40.0]]), np.array([[9.0, 8.0], [7.0, 8.0]])
    assert (best_gamma(apart), best_gamma(alike)) == (1 / 128, 16.0)
    assert best_gamma(np.array([[7.0], [9.0]])) == best_gamma(np.zeros((2, 3))) == 1.0
    assert best_gamma(np.array([[1.0, 0.0], [0.0, 0.0]])) == 16.0


def test_each_column_finds_its_family() -> None:
    clf = BayesClassifier(families="auto").fit(TABLE, Y)
    assert clf.families_ == {
        "bell": "gaussian",
        "income": "lognormal",
        "visits": "poisson",
        "two humps": "bins",
        "town": "categorical",
    }
    why = clf.schema_["income"].why
    assert why.index("lognormal") < why.index("gaussian") and "leave-one-out" in why
    assert "leave-one-out" in clf._repr_html_inner()


def test_only_where_asked_for() -> None:
    clf = BayesClassifier(families={"income": "auto", "visits": "bins"}).fit(TABLE, Y)
    assert clf.families_["income"] == "lognormal" and clf.families_["visits"] == "bins"
    assert clf.families_["two humps"] == "gaussian"
    with pytest.raises(SettingsError, match="needs the rows"):
        clf.resettle(families="auto")


def test_the_choice_is_kept() -> None:
    clf = BayesClassifier(families="auto", smoothing="auto").fit(TABLE, Y)
    chosen = dict(clf.families_)
    clf.partial_fit({**TABLE, "bell": np.exp(TABLE["bell"])}, Y)
    assert clf.families_ == chosen
    assert clf.resettle(priors="uniform", smoothing=2.0).families_ == chosen
    assert set(clf.smoothing_.values()) == {Laplace(2.0)}


def test_numbers_that_a_family_cannot_hold() -> None:
    y = np.zeros(5, dtype=np.int32)
    assert set(likelihoods("x", Histogram.observe(np.array([-1.0, 0.0, 1.0, 2.0, 3.0]), y), Settings())) == {
        "gaussian",
        "bins",
    }
    assert "lognormal" not in likelihoods("x", Histogram.observe(np.array([0.0, 1.0, 1.0, 2.0, 3.0]), y), Settings())
    assert likelihoods("x", Histogram.observe(np.full(5, 7.0), y), Settings()) == {"gaussian": 0.0}
    assert best_of({"gaussian": 1.0, "bins": 1.0}) == "gaussian"
    huge = likelihoods("x", Histogram.observe(np.array([1e300, 2e300, 3e300, 1e-300]), y[:4]), Settings())
    assert all(np.isfinite(value) or value == -np.inf for value in huge.values())


def test_two_numbers_are_enough_to_compare_families() -> None:
    y = np.repeat([0, 1], 10).astype(np.int32)
    told = likelihoods("x", Histogram.observe(np.tile([1.0, 4.0], 10), y), Settings())
    assert set(told) == {"gaussian", "lognormal", "poisson", "bins"}
    assert set(likelihoods("x", Histogram.observe(np.full(20, 4.0), y), Settings())) == {"gaussian"}


def test_best_gamma_by_hand() -> None:
    counts = np.array([[6.0, 1.0, 0.0], [2.0, 5.0, 3.0]])

    def slow(gamma: float) -> float:
        total = 0.0
        for line in counts:
            for value, n in enumerate(line):
                for _ in range(int(n)):
                    left = line.copy()
                    left[value] -= 1
                    total += np.log((left[value] + gamma) / (left.sum() + 3 * gamma))
        return total

    assert best_gamma(counts) == max(GAMMAS, key=slow)


def test_smoothing_follows_the_counts() -> None:
    clf = BayesClassifier(smoothing="auto").fit(TABLE, Y)
    assert clf.smoothing_["town"] == Laplace(best_gamma(clf.summary_["town"].counts))  # type: ignore[attr-defined]
    telling = BayesClassifier(smoothing={"town": "auto"}).fit({"town": Y, "other": TABLE["town"]}, Y)
    assert telling.smoothing_["town"] == Laplace(GAMMAS[0]) and telling.smoothing_["other"] == Laplace(1.0)
    assert "Laplace(gamma=0.0078125)" in telling._repr_html_inner()
    fixed = BayesClassifier(smoothing={"town": GAMMAS[0]}).fit({"town": Y, "other": TABLE["town"]}, Y)
    row = {"town": ["a"], "other": ["u"]}
    np.testing.assert_array_equal(telling.predict_proba(row), fixed.predict_proba(row))


@pytest.mark.parametrize("families", ["multinomial", "bernoulli", "bins", "poisson"])
def test_smoothing_of_every_family(families: str) -> None:
    counts = rng.poisson(1, size=(80, 3)).astype(float)
    clf = BayesClassifier(smoothing="auto", families=families).fit(counts, Y[:80])
    assert np.isfinite(clf.predict_proba(counts)).all()
    report = likely.evaluate(clf, counts, Y[:80], cv="loo")
    assert report.n_rows == 80
    texts = BayesClassifier(smoothing="auto").fit(["good fine", "bad poor", "good", "bad"], ["p", "n", "p", "n"])
    assert set(texts.smoothing_) == {"x0"} or len(texts.smoothing_) == 1


def test_saved(tmp_path: Path) -> None:
    clf = BayesClassifier(families="auto", smoothing="auto", weights="learned").fit(TABLE, Y)
    clf.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    np.testing.assert_array_equal(again.predict_proba(TABLE), clf.predict_proba(TABLE))
    assert again.smoothing_ == clf.smoothing_ and again.schema_["income"].why == clf.schema_["income"].why
    assert again.families == "auto"


def test_evaluated_with_the_choice_inside_the_folds() -> None:
    clf = BayesClassifier(families="auto", smoothing="auto")
    assert not clf.adds_up and BayesClassifier(smoothing="auto").adds_up
    plain = likely.evaluate(BayesClassifier(), TABLE, Y, cv=5)
    assert likely.evaluate(clf, TABLE, Y, cv=5).log_loss < plain.log_loss  # type: ignore[operator]


def test_bad_words() -> None:
    with pytest.raises(SettingsError, match="smoothing is 'best'"):
        BayesClassifier(smoothing="best").fit(TABLE, Y)
    with pytest.raises(SettingsError, match="no family 'best'"):
        BayesClassifier(families="best").fit(TABLE, Y)
