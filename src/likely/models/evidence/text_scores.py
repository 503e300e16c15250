"""Scores of text columns: by the words' own logistic regression, or by naive Bayes while corrections are stale.

    score of a text = intercept + Σ_words (tf-idf of the word · coefficient + occurrences · coefficient of a count)

The first coefficients are those of a multinomial logistic regression, the second ones those of naive Bayes (of the
complement); both are multiplied by their stacking weights (see `text_fit`). tf-idf is (1 + log occurrences) · (1 + log
of how rare the word is), divided by the length of the text's vector. So the evidence of a text is a sum over its words.

A model that scored the texts whose words it has seen would be too sure of itself, so the training rows are divided into
five folds, and every text is scored by what the other four have taught.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Protocol

import numpy as np
import scipy

from likely.arrays import Array, ColumnLike, Flags, Index, UInt64
from likely.engines.plan import plan
from likely.families import Settings
from likely.families.protocol import Described, HasParameters, HasTokens, Parameter, Token
from likely.families.text_family import MOST_WRITTEN, WeighedWords
from likely.parallel import row_blocks, run
from likely.scorer import Model
from likely.stats import Part, Summary
from likely.stats.feature_counts import with_cells
from likely.table import Table
from likely.text.class_counts import count_rows
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words

FAMILY = "text complement"
N_FOLDS = 5
FOLD_ORDERS = np.array(list(permutations(range(N_FOLDS))))


class TextScorer(Protocol):
    """What a text column says: `scores` are rows × scores, and those of `tokens`, by class, add up to them."""

    @property
    def column(self) -> str: ...

    def scores(self, table: Table, n_jobs: int | None) -> Array:
        """What the words of every text add, without the intercept."""
        ...

    def tokens(self, table: Table) -> list[list[Token]]:
        """For each text its known words and what each adds for each class."""
        ...

    def word_evidence(self) -> tuple[list[str], Array]:
        """All known words, and what each adds for each class where it comes once, in a text as they usually are."""
        ...

    def parameters(self) -> Iterator[Parameter]:
        """The learned numbers of every word."""
        ...

    def described(self) -> dict[str, object] | None:
        """All that another program needs to score texts; None where words are too many to be written out."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class TextExpert:
    """Coefficients of words, words × scores: of their tf-idf, and of their occurrences.

    `rarity` is the inverse frequency of a word, `typical` its mean tf-idf in the texts that hold it.
    """

    tokenizer: Tokenizer
    words: Words
    rarity: Array
    typical: Array
    coefficients: Array
    count_coefficients: Array
    intercept: Array

    def count(self, texts: ColumnLike, n_jobs: int | None) -> scipy.sparse.csr_array:
        """Texts × known words."""
        return count_rows(texts, self.tokenizer, words=self.words, n_jobs=n_jobs).to_csr()

    def word_scores(self, texts: ColumnLike, n_jobs: int | None) -> Array:
        """Rows × scores: what the words of texts add, without the intercept."""
        counts = self.count(texts, n_jobs)
        has_counts = bool(self.count_coefficients.any())
        blocks = row_blocks(counts.shape[0], max(counts.nnz // max(counts.shape[0], 1), 1))

        def score(block: slice) -> Array:
            own = counts[block]
            found = np.asarray(tf_idf(own, self.rarity) @ self.coefficients)
            return found + own.astype(np.float64) @ self.count_coefficients if has_counts else found

        return np.concatenate([*run(score, blocks, n_jobs), np.zeros((0, len(self.intercept)))])


@dataclass(frozen=True, slots=True, eq=False)
class CorrectedText:
    """A text column whose words have been corrected by rows."""

    column: str
    expert: TextExpert
    n_classes: int

    def scores(self, table: Table, n_jobs: int | None) -> Array:
        return self.expert.word_scores(table.strings(self.column), n_jobs)

    def tokens(self, table: Table) -> list[list[Token]]:
        expert, found = self.expert, []
        counts = expert.count(table.strings(self.column), 1)
        values = tf_idf(counts, expert.rarity)
        for start, stop in pairwise(counts.indptr):
            places, cells = counts.indices[start:stop], counts.data[start:stop]
            tf_idf_part = values.data[start:stop, None] * expert.coefficients[places]
            evidence = self._by_class(tf_idf_part + cells[:, None] * expert.count_coefficients[places])
            spelled = expert.words.take(places).to_list()
            found.append([Token(*token) for token in zip(spelled, cells.astype(float).tolist(), evidence, strict=True)])
        return found

    def word_evidence(self) -> tuple[list[str], Array]:
        expert = self.expert
        evidence = expert.typical[:, None] * expert.coefficients + expert.count_coefficients
        return expert.words.to_list(), self._by_class(evidence)

    def parameters(self) -> Iterator[Parameter]:
        expert = self.expert
        of_values, of_counts = self._by_class(expert.coefficients), self._by_class(expert.count_coefficients)
        for place, word in enumerate(expert.words.to_list()):
            rarity = np.full(self.n_classes, expert.rarity[place])
            yield Parameter(self.column, "inverse frequency", word, rarity)
            yield Parameter(self.column, "evidence of its tf-idf", word, of_values[place])
            yield Parameter(self.column, "evidence of an occurrence", word, of_counts[place])

    def described(self) -> dict[str, object] | None:
        expert = self.expert
        if 2 * len(expert.words) * self.n_classes > MOST_WRITTEN:
            return None
        lines, counts = self._by_class(expert.coefficients), self._by_class(expert.count_coefficients)
        words = {"tokenizer": expert.tokenizer, "words": expert.words.to_list(), "rarity": expert.rarity}
        return {**words, "is": "tf-idf", "lines": lines, "counts": counts}

    def _by_class(self, scores: Array) -> Array:
        return class_scores(scores, self.n_classes)


@dataclass(frozen=True, slots=True, eq=False)
class CountedText:
    """A text column of which only counts are known: naive Bayes of its words."""

    column: str
    model: Model

    @classmethod
    def settle(cls, column: str, summary: Summary) -> CountedText:
        """From the counts of words, under a uniform prior: that of classes is in the intercept."""
        one = Summary(
            summary.classes, {part: seen for part, seen in summary.parts.items() if part.columns == (column,)}
        )
        return cls(column, Model.settle(one, {column: FAMILY}, "uniform", Settings()))

    def scores(self, table: Table, n_jobs: int | None) -> Array:
        return as_scores(self.model.log_joint(table, n_jobs).array() - np.log(self.model.prior))

    def tokens(self, table: Table) -> list[list[Token]]:
        (belief,) = self.model.beliefs
        found = (belief.tokens(table) if isinstance(belief, HasTokens) else None) or []
        return [[token._replace(evidence=_centred(token.evidence)) for token in text] for text in found]

    def word_evidence(self) -> tuple[list[str], Array]:
        _, words, lines = self.lines()
        return words, class_scores(as_scores(lines), len(self.model.prior))

    def lines(self) -> tuple[Tokenizer, list[str], Array]:
        """How texts are cut, the words, and words × classes of what an occurrence adds."""
        (belief,) = self.model.beliefs
        assert isinstance(belief, WeighedWords)
        found = list(belief.numbers_by_word())
        lines = np.array([line for _, line in found]).reshape(len(found), len(self.model.prior))
        return belief.reader.tokenizer, [word for word, _ in found], lines

    def described(self) -> dict[str, object] | None:
        (belief,) = self.model.beliefs
        told = belief.described() if isinstance(belief, Described) else None
        return None if told is None else dict(told)

    def parameters(self) -> Iterator[Parameter]:
        for belief in self.model.beliefs:
            yield from (belief.parameters() if isinstance(belief, HasParameters) else None) or ()


def text_parts(columns: tuple[str, ...]) -> tuple[Part, ...]:
    """The statistics that text columns need."""
    return plan(dict.fromkeys(columns, FAMILY))


def tf_idf(counts: scipy.sparse.csr_array, rarity: Array) -> scipy.sparse.csr_array:
    """(1 + log count) · rarity of every word of every row, divided by the length of the row's vector."""
    values = (1.0 + np.log(counts.data)) * rarity[counts.indices]
    n_rows, sizes = counts.shape[0], np.diff(counts.indptr)
    squares = np.bincount(np.repeat(np.arange(n_rows), sizes), weights=values**2, minlength=n_rows)
    lengths = np.sqrt(np.where(squares > 0.0, squares, 1.0))
    return with_cells(counts, values / np.repeat(lengths, sizes))


def as_scores(log_likelihoods: Array) -> Array:
    """Rows × scores of rows × classes: for two classes their difference, else centred over classes."""
    if log_likelihoods.shape[1] == 2:
        return log_likelihoods[:, 1:] - log_likelihoods[:, :1]
    return np.asarray(log_likelihoods - log_likelihoods.mean(axis=1)[:, None])


def class_scores(scores: Array, n_classes: int) -> Array:
    """Rows × classes of rows × scores: one score is shared out evenly, for the second class and against the first."""
    return np.concatenate([-0.5 * scores, 0.5 * scores], axis=1) if n_classes == 2 else scores


def _centred(line: Array) -> Array:
    """What a word adds for each class, with mean 0."""
    return np.asarray(class_scores(as_scores(line[None]), len(line))[0])


# Folds of rows, by their numbers.


def assign_folds(first: int, n_rows: int, seed: int) -> Index:
    """The fold of each of some rows, the first of which has the number `first`: every five rows go to five folds.

    It follows from the number of the row alone, so that rows can be counted in one pass and scored in another.
    """
    rows = np.arange(first, first + n_rows)
    order = (_hashed(rows // N_FOLDS, seed) >> np.uint64(32)) % np.uint64(len(FOLD_ORDERS))
    return np.asarray(FOLD_ORDERS[order.astype(np.intp), rows % N_FOLDS])


def is_sampled(first: int, n_rows: int, seed: int, share: float) -> Flags:
    """Which of some rows, the first of which has the number `first`, belong to a sample of about this share."""
    if share >= 1.0:
        return np.ones(n_rows, dtype=np.bool_)
    chance = _hashed(np.arange(first, first + n_rows), seed + 1) >> np.uint64(11)
    return np.asarray(chance < np.uint64(share * 2.0**53))


def _hashed(numbers: Index, seed: int) -> UInt64:
    mixed = (numbers + seed).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray((mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9))


def scores_by_fold(
    experts: Sequence[Sequence[TextExpert]], fold: Index, table: Table, columns: Sequence[str], n_scores: int,
    n_jobs: int | None,
) -> Array:  # fmt: skip
    """Rows × (texts × scores), intercepts included, each row by the experts that have not learned from its fold."""
    out = np.zeros((len(fold), len(columns) * n_scores))
    for k, of_fold in enumerate(experts):
        own = np.flatnonzero(fold == k)
        held_out = table.take(own)
        for t, expert in enumerate(of_fold if len(own) else ()):
            found = expert.intercept + expert.word_scores(held_out.strings(columns[t]), n_jobs)
            out[own, t * n_scores : (t + 1) * n_scores] = found
    return out
