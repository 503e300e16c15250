"""Settings of a support vector machine: searched ones, bad ones, and other ways for many rows."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

import likely
from likely import SVMClassifier
from likely.errors import SettingsError
from likely.models.svm import Gauss, KernelWarning, Sigmoid
from tests.models.svm.test_classifier import ROWS, SIDES


class TestSearch:
    def test_finds_a_better_setting(self) -> None:
        X, y = load_iris(return_X_y=True)
        clf = SVMClassifier(C="search").fit(X, y)
        tried = clf.search_
        assert len(tried) == 25
        best = tried[(tried["C"] == clf.C_) & (tried["kernel"] == repr(clf.kernel_))]
        assert best["error"].iloc[-1] == tried["error"].min()
        assert isinstance(clf.kernel_, Gauss)

    def test_goes_from_few_rows_to_more(self) -> None:
        X, y = load_digits(return_X_y=True)
        clf = SVMClassifier(C="search", kernel=Gauss(5.0)).fit(X, y)
        tried = clf.search_
        assert tried["rows"].is_monotonic_increasing
        assert tried["rows"].iloc[-1] == len(X)
        assert len(tried) == 6
        assert clf.kernel_ == Gauss(5.0)

    def test_counts_its_trials(self, capsys: pytest.CaptureFixture[str]) -> None:
        X, y = load_iris(return_X_y=True)
        SVMClassifier(C="search", kernel="linear", progress=True).fit(X, y)
        assert capsys.readouterr().err.endswith("trial 5 of 5\n")


@pytest.mark.parametrize(
    "settings",
    [
        {"C": 0.0},
        {"C": "soft"},
        {"C": True},
        {"kernel": "rbf"},
        {"folds": 1},
        {"method": "fast"},
        {"max_rows": 0},
        {"tolerance": 2.0},
        {"random_state": -1},
        {"priors": "none"},
        {"class_weight": "heavy"},
        {"class_weight": {1: "a"}},
        {"n_jobs": -7},
        {"scale": "yes"},
        {"schema": "numeric"},
    ],
    ids=str,
)
def test_bad_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        SVMClassifier(**settings).fit(ROWS, SIDES)


@pytest.mark.parametrize(("given", "told"), [("rbf", "gauss"), ("gaus", "gauss"), ("poly", "polynomial")])
def test_a_kernel_of_another_name_is_hinted_at(given: str, told: str) -> None:
    with pytest.raises(SettingsError, match=f"Did you mean '{told}'"):
        SVMClassifier(kernel=given).fit(ROWS, SIDES)


class TestManyRows:
    """More rows than `max_rows` (30,000 unless said otherwise) are learned another way, without a word to say."""

    def test_the_stated_count_is_the_limit(self) -> None:
        assert SVMClassifier().max_rows == 30_000
        X, y = load_breast_cancer(return_X_y=True)
        assert SVMClassifier(max_rows=569).fit(X, y).method_ == "exact"
        near = SVMClassifier(max_rows=568, landmarks=100).fit(X, y)
        assert near.method_ == "landmarks"
        assert len(near.support_) == 100
        assert near.score(X, y) > 0.95
        report = likely.evaluate(SVMClassifier(max_rows=200, landmarks=100), X, y, cv=3)
        assert report.log_loss is not None
        assert report.log_loss < 0.15
        assert SVMClassifier(max_rows=568, kernel="linear").fit(X, y).method_ == "plane"

    def test_few_landmarks_are_allowed(self) -> None:
        X, y = load_iris(return_X_y=True)
        assert len(SVMClassifier(method="landmarks", landmarks=9).fit(X, y).support_) == 9

    def test_a_hard_margin_has_no_other_way(self) -> None:
        with pytest.raises(SettingsError, match="give a number for C"):
            SVMClassifier(C="hard", max_rows=3).fit(ROWS, SIDES)


def test_a_bad_kernel_is_warned_of() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(KernelWarning):
        SVMClassifier(kernel=Sigmoid(1.0, -1.0)).fit(X, y)
