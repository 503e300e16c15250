"""The numbers of the founding lectures, by hand and to the digit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from pytest import approx
from sklearn.datasets import load_iris

import likely
from likely import BayesClassifier, MEstimate
from likely.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from likely.teaching import datasets


def split(table: dict[str, list[Any]], target: str) -> tuple[dict[str, list[Any]], list[Any]]:
    return {name: cells for name, cells in table.items() if name != target}, table[target]


def one(**cells: Any) -> dict[str, list[Any]]:
    return {name: [cell] for name, cell in cells.items()}


# A: Bayes' rule


def test_a_stiff_joint_is_hardly_arthrosis() -> None:
    assert likely.bayes_rule(prior=0.0001, likelihood=0.8, evidence=0.1) == approx(0.0008, rel=1e-12)


@pytest.mark.parametrize("numbers", [(1.2, 0.5, 0.5), (0.5, -0.1, 0.5), (0.5, 0.5, 0.0), (0.9, 0.9, 0.1)])
def test_a_impossible_probabilities_are_refused(numbers: tuple[float, float, float]) -> None:
    with pytest.raises(likely.LikelyError):
        likely.bayes_rule(*numbers)


# B: nominal attributes, no smoothing


COLD = one(runny_nose="no", cough="yes", red_skin="no", fever="yes")


def test_b_a_zero_stays_a_zero() -> None:
    X, y = split(datasets.colds(), "state")
    clf = BayesClassifier(smoothing=0).fit(X, y)
    joint = np.exp(clf.predict_joint_log_proba(COLD))
    assert clf.classes_.tolist() == ["healthy", "sick"]
    assert joint[0, 0] == 0.0
    sick = Fraction(3, 5) * Fraction(1, 3) * Fraction(2, 3) * Fraction(1, 3) * Fraction(1, 3)
    assert sick == Fraction(2, 135)
    assert joint[0, 1] == approx(float(sick), rel=1e-12)
    assert clf.predict_proba(COLD).tolist() == [[0.0, 1.0]]
    assert clf.predict_log_proba(COLD)[0, 0] == -np.inf
    assert clf.predict(COLD).tolist() == ["sick"]


def test_b_laplace_and_m_estimate_are_one_formula() -> None:
    X, y = split(datasets.colds(), "state")
    laplace = BayesClassifier(smoothing=1).fit(X, y)
    m_estimate = BayesClassifier(smoothing=MEstimate(2)).fit(X, y)
    np.testing.assert_array_equal(laplace.predict_proba(COLD), m_estimate.predict_proba(COLD))
    # Of two healthy people none coughs: (0 + 1) / (2 + 2).
    healthy = Fraction(2, 5) * Fraction(2, 4) * Fraction(1, 4) * Fraction(3, 4) * Fraction(1, 4)
    assert np.exp(laplace.predict_joint_log_proba(COLD)[0, 0]) == approx(float(healthy), rel=1e-12)


def test_b_m_estimate_with_given_shares() -> None:
    X, y = split(datasets.colds(), "state")
    clf = BayesClassifier(smoothing={"cough": MEstimate(4, p={"yes": 0.1, "no": 0.9}), "fever": 0}).fit(
        {"cough": X["cough"], "fever": X["fever"]}, y
    )
    sick = Fraction(3, 5) * (2 + Fraction(4, 10)) / (3 + 4) * Fraction(1, 3)
    joint = np.exp(clf.predict_joint_log_proba(one(cough="yes", fever="yes")))
    assert joint[0, 1] == approx(float(sick), rel=1e-12)


# C: golf


GOLF_DAY = one(outlook="sunny", temperature="cool", humidity="high", wind="strong")


def test_c_no_golf_on_a_sunny_cool_humid_windy_day() -> None:
    X, y = split(datasets.golf(), "play")
    clf = BayesClassifier(smoothing=0).fit(X, y)
    joint = dict(zip(clf.classes_, np.exp(clf.predict_joint_log_proba(GOLF_DAY))[0], strict=True))
    assert joint["yes"] == approx(0.0053, abs=5e-5)
    assert joint["no"] == approx(0.0206, abs=5e-5)
    posterior = dict(zip(clf.classes_, clf.predict_proba(GOLF_DAY)[0], strict=True))
    assert posterior["yes"] == approx(0.205, abs=5e-4)
    assert posterior["no"] == approx(0.795, abs=5e-4)
    assert clf.predict(GOLF_DAY).tolist() == ["no"]


def test_c_smoothed_prior_and_smoothed_likelihood() -> None:
    X, y = split(datasets.golf(), "play")
    clf = BayesClassifier(priors="smoothed").fit(X, y)
    assert clf.model_.prior.tolist() == [6 / 16, 10 / 16]
    # Three outlooks: the denominator grows by three, so that the shares of a class sum to one.
    outlooks = {"outlook": ["sunny", "overcast", "rainy"]}
    alone = BayesClassifier().fit({"outlook": X["outlook"]}, y)
    shares = np.exp(alone.predict_joint_log_proba(outlooks) - np.log(alone.model_.prior))
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, rtol=1e-12)
    assert shares[0, 1] == approx((2 + 1) / (9 + 3), rel=1e-12)


# D: mixed attributes


def test_d_patients() -> None:
    X, y = split(datasets.patients(), "drug")
    clf = BayesClassifier(smoothing=0).fit(X, y)
    age = clf.summary_["age"]
    assert age.mean.ravel() == approx([36.3, 47.8], abs=0.05)
    assert age.variance(unbiased=True).ravel() == approx([161.9, 311.0], abs=0.05)
    rows = {"sex": ["male", "female"], "age": [61, 30], "blood_pressure": ["normal", "normal"]}
    np.testing.assert_allclose(clf.predict_proba(rows), [[0.219, 0.781], [0.671, 0.329]], atol=5e-4)
    factors = clf.explain(rows)
    density = np.exp(factors.contributions[:, factors.columns.index("age")])
    np.testing.assert_allclose(density, [[0.004787, 0.017120], [0.027703, 0.013567]], atol=5e-7)


# F: counts of words


WORDS = ["hanoi", "pho", "chaolong", "buncha", "omai", "banhgio", "saigon", "hutiu", "banhbo"]


def counted(texts: list[str]) -> np.ndarray:
    return np.array([[text.split().count(word) for word in WORDS] for text in texts], dtype=float)


@pytest.fixture
def dishes() -> tuple[np.ndarray, list[Any]]:
    table = datasets.dishes()
    return counted([str(text) for text in table["text"]]), table["label"]


D5, D6 = "hanoi hanoi buncha hutiu", "pho hutiu banhbo"


@pytest.mark.parametrize("make", [MultinomialNB, lambda: BayesClassifier(families="multinomial")])
def test_f_multinomial(dishes: tuple[np.ndarray, list[Any]], make: Any) -> None:
    clf = make().fit(*dishes)
    joint = np.exp(clf.predict_joint_log_proba(counted([D5])))[0]
    assert joint == approx([1.5e-4, 1.75e-5], rel=0.01)
    assert clf.predict_proba(counted([D5]))[0, 0] == approx(0.89548823, abs=5e-9)
    assert clf.predict_proba(counted([D6]))[0, 1] == approx(0.70824665, abs=5e-9)


@pytest.mark.parametrize("make", [BernoulliNB, lambda: BayesClassifier(families="bernoulli")])
def test_f_bernoulli(dishes: tuple[np.ndarray, list[Any]], make: Any) -> None:
    clf = make().fit(*dishes)
    assert clf.predict_proba(counted([D5]))[0, 0] == approx(0.76554295, abs=5e-9)
    assert clf.predict_proba(counted([D6]))[0, 1] == approx(0.83051419, abs=5e-9)


# G: Iris, naive


@pytest.mark.parametrize(
    "clf", [BayesClassifier(), BayesClassifier(variance="ml"), GaussianNB()], ids=["unbiased", "ml", "drop-in"]
)
def test_g_iris_has_six_errors(clf: Any) -> None:
    X, y = load_iris(return_X_y=True)
    assert (clf.fit(X, y).predict(X) != y).sum() == 6


# O: priors that are given


def test_o_given_and_equal_priors() -> None:
    X, y = split(datasets.golf(), "play")
    given = BayesClassifier(priors={"yes": 0.75, "no": 0.25}).fit(X, y)
    assert given.model_.prior.tolist() == [0.25, 0.75]
    equal = BayesClassifier(priors="uniform").fit(X, y)
    likelihood = equal.predict_joint_log_proba(GOLF_DAY) - np.log(0.5)
    counted_prior = given.resettle(priors=None).predict_joint_log_proba(GOLF_DAY) - np.log([5 / 14, 9 / 14])
    np.testing.assert_allclose(likelihood, counted_prior, rtol=1e-12)
