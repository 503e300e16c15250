"""Worked example O: with two classes, deciding by risk is a threshold for the likelihood ratio."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely import BayesClassifier, Loss, SettingsError
from likely.decide import decide_posterior, likelihood_ratio_threshold


def test_the_formula() -> None:
    loss = Loss([[1, 7], [4, 2]], decisions=["one", "two"], truths=[1, 2])
    assert likelihood_ratio_threshold(loss, [0.75, 0.25]) == pytest.approx((7 - 2) / (4 - 1) * 0.25 / 0.75, rel=1e-14)
    assert likelihood_ratio_threshold(Loss.zero_one([1, 2]), {2: 0.25, 1: 0.75}) == pytest.approx(1 / 3, rel=1e-14)
    assert likelihood_ratio_threshold(Loss.zero_one([1, 2]), [0.5, 0.5]) == 1.0


@given(st.lists(st.integers(-5, 9), min_size=4, max_size=4), st.integers(0, 10), st.integers(0, 2**32 - 1))
def test_deciding_by_it_is_deciding_by_risk(costs: list[int], tenths: int, seed: int) -> None:
    loss = Loss(np.reshape(costs, (2, 2)), decisions=["one", "two"], truths=[1, 2])
    priors = np.array([tenths / 10, 1 - tenths / 10])
    if loss.costs[0, 1] < loss.costs[1, 1] and loss.costs[1, 0] < loss.costs[0, 0] and 0 < tenths < 10:
        with pytest.raises(SettingsError, match="same order"):
            likelihood_ratio_threshold(loss, priors)
        return
    threshold = likelihood_ratio_threshold(loss, priors)
    density = np.random.default_rng(seed).uniform(0.01, 1, size=(30, 2))
    ratio = density[:, 0] / density[:, 1]
    joint = density * priors
    decided = decide_posterior(joint / joint.sum(axis=1, keepdims=True), [1, 2], loss)
    clear = np.abs(ratio - threshold) > 1e-9
    assert decided[clear].tolist() == np.where(ratio >= threshold, "one", "two")[clear].tolist()


def test_a_classifier_agrees() -> None:
    rng = np.random.default_rng(3)
    y = rng.random(500) < 0.3
    X = rng.normal(size=(500, 2)) + y[:, None]
    loss = Loss({"act": {True: 0, False: 1}, "wait": {True: 5, False: 0}})
    clf = BayesClassifier(priors={True: 0.25, False: 0.75}).fit(X, y)
    equal = clf.with_priors("uniform").predict_joint_log_proba(X)
    ratio = np.exp(equal[:, 1] - equal[:, 0])
    threshold = likelihood_ratio_threshold(loss, {True: 0.25, False: 0.75})
    assert clf.decide(X, loss).tolist() == np.where(ratio > threshold, "act", "wait").tolist()


def test_decisions_that_are_always_or_never_best() -> None:
    always = {"one": {1: 0, 2: 0}, "two": {1: 1, 2: 1}}
    assert likelihood_ratio_threshold(always, [0.5, 0.5]) == 0.0
    never = {"one": {1: 1, 2: 1}, "two": {1: 0, 2: 0}}
    assert math.isinf(likelihood_ratio_threshold(never, [0.5, 0.5]))
    assert math.isinf(likelihood_ratio_threshold(Loss.zero_one([1, 2]), [0.0, 1.0]))
    assert likelihood_ratio_threshold(Loss.zero_one([1, 2]), [1.0, 0.0]) == 0.0


@pytest.mark.parametrize(
    ("loss", "priors"),
    [
        (Loss.zero_one("abc"), [0.5, 0.5]),
        (Loss.zero_one("ab", refuse=1), [0.5, 0.5]),
        (Loss.zero_one("ab"), [0.5, 0.6]),
        (Loss.zero_one("ab"), [1.5, -0.5]),
        (Loss.zero_one("ab"), [1.0]),
        (Loss.zero_one("ab"), {"a": 1.0}),
    ],
    ids=str,
)
def test_what_has_no_threshold_is_refused(loss: Loss, priors: object) -> None:
    with pytest.raises(SettingsError):
        likelihood_ratio_threshold(loss, priors)  # type: ignore[arg-type]
