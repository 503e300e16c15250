"""The words of several tables as one vocabulary: parted by their hashes, so that every thread joins a share of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from likely.arrays import Int32, Int64, UInt8, UInt64
from likely.jit import kernel
from likely.numerics import refuse_many
from likely.parallel import run
from likely.text.vocabulary import SHORT, Words, first_slot, key_of, occupy, same_bytes

N_SHARES = 64
"""Shares of the words: more than there are threads, as a rule, so that these are done at about the same time."""

FEW_WORDS = 1 << 13
"""So many are joined before threads have woken up."""

_SHIFT = np.uint64(58)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_FREE = np.uint64(0)


def join_words(tables: Sequence[Words], seed: np.uint64, n_jobs: int | None = None) -> tuple[Words, list[Int32]]:
    """All words of some tables, each once, and the place of every table's own words among them.

    >>> words, places = join_words([Words.of(["pho", "bun"]), Words.of(["cha", "pho"])], np.uint64(7))
    >>> sorted(words.to_list()), [[words.to_list()[k] for k in own] for own in places]
    (['bun', 'cha', 'pho'], [['pho', 'bun'], ['cha', 'pho']])
    """
    if len(tables) == 1:
        return tables[0], [np.arange(len(tables[0]), dtype=np.int32)]
    first_words = np.cumsum([0, *map(len, tables)])
    first_bytes = np.cumsum([0, *(int(table.starts[-1]) for table in tables)])
    n = int(first_words[-1])
    threads = n_jobs if n > FEW_WORDS else 1
    arena, starts = np.empty(first_bytes[-1], dtype=np.uint8), np.empty(n + 1, dtype=np.int64)
    keys, order, places = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int32)
    ends = np.zeros((len(tables), N_SHARES + 1), dtype=np.int64)
    starts[n] = first_bytes[-1]

    def share_out(number: int) -> None:
        table, own = tables[number], slice(first_words[number], first_words[number + 1])
        arena[first_bytes[number] : first_bytes[number + 1]] = table.arena[: table.starts[-1]]
        starts[own] = table.starts[:-1] + first_bytes[number]
        share_words(table.arena, table.starts, own.start, keys[own], order[own], ends[number])

    def join(share: int) -> Int64:
        return join_share(arena, starts, keys, order, ends[:, share], ends[:, share + 1], seed, places)

    run(share_out, range(len(tables)), threads)
    chosen = run(join, range(N_SHARES), threads)
    first_joint = np.cumsum([0, *map(len, chosen)])
    refuse_many(int(first_joint[-1]), "words")

    def shift(share: int) -> None:
        shift_places(order, ends[:, share], ends[:, share + 1], first_joint[share], places)

    run(shift, range(N_SHARES), threads)
    joint = Words(arena, starts).take(np.concatenate(chosen), threads)
    return joint, [places[a:b] for a, b in pairwise(first_words.tolist())]


@kernel
def share_words(arena: UInt8, starts: Int64, first: int, keys: UInt64, order: Int64, ends: Int64) -> None:
    """The keys of a table's words, and their numbers (from `first` on) share after share; `ends` parts the shares."""
    sizes = np.zeros(N_SHARES + 1, dtype=np.int64)
    for k in range(len(keys)):
        keys[k] = key_of(arena, starts[k], starts[k + 1])
        sizes[int(keys[k] * _SPREAD >> _SHIFT) + 1] += 1
    at = np.empty(N_SHARES + 1, dtype=np.int64)
    for share in range(N_SHARES + 1):
        at[share] = sizes[share] + (at[share - 1] if share else 0)
        ends[share] = at[share] + first
    for k in range(len(keys)):
        share = int(keys[k] * _SPREAD >> _SHIFT)
        order[at[share]] = first + k
        at[share] += 1


@kernel
def join_share(
    arena: UInt8, starts: Int64, keys: UInt64, order: Int64, begins: Int64, ends: Int64, seed: np.uint64, places: Int32
) -> Int64:
    """The first of every distinct word of a share; `places` gets the place of each word among them."""
    capacity, n_words = 16, 0
    for table in range(len(begins)):
        n_words += ends[table] - begins[table]
    while capacity < 2 * n_words:
        capacity *= 2
    cells, mask = np.zeros(2 * capacity, dtype=np.uint64), capacity - 1
    chosen, n = np.empty(n_words, dtype=np.int64), 0
    for table in range(len(begins)):
        for at in range(begins[table], ends[table]):
            word = order[at]
            begin, length, key = starts[word], starts[word + 1] - starts[word], keys[word]
            slot, found = first_slot(key, seed, mask), -1
            while cells[2 * slot + 1] != _FREE:
                meta = cells[2 * slot + 1]
                number = int(meta & _LOW) - 1
                alike = cells[2 * slot] == key and np.int64(meta >> _32) == length
                if alike and (length <= SHORT or same_bytes(arena, starts[chosen[number]], arena, begin, length)):
                    found = number
                    break
                slot = (slot + 1) & mask
            if found < 0:
                occupy(cells, slot, key, length, n)
                chosen[n], found = word, n
                n += 1
            places[word] = found
    return chosen[:n].copy()


@kernel
def shift_places(order: Int64, begins: Int64, ends: Int64, first: int, places: Int32) -> None:
    """Count the places of a share's words from `first` on."""
    for table in range(len(begins)):
        for at in range(begins[table], ends[table]):
            places[order[at]] += first
