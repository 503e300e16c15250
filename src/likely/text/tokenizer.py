"""How a text becomes tokens: all that must be equal for two counts to mean the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Literal

import numpy as np

from likely.errors import SettingsError, listed
from likely.text.characters import Cjk
from likely.text.normalize import Accents

Analyzer = Literal["word", "char", "char_wb"]

LONGEST_GRAM = 100
"""Words or characters of an n-gram at most: nobody has the memory for longer ones."""

LONGEST_WORD = 2**31 - 1
"""Characters of a word."""

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
            given = getattr(self, name)
            if not (given is None or isinstance(given, str)) or given not in choices:
                raise SettingsError(f"{name} is {given!r}, but it is one of {listed(choices)}.")
        if self.language is not None and not isinstance(self.language, str):
            raise SettingsError(f"language is {self.language!r}, but it is the name of a language, or None.")
        checked: dict[str, Any] = {
            name: _truth(name, getattr(self, name)) for name in ("lowercase", "emoji", "urls", "numbers")
        }
        checked |= {"ngram_range": _range(self.ngram_range), "min_chars": _length(self.min_chars)}
        for name, value in {**checked, "stop_words": frozenset(_strings(self.stop_words))}.items():
            object.__setattr__(self, name, value)
        if self.reduce and self.language is None:
            raise SettingsError(f'reduce="{self.reduce}" needs a language, such as language="en".')

    @property
    def touches_words(self) -> bool:
        """Whether words are left out, folded or reduced after the scan."""
        return bool(self.stop_words or self.numbers or self.reduce)


def _truth(name: str, given: Any) -> bool:
    if isinstance(given, bool | int | np.bool_) and given in (0, 1):
        return bool(given)
    raise SettingsError(f"{name} is {given!r}, but it is True or False.")


def _range(ngram_range: Any) -> tuple[int, int]:
    ends = tuple(ngram_range) if isinstance(ngram_range, Sequence | np.ndarray) else ()
    if len(ends) != 2 or not all(isinstance(end, Integral) for end in ends) or not 1 <= int(ends[0]) <= int(ends[1]):
        raise SettingsError(
            f"ngram_range is {ngram_range!r}, but it is two whole numbers from 1 up, the lower boundary not larger "
            "than the upper boundary."
        )
    if int(ends[1]) > LONGEST_GRAM:
        raise SettingsError(f"ngram_range is {ngram_range!r}, but n-grams are at most {LONGEST_GRAM} long.")
    return int(ends[0]), int(ends[1])


def _length(min_chars: Any) -> int:
    if isinstance(min_chars, bool) or not isinstance(min_chars, Integral) or not 1 <= int(min_chars) <= LONGEST_WORD:
        raise SettingsError(f"min_chars is {min_chars!r}, but it is a whole number from 1 up.")
    return int(min_chars)


def _strings(words: Iterable[Any]) -> list[str]:
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise SettingsError(f"The stop words are {words!r}, but they are a list of words.")
    listed_words = list(words)
    strange = [word for word in listed_words if not isinstance(word, str)]
    if strange:
        raise SettingsError(f"The stop words hold {strange[0]!r}, which is no string.")
    return listed_words
