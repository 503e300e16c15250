"""What a comparison recommends: the line of the class shares, and probabilities that are not worse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import likely
from likely import Loss, compare
from likely.comparison.comparison import variance_inflation


@pytest.fixture(scope="module")
def iris() -> tuple[np.ndarray, np.ndarray]:
    return load_iris(return_X_y=True)


class Rater(ClassifierMixin, BaseEstimator):
    """Gives the class that the first column names a share, all of it where the second column is 1; learns nothing."""

    def __init__(self, share: float = 0.9, deaf: bool = True) -> None:
        self.share = share
        self.deaf = deaf

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        named, certain = np.asarray(X).T == 1.0
        share = np.where(certain & (not self.deaf), 1.0, self.share)
        return np.column_stack([np.where(named == k, share, 1.0 - share) for k in (0, 1)])

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(X)[:, 0].astype(int)


def told(n: int = 400, wrong: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """What a column says of the class, wrongly in some rows, and a second one that marks three of these."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, n)
    named = np.where(rng.random(n) < wrong, 1 - y, y)
    marked = np.isin(np.arange(n), np.flatnonzero(named != y)[:3])
    return np.column_stack([named, marked]).astype(float), y


class TestMajority:
    def test_it_is_the_class_shares(self, iris: tuple[np.ndarray, np.ndarray]) -> None:
        X, y = iris[0][:120], iris[1][:120]  # 50, 50 and 20 rows
        found = compare(X, y, ["naive Bayes"], cv=(iris[0][120:], iris[1][120:])).to_frame()
        assert found.loc["majority class", "error"] == 1.0
        assert found.loc["majority class", "log_loss"] == pytest.approx(-np.log(21 / 123))

    def test_it_stands_among_the_others_once(self, iris: tuple[np.ndarray, np.ndarray]) -> None:
        named = compare(*iris, ["majority", "naive Bayes"], cv=3)
        assert list(named.to_frame().index) == ["naive Bayes", "majority class"]
        mine = compare(*iris, {"majority class": GaussianNB()}, cv=3)
        assert (mine.best, mine.majority) == ("majority class", "majority class 2")
        assert compare(*iris, "majority", cv=3).best == "majority class"

    def test_noise_does_not_beat_it(self) -> None:
        rng = np.random.default_rng(1)
        X, y = rng.normal(size=(80, 6)), rng.integers(0, 2, 80)
        found = compare(X, y, ["naive Bayes", "logistic"], cv=5)
        assert not found.beats_majority
        assert found.to_frame().index[0] == "majority class"
        assert found.best != "majority class"
        assert "is better than" in str(found)

    def test_it_is_recommended_where_all_are_worse(self) -> None:
        """Right in four rows of five, and certain: the class shares alone are better probabilities."""
        X, y = told()
        found = compare(X, y, {"certain": Rater(0.9999)}, cv=5)
        assert (found.best, found.simplest) == ("certain", "majority class")
        assert "the class proportions alone are better than every classifier here" in " ".join(str(found).split())
        assert compare(X, y, {"certain": Rater(0.9999)}, cv=5, by="error").simplest == "certain"
        assert compare(X, y, {"fair": Rater(0.8)}, cv=5).simplest == "fair"


class TestProbabilitiesCount:
    def test_a_worse_one_is_not_recommended_whatever_decides(self) -> None:
        """All name the same classes; the simpler one says them too loudly."""
        X, y = told()
        loss = Loss.zero_one([0, 1])
        for how in ({"by": "error"}, {"loss": loss}, {"by": "log_loss"}):
            judged = compare(X, y, {"loud": Rater(0.99), "fair": Rater(0.8)}, cv=5, **how)
            entries = [replace(entry, simplicity=int(entry.name == "fair")) for entry in judged.entries]
            board = likely.Comparison(entries, [], judged.by, variance_inflation(5, len(y)))
            assert board.simplest == "fair"
            assert board.unsure == ([] if judged.by == "log_loss" else ["loud"])
            assert ("worse probabilities: loud." in str(board)) == (judged.by != "log_loss")

    def test_a_few_huge_losses_are_no_excuse(self) -> None:
        """Three certain mistakes make the log loss so noisy that its interval reaches zero; the Brier score tells."""
        X, y = told(wrong=0.02)
        judged = compare(X, y, {"wild": Rater(0.8, deaf=False), "fair": Rater(0.98)}, cv=5)
        entries = [replace(entry, simplicity=int(entry.name == "fair")) for entry in judged.entries]
        board = likely.Comparison(entries, [], "log_loss", variance_inflation(5, len(y)))
        assert board.differences["wild"].is_noise
        assert board.simplest == "fair"
