"""A stream of numbered tokens: what a scan leaves of a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

import numpy as np

from likely.arrays import ColumnLike, Int32, Int64
from likely.errors import About, DataError
from likely.jit import kernel
from likely.parallel import pipeline, run
from likely.text.documents import DecodeError, DocumentBlock, each_block
from likely.text.joint_words import join_words
from likely.text.linguistics import changed_words
from likely.text.ngrams import GramTable
from likely.text.token_scan import (
    ARENA_FULL,
    DONE,
    FOUND_SUSPECT,
    N_IDS,
    N_WORDS,
    TABLE_FULL,
    Lexicon,
    scan_chars,
    scan_words,
)
from likely.text.tokenizer import Tokenizer
from likely.text.unicode import Characters, characters, rewriter
from likely.text.vocabulary import Words, process_seed


@dataclass(frozen=True, slots=True, eq=False)
class TokenBlock:
    """The tokens of one block: numbers in a table, where each document ends among them, and which table it is."""

    ids: Int32
    ends: Int64
    table: int


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """The tokens of all documents; `maps[table][id]` is a token's word, −1 if it has been left out."""

    words: Words
    parts: Sequence[TokenBlock]
    maps: Sequence[Int32]

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return sum(len(part.ends) for part in self.parts)

    @property
    def n_tokens(self) -> int:
        """How many tokens there are, those left out included."""
        return sum(len(part.ids) for part in self.parts)

    def renamed(self, words: Words, new: Int32, n_jobs: int | None = 1) -> Stream:
        """The same tokens under other words: word `k` becomes `new[k]`, or is left out if that is −1."""
        with_none = np.append(new, np.int32(-1)).astype(np.int32)
        return Stream(words, self.parts, run(lambda old: rename(old, with_none), self.maps, n_jobs))

    def in_order(self, n_jobs: int | None = None) -> Stream:
        """With the words in alphabetical order."""
        order = self.words.order(n_jobs)
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return self.renamed(self.words.take(order, n_jobs), rank, n_jobs)

    def among(self, words: Words) -> Stream:
        """With the given words only."""
        return self.renamed(words, words.find(self.words))

    def without_unused(self) -> Stream:
        """Without words that no token has."""
        used = np.zeros(len(self.words) + 1, dtype=np.bool_)
        for part in self.parts:
            used[self.maps[part.table][part.ids]] = True
        kept = np.flatnonzero(used[:-1])
        new = np.full(len(self.words), -1, dtype=np.int32)
        new[kept] = np.arange(len(kept), dtype=np.int32)
        return self.renamed(self.words.take(kept), new)


@kernel(interpretable=True)
def rename(old: Int32, new: Int32) -> Int32:
    """New numbers for old ones; −1 takes the last of the new ones."""
    out = np.empty_like(old)
    for k in range(len(old)):
        out[k] = new[old[k]]
    return out


# Tables and scratch memory that threads borrow: as many as there are threads at work, however many blocks.

Thing = TypeVar("Thing")


class Pool(Generic[Thing]):
    """Things of one make, lent to one thread at a time.

    >>> pool = Pool(list)
    >>> with pool.borrow() as (number, thing):
    ...     thing.append("used")
    >>> pool.things
    [['used']]
    """

    def __init__(self, make: Callable[[], Thing]) -> None:
        self.things: list[Thing] = []
        self._make = make
        self._free: list[int] = []
        self._lock = Lock()

    @contextmanager
    def borrow(self) -> Iterator[tuple[int, Thing]]:
        """A free thing, or a new one, and its number."""
        with self._lock:
            if not self._free:
                self._free.append(len(self.things))
                self.things.append(self._make())
            number = self._free.pop()
        try:
            yield number, self.things[number]
        finally:
            with self._lock:
                self._free.append(number)


# From a stream of tokens to a stream of their n-grams.


def with_grams(stream: Stream, low: int, high: int, gap: bytes, whole: bool, n_jobs: int | None) -> Stream:
    """All n-grams of `low` to `high` tokens; `gap` stands between tokens, `whole` keeps words that are too short."""
    base = len(stream.words)
    pool = Pool(GramTable)

    def task(part: TokenBlock) -> TokenBlock:
        with pool.borrow() as (number, table):
            return TokenBlock(*table.scan(part.ids, part.ends, stream.maps[part.table], base, low, high, whole), number)

    parts = run(task, stream.parts, n_jobs)
    tables = pool.things or [GramTable()]
    own = np.arange(base + tables[0].n_grams, dtype=np.int32)
    maps = [own] + [np.concatenate([own[:base], tables[0].take_up(table, base)]) for table in tables[1:]]
    grams = Stream(tables[0].spelled(stream.words, gap), parts, maps)
    return grams.without_unused() if low > 1 else grams


