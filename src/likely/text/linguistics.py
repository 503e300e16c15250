"""What is done to words: on the vocabulary, each distinct word once, never on the tokens of a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module, resources
from types import ModuleType

import numpy as np

from likely.arrays import Int32
from likely.errors import SettingsError, listed, to_install
from likely.text.documents import DocumentBlock
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words

LANGUAGES = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "vi": "vietnamese"}


@cache
def stop_words(language: str) -> frozenset[str]:
    """Our list for a language, by code or English name ("de", "german"); "english" is scikit-learn's own list.

    >>> sorted(stop_words("german") & {"und", "haus"})
    ['und']
    """
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    import tomllib

    lists = tomllib.loads(resources.files("likely.text").joinpath("stop_words.toml").read_text(encoding="utf-8"))
    code = next((code for code, name in LANGUAGES.items() if name == language), language)
    if code not in lists:
        known = [*LANGUAGES, *LANGUAGES.values()]
        raise SettingsError(f"There are no stop words for {language!r}, only for {listed(known)}; pass your own list.")
    return frozenset(word.replace("_", " ") for word in lists[code].split())


NUMBER = "<number>"
GUESS = "auto"
_SAMPLE_BYTES = 1 << 16

# Codes of the languages for which PyStemmer has a stemmer, under its own names.
STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish", "yi": "yiddish",
}  # fmt: skip


def changed_words(words: Words, tokenizer: Tokenizer) -> tuple[Words, Int32]:
    """The words that remain, and where each word went: −1 if it is left out.

    >>> tokenizer = Tokenizer(numbers=True, stop_words={"the"})
    >>> words, new = changed_words(Words.of(["the", "year", "2004", "1999"]), tokenizer)
    >>> words.to_list(), new.tolist()
    (['year', '<number>'], [-1, 0, 1, 1])
    """
    stopped = Words.of(sorted(tokenizer.stop_words)).find(words) >= 0
    kept = np.flatnonzero(~stopped)
    new = np.full(len(words), -1, dtype=np.int32)
    if not (tokenizer.numbers or tokenizer.reduce):
        new[kept] = np.arange(len(kept), dtype=np.int32)
        return words.take(kept), new
    names = words.take(kept).to_list()
    if tokenizer.reduce:
        names = _reduced(names, tokenizer)
    if tokenizer.numbers:
        names = [NUMBER if name.isdecimal() else name for name in names]
    places: dict[str, int] = {}
    new[kept] = [places.setdefault(name, len(places)) for name in names]
    return Words.of(places), new


def with_language(tokenizer: Tokenizer, blocks: Sequence[DocumentBlock]) -> Tokenizer:
    """The tokenizer with its language guessed from the texts, if it is to be guessed."""
    return replace(tokenizer, language=guess_language(blocks)) if tokenizer.language == GUESS else tokenizer


def guess_language(blocks: Sequence[DocumentBlock]) -> str:
    """The code of the language that most of the texts seem to be in (py3langid)."""
    share = _SAMPLE_BYTES // max(len(blocks), 1) + 1
    sample = b"".join(block.data[:share].tobytes() for block in blocks)[:_SAMPLE_BYTES]
    language, _ = _extra("py3langid", "Guessing a language").classify(sample.decode("utf-8", "ignore"))
    return str(language)


def _reduced(names: list[str], tokenizer: Tokenizer) -> list[str]:
    if tokenizer.language is None or tokenizer.language == GUESS:
        raise SettingsError("The language has to be known before words are reduced; see `with_language`.")
    if tokenizer.reduce == "stem":
        return [stem or name for stem, name in zip(_stems(tokenizer.language)(names), names, strict=True)]
    lemmas = _lemmas(tokenizer.language)
    found = [lemmas(name) or name for name in names]
    # German nouns come back with a capital.
    return [lemma.lower() for lemma in found] if tokenizer.lowercase else found


def _stems(language: str) -> Callable[[list[str]], list[str]]:
    stemmer = _extra("Stemmer", "Stemming")
    name = STEMMERS.get(language, language)
    if name not in stemmer.algorithms():
        raise SettingsError(f"There is no stemmer for {language!r}, only for {listed(sorted(STEMMERS))}.")
    stems: Callable[[list[str]], list[str]] = stemmer.Stemmer(name).stemWords
    return stems


def _lemmas(language: str) -> Callable[[str], str]:
    simplemma = _extra("simplemma", "Finding lemmas")
    code = next((code for code, name in STEMMERS.items() if name == language), language)

    def lemma(word: str) -> str:
        return str(simplemma.lemmatize(word, lang=code))

    try:
        lemma("a")
    except ValueError:
        raise SettingsError(f"simplemma has no lemmas for {language!r}; use a stemmer or another language.") from None
    return lemma


def _extra(module: str, purpose: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError:
        raise SettingsError(f"{purpose} needs {module}: {to_install('text')}.") from None
