"""Texts to counts of fixed width, for streams whose vocabulary nobody wants to keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.utils import Tags

from likely.arrays import ColumnLike, Int32, Int64, UInt8
from likely.errors import SettingsError
from likely.jit import kernel
from likely.numerics import MOST_PLACES
from likely.text.class_counts import count_columns
from likely.text.documents import each_block
from likely.text.linguistics import GUESS
from likely.text.token_stream import read_stream
from likely.text.tokenizer import Tokenizer
from likely.text.vectorizer import WordCounter
from likely.text.vocabulary import Words

if TYPE_CHECKING:
    from scipy.sparse import csr_array, csr_matrix


@dataclass(kw_only=True, eq=False, repr=False)
class HashingCounter(WordCounter, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """How often each document contains each word, in `n_features` columns and without a vocabulary.

    The column of a word is a stable function of its UTF-8 bytes: the 64-bit FNV-1a hash `h`, folded to
    `(h >> 32) ^ (h & 0xFFFFFFFF)`, modulo `n_features`. It has no seed and is the same on every machine and for ever.
    Words that share a column are counted together; counts are never negative. There is nothing to fit. The parameters
    are those of `TextCounter`; a language cannot be guessed, because two batches might be guessed differently.

    >>> HashingCounter(n_features=8).transform(["to be or not to be"]).toarray().tolist()
    [[0, 0, 0, 4, 0, 0, 0, 2]]
    """

    n_features: int = 1 << 20

    def fit(self, X: object = None, y: object = None) -> Self:
        """Check the parameters; nothing is learned."""
        self._checked_tokenizer()
        return self

    def partial_fit(self, X: object = None, y: object = None) -> Self:
        """The same, for pipelines that learn in batches."""
        return self.fit()

    def transform(self, X: ColumnLike) -> csr_array | csr_matrix:
        """Documents × `n_features`, sparse."""
        stream = read_stream(each_block(X, self.decode_error), self._checked_tokenizer(), self.n_jobs)
        # Only the columns in use are counted: memory follows the words of the batch, not the width.
        used, place = np.unique(hashed_columns(stream.words, self.n_features), return_inverse=True)
        place_or_none = np.append(place, -1).astype(np.int32)
        maps: list[Int32] = [place_or_none[words] for words in stream.maps]
        columns, counts, starts = count_columns(stream.parts, maps, len(used), self.n_jobs)
        return self._matrix(used[columns], counts, starts, self.n_features)

    def fit_transform(self, X: ColumnLike, y: object = None) -> csr_array | csr_matrix:
        """The same as `transform`."""
        return self.transform(X)

    def _checked_tokenizer(self) -> Tokenizer:
        width: object = self.n_features
        if not (isinstance(width, int | np.integer) and 1 <= width <= MOST_PLACES):
            raise SettingsError(f"n_features is {width!r}, but it is a whole number from 1 to 2³¹ − 1.")
        if self.language == GUESS:
            raise SettingsError('language="auto" would be guessed anew for every batch; name the language.')
        return self._tokenizer([])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
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


@kernel(interpretable=True)
def hash_words(arena: UInt8, starts: Int64, width: int) -> Int32:
    """The column of each word among `width`."""
    columns = np.empty(starts.shape[0] - 1, dtype=np.int32)
    for k in range(columns.shape[0]):
        value = _BASIS
        for i in range(starts[k], starts[k + 1]):
            value = (value ^ np.uint64(arena[i])) * _PRIME
        columns[k] = np.int64((value >> _32) ^ (value & _LOW)) % width
    return columns
