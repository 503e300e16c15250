"""Values and pairs of values, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from likely.errors import NotMergeable
from likely.measures import information_gain
from likely.stats import PairCounts
from likely.stats.pair_counts import Cuts, PairLayout, size_of

#        town  size  number (cut at 1.5)
ROWS = [[0, 1, 0], [0, 0, 1], [1, 1, -1], [2, 1, 1], [0, -1, 0]]
AXES = (("Ulm", "Bonn", "Kiel"), ("S", "L"), Cuts(np.array([1.5])))
Y = np.array([0, 0, 1, 1, 1], dtype=np.int32)
WEIGHT = np.array([1.0, 2.0, 4.0, 8.0, 16.0])


def seen() -> PairCounts:
    return PairCounts.observe(AXES, np.array(ROWS, dtype=np.int32), Y, WEIGHT, 2)


def test_where_pairs_have_their_cells() -> None:
    layout = PairLayout.of([3, 2, 2])
    assert layout.sizes.tolist() == [3, 2, 2] and layout.singles.tolist() == [0, 3, 5]
    assert layout.pairs.tolist() == [[-1, 7, 13], [-1, -1, 19], [-1, -1, -1]] and layout.width == 23
    assert size_of(AXES[2]) == 2 and size_of(AXES[0]) == 3


def test_values_of_one_column() -> None:
    """Bonn, Kiel, Ulm: values stand in their order."""
    assert seen().axes[:2] == (("Bonn", "Kiel", "Ulm"), ("L", "S"))
    assert seen().class_value_table(0).tolist() == [[0.0, 0.0, 3.0], [4.0, 8.0, 16.0]]
    assert seen().single(1).tolist() == [[1.0, 2.0], [12.0, 0.0]]
    assert seen().single(2).tolist() == [[1.0, 2.0], [16.0, 8.0]]
    assert seen().known_weights.tolist() == [[3.0, 3.0, 3.0], [28.0, 12.0, 24.0]]
    assert seen().shape == (2, 3)


def test_values_of_two_columns() -> None:
    towns_and_sizes = seen().pair(0, 1)
    np.testing.assert_array_equal(seen().pair(1, 0), towns_and_sizes.swapaxes(1, 2))
    sizes = seen().axes[1]
    large, small = sizes.index("L"), sizes.index("S")  # type: ignore[union-attr]
    assert towns_and_sizes[0, 2, large] == 1.0 and towns_and_sizes[0, 2, small] == 2.0
    assert towns_and_sizes[1, :, large].tolist() == [4.0, 8.0, 0.0] and towns_and_sizes[1, :, small].sum() == 0.0
    assert seen().pair(0, 2)[1].tolist() == [[0.0, 0.0], [0.0, 8.0], [16.0, 0.0]]


def test_information_is_that_of_the_known_rows() -> None:
    weights = np.array([3.0, 28.0])
    expected = [information_gain(seen().single(k)) * seen().single(k).sum() / 31.0 for k in range(3)]
    np.testing.assert_allclose(seen().information(weights), expected)


def test_columns_may_be_chosen() -> None:
    some = seen().select(np.array([2, 0]))
    assert some.shape == (2, 2) and some.cuts(["number", "town"])["number"].at.tolist() == [1.5]
    np.testing.assert_array_equal(some.pair(0, 1), seen().pair(2, 0))
    assert seen().select(np.array([], dtype=np.intp)).shape == (2, 0)


def test_other_cuts_do_not_add() -> None:
    other = PairCounts.observe((*AXES[:2], Cuts(np.array([2.5]))), np.array(ROWS, dtype=np.int32), Y, WEIGHT, 2)
    with pytest.raises(NotMergeable, match="column 3 of the pairs were cut at other places"):
        seen() + other


def test_what_never_came_cannot_leave() -> None:
    axes = (("Rom",), *AXES[1:])
    stranger = PairCounts.observe(axes, np.array([[0, 0, 0]], dtype=np.int32), Y[:1], WEIGHT[:1], 2)
    with pytest.raises(NotMergeable):
        seen() - stranger


def test_unsound_pairs() -> None:
    for wrong in (Cuts(np.array([2.0, 1.0])), Cuts(np.array([1.0, 1.0])), Cuts(np.array([np.nan])), ("a", "a")):
        with pytest.raises(ValueError):
            PairCounts((wrong,), np.zeros((1, size_of(wrong)))).validate()