# From blocks of documents to a stream of numbered tokens.

LONGEST_TEXT = 1 << 30
"""Bytes of a text at most. Lower case may take half as many more (Ⱥ has two, ⱥ three): the sizes of words, 32 bits."""

Rewrite = Callable[[DocumentBlock], DocumentBlock]


def read_stream(blocks: Iterable[DocumentBlock], tokenizer: Tokenizer, n_jobs: int | None = None) -> Stream:
    """Scan, change words, make n-grams. The order of the words means nothing yet; the tokens are as in the texts.

    >>> stream = read_stream(each_block(["to be or not to be"]), Tokenizer())
    >>> stream.words.to_list(), stream.parts[0].ids.tolist()
    (['to', 'be', 'or', 'not'], [0, 1, 2, 3, 0, 1])
    """
    rewrite = rewriter(tokenizer.lowercase, tokenizer.normalize == "NFC", tokenizer.strip_accents)
    # Texts whose accents are stripped have been lowered on the way.
    table = characters(tokenizer.lowercase and tokenizer.strip_accents is None, tokenizer.cjk, tokenizer.emoji)
    low, high = tokenizer.ngram_range
    if tokenizer.analyzer != "word":
        by_word = tokenizer.analyzer == "char_wb"
        stream = _read_chars(blocks, rewrite, table, by_word, n_jobs)
        return stream if high == 1 else with_grams(stream, low, high, b"", by_word, n_jobs)
    stream = _read_words(blocks, rewrite, table, tokenizer, n_jobs)
    if tokenizer.touches_words:
        stream = stream.renamed(*changed_words(stream.words, tokenizer))
    return stream if high == 1 else with_grams(stream, low, high, b" ", False, n_jobs)


def stream_of(
    texts: ColumnLike,
    tokenizer: Tokenizer,
    words: Words | None = None,
    decode_error: DecodeError = "strict",
    n_jobs: int | None = None,
) -> Stream:
    """The tokens of texts, with all words in alphabetical order, or among the given ones only."""
    stream = read_stream(each_block(texts, decode_error), tokenizer, n_jobs)
    return stream.in_order(n_jobs) if words is None else stream.among(words)


def _read_words(
    blocks: Iterable[DocumentBlock], rewrite: Rewrite, table: Characters, tokenizer: Tokenizer, n_jobs: int | None
) -> Stream:
    pool = Pool(Lexicon)
    first = tokenizer.normalize is not None or tokenizer.strip_accents is not None

    def task(block: DocumentBlock) -> TokenBlock:
        with pool.borrow() as (number, lexicon):
            # Composition is looked after first; the few letters that need `str.lower` are met on the way.
            return _scan(rewrite(block) if first else block, rewrite, table, tokenizer, number, lexicon)

    parts = _each(task, blocks, n_jobs)
    tables = run(Lexicon.to_words, pool.things or [Lexicon()], n_jobs)
    words, maps = join_words(tables, process_seed(), n_jobs)
    return Stream(words, parts, maps)


def _each(
    task: Callable[[DocumentBlock], TokenBlock], blocks: Iterable[DocumentBlock], n_jobs: int | None
) -> list[TokenBlock]:
    """The tokens of all blocks, also of those that are yet to be made."""
    if isinstance(blocks, Sequence):
        return run(task, blocks, n_jobs)
    return [part for _, part in pipeline(task, blocks, n_jobs)]


