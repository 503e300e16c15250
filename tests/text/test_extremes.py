"""Inputs that break others: enormous, empty, hostile."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from likely.errors import DataError
from likely.text import TextCounter, Tokenizer, Words, count_by_class, count_rows
from likely.text.vocabulary import key_of, stir


def test_one_document_of_100_megabytes() -> None:
    text = b"the quick brown fox jumps over the lazy dog " * 2_300_000
    assert len(text) > 100_000_000
    texts = pa.array([text.decode(), "fox"], pa.large_string())
    rows = count_rows(texts)
    assert rows.to_csr().toarray()[0].tolist() == [2_300_000] * 7 + [4_600_000]


def test_one_word_of_10_megabytes() -> None:
    word = "x" * 10_000_000
    rows = count_rows([word, word + "y", word])
    assert [len(found) for found in rows.words] == [10_000_000, 10_000_001]
    assert rows.to_csr().toarray().tolist() == [[1, 0], [0, 1], [1, 0]]


def test_a_million_empty_documents() -> None:
    texts = pa.array([""] * 999_999 + ["one word"], pa.string())
    matrix = count_rows(texts).to_csr()
    assert matrix.shape == (1_000_000, 2)
    assert matrix.nnz == 2
    seen = count_by_class(texts, np.zeros(1_000_000, dtype=np.int32), 1)
    assert seen.counts.tolist() == [[1.0, 1.0]]


def test_nuls_part_words() -> None:
    assert count_rows(["ab\x00cd\x00", "\x00"]).words.to_list() == ["ab", "cd"]
    chars = TextCounter(analyzer="char", ngram_range=(1, 2)).fit(["a\x00", "a", "\x00\x00"])
    assert chars.get_feature_names_out().tolist() == ["\x00", "\x00\x00", "a", "a\x00"]


def test_right_to_left() -> None:
    rows = count_rows(["שלום עולם, שלום", "مرحبا بالعالم"])
    assert rows.words.to_list() == sorted(["שלום", "עולם", "مرحبا", "بالعالم"])
    assert rows.counts.tolist() == [1, 2, 1, 1] or sorted(rows.counts.tolist()) == [1, 1, 1, 2]


def test_only_stop_words() -> None:
    with pytest.raises(DataError, match="only contain stop words"):
        TextCounter(stop_words="en").fit(["the and of", "it is"])
    rows = count_rows(["the and of", "it is"], Tokenizer(stop_words=frozenset(["the", "and", "of", "it", "is"])))
    assert rows.to_csr().shape == (2, 0)
    seen = count_by_class(["the"], np.array([0]), 3, tokenizer=Tokenizer(stop_words=frozenset(["the"])))
    assert seen.counts.shape == (3, 0)


def _colliding_words() -> tuple[str, str]:
    """Two words of sixteen letters with one 64-bit key: the second half undoes what the first does to the hash."""
    letters = b"abcdefghijklmnopqrstuvwxyz0123456789"
    partner = {d: next((a for a in letters if a ^ d in letters), None) for d in range(256)}
    rng = random.Random(0)
    zero = np.uint64(0)
    while True:
        halves = [bytes(rng.choices(letters, k=8)) for _ in range(2)]
        hashes = [int(stir(zero, np.uint64(int.from_bytes(half, "little")))) for half in halves]
        gap = (hashes[0] ^ hashes[1]).to_bytes(8, "little")
        if all(partner[d] is not None for d in gap):
            end = bytes(partner[d] or 0 for d in gap)
            other = bytes(a ^ d for a, d in zip(end, gap, strict=True))
            return (halves[0] + end).decode(), (halves[1] + other).decode()


def test_words_with_the_same_hash_stay_apart() -> None:
    one, two = _colliding_words()
    keys = [int(key_of(np.frombuffer(word.encode(), dtype=np.uint8), 0, 16)) for word in (one, two)]
    assert one != two
    assert keys[0] == keys[1]
    rows = count_rows([f"{one} {two} {one}", two])
    assert rows.words.to_list() == sorted([one, two])
    assert rows.to_csr().sum() == 4
    assert Words.of([one]).find(Words.of([two, one])).tolist() == [-1, 0]


def test_a_million_words_and_many_classes_stay_sparse() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{n}" for n in row) for row in rng.integers(0, 200_000, (20_000, 10))]
    y = np.arange(20_000, dtype=np.int32)
    seen = count_by_class(texts, y, 50_000)
    assert seen.counts.shape == (50_000, len(seen.words))
    assert seen.counts.nnz <= 200_000
    assert seen.counts.sum() == 200_000
