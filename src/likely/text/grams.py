"""From a stream of tokens to a stream of their n-grams."""

from __future__ import annotations

import numpy as np

from likely.text.kernels.grams import N_GRAMS, N_OUT, merge_grams, scan_grams
from likely.text.kernels.interning import roomier
from likely.text.kernels.spelling import spell_grams
from likely.text.kernels.words import TABLE_FULL
from likely.text.parts import Numbers, Part, Stream
from likely.text.pool import Pool
from likely.text.words import Words, process_seed
from likely.threads import side_by_side

_FIRST_GRAMS = 1 << 12


class GramTable:
    """A growing table of n-grams: the shorter one that each begins with, and its last token."""

    def __init__(self) -> None:
        self.cells = np.zeros(4 * _FIRST_GRAMS, dtype=np.uint64)
        self.parents = np.empty(_FIRST_GRAMS, dtype=np.int32)
        self.lasts = np.empty(_FIRST_GRAMS, dtype=np.int32)
        self.n_grams = 0

    def grow(self) -> None:
        """Room for twice as many."""
        self.cells = roomier(self.cells, process_seed())
        self.parents = np.concatenate([self.parents, np.empty_like(self.parents)])
        self.lasts = np.concatenate([self.lasts, np.empty_like(self.lasts)])

    def take_up(self, other: GramTable, base: int) -> Numbers:
        """Learn another table's n-grams; the number of each of them here."""
        while self.n_grams + other.n_grams > len(self.parents):
            self.grow()
        new = np.empty(other.n_grams, dtype=np.int32)
        cursor = np.array([self.n_grams, 0, 0], dtype=np.int64)
        theirs = other.parents[: other.n_grams], other.lasts[: other.n_grams]
        merge_grams(self.cells, self.parents, self.lasts, cursor, base, *theirs, new, process_seed())
        self.n_grams = int(cursor[N_GRAMS])
        return new


def with_grams(stream: Stream, low: int, high: int, gap: bytes, whole: bool, n_jobs: int | None) -> Stream:
    """All n-grams of `low` to `high` tokens; `gap` stands between tokens, `whole` keeps words that are too short."""
    base = len(stream.words)
    pool = Pool(GramTable)

    def task(part: Part) -> Part:
        with pool.borrow() as (number, table):
            return _scan(part, stream.maps[part.table], base, low, high, whole, number, table)

    parts = list(side_by_side(task, stream.parts, n_jobs))
    tables = pool.things or [GramTable()]
    own = np.arange(base + tables[0].n_grams, dtype=np.int32)
    maps = [own] + [np.concatenate([own[:base], tables[0].take_up(table, base)]) for table in tables[1:]]
    grams = tables[0].parents[: tables[0].n_grams], tables[0].lasts[: tables[0].n_grams]
    words = Words(*spell_grams(stream.words.arena, stream.words.starts, *grams, np.frombuffer(gap, dtype=np.uint8)))
    whole_stream = Stream(words, parts, maps)
    return whole_stream.without_unused() if low > 1 else whole_stream


def _scan(
    part: Part, new_id: Numbers, base: int, low: int, high: int, whole: bool, number: int, table: GramTable
) -> Part:
    out = np.empty(len(part.ids) * (high - low + 1) + 1, dtype=np.int32)
    out_ends = np.empty(len(part.ends), dtype=np.int64)
    cursor = np.array([table.n_grams, 0, 0], dtype=np.int64)
    settings = part.ids, part.ends, new_id, base, low, high, whole
    while (
        scan_grams(*settings, table.cells, table.parents, table.lasts, process_seed(), out, out_ends, cursor)
        == TABLE_FULL
    ):
        table.grow()
    table.n_grams = int(cursor[N_GRAMS])
    return Part(out[: cursor[N_OUT]].copy(), out_ends, number)
