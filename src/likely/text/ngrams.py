"""N-grams of numbered tokens: each is a shorter n-gram and one token more, interned as a pair of numbers."""

from __future__ import annotations

import numpy as np

from likely.arrays import Int32, Int64, UInt8, UInt64
from likely.jit import kernel
from likely.numerics import refuse_many
from likely.text.token_scan import DONE, TABLE_FULL
from likely.text.vocabulary import Words, first_slot, process_seed, roomier

_FIRST_GRAMS = 1 << 12

N_GRAMS, AT_DOC, N_OUT = range(3)
"""Places in the cursor."""


class GramTable:
    """A growing table of n-grams: the shorter one that each begins with, and its last token."""

    def __init__(self) -> None:
        self.cells = np.zeros(4 * _FIRST_GRAMS, dtype=np.uint64)
        self.parents = np.empty(_FIRST_GRAMS, dtype=np.int32)
        self.lasts = np.empty(_FIRST_GRAMS, dtype=np.int32)
        self.n_grams = 0

    def _grow(self) -> None:
        """Room for twice as many."""
        self.cells = roomier(self.cells)
        self.parents = np.concatenate([self.parents, np.empty_like(self.parents)])
        self.lasts = np.concatenate([self.lasts, np.empty_like(self.lasts)])

    def scan(
        self, ids: Int32, ends: Int64, new_id: Int32, base: int, low: int, high: int, whole: bool
    ) -> tuple[Int32, Int64]:
        """The n-grams of a block of documents, and where each document ends among them; see `scan_grams`."""
        grams, gram_ends = (
            np.empty(len(ids) * (high - low + 1) + 1, dtype=np.int32),
            np.empty(len(ends), dtype=np.int64),
        )
        cursor = np.array([self.n_grams, 0, 0], dtype=np.int64)
        tokens = ids, ends, new_id, base, low, high, whole
        while (
            scan_grams(*tokens, self.cells, self.parents, self.lasts, process_seed(), grams, gram_ends, cursor)
            == TABLE_FULL
        ):
            self._grow()
        self._count(cursor, base)
        return grams[: cursor[N_OUT]].copy(), gram_ends

    def take_up(self, other: GramTable, base: int) -> Int32:
        """Learn another table's n-grams; the number of each of them here."""
        while self.n_grams + other.n_grams > len(self.parents):
            self._grow()
        new = np.empty(other.n_grams, dtype=np.int32)
        cursor = np.array([self.n_grams, 0, 0], dtype=np.int64)
        theirs = other.parents[: other.n_grams], other.lasts[: other.n_grams]
        merge_grams(self.cells, self.parents, self.lasts, cursor, base, *theirs, new, process_seed())
        self._count(cursor, base)
        return new

    def _count(self, cursor: Int64, base: int) -> None:
        self.n_grams = int(cursor[N_GRAMS])
        refuse_many(base + self.n_grams, "words and n-grams")

    def spelled(self, words: Words, gap: bytes) -> Words:
        """The words, and behind them each n-gram written out, with the gap between its tokens."""
        grams = self.parents[: self.n_grams], self.lasts[: self.n_grams]
        return Words(*spell_grams(words.arena, words.starts, *grams, np.frombuffer(gap, dtype=np.uint8)))


_32 = np.uint64(32)
_FREE = np.uint64(0)


