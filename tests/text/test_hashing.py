"""The columns of HashingCounter never move."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from likely.errors import SettingsError
from likely.text import HashingCounter, TextCounter, Words
from likely.text.hashing import hashed_columns


def fnv1a(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def test_the_hash_is_the_published_one() -> None:
    assert fnv1a(b"foobar") == 0x85944171F73967E8
    assert hashed_columns(Words.of(["foobar"]), 1 << 30).tolist() == [(0x85944171 ^ 0xF73967E8) % (1 << 30)]


@given(st.lists(st.text(alphabet="abé漢", min_size=2, max_size=9), unique=True), st.integers(1, 2**31 - 1))
def test_columns_by_hand(words: list[str], width: int) -> None:
    hashes = [fnv1a(word.encode()) for word in words]
    assert hashed_columns(Words.of(words), width).tolist() == [((h >> 32) ^ (h & 0xFFFFFFFF)) % width for h in hashes]


def test_counts_are_those_of_the_words() -> None:
    texts = ["to be or not to be", "", "or", "the question"]
    for settings in ({}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (1, 1)}):
        counter = TextCounter(**settings)  # type: ignore[arg-type]
        counts = counter.fit_transform(texts).toarray()
        hashed = HashingCounter(n_features=64, **settings).transform(texts)  # type: ignore[arg-type]
        wanted = np.zeros((4, 64), dtype=np.int64)
        for column, place in enumerate(hashed_columns(counter.words_, 64)):
            wanted[:, place] += counts[:, column]
        np.testing.assert_array_equal(hashed.toarray(), wanted)
        assert hashed.has_sorted_indices


def test_batches_agree() -> None:
    texts = [f"word{n % 7} and word{n}" for n in range(50)]
    counter = clone(HashingCounter(n_features=1 << 12, binary=True, dtype=np.float64))
    whole = counter.fit(texts).transform(texts)
    assert whole.shape == (50, 1 << 12)
    assert whole.dtype == np.float64
    for start in range(0, 50, 20):
        assert (whole[start : start + 20] != counter.transform(texts[start : start + 20])).nnz == 0


def test_the_widest_costs_no_more() -> None:
    matrix = HashingCounter(n_features=2**31 - 1).transform(["to be", "to"])
    assert matrix.shape == (2, 2**31 - 1)
    assert matrix.nnz == 3


def test_real_words_spread_evenly() -> None:
    columns = hashed_columns(Words.of([f"w{n}" for n in range(100_000)]), 1 << 10)
    load = np.bincount(columns, minlength=1 << 10)
    assert load.min() > 50
    assert load.max() < 160


@pytest.mark.parametrize(
    "settings", [{"n_features": 0}, {"n_features": 1.5}, {"n_features": 2**31}, {"language": "auto"}]
)
def test_settings_that_make_no_sense(settings: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        HashingCounter(**settings).fit()  # type: ignore[arg-type]
