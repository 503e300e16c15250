"""Evidence learns on, forgets and merges by its counts, says that it is stale, and is as good as new when refreshed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import likely
from likely import DataError, EvidenceClassifier, ModelFileError, NotMergeable
from likely.stats import Histogram, Summary, ValueCounts
from likely.store import container
from tests.models.evidence.test_classifier import mixed

TABLE, Y = mixed(300)
FITTED = EvidenceClassifier().fit(TABLE[:200], Y[:200])


def copied() -> EvidenceClassifier:
    return FITTED.with_priors(None)


def same(a: Summary, b: Summary) -> None:
    assert a.classes.labels.tolist() == b.classes.labels.tolist()
    np.testing.assert_array_equal(a.classes.weights, b.classes.weights)
    assert set(a.parts) == set(b.parts)
    for part, seen in a.parts.items():
        other = b.parts[part]
        if isinstance(seen, ValueCounts) and isinstance(other, ValueCounts):
            assert seen.values == other.values
            np.testing.assert_array_equal(seen.counts, other.counts)
        elif isinstance(seen, Histogram) and isinstance(other, Histogram):
            assert seen.shift == other.shift
            np.testing.assert_array_equal(seen.cells, other.cells)
            np.testing.assert_array_equal(seen.counts, other.counts)


@given(st.integers(0, 300), st.integers(0, 300))
def test_counts_add_up_whatever_the_parts(a: int, b: int) -> None:
    low, high = sorted((a, b))
    whole = FITTED.emptied().partial_fit(TABLE, Y)
    parts = [FITTED.emptied() for _ in range(3)]
    for part, rows in zip(parts, (slice(0, low), slice(low, high), slice(high, 300)), strict=True):
        if len(Y[rows]):
            part.partial_fit(TABLE[rows], Y[rows])
    same((parts[0] + parts[1] + parts[2]).summary_, whole.summary_)
    if low < high:
        same(whole.forget(TABLE[low:high], Y[low:high]).summary_, (parts[0] + parts[2]).summary_)


def test_the_same_counts_give_the_same_predictions() -> None:
    on = copied().partial_fit(TABLE[200:], Y[200:])
    merged = copied() + FITTED.emptied().partial_fit(TABLE[200:], Y[200:])
    back = copied().partial_fit(TABLE, Y).forget(TABLE[:200], Y[:200])
    assert on.summary_.n_rows == merged.summary_.n_rows == back.summary_.n_rows == 300
    np.testing.assert_allclose(on.predict_proba(TABLE), merged.predict_proba(TABLE), atol=1e-12)
    np.testing.assert_allclose(on.predict_proba(TABLE), back.predict_proba(TABLE), atol=1e-12)
    assert FITTED.summary_.n_rows == 200
    assert not FITTED.stale_


def test_stale_it_is_weighted_naive_bayes_over_its_counts() -> None:
    """By hand: log share + offset + Σ weight · log((count + 4 · share of the bin)/(class + 4))."""
    clf = copied().partial_fit(TABLE[200:], Y[200:])
    ways, classes = clf.model_.evidence.hyperparameters, clf.summary_.classes.weights
    joint = np.tile(np.log(classes / classes.sum()) + ways.class_offsets, (300, 1))
    codes = clf.model_.codes(likely.table.as_table(TABLE))
    for place, column in enumerate(clf.model_.evidence.encoding.columns):
        coarse = column.coarse[codes[:, place]]
        for cell in np.unique(coarse[coarse > 0]):
            counts = np.array([(coarse == cell)[label == Y].sum() for label in clf.classes_], dtype=float)
            share = np.log((counts + 4.0 * counts.sum() / 300) / (classes + 4.0))
            joint[coarse == cell] += ways.feature_weights[place] * share
    shares = np.exp(joint - joint.max(axis=1, keepdims=True))
    np.testing.assert_allclose(clf.predict_proba(TABLE), shares / shares.sum(axis=1, keepdims=True), atol=1e-12)
    assert clf.score(TABLE, Y) > 0.6
    assert clf.pairs_ == []
    assert clf.table_of("a")["weight"].sum() == 300


def test_it_says_that_it_is_stale() -> None:
    clf = copied()
    assert "stale" not in repr(clf)
    clf.partial_fit(TABLE[200:], Y[200:])
    assert clf.stale_
    assert "weighted naive Bayes until refresh(X, y)" in repr(clf)
    assert "until refresh(X, y)" in clf._repr_html_()
    why = clf.explain(TABLE[:3])
    assert why.columns[0] == "intercept (corrections are stale)"
    np.testing.assert_allclose(why.joint, clf.predict_joint_log_proba(TABLE[:3]), atol=1e-9)
    assert clf.with_priors("uniform").stale_
    clf.refresh(TABLE, Y)
    assert not clf.stale_
    assert "stale" not in repr(clf)
    assert clf.explain(TABLE[:3]).columns[0] == "intercept"
    assert not clf.partial_fit(TABLE[:5], Y[:5]).fit(TABLE, Y).stale_


def test_refreshed_with_the_rows_of_its_fit_it_is_the_same() -> None:
    clf = copied().partial_fit(TABLE[200:], Y[200:]).forget(TABLE[200:], Y[200:]).refresh(TABLE[:200], Y[:200])
    np.testing.assert_allclose(clf.predict_proba(TABLE), FITTED.predict_proba(TABLE), atol=0.02)
    assert clf.pairs_ == FITTED.pairs_
    X, y = load_iris(return_X_y=True, as_frame=True)
    iris = EvidenceClassifier().fit(X, y)
    again = iris.with_priors(None).partial_fit(X[:9], y[:9]).forget(X[:9], y[:9]).refresh(X, y)
    np.testing.assert_allclose(again.predict_proba(X), iris.predict_proba(X), atol=0.02)


def test_refreshed_with_more_rows_it_is_about_as_good_as_fitted() -> None:
    more, y = mixed(1200, seed=3)
    test, truth = mixed(1000, seed=4)

    def loss(clf: EvidenceClassifier) -> float:
        return float(-clf.predict_log_proba(test)[np.arange(len(truth)), (truth == "yes").astype(int)].mean())

    clf = copied().partial_fit(more, y)
    stale = loss(clf)
    clf.refresh(pd.concat([TABLE[:200], more]), np.concatenate([Y[:200], y]))
    fitted = EvidenceClassifier().fit(more, y)
    assert loss(clf) < stale - 0.02
    assert loss(clf) < loss(fitted) + 0.02, "variances were chosen for fewer rows, which costs a little"


def test_a_fair_sample_will_do_and_counts_stay() -> None:
    clf = copied().partial_fit(TABLE[200:], Y[200:]).refresh(TABLE[::2], Y[::2])
    assert clf.summary_.n_rows == 300
    np.testing.assert_allclose(clf.model_.prior, clf.summary_.classes.weights / 300)


def test_new_and_lost_classes() -> None:
    clf = copied().partial_fit(TABLE[200:210], ["maybe"] * 10)
    assert clf.classes_.tolist() == ["maybe", "no", "yes"]
    shares = clf.predict_proba(TABLE)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    with pytest.raises(DataError, match="every class needs some"):
        clf.refresh(TABLE, Y)
    labels = np.concatenate([Y[:200], ["maybe"] * 10])
    assert clf.refresh(TABLE[:210], labels).predict_proba(TABLE).shape == (300, 3)
    clf.forget(TABLE[200:210], ["maybe"] * 10)
    assert clf.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(
        clf.predict_proba(TABLE), copied().partial_fit(TABLE[:1], Y[:1]).forget(TABLE[:1], Y[:1]).predict_proba(TABLE)
    )


def test_nothing_is_left() -> None:
    clf = FITTED.emptied()
    assert clf.summary_.n_rows == 0
    with pytest.raises(DataError, match="All rows have been forgotten"):
        clf.predict(TABLE)
    assert clf.partial_fit(TABLE, Y).score(TABLE, Y) > 0.6


def test_texts_are_counted_too() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["ham", "spam"], 200)
    words = {"ham": ["meeting", "lunch"], "spam": ["win", "money"]}
    table = pd.DataFrame({"body": [" ".join(rng.choice([*words[label], "the", "of"], 4)) for label in y]})
    table["n"] = rng.normal(size=200)
    clf = EvidenceClassifier(schema={"body": "text"}).fit(table[:100], y[:100])
    other = clf.emptied().partial_fit(table[100:], y[100:])
    whole = clf + other
    assert whole.summary_.n_rows == 200
    assert whole.score(table, y) > 0.8
    assert whole.refresh(table, y).score(table, y) > 0.8


@pytest.mark.parametrize("clf", [FITTED.emptied(), copied().partial_fit(TABLE[200:], Y[200:])], ids=["empty", "stale"])
def test_its_state_lasts(clf: EvidenceClassifier, tmp_path: Path) -> None:
    clf.save(tmp_path / "m.likely")
    back = likely.load(tmp_path / "m.likely")
    assert back.stale_
    same(back.summary_, clf.summary_)
    both = [one.with_priors(None).partial_fit(TABLE[:50], Y[:50]) for one in (clf, back)]
    np.testing.assert_array_equal(both[0].predict_proba(TABLE), both[1].predict_proba(TABLE))
    rows = [one.refresh(TABLE, Y).predict_proba(TABLE) for one in both]
    np.testing.assert_array_equal(rows[0], rows[1])


def changes() -> list[Any]:
    def stale(learned: dict[str, Any]) -> None:
        learned["stale"] = "no"

    def ways(learned: dict[str, Any]) -> None:
        learned["evidence"]["ways"]["weights"] = learned["evidence"]["ways"]["offsets"]

    def shares(learned: dict[str, Any]) -> None:
        learned["evidence"]["ways"]["shares"] = learned["evidence"]["ways"]["counted"]

    def lost(learned: dict[str, Any]) -> None:
        del learned["evidence"]["ways"]

    def counted(learned: dict[str, Any]) -> None:
        learned["summary"]["parts"] = learned["summary"]["parts"][1:]

    def swapped(learned: dict[str, Any]) -> None:
        first, second = learned["summary"]["parts"][1:3]
        first["columns"], second["columns"] = second["columns"], first["columns"]

    def coarser(learned: dict[str, Any]) -> None:
        learned["summary"]["parts"][0]["shift"] = 52

    def form(learned: dict[str, Any]) -> None:
        del learned["form"]

    return [stale, ways, shares, lost, counted, swapped, coarser, form]


@pytest.mark.parametrize("change", changes(), ids=lambda change: change.__name__)
def test_made_up_states_are_refused(change: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    FITTED.save(path)
    document, arrays = container.unpack(path.read_bytes())
    change(document["learned"])
    path.write_bytes(container.pack(document, arrays))
    with pytest.raises(ModelFileError):
        likely.load(path)


def test_a_file_of_the_first_form_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    FITTED.save(path)
    document, arrays = container.unpack(path.read_bytes())
    del document["learned"]["form"]
    path.write_bytes(container.pack(document, arrays))
    with pytest.raises(ModelFileError, match="fit it anew"):
        likely.load(path)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(NotMergeable, match=r"do not read 'b' in the same way"):
        copied().merge(EvidenceClassifier().fit(TABLE.drop(columns="b"), Y))
    with pytest.raises(NotMergeable, match=r"do not read 'number' in the same way"):
        copied().merge(EvidenceClassifier(schema={"number": "nominal"}).fit(TABLE, Y))
    with pytest.raises(NotMergeable):
        copied().forget(TABLE, Y)
    clf = copied()
    with pytest.raises(DataError):
        clf.partial_fit(TABLE[:3], Y[:2])
    assert not clf.stale_
