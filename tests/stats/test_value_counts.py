"""Values of a column by hand: in their one order, as tables, and what cannot have been learned."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pytest

from likely.errors import DataError, NotMergeable
from likely.measures import information_gain
from likely.stats import ValueCounts


def of(values: tuple[Hashable, ...], *counts: list[float]) -> ValueCounts:
    return ValueCounts(values, np.array(counts, dtype=float).reshape(len(counts), len(values)))


SEEN = of(("blue", "red"), [3.0, 1.0], [0.0, 4.0])


def test_what_a_column_says() -> None:
    assert SEEN.shape == (2, 1) and SEEN.known_weights.tolist() == [[4.0], [4.0]]
    assert SEEN.class_value_table(0).tolist() == [[3.0, 1.0], [0.0, 4.0]]
    ((values, counts, known),) = SEEN.value_blocks()
    assert values == ("blue", "red") and counts.tolist() == SEEN.counts.tolist() and known.tolist() == [4.0, 4.0]
    assert list(ValueCounts.empty(2).value_blocks()) == []
    half_known = SEEN.information(np.array([12.0, 4.0]))
    assert half_known.tolist() == [pytest.approx(0.5 * information_gain(SEEN.counts))]
    assert SEEN.difference(0, SEEN, 1) == ("share", "blue", "0.7500", "0.0000")


def test_values_without_weight_are_not_kept() -> None:
    codes = np.array([2, 0, -1, 1], dtype=np.int32)
    seen = ValueCounts.observe(("z", "y", "x"), codes, np.zeros(4, dtype=np.int32), np.array([1.0, 2.0, 4.0, 0.0]))
    assert seen.values == ("x", "z") and seen.counts.tolist() == [[1.0, 2.0]]


def test_values_of_either_side_add_up_and_leave_again() -> None:
    other = of(("green", "red"), [1.0, 2.0])
    both = SEEN + other
    assert both.values == ("blue", "green", "red") and both.counts.tolist() == [[3.0, 1.0, 3.0], [0.0, 0.0, 4.0]]
    assert (both - other).values == SEEN.values and (both - other).counts.tolist() == SEEN.counts.tolist()
    same = SEEN + of(("blue", "red"), [1.0, 0.0])
    assert same.values == SEEN.values and same.counts.tolist() == [[4.0, 1.0], [0.0, 4.0]]
    assert SEEN.take_classes(np.array([1, -1])).counts.tolist() == [[0.0, 4.0], [0.0, 0.0]]


def test_what_never_came_cannot_leave() -> None:
    for gone in (of(("green",), [1.0]), of(("blue", "green"), [1.0, 0.0]), of(("blue",), [0.0], [1.0])):
        with pytest.raises(NotMergeable):
            SEEN - gone


def test_unsound_counts() -> None:
    SEEN.validate()
    for bad in (of(("x", "x"), [1.0, 1.0]), of((1, 1.0), [1.0, 1.0]), of(("x",), [-1.0]),
                ValueCounts(("x",), np.ones((1, 2)))):  # fmt: skip
        with pytest.raises(DataError):
            bad.validate()
