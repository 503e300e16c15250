"""Novel rows: less evidence than ordinary ones, whichever columns are known."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from likely import REFUSED, BayesClassifier, DataError, Loss, SettingsError
from likely.decide import Novelty
from likely.models.classifier import Classifier

NAN = float("nan")


def mixed(n: int, seed: int, gaps: float = 0.0) -> tuple[pd.DataFrame, Any]:
    """Columns whose densities differ by orders of magnitude, as units do."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    table = pd.DataFrame(
        {
            "km": 1e3 * rng.normal(size=n) + 1e3 * y,
            "mm": 1e-6 * rng.normal(size=n) + 1e-6 * y,
            "kg": rng.normal(size=n) - y,
            "sky": rng.choice(["grey", "blue", "red"], n, p=[0.6, 0.3, 0.1]),
        }
    )
    for name in table:
        table[name] = table[name].where(rng.random(n) >= gaps)
    return table, y


def test_the_quantile_is_the_share_of_ordinary_rows_that_are_novel() -> None:
    X, y = mixed(4000, 0)
    clf = BayesClassifier().fit(X, y)
    fresh, _ = mixed(4000, 1)
    for quantile in (0.0, 0.01, 0.1):
        novelty = clf.novelty(X, quantile)
        rate = (clf.decide(X, Loss.binary(), novelty=novelty) == REFUSED).mean()
        assert rate == pytest.approx(quantile, abs=0.001)
        rate = (clf.decide(fresh, Loss.binary(), novelty=novelty) == REFUSED).mean()
        assert rate == pytest.approx(quantile, abs=0.01)


def test_two_reasons_to_refuse() -> None:
    X = np.r_[np.random.default_rng(0).normal(size=(200, 2)), 4 + np.random.default_rng(1).normal(size=(200, 2))]
    clf = BayesClassifier().fit(X, np.repeat(["low", "high"], 200))
    rows = [[0.0, 0.0], [2.0, 2.0], [90.0, 90.0], [2.0, 2.02]]
    loss = Loss.zero_one(["low", "high"], refuse=0.2)
    novelty = clf.novelty(X)
    frame = clf.decisions(rows, loss, novelty=novelty)
    assert frame["reason"].tolist() == ["", "ambiguous", "novel", "ambiguous"]
    assert frame["decision"].tolist() == ["low", REFUSED, REFUSED, REFUSED]
    np.testing.assert_allclose(frame["risk"][1:], 0.2)
    assert clf.decide(rows, loss, novelty=novelty).tolist() == frame["decision"].tolist()
    free = clf.decisions(rows, loss.refusing(None), novelty=novelty)
    assert free["reason"].tolist() == ["", "", "novel", ""]
    assert free["risk"].notna().all()
    assert clf.decide(rows, loss.refusing(None), novelty=novelty)[2] is REFUSED


@pytest.mark.parametrize("known", [["km"], ["mm"], ["kg", "sky"], ["km", "mm", "kg"], ["sky"]], ids="-".join)
def test_rows_with_gaps_are_no_more_novel_than_others(known: list[str]) -> None:
    """The density of a known column counts in its unit; a gap is credited with that of an ordinary cell."""
    X, y = mixed(3000, 0)
    clf = BayesClassifier().fit(X, y)
    novelty = clf.novelty(X, 0.02)
    assert novelty.ordinary["km"] < -5 < 5 < novelty.ordinary["mm"]
    fresh, _ = mixed(3000, 1)
    fresh[[name for name in fresh if name not in known]] = None
    assert (clf.decide(fresh, Loss.binary(), novelty=novelty) == REFUSED).mean() <= 0.04
    if "sky" not in known:
        for name in known:
            fresh[name] = 100 * X[name].abs().max()
        assert (clf.decide(fresh, Loss.binary(), novelty=novelty) == REFUSED).all()


