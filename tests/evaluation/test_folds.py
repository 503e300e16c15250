"""Folds are even, seeded, and hold classes and groups together as promised."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely import SettingsError
from likely.evaluation.folds import (
    MIN_PER_CLASS,
    by_fold,
    check_design,
    grouped,
    shuffled_by_class,
    split,
    stratified,
    stratified_sample,
    sums_without_each,
)

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


# Many folds, few rows, and limits.


@pytest.mark.parametrize("n_folds", [2, 63, 64, 65, 70, 300])
def test_many_folds_are_as_even_as_few(n_folds: int) -> None:
    y = np.repeat([0, 1, 2], [150, 101, 49]).astype(np.int32)
    fold = stratified(y, n_folds, 3)
    assert np.ptp(np.bincount(fold, minlength=n_folds)) <= 1 and len(np.bincount(fold)) == n_folds
    for label in range(3):
        assert np.ptp(np.bincount(fold[y == label], minlength=n_folds)) <= 1
    assert np.bincount(fold, minlength=n_folds).tolist() == sorted(np.bincount(fold, minlength=n_folds), reverse=True)
    assert not np.array_equal(fold, stratified(y, n_folds, 4))


def test_a_seed_means_the_same_folds_from_one_version_to_the_next() -> None:
    """Figures of a report come out again: up to 64 folds rows draw cards, beyond they are shuffled."""
    y = (np.arange(200) % 3 == 0).astype(np.int32)
    found = {n_folds: stratified(y, n_folds, 0)[:6].tolist() for n_folds in (5, 64, 65)}
    assert found == {5: [3, 1, 0, 0, 4, 4], 64: [39, 15, 1, 1, 51, 58], 65: [15, 56, 58, 55, 20, 17]}


def test_every_row_may_come_into_every_fold() -> None:
    y = np.repeat([0, 1], [6, 3]).astype(np.int32)
    seen = np.zeros((len(y), 3))
    for seed in range(600):
        seen[np.arange(len(y)), stratified(y, 3, seed)] += 1
    assert seen.min() > 150 and seen.max() < 250


def test_as_many_folds_as_rows_or_groups_are_the_most() -> None:
    y = np.array([0, 1, 0, 1], dtype=np.int32)
    assert sorted(stratified(y, 4, 0).tolist()) == [0, 1, 2, 3]
    assert sorted(set(grouped(y, np.array([0, 1, 2, 2], dtype=np.int32), 3, 0).tolist())) == [0, 1, 2]
    with pytest.raises(SettingsError, match="only 4 rows"):
        stratified(y, 5, 0)
    with pytest.raises(SettingsError, match="only 3 groups"):
        grouped(y, np.array([0, 1, 2, 2], dtype=np.int32), 4, 0)
    with pytest.raises(SettingsError, match="only 1 groups"):
        grouped(y, np.zeros(4, dtype=np.int32), 2, 0)
    with pytest.raises(SettingsError, match="only 0 groups"):
        grouped(np.zeros(0, np.int32), np.zeros(0, np.int32), 2, 0)
    with pytest.raises(SettingsError, match="at least two folds"):
        stratified(y, 1, 0)


def folds_of_groups(sizes: list[int], y: list[int], n_folds: int = 2) -> list[int]:
    groups = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    return sorted(np.bincount(grouped(np.array(y, dtype=np.int32), groups, n_folds, 0)).tolist())


def test_the_largest_groups_are_dealt_first_and_ties_go_to_the_smaller_fold() -> None:
    assert folds_of_groups([1, 1, 1, 1, 4], [0] * 8) == [4, 4]
    sizes = [5, 4, 3, 3, 2, 1]  # each group a class of its own: no fold holds anything of it
    assert folds_of_groups(sizes, np.repeat(np.arange(6), sizes).tolist()) == [9, 9]


@pytest.mark.parametrize(("last", "joins"), [((1, 3), 1), ((1, 1), 0)])
def test_what_a_fold_holds_of_a_class_is_weighed_by_the_square_of_the_class(last: tuple[int, int], joins: int) -> None:
    """The first fold has 1 row of a and 12 of b, the second 2 and 3: by hand, 1/16 + 36/324 > 2/16 + 9/324 sends a
    group of 1 and 3 to the second, 1/16 + 12/256 < 2/16 + 3/256 one of 1 and 1 to the first."""
    groups_of = [(1, 12), (2, 3), last]
    y = np.concatenate([np.repeat([0, 1], counts) for counts in groups_of]).astype(np.int32)
    groups = np.repeat([0, 1, 2], [sum(counts) for counts in groups_of]).astype(np.int32)
    of_group = [int(grouped(y, groups, 2, 0)[groups == group][0]) for group in range(3)]
    assert of_group == [0, 1, joins]


@pytest.mark.parametrize("sizes", [(10,), (7, 3), (5, 5, 1), (33, 20, 4)])
@pytest.mark.parametrize("share", [0.2, 0.37, 0.5])
def test_a_split_takes_its_share_of_all_rows_to_the_nearest(sizes: tuple[int, ...], share: float) -> None:
    y = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    assert split(y, None, share, 0).sum() == int(np.floor(len(y) * share + 0.5))


def test_the_smallest_splits() -> None:
    assert split(np.zeros(2, dtype=np.int32), None, 0.5, 0).sum() == 1
    assert split(np.zeros(4, dtype=np.int32), np.array([0, 0, 1, 1], dtype=np.int32), 0.5, 0).sum() == 2
    tie = split(np.zeros(100, dtype=np.int32), np.repeat(np.arange(10), 10).astype(np.int32), 0.35, 0)
    assert tie.sum() == 30  # half of the fourth group lies on the edge, which is not below it
    with pytest.raises(SettingsError, match="only 1 rows"):
        split(np.zeros(1, dtype=np.int32), None, 0.5, 0)
    with pytest.raises(SettingsError, match="only 1 groups"):
        split(np.zeros(4, dtype=np.int32), np.zeros(4, dtype=np.int32), 0.5, 0)
    for share in (0.01, 0.99):
        with pytest.raises(SettingsError, match="no row of 10"):
            split(np.zeros(10, dtype=np.int32), None, share, 0)


@pytest.mark.parametrize("n_folds", [1, 255, 256, 257, 400])
def test_rows_of_many_folds_are_told_apart(n_folds: int) -> None:
    fold = np.random.default_rng(0).permutation(np.arange(2 * n_folds) % n_folds).astype(np.int32)
    rows = by_fold(fold, n_folds)
    assert len(rows) == n_folds and [own.tolist() for own in rows] == [
        np.flatnonzero(fold == k).tolist() for k in range(n_folds)
    ]
    assert [len(own) for own in by_fold(np.zeros(3, dtype=np.int32), 3)] == [3, 0, 0]
    some = by_fold(np.array([-1, 1, -1, 0, 1], dtype=np.int32), 2)
    assert [own.tolist() for own in some] == [[3], [1, 4]]


def test_fifty_rows_of_a_rare_class_are_sampled_and_those_of_none_are_none() -> None:
    y = np.repeat([0, 1, 2], [9000, 60, 40]).astype(np.int32)
    assert np.bincount(y[stratified_sample(lambda: [y], 1000, 0)]).tolist() == [989, 50, 40]
    assert stratified_sample(lambda: [], 10, 0).tolist() == []
    assert stratified_sample(lambda: [y[:1], y[:0]], 10, 0).tolist() == [0]


def test_a_sample_does_not_depend_on_parts_that_lack_a_class() -> None:
    y = np.repeat([0, 1], [300, 60]).astype(np.int32)
    whole = stratified_sample(lambda: [y], 10, 0)
    assert np.bincount(y[whole]).tolist() == [50, 50]
    for parts in ([y[:300], y[300:]], [y[:7], y[7:300], y[300:310], y[310:]]):
        assert stratified_sample(lambda parts=parts: parts, 10, 0).tolist() == whole.tolist()  # type: ignore[misc]


def test_rows_are_shuffled_within_their_class() -> None:
    y = np.array([2, 0, 1, 0, 2, 2, 0], dtype=np.int32)
    draws = [shuffled_by_class(y, np.random.default_rng(seed)) for seed in range(200)]
    assert all(sorted(rows) == list(range(7)) and y[rows].tolist() == [0, 0, 0, 1, 2, 2, 2] for rows in draws)
    assert len({tuple(rows) for rows in draws}) == 6 * 6


def test_sums_without_each_of_one_part_and_of_many() -> None:
    assert list(sums_without_each([5], lambda a, b: a + b, [1, 2])) == [3]
    for n in (2, 3, 5, 8):
        parts = [10**k for k in range(n)]
        assert list(sums_without_each(parts, lambda a, b: a + b, [7])) == [7 + sum(parts) - part for part in parts]


@pytest.mark.parametrize("design", [(0.0, 1, 0), (1e100, 1, 0), (0.5, 2**31 - 1, np.int64(7)), (1.0, 2.0, 10**30)])
def test_designs_that_make_sense(design: tuple[float, int, int]) -> None:
    check_design(*design)


@pytest.mark.parametrize(
    ("design", "why"),
    [
        ((1.5e100, 1, 0), "beta"), ((-0.1, 1, 0), "beta"), ((float("nan"), 1, 0), "beta"), ((1.0, 2**31, 0), "repeats"),
        ((1.0, 0, 0), "repeats"), ((1.0, 1.5, 0), "repeats"),
        ((1.0, 1, -1), "random_state"), ((1.0, 1, 1.0), "random_state"),
        ((1.0, 1, "1"), "random_state"),
    ],
)  # fmt: skip
def test_designs_that_make_none(design: tuple[object, object, object], why: str) -> None:
    with pytest.raises(SettingsError, match=f"{why} is"):
        check_design(*design)
