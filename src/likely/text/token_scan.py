"""Words of a block of documents as numbers in a table of distinct words, or characters as code points.

While the table grows its words are *packed*: eight bytes to a number, the last number of a word holds its last one to
eight bytes. Word `k` begins at `packed[starts[k]]` and has `sizes[k]` bytes.
"""

from __future__ import annotations

import numpy as np

from likely.arrays import Int32, Int64, UInt8, UInt64
from likely.jit import kernel
from likely.numerics import refuse_many
from likely.text.bytes import decode, utf8, word_bytes
from likely.text.unicode import ASCII, CJK, EMOJI, EXTENDER, FLAG, KIND_BITS, SPACE, SUSPECT, WORD, ZWJ
from likely.text.vocabulary import SHORT, Words, first_slot, occupy, roomier, stir

DONE, TABLE_FULL, ARENA_FULL, FOUND_SUSPECT = range(4)
AT_DOC, AT_BYTE, IN_RUN, N_IDS, N_WORDS = range(5)
"""Places in the cursor, with which a scan goes on where it stopped for want of room."""

_FIRST_CELLS = 1 << 12
_FIRST_WORDS = _FIRST_CELLS // 4 * 3
"""Three cells in four may be taken."""
_FIRST_ROOM = 1 << 12


class Lexicon:
    """A growing table of distinct words, which one thread at a time fills from blocks of documents."""

    def __init__(self) -> None:
        self.n_words = 0
        self.cells: UInt64 = np.zeros(2 * _FIRST_CELLS, dtype=np.uint64)
        self.packed: UInt64 = np.empty(_FIRST_ROOM, dtype=np.uint64)
        self.starts: Int64 = np.zeros(_FIRST_WORDS + 1, dtype=np.int64)
        self.sizes: Int32 = np.empty(_FIRST_WORDS, dtype=np.int32)

    def add_words(self) -> None:
        """Room for twice as many words."""
        refuse_many(self.n_words, "words")
        self.cells = roomier(self.cells)
        self.sizes = np.concatenate([self.sizes, np.empty_like(self.sizes)])
        self.starts = np.concatenate([self.starts, np.empty(len(self.starts) - 1, dtype=np.int64)])

    def add_bytes(self) -> None:
        """Room for twice as many bytes."""
        self.packed = np.concatenate([self.packed, np.empty_like(self.packed)])

    def to_words(self) -> Words:
        """The words so far, with the table that finds them."""
        return Words(*_unpack(self.packed, self.starts, self.sizes, self.n_words), self.cells)


_ZERO = np.uint64(0)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
# Masks for the first 0 to 8 bytes of a number.
_FIRST = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)
_KIND = (1 << KIND_BITS) - 1
# A character more may be written before the room is looked at again.
_MARGIN = 2
_URL = np.frombuffer(b"<url>", dtype=np.uint8)
_NONE = np.int64(0)  # a plain 0 would have what it is given to compiled for that number
_H, _W = ord("h"), ord("w")


@kernel
def _kind_at(data: UInt8, i: int, stop: int, pages: Int32, cells: Int32) -> tuple[int, int]:
    """Kind of the character at `i`, and its size; −1 at the end."""
    if i >= stop:
        return -1, 0
    code, size = decode(data, i, stop)
    return cells[pages[code >> 8], code & 255] & _KIND, size


@kernel
def _spells(data: UInt8, i: int, stop: int, letters: bytes) -> bool:
    """Whether the bytes from `i` on spell this, in upper or lower case."""
    if i + len(letters) > stop:
        return False
    for k in range(len(letters)):
        byte = data[i + k]
        if byte != letters[k] and not (65 <= byte <= 90 and byte + 32 == letters[k]):
            return False
    return True


@kernel
def _url_end(data: UInt8, i: int, stop: int, pages: Int32, cells: Int32) -> int:
    """Where the address that begins at `i` ends (at white space), or `i` if none begins here."""
    known = _spells(data, i, stop, b"http://") or _spells(data, i, stop, b"https://") or _spells(data, i, stop, b"www.")
    end = i
    while known and end < stop:
        kind, size = _kind_at(data, end, stop, pages, cells)
        if kind == SPACE:
            break
        end += size
    return end


@kernel
def _emoji_end(data: UInt8, i: int, stop: int, pages: Int32, cells: Int32) -> int:
    """Where the emoji that begins at `i` ends: with its skin tone, all joined figures, or the second flag letter."""
    kind, size = _kind_at(data, i, stop, pages, cells)
    end = i + size
    after, size = _kind_at(data, end, stop, pages, cells)
    if kind == FLAG:
        return end + size if after == FLAG else end
    while after in (EXTENDER, ZWJ):
        follower, its_size = _kind_at(data, end + size, stop, pages, cells)
        if after == EXTENDER:
            end += size
            after, size = follower, its_size
        elif follower == EMOJI:
            end += size + its_size
            after, size = _kind_at(data, end, stop, pages, cells)
        else:
            break
    return end


