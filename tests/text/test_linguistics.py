"""Stop words, stems, lemmas and languages act on distinct words."""

from __future__ import annotations

import builtins
import importlib

import numpy as np
import pytest

from likely.errors import SettingsError
from likely.text import TextCounter, Tokenizer, count_rows, guess_language, linguistics, stop_words
from likely.text.documents import as_blocks

EXTRAS = ("Stemmer", "simplemma", "py3langid")


def vocabulary(texts: list[str], **settings: object) -> list[str]:
    return TextCounter(**settings).fit(texts).get_feature_names_out().tolist()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("language", "says_little", "says_much"),
    [
        ("en", "the", "house"),
        ("de", "und", "haus"),
        ("fr", "nous", "maison"),
        ("es", "pero", "casa"),
        ("vi", "và", "nhà"),
    ],
)
def test_stop_words(language: str, says_little: str, says_much: str) -> None:
    assert vocabulary([f"{says_little} {says_much}"], stop_words=language) == [says_much]
    assert all(word == word.lower().strip() for word in stop_words(language))


def test_stop_words_by_name_and_by_list() -> None:
    assert stop_words("german") == stop_words("de")
    assert vocabulary(["one two three"], stop_words=["one", "three"]) == ["two"]
    assert vocabulary(["one two three"], stop_words=["two"], ngram_range=(2, 2)) == ["one three"]
    assert vocabulary(["der Hund"], stop_words="auto", language="de") == ["hund"]
    with pytest.raises(SettingsError, match="no stop words for 'klingon'"):
        vocabulary(["a word"], stop_words="klingon")
    with pytest.raises(SettingsError, match="list of words"):
        Tokenizer(stop_words="the")  # type: ignore[arg-type]


def test_stems_merge_columns() -> None:
    rows = count_rows(["connect connected connection", "connecting"], Tokenizer(reduce="stem", language="english"))
    assert rows.words.to_list() == ["connect"]
    assert rows.to_csr().toarray().tolist() == [[3], [1]]
    pairs = Tokenizer(reduce="stem", language="de", ngram_range=(1, 2))
    assert count_rows(["Häuser Haus"], pairs).words.to_list() == ["haus", "haus haus"]
    counter = TextCounter(reduce="stem", language="en").fit(["connected"])
    assert counter.transform(["connection", "connects"]).toarray().tolist() == [[1], [1]]


def test_each_word_is_stemmed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def stems(language: str) -> object:
        return lambda names: asked.append(names) or names

    monkeypatch.setattr(linguistics, "_stems", stems)
    count_rows(["to be or not to be"] * 100, Tokenizer(reduce="stem", language="en"))
    assert asked == [["to", "be", "or", "not"]]


def test_lemmas() -> None:
    assert vocabulary(["Häuser gingen ging"], reduce="lemma", language="german") == ["gehen", "haus"]
    assert vocabulary(["goes going"], reduce="lemma", language="en") == ["go"]
    with pytest.raises(SettingsError, match="no lemmas for 'vi'"):
        vocabulary(["nhà"], reduce="lemma", language="vi")


def test_languages_are_guessed() -> None:
    german = ["Das Haus steht am Ende der Straße", "und die Häuser daneben sind alle leer"]
    assert guess_language(as_blocks(german)) == "de"
    counter = TextCounter(reduce="stem", language="auto", stop_words="auto").fit(german)
    assert counter.tokenizer_.language == "de"
    assert "haus" in counter.vocabulary_
    assert "und" not in counter.vocabulary_


def test_languages_without_a_stemmer() -> None:
    with pytest.raises(SettingsError, match="no stemmer for 'vi'"):
        vocabulary(["nhà"], reduce="stem", language="vi")
    with pytest.raises(SettingsError, match="needs a language"):
        vocabulary(["house"], reduce="stem")
    with pytest.raises(SettingsError, match="has to be known"):
        count_rows(["house"], Tokenizer(reduce="stem", language="auto"))


@pytest.mark.parametrize(
    "settings", [{"reduce": "stem", "language": "en"}, {"reduce": "lemma", "language": "en"}, {"language": "auto"}]
)
def test_a_missing_extra_is_named(settings: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> object:
        if name in EXTRAS:
            raise builtins.ImportError(name)
        return importlib.import_module(name)

    monkeypatch.setattr(linguistics, "import_module", refuse)
    with pytest.raises(SettingsError, match=r"pip install .*the extra 'text'"):
        vocabulary(["some words"], **settings)


def test_numbers_are_folded_once() -> None:
    rows = count_rows(["in 1999 and 2004", "1999 2004 x12"], Tokenizer(numbers=True))
    assert rows.words.to_list() == ["<number>", "and", "in", "x12"]
    np.testing.assert_array_equal(rows.to_csr().toarray(), [[2, 1, 1, 0], [2, 0, 0, 1]])