@pytest.mark.parametrize("missing", ["ignore", "value"])
def test_ordinary_rows_may_have_gaps_themselves(missing: Any) -> None:
    X, y = mixed(3000, 0, gaps=0.3)
    clf = BayesClassifier(missing=missing).fit(X, y)
    novelty = clf.novelty(X, 0.02)
    fresh, _ = mixed(3000, 1, gaps=0.3)
    novel = clf.decide(fresh, Loss.binary(), novelty=novelty) == REFUSED
    assert novel.mean() == pytest.approx(0.02, abs=0.012)
    many = fresh.isna().sum(axis=1) >= 2
    assert novel[many].mean() <= 0.04
    assert novel[~many].mean() <= 0.05


def test_a_value_never_seen_is_novel_although_it_says_nothing_about_the_class() -> None:
    X = {"sky": ["grey"] * 300 + ["blue"] * 300, "wind": ["weak", "strong"] * 300}
    clf = BayesClassifier().fit(X, np.repeat([0, 1], 300))
    novelty = clf.novelty(X, 0.0)
    rows = {"sky": ["grey", "green", None], "wind": ["weak", "weak", "weak"]}
    assert clf.decisions(rows, Loss.binary(), novelty=novelty)["reason"].tolist() == ["", "novel", ""]
    assert clf.unseen == "ignore"


def test_impossible_rows_are_novel_and_do_not_disturb() -> None:
    X = {"a": list("xxyy"), "b": list("xxyy")}
    clf = BayesClassifier(smoothing=0, unseen="smooth").fit(X, [0, 0, 1, 1])
    odd = {"a": list("xxyx"), "b": list("xxyy")}
    novelty = clf.novelty(odd, 0.0)
    assert novelty.threshold == -np.inf
    assert clf.decisions(odd, Loss.binary(), novelty=novelty)["reason"].tolist() == ["", "", "", "novel"]


def test_flowers_of_another_kind() -> None:
    X, y = load_iris(return_X_y=True)
    known = y != 2
    clf = BayesClassifier().fit(X[known], y[known])
    novelty = clf.novelty(X[known], 0.02)
    reasons = clf.decisions(X, Loss.zero_one([0, 1]), novelty=novelty)["reason"] == "novel"
    assert reasons[known].mean() <= 0.02
    assert reasons[~known].mean() > 0.7


def test_it_can_be_kept_and_read() -> None:
    X, y = mixed(100, 0)
    novelty = BayesClassifier().fit(X, y).novelty(X)
    assert pickle.loads(pickle.dumps(novelty)) == novelty  # noqa: S301
    assert "0.01 of 100 ordinary rows" in repr(novelty)


def test_what_cannot_be_told_is_said() -> None:
    X, y = mixed(100, 0)
    clf = BayesClassifier().fit(X, y)
    with pytest.raises(SettingsError, match=r"clf\.novelty\(rows"):
        clf.decide(X, Loss.binary(), novelty=0.01)  # type: ignore[arg-type]
    for quantile in (-0.1, 1.0, NAN):
        with pytest.raises(SettingsError, match="quantile"):
            clf.novelty(X, quantile)
    with pytest.raises(DataError, match="at least one"):
        Novelty.settle(np.empty(0), 0.1, {})

    class Plain(Classifier):
        classes_ = np.array([0, 1])

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            return self

        def predict_proba(self, X: Any) -> Any:
            return np.full((3, 2), 0.5)

    with pytest.raises(SettingsError, match="no density"):
        Plain().novelty(None)
    counts = np.random.default_rng(0).poisson(1, size=(50, 3))
    with pytest.raises(SettingsError, match="'complement'"):
        BayesClassifier(families="complement").fit(counts, counts[:, 0] > 0).novelty(counts)
    texts = {"t": ["red wine", "blue wine", "red sky", "blue sky"]}
    with pytest.raises(SettingsError, match="'text complement' of 't' has no density"):
        BayesClassifier(families={"t": "complement"}, schema={"t": "text"}).fit(texts, list("abab")).novelty(texts)