@kernel
def _span_end(data: UInt8, i: int, stop: int, kind: int, bigrams: bool, pages: Int32, cells: Int32) -> int:
    """Where the token ends that begins with the picture or CJK character at `i`."""
    if kind != CJK:
        return _emoji_end(data, i, stop, pages, cells)
    _, size = decode(data, i, stop)
    after, its_size = _kind_at(data, i + size, stop, pages, cells)
    return i + size + its_size if bigrams and after == CJK else i + size


@kernel
def _pack(packed: UInt64, tail: int, source: UInt8, start: int, stop: int) -> tuple[np.uint64, np.uint64]:
    """A whole token behind the last word: its last number, which stays in a register, and the hash of those before."""
    word, hashed = _ZERO, _ZERO
    for i in range(start, stop):
        length = i - start
        if length & 7 == 0 and length > 0:
            packed[tail + (length >> 3) - 1] = word
            hashed = stir(hashed, word)
            word = _ZERO
        word |= np.uint64(source[i]) << np.uint64(8 * (length & 7))
    return word, hashed


@kernel
def _same(packed: UInt64, start: int, tail: int, last: int, word: np.uint64) -> bool:
    """Whether the word at `start` is the token at `tail`, whose last number is still in a register."""
    for k in range(last):
        if packed[start + k] != packed[tail + k]:
            return False
    return bool(packed[start + last] == word)


@kernel(interpretable=True)
def scan_words(  # noqa: C901, PLR0915 - one loop: a call per token or an array handed on would cost more than the work
    data: UInt8,
    ends: Int64,
    first: UInt8,
    pages: Int32,
    kinds: Int32,
    lowercase: bool,
    min_chars: int,
    bigrams: bool,
    urls: bool,
    cells: UInt64,
    packed: UInt64,
    starts: Int64,
    sizes: Int32,
    seed: np.uint64,
    ids: Int32,
    id_ends: Int64,
    cursor: Int64,
) -> int:
    """The number of every word, and the end of every document among the numbers; new words enter the table.

    A word is a longest run of word characters, at least `min_chars` of them. Each turn of the loop finds one token
    at most, packs it in lower case behind the last word, and leaves it there if it is new. No array is made or
    exchanged here (counting references would cost more than the scan): for want of room the scan stops with the
    cursor before the token, and the caller comes back with more. It also stops at a suspect letter, whose block has
    to be rewritten first.
    """
    n_ids, n_words = cursor[N_IDS], cursor[N_WORDS]
    in_run = cursor[IN_RUN] != 0
    i = cursor[AT_BYTE]
    tail = starts[n_words]
    mask = cells.shape[0] // 2 - 1
    most_words = sizes.shape[0]
    status = DONE
    doc = cursor[AT_DOC]
    while doc < ends.shape[0]:
        stop = ends[doc]
        while i < stop:
            c = first[data[i]]
            if c == 0:
                i += 1
                in_run = False
                continue
            if n_words >= most_words:
                status = TABLE_FULL
                break
            room = (packed.shape[0] - _MARGIN - tail) << 3
            begin = i
            length = 0
            chars = 0
            size = 1
            kind = WORD
            hashed = _ZERO
            word = _ZERO
            while length < room:
                if c < ASCII and length & 7 == 0:
                    if length > 0:
                        packed[tail + (length >> 3) - 1] = word
                        hashed = stir(hashed, word)
                    word = _ZERO
                    if i + 8 <= data.shape[0]:
                        word, n_bytes = word_bytes(data, i, lowercase)
                        n_bytes = min(n_bytes, stop - i)
                        word &= _FIRST[n_bytes]
                        length += n_bytes
                        chars += n_bytes
                        i += n_bytes
                        if i >= stop:
                            break
                        c = first[data[i]]
                        if c == 0:
                            break
                        if n_bytes == 8:
                            continue
                if c < ASCII:
                    word |= np.uint64(c) << np.uint64(8 * (length & 7))
                    length += 1
                    i += 1
                else:
                    code, size = decode(data, i, stop)
                    cell = kinds[pages[code >> 8], code & 255]
                    kind = cell & _KIND
                    if kind != WORD:
                        break
                    i += size
                    n_bytes, form = utf8(code + (cell >> KIND_BITS))
                    for k in range(n_bytes):
                        if length & 7 == 0 and length > 0:
                            packed[tail + (length >> 3) - 1] = word
                            hashed = stir(hashed, word)
                            word = _ZERO
                        byte = form >> 8 * (n_bytes - 1 - k) & 255
                        word |= np.uint64(byte) << np.uint64(8 * (length & 7))
                        length += 1
                chars += 1
                if i >= stop:
                    break
                c = first[data[i]]
                if c == 0:
                    break
            if kind == SUSPECT:
                status = FOUND_SUSPECT
                break
            end = begin
            if length == 0 and length < room:
                if kind != CJK and kind != EMOJI and kind != FLAG:
                    i += size
                    in_run = False
                    continue
                end = _span_end(data, begin, stop, kind, bigrams, pages, kinds)
            elif urls and (data[begin] | 32 == _H or data[begin] | 32 == _W):
                end = _url_end(data, begin, stop, pages, kinds)
            if max(length, end - begin) >= room:
                i = begin
                status = ARENA_FULL
                break
            if length > 0 and end > begin:
                word, hashed = _pack(packed, tail, _URL, int(_NONE), len(_URL))
                length = len(_URL)
                chars = min_chars
                i = end
            elif end > begin:
                word, hashed = _pack(packed, tail, data, begin, end)
                length = end - begin
                i = begin + size if kind == CJK else end
                # The last character of a run of bigrams has been told by the pair before it.
                chars = -1 if in_run and kind == CJK and end == i else min_chars
            in_run = kind == CJK and end > i and chars >= 0
            if chars < min_chars:
                continue
            last = (length - 1) >> 3
            key = word if length <= SHORT else stir(hashed, word)
            slot = first_slot(key, seed, mask)
            meta = cells[2 * slot + 1]
            while meta != _ZERO:
                alike = cells[2 * slot] == key and int(meta >> _32) == length
                if alike and (length <= SHORT or _same(packed, starts[int(meta & _LOW) - 1], tail, last, word)):
                    break
                slot = (slot + 1) & mask
                meta = cells[2 * slot + 1]
            if meta == _ZERO:
                occupy(cells, slot, key, length, n_words)
                meta = cells[2 * slot + 1]
                packed[tail + last] = word
                tail += last + 1
                sizes[n_words] = length
                n_words += 1
                starts[n_words] = tail
            ids[n_ids] = int(meta & _LOW) - 1
            n_ids += 1
        if status != DONE:
            break
        id_ends[doc] = n_ids
        in_run = False
        doc += 1
    cursor[AT_DOC], cursor[AT_BYTE], cursor[IN_RUN] = doc, i, in_run
    cursor[N_IDS], cursor[N_WORDS] = n_ids, n_words
    return status


