"""The columns of a table as a tree reads them: numbers with NaN for a gap, codes with −1 for a gap."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from likely.arrays import AnyArray, Array, Int32, UInt8
from likely.engines.memory import USUAL_TOKENIZER
from likely.errors import About, BadCell, SchemaError, say_kind
from likely.evaluation.folds import shuffled_by_class
from likely.jit import kernel
from likely.models.tree.tree import Feature
from likely.parallel import run
from likely.stats import TokenCounts
from likely.stats.binning import equal_frequency_edges
from likely.table import GAP, Table, index_levels
from likely.table.cells import CategoryCells, used
from likely.table.levels import in_order
from likely.table.schema import Schema
from likely.table.table import INFINITE
from likely.text.class_counts import count_rows
from likely.text.vocabulary import Words

ColumnValues = Array | Int32
"""Numbers with NaN for a gap, or codes with −1 for a gap."""

WordSelection = Callable[[str], Sequence[str]]
"""The words of a text column that a tree may ask for."""


def features_of(table: Table, schema: Schema, select_words: WordSelection | None = None) -> tuple[Feature, ...]:
    """The columns that a tree may test, in the order of the table; a text is as many as it has telling words."""
    if table.sparse is not None:
        raise SchemaError("A tree does not read sparse matrices: pass a dense array (X.toarray()).")
    kinds, found = schema.kinds, list[Feature]()
    for name in schema.features:
        if kinds[name] == "numeric":
            found.append(Feature(name))
        elif kinds[name] == "nominal":
            found.append(Feature(name, in_order(table.codes(name).levels)))
        elif select_words is None:
            raise _text_refused(name)
        else:
            found += [word_feature(name, word) for word in select_words(name)]
    _refuse_like_names(found)
    return tuple(found)


def _text_refused(name: str) -> SchemaError:
    """A tree tests numbers and categories: a text is neither."""
    return SchemaError(
        About("text in a tree", name),
        f"Column {name!r} is free text, which a tree cannot test as it is: let it ask for the most telling words "
        f"(text_tokens=100), leave it out (",
        say_kind(name, "ignored"),
        "), or call it nominal.",
    )


def _refuse_like_names(features: Sequence[Feature]) -> None:
    taken = {feature.name for feature in features if feature.word is None}
    for feature in features:
        if feature.word is not None and feature.name in taken:
            raise SchemaError(
                About("word like a column", feature.name),
                f"There is a column {feature.name!r}, and a word in column {feature.column!r} would be called the "
                "same: rename one of them.",
            )


def read_column(table: Table, feature: Feature) -> ColumnValues:
    """One column: finite numbers, or places among the feature's values; what is not among them is a gap."""
    if feature.levels is None:
        return read_numbers(table, feature.name)
    return read_codes(table, feature.name, feature.levels)


def read_numbers(table: Table, name: str) -> Array:
    """A numeric column, refused where it is infinite."""
    numbers = np.ascontiguousarray(table.numbers(name), dtype=np.float64)
    # The sum is finite unless some number is not, or is near to the largest there is: only then are all looked at.
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(numbers.sum())
    if suspicious and np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise BadCell(row, 0, float(numbers[row]), INFINITE).named((name,))
    return numbers


def read_codes(table: Table, name: str, levels: Sequence[Hashable]) -> Int32:
    """A nominal column as places among known values."""
    column = table.codes(name)
    places = np.append(index_levels(column.levels, levels), -1).astype(np.int32)
    return np.ascontiguousarray(places[column.codes])


@dataclass(frozen=True, slots=True, eq=False)
class TrainingData:
    """All that a tree is grown from: columns as they are read, the class of each row, and what it weighs."""

    features: tuple[Feature, ...]
    columns: tuple[ColumnValues, ...]
    classes: AnyArray
    labels: Int32
    weights: Array | None

    @classmethod
    def read(
        cls,
        table: Table,
        features: tuple[Feature, ...],
        classes: AnyArray,
        labels: Int32,
        weights: Array | None,
        n_jobs: int | None = 1,
    ) -> TrainingData:
        """The columns of a table, without the rows that weigh nothing."""
        asked = with_word_tests(table, features)
        columns = tuple(run(lambda feature: read_column(asked, feature), features, n_jobs))
        data = cls(features, columns, classes, labels, weights)
        return data if weights is None or weights.all() else data.take(np.flatnonzero(weights))

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: AnyArray) -> TrainingData:
        """Some rows, by number or by a mask."""
        weights = None if self.weights is None else self.weights[rows]
        columns = tuple(column[rows] for column in self.columns)
        return TrainingData(self.features, columns, self.classes, self.labels[rows], weights)

    def folds(self, n_folds: int, seed: int) -> Int32:
        """The fold of each row: every class is shuffled and dealt out, so that folds are alike."""
        fold = np.empty(len(self), dtype=np.int32)
        fold[shuffled_by_class(self.labels, np.random.default_rng(seed))] = np.arange(len(self)) % n_folds
        return fold


