"""Texts: from raw strings to counts, many times faster than word by word in Python.

>>> from likely.text import count_rows
>>> count_rows(["To be, or not to be"]).words.to_list()
['be', 'not', 'or', 'to']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likely.text.byclass import ClassCounts
    from likely.text.counter import TextCounter
    from likely.text.counting import Rows, count_by_class, count_rows
    from likely.text.hashing import HashingCounter
    from likely.text.linguistics import guess_language
    from likely.text.recipe import Recipe
    from likely.text.stopwords import stop_words
    from likely.text.words import Words

_HOME = {
    "ClassCounts": "byclass",
    "HashingCounter": "hashing",
    "Recipe": "recipe",
    "Rows": "counting",
    "TextCounter": "counter",
    "Words": "words",
    "count_by_class": "counting",
    "count_rows": "counting",
    "guess_language": "linguistics",
    "stop_words": "stopwords",
}

__all__ = [
    "ClassCounts",
    "HashingCounter",
    "Recipe",
    "Rows",
    "TextCounter",
    "Words",
    "count_by_class",
    "count_rows",
    "guess_language",
    "stop_words",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'likely.text' has no attribute {name!r}")
    return getattr(import_module(f"likely.text.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
