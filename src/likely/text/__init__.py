"""Texts: from raw strings to counts, many times faster than word by word in Python.

>>> from likely.text import count_rows
>>> count_rows(["To be, or not to be"]).words.to_list()
['be', 'not', 'or', 'to']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likely.text.class_counts import ClassCounts, WordRows, count_by_class, count_rows
    from likely.text.hashing import HashingCounter
    from likely.text.linguistics import guess_language, stop_words
    from likely.text.tokenizer import Tokenizer
    from likely.text.vectorizer import TextCounter
    from likely.text.vocabulary import Words

_HOME = {
    "ClassCounts": "likely.text.class_counts",
    "HashingCounter": "likely.text.hashing",
    "Tokenizer": "likely.text.tokenizer",
    "WordRows": "likely.text.class_counts",
    "TextCounter": "likely.text.vectorizer",
    "Words": "likely.text.vocabulary",
    "count_by_class": "likely.text.class_counts",
    "count_rows": "likely.text.class_counts",
    "guess_language": "likely.text.linguistics",
    "stop_words": "likely.text.linguistics",
}

__all__ = [
    "ClassCounts",
    "HashingCounter",
    "TextCounter",
    "Tokenizer",
    "WordRows",
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
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