# Texts as a tree reads them: is this word in the text, yes or no?

ANSWERS = ("no", "yes")
"""The values of a word in a text; a text that is not there is a gap."""

DIGITS = 10
"""Gains are compared to this many decimals; of words with equal gain the first in the alphabet goes first."""


def word_feature(column: str, word: str) -> Feature:
    """Whether a text holds a word, as a column that a tree may test.

    >>> word_feature("body", "free").name
    "body has 'free'"
    """
    return Feature(f"{column} has {word!r}", ANSWERS, word=(column, word))


def informative_words(
    table: Table,
    column: str,
    labels: Int32,
    weights: Array | None,
    n_classes: int,
    most: int,
    n_jobs: int | None = None,
) -> list[str]:
    """The words of a text column whose presence tells most about the class, by information gain, best first."""
    texts = table.strings(column)
    known = texts.is_valid().to_numpy() if texts.null_count else None
    seen = TokenCounts.observe(texts, labels, weights, n_classes, USUAL_TOKENIZER, known, n_jobs)
    gains = np.round(seen.information_by_word(), DIGITS)
    best = np.argsort(-gains, kind="stable")[:most]
    return seen.words.take(best[gains[best] > 0.0].astype(np.int32)).to_list()


def with_word_tests(table: Table, features: Sequence[Feature], n_jobs: int | None = None) -> Table:
    """The table, and behind its columns one for every word that the features ask for."""
    asked = [feature for feature in features if feature.word is not None]
    if not asked:
        return table
    by_column: dict[str, list[str]] = {}
    for feature in asked:
        column, word = feature.word or ("", "")
        by_column.setdefault(column, []).append(word)
    answers = {
        (column, word): CategoryCells(used(ANSWERS, codes))
        for column, words in by_column.items()
        for word, codes in zip(words, _answers(table, column, words, n_jobs), strict=True)
    }
    cells = [answers[feature.word] for feature in asked if feature.word is not None]
    names, n = [*table.names, *(feature.name for feature in asked)], len(table.names)
    return Table(names, table.n_rows, lambda k: table.cells(names[k]) if k < n else cells[k - n], named=table.named)


def _answers(table: Table, column: str, words: list[str], n_jobs: int | None) -> list[Int32]:
    """For each word, 1 where the text holds it, 0 where it does not, −1 where there is no text."""
    texts = table.strings(column)
    found = count_rows(texts, USUAL_TOKENIZER, words=Words.of(words), n_jobs=n_jobs).to_csr().tocsc()
    without = np.zeros(table.n_rows, dtype=np.int32)
    if texts.null_count:
        without[~texts.is_valid().to_numpy()] = GAP
    answers = []
    for place in range(len(words)):
        own = without.copy()
        own[found.indices[found.indptr[place] : found.indptr[place + 1]]] = 1
        answers.append(own)
    return answers


# Numbers in bins of about equal size.

MOST_BINS = 255

GAP_BIN = 255
"""The bin of a gap."""

MOST_SAMPLED = 1 << 15
"""Rows from which edges are settled: enough to place a quantile within a fraction of a bin."""


def quantile_edges(numbers: Array, most_bins: int = MOST_BINS) -> Array:
    """Edges between bins: between all values if they are few, else at quantiles, always half way between two values."""
    if len(numbers) > MOST_SAMPLED:
        numbers = numbers[:: -(-len(numbers) // MOST_SAMPLED)]
    return equal_frequency_edges(numbers, most_bins)


@kernel(interpretable=True)
def bin_numbers(numbers: Array, edges: Array) -> UInt8:
    """The bin of every number: how many edges are not above it; a gap is 255.

    Eight steps for every number, without a branch that the processor would have to guess.
    """
    out, padded = np.empty(len(numbers), dtype=np.uint8), np.full(256, np.inf)
    for k in range(len(edges)):
        padded[k] = edges[k]
    for i in range(len(numbers)):
        x, at = numbers[i], 0
        at += 128 * (padded[at + 127] <= x)
        at += 64 * (padded[at + 63] <= x)
        at += 32 * (padded[at + 31] <= x)
        at += 16 * (padded[at + 15] <= x)
        at += 8 * (padded[at + 7] <= x)
        at += 4 * (padded[at + 3] <= x)
        at += 2 * (padded[at + 1] <= x)
        at += 1 * (padded[at] <= x)
        out[i] = GAP_BIN if np.isnan(x) else at
    return out
