"""Families of numbers and smoothing, chosen by leave-one-out likelihood: against leaving rows out one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import likely
from likely import BayesClassifier, Laplace, SettingsError
from likely.families import Settings
from likely.families.select import GAMMAS, best_gamma, best_of, likelihoods
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
    seen = Histogram.observe(values, y.astype(np.int32))
    told = likelihoods("x", seen, Settings(unbiased=variance == "unbiased"))[family]
    total = 0.0
    for row in range(60):
        rest = np.arange(60) != row
        left = BayesClassifier(families=family, variance=variance, priors="uniform").fit(values[rest, None], y[rest])
        total += left.predict_joint_log_proba(values[[row], None])[0, y[row]] - np.log(0.5)
    # The overall mean, towards which a rate is smoothed, has the row in it still.
    assert told == pytest.approx(total / 60, rel=1e-9 if family != "poisson" else 1e-3)


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
