"""Texts to word counts, as scikit-learn transformers do it: CountVectorizer's results in a fraction of its time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted

from likely.arrays import AnyArray, ColumnLike, Flags, Int64, TableLike
from likely.errors import DataError, SettingsError
from likely.table.sparse import as_csr as as_csr_table
from likely.text.class_counts import WordRows, as_csr, rows_of
from likely.text.documents import DecodeError, DocumentBlock, as_blocks
from likely.text.linguistics import GUESS, stop_words, with_language
from likely.text.token_stream import Stream, read_stream, stream_of
from likely.text.tokenizer import Accents, Analyzer, Cjk, Reduction, Tokenizer, word_list
from likely.text.vocabulary import Words

if TYPE_CHECKING:
    from scipy.sparse import csr_array, csr_matrix


@dataclass(kw_only=True, eq=False, repr=False)
class WordCounter(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """The parameters that both transformers have, how they make a tokenizer, and the matrix that comes out."""

    analyzer: Analyzer = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    normalize: Literal["NFC"] | None = None
    strip_accents: Accents | None = None
    stop_words: str | Iterable[str] | None = None
    reduce: Reduction | None = None
    language: str | None = None
    min_chars: int = 2
    cjk: Cjk = "word"
    emoji: bool = False
    urls: bool = False
    numbers: bool = False
    binary: bool = False
    dtype: DTypeLike = np.int64
    decode_error: DecodeError = "strict"
    n_jobs: int | None = None

    def _tokenizer(self, blocks: Sequence[DocumentBlock]) -> Tokenizer:
        """The tokenizer: checked, with its language guessed and its stop words found."""
        tokenizer = Tokenizer(
            analyzer=self.analyzer, ngram_range=self.ngram_range, lowercase=self.lowercase, normalize=self.normalize,
            strip_accents=self.strip_accents, min_chars=self.min_chars, cjk=self.cjk, emoji=self.emoji, urls=self.urls,
            numbers=self.numbers, reduce=self.reduce, language=self.language,
        )  # fmt: skip
        tokenizer = with_language(tokenizer, blocks)
        wanted = self.stop_words
        if isinstance(wanted, str):
            wanted = stop_words(tokenizer.language or GUESS if wanted == GUESS else wanted)
        return tokenizer if wanted is None else replace(tokenizer, stop_words=frozenset(word_list(wanted)))

    def _matrix(self, columns: AnyArray, counts: Int64, starts: Int64, n_columns: int) -> csr_array | csr_matrix:
        """A CSR matrix, or an array where scikit-learn's `sparse_interface` says so."""
        from scipy.sparse import csr_array, csr_matrix

        cells = np.ones(len(counts), dtype=self.dtype) if self.binary else counts.astype(self.dtype, copy=False)
        kind = csr_array if get_config().get("sparse_interface") == "sparray" else csr_matrix
        return as_csr(kind, cells, columns, starts, n_columns)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class TextCounter(WordCounter, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """How often each document contains each word: CountVectorizer's results in a fraction of its time.

    The parameters that scikit-learn's CountVectorizer has too mean the same and have the same defaults: `analyzer`,
    `ngram_range`, `lowercase`, `strip_accents`, `stop_words`, `min_df`, `max_df`, `max_features`, `vocabulary`,
    `binary`, `dtype`, `decode_error`. The others are explained at `Tokenizer`.

    Parameters
    ----------
    stop_words : None, a list, "english" (scikit-learn's list), one of our own lists ("en", "de", "fr", "es", "vi"),
        or "auto" for that of `language`.
    reduce : "stem" (PyStemmer) or "lemma" (simplemma): words are counted under their stem or lemma.
    language : of the texts, such as "de" or "german"; "auto" guesses it when fitting (py3langid).
    n_jobs : number of threads; None for all cores. Results do not depend on it.

    >>> counter = TextCounter()
    >>> counter.fit_transform(["To be, or not to be", "Let it be"]).toarray().tolist()
    [[2, 0, 0, 1, 1, 2], [1, 1, 1, 0, 0, 0]]
    >>> counter.get_feature_names_out().tolist()
    ['be', 'it', 'let', 'not', 'or', 'to']
    """

    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None
    vocabulary: Words | Iterable[str] | Mapping[str, int] | None = None

    def fit(self, X: ColumnLike, y: object = None) -> Self:
        """Learn the vocabulary of these documents."""
        stream = self._read(X)
        if self.vocabulary is None:
            as_it_is = (self.min_df, self.max_df, self.max_features) == (1, 1.0, None)
            self._learn(stream.words if as_it_is else self._rows(stream).words)
        return self

    def fit_transform(self, X: ColumnLike, y: object = None) -> csr_array | csr_matrix:
        """Learn the vocabulary and count: the same as `fit` and `transform`, in one pass."""
        rows = self._rows(self._read(X))
        if self.vocabulary is None:
            self._learn(rows.words)
        return self._counted(rows)

    def transform(self, X: ColumnLike) -> csr_array | csr_matrix:
        """Documents × words, sparse; words that were not learned are not counted."""
        if "words_" not in vars(self) and self.vocabulary is not None:
            self.fit([])
        check_is_fitted(self)
        stream = stream_of(X, self.tokenizer_, self.words_, self.decode_error, self.n_jobs)
        return self._counted(rows_of(stream, self.n_jobs))

    def inverse_transform(self, X: TableLike) -> list[NDArray[np.object_]]:
        """The words that each row holds."""
        check_is_fitted(self)
        from scipy.sparse import csr_matrix, issparse

        rows = csr_matrix(check_array(as_csr_table(X) if issparse(X) else X, accept_sparse="csr"))
        rows.eliminate_zeros()
        names = self.get_feature_names_out()
        return [names[rows.indices[rows.indptr[k] : rows.indptr[k + 1]]] for k in range(rows.shape[0])]

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The words, column by column."""
        check_is_fitted(self)
        return np.array(self.words_.to_list(), dtype=object)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each word; spelled out when it is first asked for."""
        check_is_fitted(self)
        if self._columns is None:
            self._columns: dict[str, int] | None = {word: column for column, word in enumerate(self.words_)}
        return self._columns

    def _read(self, X: ColumnLike) -> Stream:
        """The stream to be learned: of all words in order, or of those in the given vocabulary."""
        blocks = as_blocks(X, self.decode_error)
        self.tokenizer_ = self._tokenizer(blocks)
        stream = read_stream(blocks, self.tokenizer_, self.n_jobs)
        if self.vocabulary is None:
            return stream.in_order(self.n_jobs)
        self._learn(_given(self.vocabulary))
        return stream.among(self.words_)

    def _rows(self, stream: Stream) -> WordRows:
        rows = rows_of(stream, self.n_jobs)
        if self.vocabulary is not None or len(rows.words) == 0:
            return rows
        return limited(rows, self.min_df, self.max_df, self.max_features, self.binary)

    def _learn(self, words: Words) -> None:
        if len(words) == 0:
            raise DataError("empty vocabulary; perhaps the documents only contain stop words")
        self.words_, self._columns = words, None

    def _counted(self, rows: WordRows) -> csr_array | csr_matrix:
        return self._matrix(rows.columns, rows.counts, rows.starts, len(rows.words))


def _given(vocabulary: Words | Iterable[str] | Mapping[str, int]) -> Words:
    """A user's vocabulary: words in the order of the columns, or a mapping of words to columns."""
    if isinstance(vocabulary, Words):
        return vocabulary
    names = sorted(vocabulary) if isinstance(vocabulary, set | frozenset) else list(vocabulary)
    if isinstance(vocabulary, Mapping):
        if sorted(vocabulary.values()) != list(range(len(vocabulary))):
            raise SettingsError(
                f"The vocabulary has {len(names)} words, but their columns are not 0 to {len(names) - 1}."
            )
        names.sort(key=vocabulary.__getitem__)
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise SettingsError(f"The vocabulary holds {twice!r} twice.")
    return Words.of(names)


# Which words are kept: not too rare, not too common, not too many. The rules are scikit-learn's.


def limited(rows: WordRows, min_df: float, max_df: float, max_features: int | None, binary: bool) -> WordRows:
    """The rows without the columns of words outside of the limits; document frequencies may be shares (floats)."""
    n_docs = len(rows.starts) - 1
    low, high = document_limits(min_df, max_df, n_docs)
    _check_most(max_features)
    if low <= 1 and high >= n_docs and (max_features is None or max_features >= len(rows.words)):
        return rows
    frequency = np.bincount(rows.columns, minlength=len(rows.words))
    kept: Flags = (frequency >= low) & (frequency <= high)
    if max_features is not None and np.count_nonzero(kept) > max_features:
        # The same expression on the same numbers as scikit-learn's, so that ties end alike.
        totals = frequency if binary else np.bincount(rows.columns, weights=rows.counts, minlength=len(rows.words))
        best = (-totals.astype(np.int64)[kept]).argsort()[:max_features]
        chosen = np.zeros_like(kept)
        chosen[np.flatnonzero(kept)[best]] = True
        kept = chosen
    if not kept.any():
        raise DataError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
    there = kept[rows.columns]
    starts = np.concatenate([[0], np.cumsum(there)])[rows.starts]
    columns = (np.cumsum(kept) - 1).astype(np.int32)[rows.columns[there]]
    return WordRows(rows.words.take(np.flatnonzero(kept)), columns, rows.counts[there], starts)


def document_limits(min_df: float, max_df: float, n_docs: int) -> tuple[float, float]:
    """Least and largest number of documents, from numbers or shares."""
    low = _documents("min_df", min_df, n_docs)
    high = _documents("max_df", max_df, n_docs)
    if high < low:
        raise SettingsError(f"max_df corresponds to < documents than min_df ({high:g} and {low:g} of {n_docs}).")
    return low, high


def _documents(name: str, limit: object, n_docs: int) -> float:
    if isinstance(limit, int | np.integer) and not isinstance(limit, bool) and limit >= 1:
        return int(limit)
    if isinstance(limit, float | np.floating) and 0.0 <= limit <= 1.0:
        return float(limit) * n_docs
    raise SettingsError(f"{name} is {limit!r}, but it is a number of documents (1 or more) or a share (0.0 to 1.0).")


def _check_most(max_features: object) -> None:
    if max_features is not None and not (isinstance(max_features, int | np.integer) and max_features >= 1):
        raise SettingsError(f"max_features is {max_features!r}, but it is None or a whole number from 1 up.")
