"""Texts to counts of fixed width, for streams whose vocabulary nobody wants to keep."""

from __future__ import annotations

from typing import Any, Literal, Self

import numba
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags

from likely.arrays import Int32, Int64, UInt8
from likely.errors import SettingsError
from likely.text.class_counts import count_columns, to_matrix
from likely.text.documents import DecodeError, as_blocks
from likely.text.linguistics import GUESS
from likely.text.normalize import Accents
from likely.text.token_stream import read_stream
from likely.text.tokenizer import Analyzer, Tokenizer
from likely.text.vectorizer import recipe_of
from likely.text.vocabulary import Words

_MOST_FEATURES = np.iinfo(np.int32).max


class HashingCounter(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """How often each document holds each word, in `n_features` columns and without a vocabulary.

    The column of a word is a stable function of its UTF-8 bytes: the 64-bit FNV-1a hash `h`, folded to
    `(h >> 32) ^ (h & 0xFFFFFFFF)`, modulo `n_features`. It has no seed and is the same on every machine and for ever.
    Words that share a column are counted together; counts are never negative. There is nothing to fit. The parameters
    are those of `TextCounter`; a language cannot be guessed, because two batches might be guessed differently.

    >>> HashingCounter(n_features=8).transform(["to be or not to be"]).toarray().tolist()
    [[0, 0, 0, 4, 0, 0, 0, 2]]
    """

    def __init__(
        self,
        *,
        n_features: int = 1 << 20,
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
        binary: bool = False,
        dtype: Any = np.int64,
        decode_error: DecodeError = "strict",
        n_jobs: int | None = None,
    ) -> None:
        self.n_features = n_features
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
        self.binary = binary
        self.dtype = dtype
        self.decode_error = decode_error
        self.n_jobs = n_jobs

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Check the parameters; nothing is learned."""
        self._tokenizer()
        return self

    def partial_fit(self, X: Any = None, y: Any = None) -> Self:
        """The same, for pipelines that learn in batches."""
        return self.fit()

    def transform(self, X: Any) -> Any:
        """Documents × `n_features`, sparse."""
        stream = read_stream(as_blocks(X, self.decode_error), self._tokenizer(), self.n_jobs)
        # Only the columns in use are counted: memory follows the words of the batch, not the width.
        used, place = np.unique(hashed_columns(stream.words, self.n_features), return_inverse=True)
        place_or_none = np.append(place, -1).astype(np.int32)
        maps: list[Int32] = [place_or_none[words] for words in stream.maps]
        columns, counts, starts = count_columns(stream.parts, maps, len(used), self.n_jobs)
        return to_matrix(used[columns], counts, starts, self.n_features, self.binary, self.dtype)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The same as `transform`."""
        return self.transform(X)

    def _tokenizer(self) -> Tokenizer:
        width: Any = self.n_features
        if not (isinstance(width, int | np.integer) and 1 <= width <= _MOST_FEATURES):
            raise SettingsError(f"n_features is {width!r}, but it is a whole number from 1 to 2³¹ − 1.")
        if self.language == GUESS:
            raise SettingsError('language="auto" would be guessed anew for every batch; name the language.')
        return recipe_of(self, [])

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags


def hashed_columns(words: Words, n_features: int) -> Int32:
    """The column of each word."""
    columns: Int32 = hash_words(words.arena, words.starts, n_features)
    return columns


# A hash that never changes: FNV-1a with 64 bits, folded to 32.

_BASIS = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@numba.njit(nogil=True, cache=True)
def hash_words(arena: UInt8, starts: Int64, width: int) -> Int32:
    """The column of each word among `width`."""
    columns = np.empty(starts.shape[0] - 1, dtype=np.int32)
    for k in range(columns.shape[0]):
        value = _BASIS
        for i in range(starts[k], starts[k + 1]):
            value = (value ^ np.uint64(arena[i])) * _PRIME
        columns[k] = np.int64((value >> _32) ^ (value & _LOW)) % width
    return columns
