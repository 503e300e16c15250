"""Vocabulary and counts are CountVectorizer's, to the last character."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from likely.text import TextCounter
from likely.text.unicode import KIND_BITS, SUSPECT, WORD, characters
from tests.text.text_sets import COLUMNS, read_texts, text_columns

SETTINGS: list[dict[str, Any]] = [
    {},
    {"lowercase": False},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3)},
    {"ngram_range": (3, 3)},
    {"binary": True, "dtype": np.float32},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii"},
    {"stop_words": ["aa", "a a", "été"]},
    {"stop_words": ["aa", "be"], "ngram_range": (1, 2)},
    {"min_df": 2},
    {"max_df": 0.5},
    {"max_features": 3},
    {"max_features": 3, "ngram_range": (1, 2), "binary": True},
    {"vocabulary": ["be", "aa", "to be", "a"], "ngram_range": (1, 2)},
    {"vocabulary": {"be": 1, "aa": 0}},
    {"analyzer": "char"},
    {"analyzer": "char", "ngram_range": (2, 4)},
    {"analyzer": "char_wb", "ngram_range": (1, 3)},
    {"analyzer": "char_wb", "ngram_range": (4, 6)},
    {"analyzer": "char_wb", "ngram_range": (2, 3), "lowercase": False, "strip_accents": "unicode"},
]

# Letters whose case or category is odd, white space of all sorts, marks, digits, joiners.
ODD = (
    "aAbBéÉßẞſIİıΣσςΑΆäÄǅǆ_09²Ⅷ٣漢ーｱ가ខ್अ्ữ.-'’℡ﬁ🙂𝔄𐐀\ufffd"
    "\u0301\u0300\u0307\u00ad\u200d\u0345 \t\n\x00\x1c\x85\u00a0\u2028\u3000"
)
TEXTS = st.lists(
    st.one_of(st.text(alphabet=ODD, max_size=40), st.text(max_size=20), st.text(alphabet="ab Σ", max_size=30)),
    min_size=1,
    max_size=6,
)


def assert_same(texts: list[str], settings: dict[str, Any], sklearn_settings: dict[str, Any] | None = None) -> None:
    theirs = CountVectorizer(**(settings if sklearn_settings is None else sklearn_settings))
    ours = TextCounter(**settings)
    try:
        wanted = theirs.fit_transform(texts)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20].replace("(", r"\(")):
            ours.fit_transform(texts)
        return
    found = ours.fit_transform(texts)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    for matrix, other in ((found, wanted), (ours.transform(texts[::-1]), theirs.transform(texts[::-1]))):
        other.sort_indices()
        assert type(matrix) is type(other)
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(matrix, part), getattr(other, part))
            assert getattr(matrix, part).dtype == getattr(other, part).dtype
    assert ours.vocabulary_ == theirs.vocabulary_
    assert TextCounter(**settings).fit(texts).words_ == ours.words_


def test_no_text_set_is_forgotten(data_dir: Path) -> None:
    assert text_columns(data_dir) == set(COLUMNS)


@pytest.mark.parametrize(("name", "column"), COLUMNS)
def test_real_texts(data_dir: Path, name: str, column: str) -> None:
    assert_same(read_texts(data_dir, name, column), {})


@pytest.mark.parametrize("settings", SETTINGS[1:], ids=str)
@pytest.mark.parametrize("name", ["gnad10_test_de", "uit_vsfc_vi", "tweeteval_emotion"])
def test_settings_on_real_texts(data_dir: Path, name: str, settings: dict[str, Any]) -> None:
    assert_same(read_texts(data_dir, name, "text")[:60], settings)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@given(texts=TEXTS)
def test_any_text(settings: dict[str, Any], texts: list[str]) -> None:
    # A lone surrogate has no UTF-8: see test_documents.
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    assert_same(texts, settings)


def test_every_character() -> None:
    """Kind and lower case of all 1,114,112 code points are Python's own."""
    table = characters()
    codes = np.arange(0x110000)
    cells = table.cells[table.pages[codes >> 8], codes & 255]
    kinds, lower = cells & ((1 << KIND_BITS) - 1), codes + (cells >> KIND_BITS)
    suspects = {chr(code) for code in np.flatnonzero(kinds == SUSPECT)}
    assert suspects == {"Σ", "İ"}
    for code in range(0x110000):
        character = chr(code)
        if character not in suspects:
            assert (kinds[code] == WORD) == (character.isalnum() or character == "_")
            assert chr(lower[code]) == character.lower()


@pytest.mark.parametrize(
    "text",
    ["ΟΔΥΣΣΕΥΣ ΣΑΣ", "ΑΣ' ΑΣ. ΑΣΑ", "Σ ΑΣ", "İstanbul DİYARBAKIR", "ΑΣ\u0301 ΑΣ\u0301Α", "aΣ1 aΣb", "\u00adΣ aΣ\u00ad"],
)
def test_letters_that_need_their_neighbours(text: str) -> None:
    for settings in ({}, {"analyzer": "char", "ngram_range": (1, 2)}, {"strip_accents": "unicode"}):
        assert_same([text, "plain words", text.lower()], settings)


@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
def test_many_tiny_documents(analyzer: str) -> None:
    assert_same(["a", "é", "", "aa", " "] * 500, {"analyzer": analyzer, "ngram_range": (1, 3)})


def test_stop_words_named_english_are_sklearns() -> None:
    assert_same(["The quick brown fox is over the lazy dog", "I myself am not"], {"stop_words": "english"})
