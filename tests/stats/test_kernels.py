"""Counting loops by hand: compiled, and as Python runs them for little data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likely.stats.kernels import (
    code_bounds,
    count_classes,
    count_code_matrix,
    count_codes,
    count_labels,
    sum_dense,
    sum_sparse,
    sum_sparse_by_class,
)

Y, WEIGHT = np.array([1, 0, 1], dtype=np.int32), np.array([1.0, 0.5, 2.0])


def both(kernel: Any) -> tuple[Any, Any]:
    return kernel, kernel.py_func


def test_codes_of_many_columns() -> None:
    """Columns of two and of three values; a code that has no cell, above or below, is told, and nothing is said."""
    first, width = np.array([0, 2]), np.array([2, 3])
    codes = np.array([[0, 2], [1, 0], [1, 2]])
    for count in both(count_code_matrix):
        counts = np.zeros((2, 5))
        assert count(codes, Y, WEIGHT, first, width, counts) is True
        assert counts.tolist() == [[0.0, 0.5, 0.5, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0, 3.0]]
        for bad in ([0, 3], [2, 0], [-1, 0], [0, -1]):
            assert count(np.array([bad]), Y[:1], WEIGHT[:1], first, width, np.zeros((2, 5))) is False
    for bounds in both(code_bounds):
        low, high = np.array([9, 9]), np.array([-9, -9])
        bounds(np.array([[3, -2], [0, 4]]), low, high)
        assert low.tolist() == [0, -2] and high.tolist() == [3, 4]


@pytest.mark.parametrize("n", range(10))
def test_rows_of_classes(n: int) -> None:
    y = (np.arange(n) * 2 % 3).astype(np.int32)
    for count in both(count_labels):
        assert count(y, 4).tolist() == np.bincount(y, minlength=4).tolist()
    for count in both(count_classes):
        weights, rows = np.zeros(4), np.zeros(4, dtype=np.int64)
        count(y, 0.5 + np.arange(n), weights, rows)
        assert rows.tolist() == np.bincount(y, minlength=4).tolist()
        assert weights.tolist() == np.bincount(y, 0.5 + np.arange(n), 4).tolist()


def test_codes_of_one_column() -> None:
    for count in both(count_codes):
        counts = np.zeros((2, 2))
        count(np.array([0, -1, 1], dtype=np.int32), Y, WEIGHT, counts)
        assert counts.tolist() == [[0.0, 0.0], [1.0, 2.0]]


CELLS = np.array([[1.0, 0.0, 3.0, 0.0], [0.0, np.nan, 4.0, 0.0], [5.0, 0.0, 0.0, 6.0]])
SUMS = [[0.0, 0.0, 2.0, 0.0], [11.0, 0.0, 3.0, 12.0]]


def sparsely(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    there = [np.flatnonzero(row != 0.0) for row in cells]
    starts = np.concatenate([[0], np.cumsum([len(each) for each in there])])
    columns = np.concatenate(there).astype(np.int32)
    return starts, columns, np.concatenate([row[each] for row, each in zip(cells, there, strict=True)])


@pytest.mark.parametrize("n_columns", [4, 900])
def test_sums_of_classes(n_columns: int) -> None:
    """Of many columns, those that occur in a class are sorted; of few, each is looked for."""
    wide = np.zeros((3, n_columns))
    wide[:, [0, 1, 2, n_columns - 1]] = CELLS
    expected = np.zeros((2, n_columns))
    expected[:, [0, 1, 2, n_columns - 1]] = SUMS
    negative = np.where(wide == 4.0, -4.0, wide)
    order, class_starts = np.array([1, 0, 2]), np.array([0, 1, 3])
    for cells, fine in ((wide, True), (negative, False)):
        starts, columns, data = sparsely(cells)
        for dense, thin, by_class in zip(both(sum_dense), both(sum_sparse), both(sum_sparse_by_class), strict=True):
            one, other = np.zeros((2, 2, n_columns))
            assert dense(cells, Y, WEIGHT, one) == fine == thin(starts, columns, data, Y, WEIGHT, other)
            out_starts, out_columns, out = np.zeros(3, dtype=np.int64), np.zeros(len(data), dtype=np.int32), data * 0.0
            told = by_class(starts, columns, data, WEIGHT, order, class_starts, n_columns, out_starts, out_columns, out)
            assert told == fine
            if fine:
                assert one.tolist() == other.tolist() == expected.tolist()
                assert out_starts.tolist() == [0, 2, 5]
                assert out_columns[:5].tolist() == [1, 2, 0, 2, n_columns - 1]
                assert out[:5].tolist() == [0.0, 2.0, 11.0, 3.0, 12.0]