@kernel
def _pair_slot(cells: UInt64, key: np.uint64, seed: np.uint64) -> int:
    """The cell of a pair, or the free cell where it belongs. A cell is the pair and its number + 1."""
    mask = cells.shape[0] // 2 - 1
    slot = first_slot(key, seed, mask)
    while cells[2 * slot + 1] != _FREE and cells[2 * slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def _extend(
    cells: UInt64, parents: Int32, lasts: Int32, cursor: Int64, base: int, parent: int, last: int, seed: np.uint64
) -> int:
    """The number of the n-gram that `parent` and `last` make."""
    key = np.uint64(parent) << _32 | np.uint64(last)
    slot = _pair_slot(cells, key, seed)
    if cells[2 * slot + 1] == _FREE:
        n_grams = cursor[N_GRAMS]
        cells[2 * slot] = key
        cells[2 * slot + 1] = np.uint64(n_grams + 1)
        parents[n_grams] = parent
        lasts[n_grams] = last
        cursor[N_GRAMS] = n_grams + 1
    return base + int(cells[2 * slot + 1]) - 1


@kernel
def _longest(ends: Int64) -> int:
    longest = 0
    start = 0
    for end in ends:
        longest = max(longest, end - start)
        start = end
    return longest


@kernel
def _keep(ids: Int32, start: int, stop: int, new_id: Int32, kept: Int64) -> int:
    """A document's tokens under their new numbers, without the dropped ones; breaks stay."""
    n_kept = 0
    for k in range(start, stop):
        token = ids[k] if ids[k] < 0 else new_id[ids[k]]
        if token >= 0 or ids[k] < 0:
            kept[n_kept] = token
            n_kept += 1
    return n_kept


@kernel(interpretable=True)
def scan_grams(
    ids: Int32,
    ends: Int64,
    new_id: Int32,
    base: int,
    low: int,
    high: int,
    whole: bool,
    cells: UInt64,
    parents: Int32,
    lasts: Int32,
    seed: np.uint64,
    out: Int32,
    out_ends: Int64,
    cursor: Int64,
) -> int:
    """All n-grams of `low` to `high` tokens, numbered from `base` on; those of one token are the token itself.

    `new_id` renames the tokens first and drops those renamed to −1. `whole`: a word too short for `low` tokens counts
    as a whole (as in scikit-learn's char_wb). Stops before a document for which the table may be too full.
    """
    kept = np.empty(_longest(ends), dtype=np.int64)
    n_out = cursor[N_OUT]
    start = 0 if cursor[AT_DOC] == 0 else ends[cursor[AT_DOC] - 1]
    most = min(parents.shape[0], cells.shape[0] // 4)
    for doc in range(cursor[AT_DOC], ends.shape[0]):
        if cursor[N_GRAMS] + (ends[doc] - start) * (high - 1) > most:
            cursor[AT_DOC], cursor[N_OUT] = doc, n_out
            return TABLE_FULL
        n_kept = _keep(ids, start, ends[doc], new_id, kept)
        begin = 0
        while begin < n_kept:
            stop = begin
            while stop < n_kept and kept[stop] >= 0:
                stop += 1
            length = stop - begin
            for k in range(begin, stop):
                gram = kept[k]
                for n in range(1, min(high, stop - k) + 1):
                    if n > 1:
                        gram = _extend(cells, parents, lasts, cursor, base, gram, kept[k + n - 1], seed)
                    if n >= low or (whole and n == length):
                        out[n_out] = gram
                        n_out += 1
            begin = stop + 1
        start = ends[doc]
        out_ends[doc] = n_out
    cursor[AT_DOC], cursor[N_OUT] = ends.shape[0], n_out
    return DONE


@kernel(interpretable=True)
def merge_grams(
    cells: UInt64,
    parents: Int32,
    lasts: Int32,
    cursor: Int64,
    base: int,
    other_parents: Int32,
    other_lasts: Int32,
    new_id: Int32,
    seed: np.uint64,
) -> None:
    """Take up another table's n-grams; `new_id` gets the number of each here. There must be room for them all."""
    for k in range(other_parents.shape[0]):
        parent = int(other_parents[k])
        if parent >= base:
            parent = int(new_id[parent - base])
        new_id[k] = _extend(cells, parents, lasts, cursor, base, parent, int(other_lasts[k]), seed)


@kernel(interpretable=True)
def spell_grams(arena: UInt8, starts: Int64, parents: Int32, lasts: Int32, gap: UInt8) -> tuple[UInt8, Int64]:
    """The words, and behind them each n-gram: its beginning (an n-gram or a word), the gap, its last word."""
    n_words, n_grams = starts.shape[0] - 1, parents.shape[0]
    new_starts = np.empty(n_words + n_grams + 1, dtype=np.int64)
    for k in range(n_words + 1):
        new_starts[k] = starts[k]
    for k in range(n_grams):
        parent, last = parents[k], lasts[k]
        length = new_starts[parent + 1] - new_starts[parent] + len(gap) + starts[last + 1] - starts[last]
        new_starts[n_words + k + 1] = new_starts[n_words + k] + length
    spelled = np.empty(new_starts[n_words + n_grams], dtype=np.uint8)
    for i in range(starts[n_words]):
        spelled[i] = arena[i]
    for k in range(n_grams):
        at = new_starts[n_words + k]
        for i in range(new_starts[parents[k]], new_starts[parents[k] + 1]):
            spelled[at] = spelled[i]
            at += 1
        for i in range(len(gap)):
            spelled[at] = gap[i]
            at += 1
        for i in range(starts[lasts[k]], starts[lasts[k] + 1]):
            spelled[at] = arena[i]
            at += 1
    return spelled, new_starts
