"""A vocabulary finds, unites and orders its words as Python would."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.text import Words, count_by_class
from likely.text.vocabulary import FEW_PLACES, MANY_WORDS

LISTS = st.lists(
    st.one_of(
        st.text(alphabet="ab\x00é漢🙂", max_size=20),
        st.integers(0, 40).map(lambda n: "common beginning " + "x" * n),
        st.sampled_from(["y" * 300 + end for end in "abc"]),
    ),
    unique=True,
    max_size=25,
)


@given(LISTS)
def test_order_is_that_of_python(words: list[str]) -> None:
    vocabulary = Words.of(words)
    assert vocabulary.to_list() == words
    assert list(vocabulary.take(vocabulary.order())) == sorted(words)


@given(LISTS, LISTS)
def test_find_and_union(ours: list[str], theirs: list[str]) -> None:
    places = {word: place for place, word in enumerate(ours)}
    found = Words.of(ours).find(Words.of(theirs))
    assert found.tolist() == [places.get(word, -1) for word in theirs]
    both, where = Words.of(ours).union(Words.of(theirs))
    assert both.to_list() == list(dict.fromkeys([*ours, *theirs]))
    assert [both.to_list()[place] for place in where] == theirs


def test_a_vocabulary_is_a_value() -> None:
    words = Words.of(["bun", "cha", "phở"])
    words.find(words)
    copy = pickle.loads(pickle.dumps(words))  # noqa: S301
    assert copy == words
    assert copy != Words.of(["bun"])
    assert copy.find(words).tolist() == [0, 1, 2]
    assert repr(words) == "<3 words: 'bun', 'cha', 'phở'>"
    assert words.to_arrow().to_pylist() == words.to_list()
    assert words.take(np.array([2, 0])).to_list() == ["phở", "bun"]


@pytest.mark.parametrize("n", [1, FEW_PLACES - 1, FEW_PLACES, FEW_PLACES + 1])
def test_few_words_are_taken_as_many_are(n: int) -> None:
    words = [f"ä{k}" * (k % 4) + str(k) for k in range(2 * FEW_PLACES)]
    places = np.arange(2 * FEW_PLACES)[::-1][:n]
    assert Words.of(words).take(places).to_list() == [words[k] for k in places]


def test_many_words_are_sorted_as_few_are() -> None:
    """Threads take the words of one first letter each; an empty word comes before all."""
    random = np.random.default_rng(0)
    found = {"", "\x00", "\x00b", "ß", "漢字", *(f"{n:x}é" for n in random.integers(0, 1 << 40, MANY_WORDS).tolist())}
    words = Words.of(found)
    assert len(words) > MANY_WORDS
    for n_jobs in (1, 3):
        assert words.take(words.order(n_jobs), n_jobs).to_list() == sorted(found, key=str.encode)


def test_words_of_many_threads_are_merged_as_those_of_one() -> None:
    random = np.random.default_rng(1)
    texts = [" ".join(f"w{k}" for k in random.integers(0, 50_000, 40)) for _ in range(30_000)]
    y = np.zeros(len(texts), dtype=np.int32)
    alone, many = (count_by_class(texts, y, 1, n_jobs=n_jobs) for n_jobs in (1, 7))
    assert alone.words == many.words
    assert np.array_equal(alone.counts, many.counts) and np.array_equal(alone.documents, many.documents)
