"""How a text becomes tokens: all that must be equal for two counts to mean the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Literal

import numpy as np

from likely.errors import SettingsError, listed

Analyzer = Literal["word", "char", "char_wb"]
Accents = Literal["unicode", "ascii"]
Cjk = Literal["word", "char", "bigram"]
Reduction = Literal["stem", "lemma"]

LONGEST_GRAM = 100
"""Words or characters of an n-gram at most: nobody has the memory for longer ones."""

LONGEST_WORD = 2**31 - 1
"""Characters of a word."""

_CHOICES: dict[str, tuple[str | None, ...]] = {
    "analyzer": ("word", "char", "char_wb"),
    "normalize": (None, "NFC"),
    "strip_accents": (None, "unicode", "ascii"),
    "cjk": ("word", "char", "bigram"),
    "reduce": (None, "stem", "lemma"),
}


@dataclass(frozen=True)
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
    reduce: Reduction | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        settings = vars(self)
        for name, choices in _CHOICES.items():
            given = settings[name]
            if not (given is None or isinstance(given, str)) or given not in choices:
                raise SettingsError(f"{name} is {given!r}, but it is one of {listed(choices)}.")
        if self.language is not None and not isinstance(self.language, str):
            raise SettingsError(f"language is {self.language!r}, but it is the name of a language, or None.")
        settings |= {name: _truth(name, settings[name]) for name in ("lowercase", "emoji", "urls", "numbers")}
        settings["ngram_range"], settings["min_chars"] = _range(self.ngram_range), _length(self.min_chars)
        settings["stop_words"] = frozenset(word_list(self.stop_words))
        if self.reduce and self.language is None:
            raise SettingsError(f'reduce="{self.reduce}" needs a language, such as language="en".')

    @property
    def touches_words(self) -> bool:
        """Whether words are left out, folded or reduced after the scan."""
        return bool(self.stop_words or self.numbers or self.reduce)


def _truth(name: str, given: object) -> bool:
    if isinstance(given, bool | int | np.bool_) and given in (0, 1):
        return bool(given)
    raise SettingsError(f"{name} is {given!r}, but it is True or False.")


def _range(ngram_range: object) -> tuple[int, int]:
    ends = tuple(ngram_range) if isinstance(ngram_range, Sequence | np.ndarray) else ()
    if len(ends) != 2 or not all(isinstance(end, Integral) for end in ends) or not 1 <= int(ends[0]) <= int(ends[1]):
        raise SettingsError(
            f"ngram_range is {ngram_range!r}, but it is two whole numbers from 1 up, the lower boundary not larger "
            "than the upper boundary."
        )
    if int(ends[1]) > LONGEST_GRAM:
        raise SettingsError(f"ngram_range is {ngram_range!r}, but n-grams are at most {LONGEST_GRAM} long.")
    return int(ends[0]), int(ends[1])


def _length(min_chars: object) -> int:
    if isinstance(min_chars, bool) or not isinstance(min_chars, Integral) or not 1 <= int(min_chars) <= LONGEST_WORD:
        raise SettingsError(f"min_chars is {min_chars!r}, but it is a whole number from 1 up.")
    return int(min_chars)


def word_list(words: Iterable[object]) -> list[str]:
    """Stop words, each of them a string."""
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise SettingsError(f"The stop words are {words!r}, but they are a list of words.")
    found = []
    for word in words:
        if not isinstance(word, str):
            raise SettingsError(f"The stop words hold {word!r}, which is no string.")
        found.append(word)
    return found
