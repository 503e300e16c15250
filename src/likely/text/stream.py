"""From blocks of documents to a stream of numbered tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from likely.text.characters import Characters, characters
from likely.text.documents import Block
from likely.text.grams import with_grams
from likely.text.kernels.chars import scan_chars
from likely.text.kernels.words import ARENA_FULL, DONE, FOUND_SUSPECT, N_IDS, N_WORDS, TABLE_FULL, scan_words
from likely.text.lexicon import Lexicon
from likely.text.linguistics import changed_words
from likely.text.parts import Part, Stream
from likely.text.pool import Pool
from likely.text.recipe import Recipe
from likely.text.rewriting import rewriter
from likely.text.words import Words, process_seed
from likely.threads import side_by_side

Rewrite = Callable[[Block], Block]


def read_stream(blocks: Sequence[Block], recipe: Recipe, n_jobs: int | None = None) -> Stream:
    """Scan, change words, make n-grams. The order of the words means nothing yet; the tokens are as in the texts.

    >>> from likely.text.documents import as_blocks
    >>> stream = read_stream(as_blocks(["to be or not to be"]), Recipe())
    >>> stream.words.to_list(), stream.parts[0].ids.tolist()
    (['to', 'be', 'or', 'not'], [0, 1, 2, 3, 0, 1])
    """
    rewrite = rewriter(recipe.lowercase, recipe.normalize == "NFC", recipe.strip_accents)
    # Texts whose accents are stripped have been lowered on the way.
    table = characters(recipe.lowercase and recipe.strip_accents is None, recipe.cjk, recipe.emoji)
    low, high = recipe.ngram_range
    if recipe.analyzer != "word":
        by_word = recipe.analyzer == "char_wb"
        stream = _read_chars(blocks, rewrite, table, by_word, n_jobs)
        return stream if high == 1 else with_grams(stream, low, high, b"", by_word, n_jobs)
    stream = _read_words(blocks, rewrite, table, recipe, n_jobs)
    if recipe.touches_words:
        stream = stream.renamed(*changed_words(stream.words, recipe))
    return stream if high == 1 else with_grams(stream, low, high, b" ", False, n_jobs)


def _read_words(
    blocks: Sequence[Block], rewrite: Rewrite, table: Characters, recipe: Recipe, n_jobs: int | None
) -> Stream:
    pool = Pool(Lexicon)
    first = recipe.normalize is not None or recipe.strip_accents is not None

    def task(block: Block) -> Part:
        with pool.borrow() as (number, lexicon):
            # Composition is looked after first; the few letters that need `str.lower` are met on the way.
            return _scan(rewrite(block) if first else block, rewrite, table, recipe, number, lexicon)

    parts = list(side_by_side(task, blocks, n_jobs))
    lexicons = pool.things or [Lexicon()]
    words = lexicons[0].to_words()
    maps = [np.arange(len(words), dtype=np.int32)]
    for lexicon in lexicons[1:]:
        words, places = words.union(lexicon.to_words())
        maps.append(places)
    return Stream(words, parts, maps)


def _scan(block: Block, rewrite: Rewrite, table: Characters, recipe: Recipe, number: int, lexicon: Lexicon) -> Part:
    # A token and what parts it from the next take two bytes at least. Memory that is never written to costs nothing,
    # so that the rest need not be cut off.
    ids = np.empty(len(block.data) // 2 + len(block) + 1, dtype=np.int32)
    ends = np.empty(len(block), dtype=np.int64)
    cursor = np.zeros(5, dtype=np.int64)
    cursor[N_WORDS] = lexicon.n_words
    lowercase = recipe.lowercase and recipe.strip_accents is None
    settings = lowercase, recipe.min_chars, recipe.cjk == "bigram", recipe.urls
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
            return _scan(rewrite(block), rewrite, table, recipe, number, lexicon)
    return Part(ids[: cursor[N_IDS]], ends, number)


def _read_chars(
    blocks: Sequence[Block], rewrite: Rewrite, table: Characters, by_word: bool, n_jobs: int | None
) -> Stream:
    def task(block: Block) -> Part:
        block = rewrite(block)
        return Part(*scan_chars(block.data, block.ends, table.pages, table.cells, by_word), 0)

    parts = list(side_by_side(task, blocks, n_jobs))
    highest = max((int(part.ids.max(initial=0)) for part in parts), default=0)
    used = np.zeros(highest + 2, dtype=np.bool_)
    for part in parts:
        used[part.ids] = True
    codes = np.flatnonzero(used[:-1])  # the last is what a break marks
    new = np.full(highest + 2, -1, dtype=np.int32)
    new[codes] = np.arange(len(codes), dtype=np.int32)
    return Stream(Words.of(map(chr, codes)), parts, [new])
