"""Texts as a tree reads them: is this word in the text, yes or no?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from likely.engines.memory import USUAL_RECIPE
from likely.stats import TokenCounts
from likely.stats.telling import information_by_word
from likely.table import GAP, Table
from likely.table.cells import CategoryCells, Cells
from likely.table.codes import used
from likely.text.counting import count_rows
from likely.text.words import Words
from likely.trees.tree import Feature

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

ANSWERS = ("no", "yes")
"""The values of a word in a text; a text that is not there is a gap."""

DIGITS = 10
"""Words whose gain agrees in so many digits tell the same: the first in the alphabet goes first."""


def word_feature(column: str, word: str) -> Feature:
    """Whether a text holds a word, as a column that a tree may test.

    >>> word_feature("body", "free").name
    "body has 'free'"
    """
    return Feature(f"{column} has {word!r}", ANSWERS, word=(column, word))


def telling_words(
    table: Table, column: str, labels: Ints, weights: Array | None, n_classes: int, most: int, n_jobs: int | None = None
) -> list[str]:
    """The words of a text column whose presence tells most about the class, by information gain, best first."""
    texts = table.strings(column)
    known = texts.is_valid().to_numpy() if texts.null_count else None
    seen = TokenCounts.observe(texts, labels, weights, n_classes, USUAL_RECIPE, known, n_jobs)
    gains = np.round(information_by_word(seen), DIGITS)
    best = np.argsort(-gains, kind="stable")[:most]
    return seen.words.take(best[gains[best] > 0.0].astype(np.int32)).to_list()


def with_word_tests(table: Table, features: Sequence[Feature], n_jobs: int | None = None) -> Table:
    """The table, and behind its columns one for every word that the features ask for."""
    asked = [feature for feature in features if feature.word is not None]
    if not asked:
        return table
    by_column: dict[str, list[str]] = {}
    reads: list[Callable[[], Cells]] = [partial(table.cells, name) for name in table.names]

    @cache
    def answers(column: str) -> list[Ints]:
        return _answers(table, column, by_column[column], n_jobs)

    for feature in asked:
        column, word = feature.word or ("", "")
        words = by_column.setdefault(column, [])
        reads.append(partial(_read, answers, column, len(words)))
        words.append(word)
    names = [*table.names, *(feature.name for feature in asked)]
    return Table(names, table.n_rows, lambda place: reads[place](), named=table.named)


def _read(answers: Callable[[str], list[Ints]], column: str, place: int) -> Cells:
    return CategoryCells(used(ANSWERS, answers(column)[place]))


def _answers(table: Table, column: str, words: list[str], n_jobs: int | None) -> list[Ints]:
    """For each word, 1 where the text holds it, 0 where it does not, −1 where there is no text."""
    texts = table.strings(column)
    found = count_rows(texts, USUAL_RECIPE, words=Words.of(words), n_jobs=n_jobs).to_csr().tocsc()
    without = np.zeros(table.n_rows, dtype=np.int32)
    if texts.null_count:
        without[~texts.is_valid().to_numpy()] = GAP
    answers = []
    for place in range(len(words)):
        own = without.copy()
        own[found.indices[found.indptr[place] : found.indptr[place + 1]]] = 1
        answers.append(own)
    return answers
