"""The settings that both transformers share, as a tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted

from likely.arrays import Int32
from likely.errors import DataError, SettingsError
from likely.table.sparse import as_csr
from likely.text.class_counts import Rows, rows_of, to_matrix
from likely.text.documents import Block, DecodeError, as_blocks
from likely.text.kernels.counts import keep_columns
from likely.text.linguistics import GUESS, stop_words, with_language
from likely.text.normalize import Accents
from likely.text.token_stream import Stream, read_stream
from likely.text.tokenizer import Analyzer, Tokenizer
from likely.text.vocabulary import Words

SHARED = ("analyzer", "ngram_range", "lowercase", "normalize", "strip_accents", "min_chars", "cjk", "emoji", "urls",
          "numbers", "reduce", "language")  # fmt: skip


def recipe_of(counter: Any, blocks: Sequence[Block]) -> Tokenizer:
    """A transformer's tokenizer: checked, with its language guessed and its stop words found."""
    tokenizer = with_language(Tokenizer(**{name: getattr(counter, name) for name in SHARED}), blocks)
    wanted = counter.stop_words
    if wanted is None:
        return tokenizer
    if isinstance(wanted, str):
        wanted = stop_words(tokenizer.language or GUESS if wanted == GUESS else wanted)
    return replace(tokenizer, stop_words=wanted)


# Which words are kept: not too rare, not too common, not too many. The rules are scikit-learn's.


def limited(rows: Rows, min_df: float, max_df: float, max_features: int | None, binary: bool) -> Rows:
    """The rows without the columns of words outside of the limits; document frequencies may be shares (floats)."""
    n_docs = len(rows.starts) - 1
    low, high = document_limits(min_df, max_df, n_docs)
    _check_most(max_features)
    if low <= 1 and high >= n_docs and (max_features is None or max_features >= len(rows.words)):
        return rows
    frequency = np.bincount(rows.columns, minlength=len(rows.words))
    kept: NDArray[np.bool_] = (frequency >= low) & (frequency <= high)
    if max_features is not None and np.count_nonzero(kept) > max_features:
        # The same expression on the same numbers as scikit-learn's, so that ties end alike.
        totals = frequency if binary else np.bincount(rows.columns, weights=rows.counts, minlength=len(rows.words))
        best = (-totals.astype(np.int64)[kept]).argsort()[:max_features]
        chosen = np.zeros_like(kept)
        chosen[np.flatnonzero(kept)[best]] = True
        kept = chosen
    if not kept.any():
        raise DataError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
    new: Int32 = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    return Rows(rows.words.take(np.flatnonzero(kept)), *keep_columns(rows.columns, rows.counts, rows.starts, new))


def document_limits(min_df: float, max_df: float, n_docs: int) -> tuple[float, float]:
    """Least and largest number of documents, from numbers or shares."""
    low = _documents("min_df", min_df, n_docs)
    high = _documents("max_df", max_df, n_docs)
    if high < low:
        raise SettingsError(f"max_df corresponds to < documents than min_df ({high:g} and {low:g} of {n_docs}).")
    return low, high


def _documents(name: str, limit: Any, n_docs: int) -> float:
    if isinstance(limit, int | np.integer) and not isinstance(limit, bool) and limit >= 1:
        return int(limit)
    if isinstance(limit, float | np.floating) and 0.0 <= limit <= 1.0:
        return float(limit) * n_docs
    raise SettingsError(f"{name} is {limit!r}, but it is a number of documents (1 or more) or a share (0.0 to 1.0).")


def _check_most(max_features: Any) -> None:
    if max_features is not None and not (isinstance(max_features, int | np.integer) and max_features >= 1):
        raise SettingsError(f"max_features is {max_features!r}, but it is None or a whole number from 1 up.")


# Texts to word counts, as a scikit-learn transformer.


class TextCounter(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """How often each document holds each word: CountVectorizer's results in a fraction of its time.

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

    words_: Words

    def __init__(
        self,
        *,
        analyzer: Analyzer = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        normalize: Literal["NFC"] | None = None,
        strip_accents: Accents | None = None,
        stop_words: Any = None,
        reduce: Literal["stem", "lemma"] | None = None,
        language: str | None = None,
        min_chars: int = 2,
        cjk: Literal["word", "char", "bigram"] = "word",
        emoji: bool = False,
        urls: bool = False,
        numbers: bool = False,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.int64,
        decode_error: DecodeError = "strict",
        n_jobs: int | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.lowercase = lowercase
        self.normalize = normalize
        self.strip_accents = strip_accents
        self.stop_words = stop_words
        self.reduce = reduce
        self.language = language
        self.min_chars = min_chars
        self.cjk = cjk
        self.emoji = emoji
        self.urls = urls
        self.numbers = numbers
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype
        self.decode_error = decode_error
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the vocabulary of these documents."""
        stream = self._read(X)
        if self.vocabulary is None:
            as_it_is = (self.min_df, self.max_df, self.max_features) == (1, 1.0, None)
            self._learn(stream.words if as_it_is else self._rows(stream).words)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the vocabulary and count: the same as `fit` and `transform`, in one pass."""
        rows = self._rows(self._read(X))
        if self.vocabulary is None:
            self._learn(rows.words)
        return self._matrix(rows)

    def transform(self, X: Any) -> Any:
        """Documents × words, sparse; words that were not learned count nowhere."""
        if not hasattr(self, "words_") and self.vocabulary is not None:
            self.fit([])
        check_is_fitted(self)
        stream = read_stream(self._blocks(X), self.recipe_, self.n_jobs)
        known = stream.renamed(self.words_, self.words_.find(stream.words))
        return self._matrix(rows_of(known, self.n_jobs))

    def inverse_transform(self, X: Any) -> list[NDArray[np.object_]]:
        """The words that each row holds."""
        check_is_fitted(self)
        from scipy.sparse import csr_matrix, issparse

        rows = csr_matrix(check_array(as_csr(X) if issparse(X) else X, accept_sparse="csr"))
        rows.eliminate_zeros()
        names = self.get_feature_names_out()
        return [names[rows.indices[rows.indptr[k] : rows.indptr[k + 1]]] for k in range(rows.shape[0])]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
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

    def _blocks(self, X: Any) -> list[Block]:
        return as_blocks(X, self.decode_error)

    def _read(self, X: Any) -> Stream:
        """The stream to be learned: of all words in order, or of those in the given vocabulary."""
        blocks = self._blocks(X)
        self.recipe_ = recipe_of(self, blocks)
        stream = read_stream(blocks, self.recipe_, self.n_jobs)
        if self.vocabulary is None:
            return stream.in_order()
        self._learn(_given(self.vocabulary))
        return stream.renamed(self.words_, self.words_.find(stream.words))

    def _rows(self, stream: Stream) -> Rows:
        rows = rows_of(stream, self.n_jobs)
        if self.vocabulary is not None or len(rows.words) == 0:
            return rows
        return limited(rows, self.min_df, self.max_df, self.max_features, self.binary)

    def _learn(self, words: Words) -> None:
        if len(words) == 0:
            raise DataError("empty vocabulary; perhaps the documents only contain stop words")
        self.words_, self._columns = words, None

    def _matrix(self, rows: Rows) -> Any:
        return to_matrix(rows.columns, rows.counts, rows.starts, len(rows.words), self.binary, self.dtype)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _given(vocabulary: Any) -> Words:
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
