"""Sums by leaf and code: two numbers in a word, and larger sides by subtraction."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from likely.models.evidence.leaf_sums import MAX_SEARCHED, Added, add_codes, add_up, divide, of_smaller_sides, packed


def halves(words: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    low = words.astype(np.int32).astype(np.int64)
    return low, (words - low) >> 32


def test_words_hold_all_numbers_and_their_sums() -> None:
    rng = np.random.default_rng(0)
    gradient, curvature = rng.normal(size=(20_000, 3)), 1000.0 * rng.random(20_000) ** 8
    words, units = packed(gradient, curvature)
    low, high = halves(words)
    for part in (slice(None), slice(0, 1), slice(100, 5000)):
        of_low, of_high = halves(words[part].sum(axis=0))
        np.testing.assert_array_equal(of_low, low[part].sum(axis=0))
        np.testing.assert_array_equal(of_high, high[part].sum(axis=0))
    numbers = np.stack([high[:, 0], low[:, 1], high[:, 1]], axis=1) * units[1]
    assert np.abs(numbers - gradient).max() <= units[1]
    assert np.abs(low[:, 0] * units[0] - curvature).max() <= units[0]


@pytest.mark.parametrize("n_mixtures", [1, 2, 4])
def test_sums_after_any_questions_are_those_of_all_rows(n_mixtures: int) -> None:
    rng = np.random.default_rng(n_mixtures)
    n, size = 2000, 9
    codes, other = rng.integers(1, size, (2, n)).astype(np.uint8)
    words, _ = packed(rng.normal(size=(n, n_mixtures)), rng.random(n))
    n_words, leaf = words.shape[1], np.zeros(n, dtype=np.uint8)
    flat = np.full(size * n_words * MAX_SEARCHED, 7, dtype=np.int64)
    added = Added(words, np.zeros(0, dtype=np.int32), leaf.copy(), leaf[:0])
    for k in range(5):
        add_up(codes, added, 1 << k, flat)
        expected = np.zeros((size, n_words, MAX_SEARCHED), dtype=np.int64)
        np.add.at(expected, (codes, slice(None), leaf), words)
        np.testing.assert_array_equal(flat.reshape(expected.shape), expected)
        whole = np.empty(2 * n_words * MAX_SEARCHED)
        add_codes(flat, n_words, MAX_SEARCHED, whole)
        low, high = halves(expected.sum(axis=0))
        np.testing.assert_array_equal(whole.reshape(n_words, 2, MAX_SEARCHED), np.stack([low, high], axis=1))
        side = (rng.random(256) < (0.2, 0.5, 0.9)[k % 3]).astype(np.uint8)
        counts = divide(other, side, k, leaf)
        assert (counts == [[(leaf == q + (s << k)).sum() for s in (0, 1)] for q in range(1 << k)]).all()
        added = of_smaller_sides(words, leaf, counts, k)
        assert len(added.rows) == counts.min(axis=1).sum() <= n / 2
