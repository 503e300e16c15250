"""Moments by hand: deviations, all classes together, how two classes differ, and what cannot have been learned."""

from __future__ import annotations

import numpy as np
import pytest

from likely.errors import DataError, NotMergeable, TooLarge
from likely.stats import Moments, moments_of_blocks

#                  class 0: 1, 3 and 10; class 1: 5
ROWS = np.array([[1.0, 7.0], [3.0, 7.0], [5.0, np.nan], [10.0, np.nan]])
Y = np.array([0, 0, 1, 0], dtype=np.int32)


def of(n: float, mean: float, root: float) -> Moments:
    return Moments(np.array([[n]]), np.array([[mean]]), np.array([[root]]))


def test_deviations_by_hand() -> None:
    """Class 0 of column 0 has the mean 14/3 and squares of 134/3 around it; a lone row has no spread of its own."""
    seen = Moments.observe(ROWS, Y)
    np.testing.assert_allclose(seen.mean, [[14 / 3, 7.0], [5.0, 0.0]])
    np.testing.assert_allclose(seen.variance(unbiased=True), [[134 / 6, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(seen.variance(unbiased=False), [[134 / 9, 0.0], [0.0, 0.0]])
    assert of(1.5, 0.0, 1.0).deviation(unbiased=True)[0, 0] == pytest.approx(np.sqrt(2.0))
    assert of(0.5, 0.0, 1.0).deviation(unbiased=True)[0, 0] == 0.0
    assert seen.known_weights.tolist() == [[3.0, 2.0], [1.0, 0.0]] and seen.shape == (2, 2)


@pytest.mark.parametrize("scale", [1.0, 1e150, 1e-150])
def test_all_classes_together_are_one_class(scale: float) -> None:
    seen, alone = Moments.observe(scale * ROWS, Y).pooled(), Moments.observe(scale * ROWS, np.zeros(4, dtype=np.int32))
    np.testing.assert_allclose(seen.n, alone.n)
    np.testing.assert_allclose(seen.mean / scale, alone.mean / scale)
    np.testing.assert_allclose(seen.root / scale, alone.root / scale, atol=1e-12)


def test_nothing_together_is_nothing() -> None:
    seen = Moments.empty(2, 1).pooled()
    assert (seen.n.item(), seen.mean.item(), seen.root.item()) == (0.0, 0.0, 0.0)
    assert Moments.empty(0, 2).pooled().root.tolist() == [[0.0, 0.0]]


def test_how_classes_differ_is_told_of_the_first_column() -> None:
    seen = Moments.observe(ROWS, Y)
    assert seen.difference(0, seen, 0) is None
    assert seen.difference(0, seen, 1) == ("mean", "", "4.66667 ± 4.726", "5 ± 0")
    assert of(4.0, 2.0, 3.0).difference(0, of(4.0, 2.0, 3.1), 0) == ("mean", "", "2 ± 1.732", "2 ± 1.79")
    assert of(4.0, 2.0, 3.0).difference(0, of(4.0, 2.0 * (1 + 1e-8), 3.0), 0) is not None
    assert of(4.0, 2.0, 3.0).difference(0, of(4.0, 2.0 * (1 + 1e-10), 3.0), 0) is None
    assert of(4.0, 0.0, 1e-13).difference(0, of(4.0, 0.0, 2e-13), 0) is None


@pytest.mark.parametrize(
    "gone",
    [
        of(4.1, 2.0, 1.0),  # more rows than came
        of(2.0, 2.0, 4.0),  # more spread than there was
        of(2.0, 4.0, 0.0),  # so far off that the spread cannot be theirs
    ],
    ids=["rows", "spread", "mean"],
)
def test_what_never_came_cannot_leave(gone: Moments) -> None:
    with pytest.raises(NotMergeable):
        of(4.0, 2.0, 3.0) - gone


def test_what_came_leaves_what_the_others_have() -> None:
    seen = of(4.0, 2.0, 3.0)
    rest, none = seen - of(2.0, 2.0, 3.0), seen - of(4.0, 2.1, 3.0)
    assert (rest.n.item(), rest.mean.item()) == (2.0, 2.0) and rest.root.item() == pytest.approx(0.0, abs=1e-4)
    assert (none.n.item(), none.mean.item(), none.root.item()) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("weight", [5e-322, 1e-310, 1e-300, 1.0, 1e90])
def test_rows_of_any_weight_can_be_taken_out(weight: float) -> None:
    """Nothing, and half of the rows; the spread of rows that weigh next to nothing has no square."""
    x, y = np.array([[1.0], [2.0], [4.0], [9.0]]), np.zeros(4, dtype=np.int32)
    seen, weights = Moments.observe(x, y, np.full(4, weight)), np.full(2, weight)
    same = seen - Moments.empty(1, 1)
    assert same.n == seen.n and same.mean == seen.mean == 4.0
    np.testing.assert_allclose(same.root, seen.root, rtol=1e-6)
    left = seen - Moments.observe(x[2:], y[2:], weights)
    np.testing.assert_allclose(left.mean, 1.5, rtol=1e-6)
    np.testing.assert_allclose(left.deviation(unbiased=False), 0.5, rtol=0.01)


def test_a_constant_column_can_lose_no_other_value() -> None:
    seen = of(4.0, 5.0, 0.0)
    assert (seen - of(1.0, 5.0, 0.0)).root.item() == 0.0
    assert (seen - of(1.0, 5.0 * (1 + 1e-12), 0.0)).n.item() == 3.0
    with pytest.raises(NotMergeable):
        seen - of(1.0, 5.001, 0.0)
    with pytest.raises(NotMergeable):
        seen - of(1.0, 5.0, 0.001)


def test_sums_that_leave_the_floats_are_refused_by_the_number_of_the_column() -> None:
    near, far = np.array([[1.0, 1.0]]), np.array([[1.0, 0.9e305]])
    one = Moments(near, far, np.zeros((1, 2)))
    one.refuse_large()
    with pytest.raises(TooLarge, match="Column 1 "):
        one + one
    with pytest.raises(TooLarge, match="Column 0 "):
        of(1.0, 0.0, 2e305).refuse_large()


@pytest.mark.parametrize(
    "bad", [of(-1.0, 0.0, 0.0), of(1.0, np.nan, 0.0), of(1.0, 0.0, -1.0), of(1.0, 0.0, np.inf), of(2.0, 6e304, 0.0)]
)
def test_unsound_moments(bad: Moments) -> None:
    of(0.0, 0.0, 0.0).validate()
    of(2.0, -4e304, 1.0).validate()
    with pytest.raises(DataError):
        bad.validate()


def test_moments_are_tables_of_one_shape() -> None:
    table = np.ones((1, 2))
    for bad in (Moments(table, table, table[:, :1]), Moments(table, table[:, :1], table), Moments(*np.ones((3, 2)))):
        with pytest.raises(DataError, match="do not fit together"):
            bad.validate()


@pytest.mark.parametrize("constant", [7.0, 0.1, 1 / 3, -1e8 - 0.1, 1e-300, 3e150])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_a_constant_column_has_no_spread_to_the_last_bit(constant: float, gaps: float) -> None:
    """Sums of it are rounded; its mean must not be, or what rounding leaves would pass for a spread."""
    rng = np.random.default_rng(0)
    for n, n_classes in ((7, 3), (91, 3), (1000, 5), (70_000, 4)):
        y, weight = rng.integers(0, n_classes, n).astype(np.int32), rng.choice([0.1, 1.0, 3.0], n)
        rows = np.where(rng.random((n, 2)) < gaps, np.nan, constant)
        whole, part = (Moments.observe(rows[:m], y[:m], weight[:m], n_classes) for m in (n, n // 3))
        blocks = [slice(start, min(start + 40, n)) for start in range(0, n, 40)][:200]
        most = blocks[-1].stop
        counted = moments_of_blocks(rows.__getitem__, blocks, y[:most], weight[:most], (n_classes, 2), 1)
        for seen in (whole, part, whole + part, whole - part, whole.pooled(), counted):
            if seen is not None:
                assert not seen.root.any()
                assert (seen.mean[seen.n > 0.0] == constant).all()
