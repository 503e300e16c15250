"""A vocabulary finds, unites and orders its words as Python would."""

from __future__ import annotations

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likely.text import Words

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
