"""Models of evidence that were fitted apart go together: exact counts, and the bins of all rows counted at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import likely
from likely import EvidenceClassifier, NotMergeable
from likely.models.evidence.encoding import BinnedNumber
from tests.models.evidence.test_binning import same_column
from tests.models.evidence.test_classifier import mixed
from tests.models.evidence.test_updates import same

TABLE, Y = mixed(300)
PARTS = [EvidenceClassifier().fit(TABLE[at : at + 100], Y[at : at + 100]) for at in (0, 100, 200)]
WHOLE = EvidenceClassifier().fit(TABLE, Y)


def same_bins(a: EvidenceClassifier, b: EvidenceClassifier) -> None:
    for left, right in zip(a.model_.evidence.encoding.columns, b.model_.evidence.encoding.columns, strict=True):
        same_column(left, right)


def test_parts_that_were_fitted_apart_have_counts_and_bins_of_the_whole() -> None:
    a, b, c = PARTS
    together = a + b + c
    same(together.summary_, WHOLE.summary_)
    same_bins(together, WHOLE)
    assert together.stale_
    assert not a.stale_
    assert together.score(TABLE, Y) > 0.6


def test_grouping_and_order_are_free() -> None:
    a, b, c = PARTS
    other = a + (b + c)
    for one in ((a + b) + c, (c + b) + a):
        same(one.summary_, other.summary_)
        same_bins(one, other)
        np.testing.assert_allclose(one.predict_proba(TABLE), other.predict_proba(TABLE), atol=1e-12)


@given(st.lists(st.integers(0, 299), min_size=1, max_size=60, unique=True))
@settings(max_examples=25, deadline=None)
def test_taking_out_undoes(rows: list[int]) -> None:
    some, rest = TABLE.iloc[rows], np.setdiff1d(np.arange(300), rows)
    less = WHOLE.with_priors(None).forget(some, Y[rows])
    counted = WHOLE.emptied().partial_fit(TABLE.iloc[rest], Y[rest])
    same(less.summary_, counted.summary_)
    same_bins(less, counted)
    back = less.partial_fit(some, Y[rows])
    same(back.summary_, WHOLE.summary_)
    same_bins(back, WHOLE)


def test_weights_are_means_by_rows_and_what_was_chosen_is_that_of_more_rows() -> None:
    small, large = PARTS[0], EvidenceClassifier().fit(TABLE[100:], Y[100:])
    for both in (small + large, large + small):
        found = both.model_.evidence.hyperparameters
        mine, theirs = small.model_.evidence.hyperparameters, large.model_.evidence.hyperparameters
        np.testing.assert_allclose(found.feature_weights, (mine.feature_weights + 2.0 * theirs.feature_weights) / 3.0)
        np.testing.assert_allclose(found.class_offsets, (mine.class_offsets + 2.0 * theirs.class_offsets) / 3.0)
        np.testing.assert_array_equal(found.stacking_weights, theirs.stacking_weights)
        np.testing.assert_array_equal(found.terms.pairs, theirs.terms.pairs)
    nothing = small + large.emptied()
    np.testing.assert_array_equal(
        nothing.model_.evidence.hyperparameters.feature_weights, small.model_.evidence.hyperparameters.feature_weights
    )
    both = small.emptied() + large.emptied()
    assert both.summary_.n_rows == 0
    assert both.partial_fit(TABLE, Y).score(TABLE, Y) > 0.6


def test_columns_may_stand_in_another_order() -> None:
    one_pair = EvidenceClassifier(max_pairs=1)
    turned = clone(one_pair).fit(TABLE[["b", "constant", "number", "a"]][100:], Y[100:])
    straight = clone(one_pair).fit(TABLE[100:], Y[100:])
    assert turned.pairs_ == [("b", "a")]
    assert straight.pairs_ == [("a", "b")]
    ways = [(PARTS[0] + one).model_.evidence.hyperparameters for one in (turned, straight)]
    np.testing.assert_allclose(ways[0].feature_weights, ways[1].feature_weights, atol=0.01)
    assert ways[0].terms.tuples() == [(1, 2)]
    both = (PARTS[0] + turned).refresh(TABLE, Y)
    assert both.pairs_ == [("a", "b")]
    assert both.score(TABLE, Y) > 0.75


def test_other_classes_and_categories_are_welcome() -> None:
    table, y = TABLE[:100].assign(a="z"), np.where(Y[:100] == "no", "perhaps", Y[:100])
    both = PARTS[1] + EvidenceClassifier().fit(table, y)
    assert both.classes_.tolist() == ["no", "perhaps", "yes"]
    column = next(column for column in both.model_.evidence.encoding.columns if column.name == "a")
    assert not isinstance(column, BinnedNumber)
    assert "z" in column.levels
    assert both.predict(table[:20]).tolist() != both.predict(TABLE[:20]).tolist()
    labels = np.concatenate([Y[100:200], y])
    assert both.refresh(pd.concat([TABLE[100:200], table]), labels).score(table, y) > 0.6


def test_a_category_that_comes_later_is_counted() -> None:
    clf = WHOLE.with_priors(None).partial_fit(TABLE[:40].assign(a="new"), ["yes"] * 40)
    assert clf.table_of("a").set_index("a").loc["new", "weight"] == 40
    sure = clf.predict_proba(TABLE[:1].assign(a="new"))[0, 1]
    assert sure > clf.predict_proba(TABLE[:1].assign(a="x"))[0, 1]
    assert clf.predict_proba(TABLE[:1].assign(a="never"))[0, 1] < sure


def test_bins_move_with_the_rows() -> None:
    far = TABLE[:200].assign(number=1000.0 + TABLE["number"][:200])
    clf = WHOLE.with_priors(None).partial_fit(far, Y[:200])
    cuts = clf.model_.evidence.encoding.columns[0]
    assert isinstance(cuts, BinnedNumber)
    assert cuts.cuts[-1] > 1000.0
    clf.forget(far, Y[:200])
    same_bins(clf, WHOLE)


def test_many_distinct_numbers_that_were_counted_apart() -> None:
    """Beyond 2,048 distinct numbers a cell is counted: sums are still exact, whoever counted what."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(6_000, 2)), rng.choice(["u", "v"], 6_000)
    X[:, 0] += y == "v"
    start = EvidenceClassifier(max_pairs=0).fit(X[:50], y[:50]).emptied()
    parts = [start.emptied().partial_fit(X[k::3], y[k::3]) for k in range(3)]
    whole = start.emptied().partial_fit(X, y)
    together = parts[2] + (parts[0] + parts[1])
    same(together.summary_, whole.summary_)
    same_bins(together, whole)
    np.testing.assert_allclose(together.predict_proba(X), whole.predict_proba(X), atol=1e-12)
    assert whole.model_.evidence.encoding.columns[0].size > 60