def _scan(
    block: DocumentBlock, rewrite: Rewrite, table: Characters, tokenizer: Tokenizer, number: int, lexicon: Lexicon
) -> TokenBlock:
    if len(block.data) > LONGEST_TEXT:  # so long is a block of one text only
        why = f"A text has {len(block.data):,} bytes, but {LONGEST_TEXT:,} are the most: cut it into several."
        raise DataError(About("long text", LONGEST_TEXT), why)
    # A token and what parts it from the next take two bytes at least, and tokens that touch (pictures, CJK) three
    # each. Memory that is never written to costs nothing, so that the rest need not be cut off.
    ids = np.empty(len(block.data) // 2 + len(block) + 1, dtype=np.int32)
    ends = np.empty(len(block), dtype=np.int64)
    cursor = np.zeros(5, dtype=np.int64)
    cursor[N_WORDS] = lexicon.n_words
    lowercase = tokenizer.lowercase and tokenizer.strip_accents is None
    settings = lowercase, tokenizer.min_chars, tokenizer.cjk == "bigram", tokenizer.urls
    reading = table.first, table.pages, table.cells, *settings
    status = -1
    while status != DONE:
        store = lexicon.cells, lexicon.packed, lexicon.starts, lexicon.sizes, process_seed()
        status = scan_words(block.data, block.ends, *reading, *store, ids, ends, cursor)
        lexicon.n_words = int(cursor[N_WORDS])
        if status == TABLE_FULL:
            lexicon.add_words()
        elif status == ARENA_FULL:
            lexicon.add_bytes()
        elif status == FOUND_SUSPECT:
            # The words found so far are right, so that scanning them again adds none.
            return _scan(rewrite(block), rewrite, table, tokenizer, number, lexicon)
    return TokenBlock(ids[: cursor[N_IDS]], ends, number)


def _read_chars(
    blocks: Iterable[DocumentBlock], rewrite: Rewrite, table: Characters, by_word: bool, n_jobs: int | None
) -> Stream:
    def task(block: DocumentBlock) -> TokenBlock:
        block = rewrite(block)
        return TokenBlock(*scan_chars(block.data, block.ends, table.pages, table.cells, by_word), 0)

    parts = _each(task, blocks, n_jobs)
    highest = max((int(part.ids.max(initial=0)) for part in parts), default=0)
    used = np.zeros(highest + 2, dtype=np.bool_)
    for part in parts:
        used[part.ids] = True
    codes = np.flatnonzero(used[:-1])  # the last is what a break marks
    new = np.full(highest + 2, -1, dtype=np.int32)
    new[codes] = np.arange(len(codes), dtype=np.int32)
    return Stream(Words.of(map(chr, codes)), parts, [new])


# The known words of each document in the order of the text: for sums over words, which need no rows of counts.


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Document `k` holds the words `words[starts[k]:stops[k]]`, by their numbers; gaps in between mean nothing."""

    words: Int32
    starts: Int64
    stops: Int64


def find_tokens(texts: ColumnLike, tokenizer: Tokenizer, words: Words, n_jobs: int | None = None) -> Tokens:
    """The words of each document that are known; strangers are left out.

    >>> found = find_tokens(["to be or not to be", None, "be"], Tokenizer(), Words.of(["be", "to"]))
    >>> [found.words[start:stop].tolist() for start, stop in zip(found.starts, found.stops, strict=True)]
    [[1, 0, 1, 0], [], [0]]
    """
    return tokens_of(stream_of(texts, tokenizer, words, n_jobs=n_jobs), n_jobs)


def tokens_of(stream: Stream, n_jobs: int | None = None) -> Tokens:
    """The words of each document, without tokens that have been left out."""
    firsts = np.cumsum([0, *(len(part.ids) for part in stream.parts)], dtype=np.int64)
    documents = np.cumsum([0, *(len(part.ends) for part in stream.parts)], dtype=np.int64)
    found = np.empty(firsts[-1], dtype=np.int32)
    starts, stops = np.empty(documents[-1], dtype=np.int64), np.empty(documents[-1], dtype=np.int64)

    def task(place: int) -> None:
        part, own = stream.parts[place], slice(documents[place], documents[place + 1])
        room = found[firsts[place] : firsts[place + 1]]
        _keep_known(part.ids, part.ends, stream.maps[part.table], firsts[place], room, starts[own], stops[own])

    run(task, range(len(stream.parts)), n_jobs)
    return Tokens(found, starts, stops)


@kernel(interpretable=True)
def _keep_known(ids: Int32, ends: Int64, word_of: Int32, first: int, found: Int32, starts: Int64, stops: Int64) -> None:
    """Put the known words of each document where its tokens begin; `first` is where the block itself begins."""
    start = 0
    for row in range(ends.shape[0]):
        n = start
        for k in range(start, ends[row]):
            # A number below zero marks a break, and a word below zero one that was left out.
            if ids[k] >= 0:
                word = word_of[ids[k]]
                if word >= 0:
                    found[n] = word
                    n += 1
        starts[row] = first + start
        stops[row] = first + n
        start = ends[row]
