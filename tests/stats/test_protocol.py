"""What all statistics share: rows moved about, tables brought to one shape, what leaves, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likely.errors import DataError, NotMergeable
from likely.numerics import HEAVIEST
from likely.stats import (
    STATISTICS,
    ClassWeights,
    FeatureCounts,
    Histogram,
    Moments,
    PairCounts,
    Presence,
    Scatter,
    TokenCounts,
    ValueCounts,
)
from likely.stats.protocol import (
    as_counted,
    difference_of_shares,
    leave,
    less,
    less_one,
    matched,
    pad,
    require_counts,
    share_of,
    take_rows,
)


def test_the_value_whose_share_changed_most() -> None:
    """Of a 3 : 1 and 1 : 1 : 2 the share of "x" fell by a half, that of "z" rose by a half: the first of equals."""
    told = difference_of_shares(("x", "y"), np.array([3.0, 1.0]), ("y", "z", "x"), np.array([1.0, 2.0, 1.0]))
    assert told == ("share", "x", "0.7500", "0.2500")
    told = difference_of_shares((1, 2), np.array([1.0, 1.0]), (3,), np.array([4.0]))
    assert told == ("share", "3", "0.0000", "1.0000")


def test_the_same_shares_do_not_differ_whatever_their_weight() -> None:
    assert difference_of_shares(("x", "y"), np.array([3.0, 1.0]), ("y", "x"), np.array([2.0, 6.0])) is None
    assert difference_of_shares((), np.zeros(0), (), np.zeros(0)) is None
    assert difference_of_shares(("x",), np.zeros(1), (), np.zeros(0)) is None
    assert difference_of_shares(("x",), np.ones(1), ("x",), np.zeros(1)) == ("share", "x", "1.0000", "0.0000")
    light = difference_of_shares(("x", "y"), np.array([3e-200, 1e-200]), ("x", "y"), np.array([1.0, 1.0]))
    assert light == ("share", "x", "0.7500", "0.5000")


@pytest.mark.parametrize("bad", [-1e-300, np.nan, np.inf, 1.001 * HEAVIEST])
def test_what_is_no_count_is_refused(bad: float) -> None:
    require_counts(np.array([[0.0, HEAVIEST]]), 1, 2)
    with pytest.raises(DataError, match="no count"):
        require_counts(np.array([[1.0, bad]]), 1, 2)


def test_counts_of_another_shape_are_refused() -> None:
    for shape in ((2, 1), (2,), (1, 2, 1)):
        with pytest.raises(DataError, match=r"shape \(1, 2\) where"):
            require_counts(np.ones((1, 2)), *shape)
    require_counts(np.array([5.0]), 1, most=5.0)
    with pytest.raises(DataError):
        require_counts(np.array([5.1]), 1, most=5.0)


def test_the_share_that_is_known_is_at_most_all() -> None:
    assert share_of(1.0, np.array([1.0, 3.0])) == 0.25
    assert share_of(4.0 + 1e-12, np.array([4.0])) == 1.0
    assert share_of(1e-200, np.array([2e-200])) == 0.5
    assert share_of(0.0, np.zeros(2)) == 0.0


def test_rows_are_taken_by_number_and_none_is_a_row_of_zeros() -> None:
    table = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert take_rows(table, np.array([1, -1, 0, 1])).tolist() == [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0], [3.0, 4.0]]


def test_rows_without_weights_count_as_one_and_classes_are_those_that_occur() -> None:
    weight, n_classes = as_counted(np.array([0, 2], dtype=np.int32), None, None)
    assert weight.tolist() == [1.0, 1.0] and n_classes == 3
    weight, n_classes = as_counted(np.zeros(0, dtype=np.int32), np.zeros(0), None)
    assert len(weight) == 0 and n_classes == 0
    weight, n_classes = as_counted(np.array([0], dtype=np.int32), np.array([2.5]), 4)
    assert weight.tolist() == [2.5] and n_classes == 4


def test_tables_are_brought_to_the_larger_of_their_shapes() -> None:
    table = np.array([[1.0, 2.0]])
    assert pad(table, 1, 2) is table
    assert pad(table, 2, 3).tolist() == [[1.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    assert pad(table, 1, 1).tolist() == [[1.0, 2.0]]
    a, b = matched(np.ones((1, 3)), np.ones((2, 1)))
    assert a.tolist() == [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]] and b.tolist() == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("before", "out", "left"),
    [(4.0, 1.0, 3.0), (4.0, 4.0 - 1e-10, 0.0), (4.0, 4.0 + 1e-10, 0.0), (1.0, 1.0 - 1e-8, 1e-8), (0.0, 0.0, 0.0)],
)
def test_what_leaves_leaves_an_exact_zero_where_only_rounding_is_left(before: float, out: float, left: float) -> None:
    a, b = np.array([before]), np.array([out])
    for found in (less(a, b)[0], less_one(before, out), less_one.py_func(before, out), leave(a, b)[0]):
        assert found == pytest.approx(left, rel=1e-6, abs=0.0)


def test_more_than_came_cannot_leave() -> None:
    for before, out in ((4.0, 4.1), (1.0, 1.0 + 1e-8), (0.0, 1e-300)):
        with pytest.raises(NotMergeable):
            leave(np.array([9.0, before]), np.array([1.0, out]))
        assert less(np.array([before]), np.array([out]))[0] == 0.0


def test_statistics_of_single_columns_and_of_groups() -> None:
    single = {name for name, kind in STATISTICS.items() if kind.by_column}
    assert single == {name for name, kind in STATISTICS.items() if kind in (Histogram, TokenCounts, ValueCounts)}
    assert {Moments, Scatter, FeatureCounts, Presence, PairCounts} <= set(STATISTICS.values())


def test_nothing_has_no_class_and_no_column_but_the_one_it_describes() -> None:
    for kind in (Moments, Scatter, FeatureCounts, Presence):
        none: Any = kind.empty()
        assert none.shape == (0, 0) and kind.empty(2, 3).shape == (2, 3)
        none.validate()
    for single in (Histogram, ValueCounts):
        assert single.empty().shape == (0, 1) and single.empty(2).shape == (2, 1)
        single.empty(2).validate()
    assert TokenCounts.empty().shape == (0, 1) and TokenCounts.empty(None, 2).shape == (2, 1)
    TokenCounts.empty(None, 2).validate()
    classes = ClassWeights.empty()
    classes.validate()
    assert len(classes.labels) == len(classes.weights) == len(classes.rows) == 0