@kernel(interpretable=True)
def _unpack(packed: UInt64, starts: Int64, sizes: Int32, n_words: int) -> tuple[UInt8, Int64]:
    """The words as bytes end to end, and where each begins."""
    byte_starts = np.zeros(n_words + 1, dtype=np.int64)
    for k in range(n_words):
        byte_starts[k + 1] = byte_starts[k] + sizes[k]
    arena = np.empty(byte_starts[n_words], dtype=np.uint8)
    for k in range(n_words):
        size = int(sizes[k])
        for i in range(size):
            group = packed[starts[k] + (i >> 3)]
            arena[byte_starts[k] + i] = np.uint8(group >> np.uint64(8 * (i & 7)) & np.uint64(255))
    return arena, byte_starts


# Characters, from which n-grams of characters are made.

BREAK = -1
"""Stands between the words of a document: no n-gram reaches over it."""

_BLANK = 32


@kernel(interpretable=True)
def scan_chars(data: UInt8, ends: Int64, pages: Int32, kinds: Int32, by_word: bool) -> tuple[Int32, Int64]:
    """Code points in lower case, and the end of every document among them.

    White space of two characters and more counts as one blank. `by_word`: the words between white space, each
    with a blank at both ends, and a break behind.
    """
    # A word of one byte, alone in its document, becomes four numbers.
    ids = np.empty((4 if by_word else 1) * data.shape[0], dtype=np.int32)
    id_ends = np.empty(ends.shape[0], dtype=np.int64)
    n = 0
    i = 0
    for doc in range(ends.shape[0]):
        stop = ends[doc]
        in_word = False
        while i < stop:
            code, size = decode(data, i, stop)
            cell = kinds[pages[code >> 8], code & 255]
            i += size
            if cell & _KIND != SPACE:
                if by_word and not in_word:
                    ids[n] = _BLANK
                    n += 1
                ids[n] = code + (cell >> KIND_BITS)
                n += 1
                in_word = True
                continue
            run = 1
            while i < stop:
                follower, its_size = decode(data, i, stop)
                if kinds[pages[follower >> 8], follower & 255] & _KIND != SPACE:
                    break
                i += its_size
                run += 1
            if not by_word:
                ids[n] = code if run == 1 else _BLANK
                n += 1
            elif in_word:
                n = _close(ids, n)
            in_word = False
        if by_word and in_word:
            n = _close(ids, n)
        id_ends[doc] = n
    return ids[:n].copy(), id_ends


@kernel
def _close(ids: Int32, n: int) -> int:
    ids[n] = _BLANK
    ids[n + 1] = BREAK
    return n + 2
