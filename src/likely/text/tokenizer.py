"""How a text becomes tokens: all that must be equal for two counts to mean the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from likely.errors import SettingsError, listed
from likely.text.characters import Cjk
from likely.text.normalize import Accents

Analyzer = Literal["word", "char", "char_wb"]

_CHOICES: dict[str, tuple[Any, ...]] = {
    "analyzer": ("word", "char", "char_wb"),
    "normalize": (None, "NFC"),
    "strip_accents": (None, "unicode", "ascii"),
    "cjk": ("word", "char", "bigram"),
    "reduce": (None, "stem", "lemma"),
}


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Settings of the tokeniser; the defaults are those of scikit-learn's CountVectorizer.

    Parameters
    ----------
    analyzer : "word"; "char" for n-grams of characters; "char_wb" for those inside of words padded with a space.
    ngram_range : shortest and longest n-gram.
    lowercase : as `str.lower`.
    normalize : "NFC" to compose accents first, so that both spellings of "tiếng" are one word.
    strip_accents : "unicode" or "ascii", as in scikit-learn.
    min_chars : a word has at least so many characters.
    cjk : a run of Chinese or Japanese characters is a "word", one token per "char", or per "bigram".
    emoji : keep each emoji (with skin tone, joined figures, flags) as a token.
    urls, numbers : fold all addresses to the token `<url>`, all words of digits to `<number>`.
    stop_words : words to leave out, before n-grams are made.
    reduce : "stem" or "lemma": words are counted under their stem or lemma; needs `language`.
    language : "de", "english" …, see `likely.text.linguistics`.

    >>> Tokenizer(ngram_range=(1, 2), stop_words=frozenset({"the"})).ngram_range
    (1, 2)
    """

    analyzer: Analyzer = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    normalize: Literal["NFC"] | None = None
    strip_accents: Accents | None = None
    min_chars: int = 2
    cjk: Cjk = "word"
    emoji: bool = False
    urls: bool = False
    numbers: bool = False
    stop_words: frozenset[str] = field(default_factory=frozenset)
    reduce: Literal["stem", "lemma"] | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise SettingsError(f"{name} is {getattr(self, name)!r}, but it is one of {listed(choices)}.")
        _check_range(self.ngram_range)
        _check_length(self.min_chars)
        object.__setattr__(self, "stop_words", frozenset(_strings(self.stop_words)))
        if self.reduce and self.language is None:
            raise SettingsError(f'reduce="{self.reduce}" needs a language, such as language="en".')

    @property
    def touches_words(self) -> bool:
        """Whether words are left out, folded or reduced after the scan."""
        return bool(self.stop_words or self.numbers or self.reduce)


def _check_range(ngram_range: Any) -> None:
    try:
        low, high = ngram_range
        fine = 1 <= low <= high and int(low) == low and int(high) == high
    except (TypeError, ValueError):
        fine = False
    if not fine:
        raise SettingsError(
            f"ngram_range is {ngram_range!r}, but it is two whole numbers from 1 up, the lower boundary not larger "
            "than the upper boundary."
        )


def _check_length(min_chars: Any) -> None:
    if not (isinstance(min_chars, int) and min_chars >= 1):
        raise SettingsError(f"min_chars is {min_chars!r}, but it is a whole number from 1 up.")


def _strings(words: Iterable[Any]) -> list[str]:
    if isinstance(words, str):
        raise SettingsError(f"The stop words are {words!r}, but they are a list of words.")
    listed_words = list(words)
    strange = next((word for word in listed_words if not isinstance(word, str)), None)
    if strange is not None:
        raise SettingsError(f"The stop words hold {strange!r}, which is no string.")
    return listed_words
