"""Folds are even, seeded, and hold classes and groups together as promised."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely import SettingsError
from likely.evaluation.folds import MIN_PER_CLASS, by_fold, grouped, split, stratified, stratified_sample

codes = st.lists(st.integers(0, 4), min_size=4, max_size=80).map(lambda y: np.array(y, dtype=np.int32))


@given(codes, st.integers(2, 4), st.integers(0, 5))
def test_folds_differ_by_one_row_in_all_and_in_every_class(y: np.ndarray, n_folds: int, seed: int) -> None:
    fold = stratified(y, n_folds, seed)
    assert np.ptp(np.bincount(fold, minlength=n_folds)) <= 1
    for label in np.unique(y):
        assert np.ptp(np.bincount(fold[y == label], minlength=n_folds)) <= 1
    rows = by_fold(fold, n_folds)
    assert np.array_equal(np.sort(np.concatenate(rows)), np.arange(len(y)))
    assert all((fold[own] == k).all() for k, own in enumerate(rows))


def test_what_is_left_over_goes_to_the_first_folds() -> None:
    assert np.bincount(stratified(np.zeros(4, dtype=np.int32), 3, 0)).tolist() == [2, 1, 1]
    assert np.bincount(stratified(np.zeros(11, dtype=np.int32), 4, 0)).tolist() == [3, 3, 3, 2]


def test_a_seed_deals_the_same_again_and_another_does_not() -> None:
    y = np.repeat([0, 1], 50).astype(np.int32)
    assert np.array_equal(stratified(y, 5, 1), stratified(y, 5, 1))
    assert not np.array_equal(stratified(y, 5, 1), stratified(y, 5, 2))


@given(codes, st.integers(0, 5), st.data())
def test_groups_stay_together(y: np.ndarray, seed: int, data: st.DataObject) -> None:
    groups = np.array(data.draw(st.lists(st.integers(0, 9), min_size=len(y), max_size=len(y))), dtype=np.int32)
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int32)
    if groups.max() < 1:
        with pytest.raises(SettingsError, match="groups"):
            grouped(y, groups, 2, seed)
        return
    fold, test = grouped(y, groups, 2, seed), split(y, groups, 0.4, seed)
    for group in range(groups.max() + 1):
        assert len(np.unique(fold[groups == group])) == 1
        assert len(np.unique(test[groups == group])) == 1
    assert set(fold) == {0, 1}
    assert 0 < test.sum() < len(y)


def test_groups_are_spread_evenly_over_classes() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(100), 10).astype(np.int32)
    y = (rng.random(1000) < np.repeat(rng.random(100), 10)).astype(np.int32)
    fold = grouped(y, groups, 5, 0)
    shares = [y[fold == k].mean() for k in range(5)]
    assert np.ptp(shares) < 0.03
    assert np.ptp(np.bincount(fold)) <= 20


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.8])
def test_a_split_takes_its_share_of_every_class(share: float) -> None:
    y = np.repeat([0, 1, 2], [200, 60, 40]).astype(np.int32)
    test = split(y, None, share, 0)
    for label, n in enumerate([200, 60, 40]):
        assert abs(test[y == label].sum() - share * n) <= 1


def test_rare_classes_are_spread_over_groups_of_many_sizes() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), rng.integers(5, 30, 60)).astype(np.int32)
    y = np.zeros(len(groups), dtype=np.int32)
    for group in range(10):
        y[np.flatnonzero(groups == group)[:3]] = 1
    fold = grouped(y, groups, 5, 0)
    assert np.bincount(fold[y == 1]).tolist() == [6] * 5
    assert np.ptp(np.bincount(fold)) <= 5


@pytest.mark.parametrize(("share", "tested"), [(0.3, 3), (0.34, 3), (0.36, 4), (0.01, 1), (0.99, 9)])
def test_a_split_takes_the_share_in_whole_groups(share: float, tested: int) -> None:
    groups = np.repeat(np.arange(10), 10).astype(np.int32)
    test = split(np.zeros(100, dtype=np.int32), groups, share, 0)
    assert test.sum() == 10 * tested


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=600), st.integers(1, 300), st.integers(0, 3),
    st.lists(st.integers(0, 600), max_size=5),
)  # fmt: skip
def test_a_fair_sample(labels: list[int], most: int, seed: int, cuts: list[int]) -> None:
    y = np.array(labels, dtype=np.int32)
    found = stratified_sample(lambda: [y], most, seed)
    assert (np.diff(found) > 0).all()
    counts, drawn = np.bincount(y, minlength=5), np.bincount(y[found], minlength=5)
    for have, got in zip(counts.tolist(), drawn.tolist(), strict=True):
        assert got == min(max(round(most * have / len(y)), MIN_PER_CLASS), have)
    parts = np.split(y, sorted(min(cut, len(y)) for cut in cuts))
    np.testing.assert_array_equal(found, stratified_sample(lambda: parts, most, seed))


def test_a_sample_comes_from_everywhere_and_follows_no_rhythm() -> None:
    y = np.zeros(10_000, dtype=np.int32)
    found = stratified_sample(lambda: [y], 1000, 0)
    np.testing.assert_array_equal(found // 10, np.arange(1000))
    assert np.bincount(found % 10, minlength=10).min() > 50
    assert not np.array_equal(found, stratified_sample(lambda: [y], 1000, 1))


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, 1.5])
def test_a_split_that_tests_nothing_or_learns_nothing_is_refused(share: float) -> None:
    with pytest.raises(SettingsError, match="between 0 and 1"):
        split(np.array([0, 1] * 5, dtype=np.int32), None, share, 0)
