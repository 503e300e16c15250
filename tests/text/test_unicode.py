"""Composition, scripts without spaces, pictures, addresses and numbers."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.text import Tokenizer, count_rows
from likely.text.tokenizer import Analyzer


def counted(text: str, recipe: Tokenizer) -> dict[str, int]:
    rows = count_rows([text], recipe)
    return dict(zip(rows.words.to_list(), rows.counts.tolist(), strict=True))


def test_both_spellings_of_vietnamese_are_one_word() -> None:
    composed = "Tiếng Việt rất đẹp"
    decomposed = unicodedata.normalize("NFD", composed)
    assert decomposed != composed
    rows = count_rows([composed, decomposed], Tokenizer(normalize="NFC"))
    assert rows.words.to_list() == ["rất", "tiếng", "việt", "đẹp"]
    assert rows.to_csr().toarray().tolist() == [[1, 1, 1, 1]] * 2
    # Without it a mark parts words, as in scikit-learn.
    assert "tiếng" not in count_rows([decomposed]).words.to_list()


@given(texts=st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=5))
def test_composing_before_or_inside_is_the_same(texts: list[str]) -> None:
    composed = [unicodedata.normalize("NFC", text) for text in texts]
    analyzers: tuple[Analyzer, ...] = ("word", "char")
    for analyzer in analyzers:
        inside = count_rows(texts, Tokenizer(normalize="NFC", analyzer=analyzer, min_chars=1))
        before = count_rows(composed, Tokenizer(analyzer=analyzer, min_chars=1))
        assert inside.words == before.words
        assert inside.counts.tolist() == before.counts.tolist()


def test_german_and_greek() -> None:
    assert counted("Straße STRASSE Übergröße ẞ ẞẞ", Tokenizer()) == {"straße": 1, "strasse": 1, "übergröße": 1, "ßß": 1}
    assert counted("ΟΔΟΣ οδός ΟΔΟΣ", Tokenizer()) == {"οδος": 2, "οδός": 1}


@pytest.mark.parametrize(
    ("cjk", "tokens"),
    [
        ("word", {"我爱北京abc": 1, "京都": 1}),
        ("char", {"我": 1, "爱": 1, "北": 1, "京": 2, "abc": 1, "都": 1, "猫": 1}),
        ("bigram", {"我爱": 1, "爱北": 1, "北京": 1, "abc": 1, "京都": 1, "猫": 1}),
    ],
)
def test_chinese(cjk: str, tokens: dict[str, int]) -> None:
    assert counted("我爱北京abc 京都。猫", Tokenizer(cjk=cjk)) == tokens  # type: ignore[arg-type]


def test_korean_has_spaces_and_stays_whole() -> None:
    assert counted("안녕하세요 세계", Tokenizer(cjk="bigram")) == {"안녕하세요": 1, "세계": 1}


def test_emoji() -> None:
    text = "so good🙂🙂 👍🏽 👨‍👩‍👧 🇻🇳🇩🇪 ❤️ ☃"
    assert counted(text, Tokenizer()) == {"so": 1, "good": 1}
    assert counted(text, Tokenizer(emoji=True)) == {
        "so": 1, "good": 1, "🙂": 2, "👍🏽": 1, "👨‍👩‍👧": 1, "🇻🇳": 1, "🇩🇪": 1, "❤️": 1, "☃": 1,
    }  # fmt: skip


def test_emoji_that_break_off() -> None:
    assert counted("🙂\u200d x🇻", Tokenizer(emoji=True, min_chars=1)) == {"🙂": 1, "x": 1, "🇻": 1}


def test_addresses_and_numbers() -> None:
    text = "See HTTPS://example.org/a?b=1 and www.likely.dev, http hello 2024 1999 3.14 ٤٢ h264"
    assert counted(text, Tokenizer(urls=True, numbers=True)) == {
        "see": 1, "<url>": 2, "and": 1, "http": 1, "hello": 1, "<number>": 4, "h264": 1,
    }  # fmt: skip
    assert counted("http://x", Tokenizer(urls=True)) == {"<url>": 1}
    assert counted("http://x\u3000next", Tokenizer(urls=True)) == {"<url>": 1, "next": 1}


def test_short_words() -> None:
    assert counted("a bb é 猫", Tokenizer(min_chars=1)) == {"a": 1, "bb": 1, "é": 1, "猫": 1}
    assert counted("a bb ccc ééé éé", Tokenizer(min_chars=3)) == {"ccc": 1, "ééé": 1}