def test_merged_it_lasts_and_is_refreshed(tmp_path: Path) -> None:
    together = PARTS[0] + PARTS[1] + PARTS[2]
    together.save(tmp_path / "m.likely")
    back = likely.load(tmp_path / "m.likely")
    same(back.summary_, together.summary_)
    same_bins(back, together)
    np.testing.assert_array_equal(back.predict_proba(TABLE), together.predict_proba(TABLE))
    back.refresh(TABLE, Y)
    assert not back.stale_
    same_bins(back, WHOLE)
    back.save(tmp_path / "n.likely")
    np.testing.assert_array_equal(likely.load(tmp_path / "n.likely").predict_proba(TABLE), back.predict_proba(TABLE))


def test_it_ranks_by_bins_and_tells_the_same_before_and_after() -> None:
    ranked = WHOLE.rank()
    together = (PARTS[0] + PARTS[1] + PARTS[2]).rank()
    pd.testing.assert_frame_equal(ranked, together)
    assert ranked["column"].iloc[0] == "number"
    assert 0.1 < ranked["information"].iloc[0] < 1.0


def test_texts_of_another_recipe_are_refused() -> None:
    table, y = pd.DataFrame({"t": ["win money", "lunch now"] * 20}), ["spam", "ham"] * 20
    clf = EvidenceClassifier(schema={"t": "text"}).fit(table, y)
    assert (clf + clf).summary_.n_rows == 80
    other = EvidenceClassifier(schema={"t": "text"}, text=likely.text.Tokenizer(ngram_range=(1, 2))).fit(table, y)
    with pytest.raises(NotMergeable):
        clf.merge(other)


def test_a_file_remembers_where_to_begin(tmp_path: Path) -> None:
    clf = WHOLE.with_priors(None).partial_fit(TABLE[:20], Y[:20])
    clf.save(tmp_path / "m.likely")
    back = likely.load(tmp_path / "m.likely")
    rows, labels = pd.concat([TABLE, TABLE[:20]]), np.concatenate([Y, Y[:20]])
    np.testing.assert_array_equal(
        back.refresh(rows, labels).predict_proba(TABLE), clf.refresh(rows, labels).predict_proba(TABLE)
    )


def test_with_other_classes_it_begins_anew() -> None:
    clf = WHOLE.with_priors(None).partial_fit(TABLE[:20], ["perhaps"] * 20)
    rows, labels = pd.concat([TABLE, TABLE[:20]]), np.concatenate([Y, ["perhaps"] * 20])
    assert clf.refresh(rows, labels).predict_proba(TABLE).shape == (300, 3)
    clf.forget(TABLE[:20], ["perhaps"] * 20).refresh(TABLE, Y)
    np.testing.assert_allclose(clf.predict_proba(TABLE), WHOLE.predict_proba(TABLE), atol=0.02)
