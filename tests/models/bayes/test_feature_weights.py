"""Learned weights: what is said twice counts once; adding up, stale, refreshed, explained, saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.utils.estimator_checks import parametrize_with_checks

import likely
from likely import BayesClassifier, DataError, SettingsError
from likely.models.feature_weights import FeatureWeights, _fit, units_of

rng = np.random.default_rng(8)
N = 500
HIDDEN = rng.normal(size=N)
Y = np.where(HIDDEN + rng.normal(size=N) > 0, "yes", "no")
TABLE = {
    **{f"copy{k}": HIDDEN + 0.2 * rng.normal(size=N) for k in range(5)},
    "noise": rng.normal(size=N),
    "town": rng.choice(["a", "b", "c"], N),
}
TABLE["copy0"][::9] = np.nan


@parametrize_with_checks([BayesClassifier(weights="learned")])
def test_estimator_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def learned(**settings: Any) -> BayesClassifier:
    return BayesClassifier(weights="learned", **settings).fit(TABLE, Y)


def test_copies_share_one_voice() -> None:
    before = likely.evaluate(BayesClassifier(), TABLE, Y, cv=5)
    after = likely.evaluate(BayesClassifier(weights="learned"), TABLE, Y, cv=5)
    assert after.log_loss < 0.75 * before.log_loss  # type: ignore[operator]
    weights = learned().weights_
    assert 0.3 < sum(weights[f"copy{k}"] for k in range(5)) < 2.0
    assert all(weight >= 0.0 for weight in weights.values())


def test_without_weights_they_are_one() -> None:
    clf = BayesClassifier().fit(TABLE, Y)
    assert set(clf.weights_.values()) == {1.0} and not clf.weights_stale_
    with pytest.raises(SettingsError, match="weights='learned'"):
        clf.refresh(TABLE, Y)
    with pytest.raises(SettingsError, match="weights is 'guessed'"):
        BayesClassifier(weights="guessed").fit(TABLE, Y)  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [{}, {"families": {"noise": "bins"}, "missing": "value"}])
def test_the_joint_is_a_weighted_sum(settings: dict[str, Any]) -> None:
    clf, plain = learned(**settings), BayesClassifier(**settings).fit(TABLE, Y)
    why, bare = clf.explain(TABLE), plain.explain(TABLE)
    np.testing.assert_allclose(why.joint, clf.predict_joint_log_proba(TABLE), rtol=1e-9)
    for place, name in enumerate(why.columns):
        expected = clf.weights_[name] * bare.contributions[:, place]
        np.testing.assert_allclose(why.contributions[:, place], expected, rtol=1e-9, atol=1e-12)
    assert clf.explain({**TABLE, "town": ["never"] * N}).status(1, len(TABLE) - 1) == "unseen"
    assert len(clf.rank()) == len(TABLE)
    target = clf.nomogram("yes")
    row = {name: cells[1] for name, cells in TABLE.items()}
    expected = clf.predict_proba({name: [cell] for name, cell in row.items()})[0, 1]
    assert target.probability(target.total(row)) == pytest.approx(expected)


def test_weights_are_the_best_for_rows_judged_without_themselves() -> None:
    """The slow way: leave each row out, ask each column, and look whether the loss has its slope at zero."""
    few = {name: TABLE[name][:60] for name in ("copy1", "copy2", "town")}
    y = Y[:60]
    clf = BayesClassifier(weights="learned").fit(few, y)
    evidence = np.empty((3, 60, 2))
    for row in range(60):
        rest = np.arange(60) != row
        left = BayesClassifier().fit({name: cells[rest] for name, cells in few.items()}, y[rest])
        evidence[:, row] = left.explain({name: cells[[row]] for name, cells in few.items()}).contributions[0]
    truth = (y == "yes").astype(int)
    counts = np.bincount(truth)
    start = np.log(counts)

    def loss(x: np.ndarray) -> float:
        scores = np.tensordot(x[:3], evidence, 1) + x[3:]
        total = np.log(np.exp(scores).sum(axis=1)).sum() - scores[np.arange(60), truth].sum()
        return float(total + 2.0 * ((x[:3] - 1.0) ** 2).sum() + 0.005 * ((x[3:] - start) ** 2).sum())

    weights, base = _fit(evidence, truth.astype(np.int32), np.ones(60), start)
    np.testing.assert_allclose(list(clf.weights_.values()), weights, atol=1e-4)
    found = np.concatenate([weights, base])
    slope = approx_fprime(found, loss, 1e-6)
    assert (np.abs(slope[found > 0.0]) < 0.02).all()
    assert clf.model_.prior[1] == pytest.approx(np.exp(base[1]) / np.exp(base).sum(), rel=1e-3)


def test_live_model_on_keeps_weights_and_says_that_they_are_stale() -> None:
    clf = learned()
    before = clf.weights_
    assert not clf.weights_stale_
    clf.partial_fit(TABLE, np.where(np.arange(N) % 9 == 0, "new", Y))
    assert clf.weights_stale_ and clf.weights_ == before and "new" in clf.classes_
    assert np.isfinite(clf.predict_proba(TABLE)).all()
    clf.forget(TABLE, np.where(np.arange(N) % 9 == 0, "new", Y))
    assert clf.weights_stale_ and clf.classes_.tolist() == ["no", "yes"]
    clf.refresh(TABLE, Y)
    assert not clf.weights_stale_
    np.testing.assert_allclose(list(clf.weights_.values()), list(before.values()), rtol=1e-6)
    both = learned() + learned()
    assert both.weights_stale_ and both.summary_.n_rows == 2 * N
    with pytest.raises(DataError, match="never learned"):
        clf.refresh(TABLE, ["strange"] * N)


def test_settled_again_without_data() -> None:
    clf = learned()
    assert not clf.with_priors("uniform").weights_stale_
    assert not clf.resettle(priors="uniform").weights_stale_
    assert clf.resettle(smoothing=3.0).weights_stale_
    np.testing.assert_allclose(
        clf.resettle(weights=None).predict_proba(TABLE),
        BayesClassifier(smoothing=3.0, priors="uniform").fit(TABLE, Y).predict_proba(TABLE),
    )


@pytest.mark.parametrize("stale", [False, True])
def test_saved(tmp_path: Path, stale: bool) -> None:
    clf = learned(families={"noise": "bins"})
    if stale:
        clf.partial_fit(TABLE, Y)
    clf.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    np.testing.assert_array_equal(again.predict_proba(TABLE), clf.predict_proba(TABLE))
    assert again.weights_ == clf.weights_ and again.weights_stale_ is stale


def test_weights_of_rows_and_threads() -> None:
    weight = rng.choice([1.0, 2.0], N)
    doubled = np.repeat(np.arange(N), weight.astype(int))
    one = BayesClassifier(weights="learned", n_jobs=1).fit(TABLE, Y, weight)
    two = BayesClassifier(weights="learned", n_jobs=2).fit(TABLE, Y, weight)
    assert one.weights_ == two.weights_
    many = BayesClassifier(weights="learned").fit({k: v[doubled] for k, v in TABLE.items()}, Y[doubled])
    assert abs(np.array(list(one.weights_.values())) - list(many.weights_.values())).max() < 0.2


def test_texts_counts_and_intervals() -> None:
    texts = ["good fine good" if label == "yes" else "bad poor" for label in Y[:80]]
    table = {"text": texts, "n": TABLE["copy1"][:80]}
    clf = BayesClassifier(weights="learned", schema={"text": "text"}).fit(table, Y[:80])
    why = clf.explain(table)
    np.testing.assert_allclose(why.joint, clf.predict_joint_log_proba(table), rtol=1e-9)
    assert sum(token.evidence for token in why.words["text"][0]) == pytest.approx(why.contributions[0, 0])
    counts = rng.poisson(2, size=(90, 4)).astype(float)
    clf = BayesClassifier(weights="learned", families="multinomial").fit(counts, Y[:90])
    assert len(set(clf.weights_.values())) == 1
    low, high = learned().predict_interval(TABLE)
    assert (low < high).all()
    assert units_of({"a": "gaussian", "b": "complement", "c": "complement"}) == [("a",), ("b", "c")]


def test_edges() -> None:
    one = BayesClassifier(weights="learned").fit({"x": [1.0, 2.0]}, ["a", "a"])
    assert one.predict({"x": [3.0]}).tolist() == ["a"]
    lone = BayesClassifier(weights="learned", smoothing=0).fit({"x": ["u", "v", "w"]}, ["a", "b", "c"])
    assert lone.weights_ == {"x": 1.0} and np.isfinite(lone.predict_proba({"x": ["u"]})).all()
    assert isinstance(lone.exponents_, FeatureWeights)
