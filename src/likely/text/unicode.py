"""What each character is and becomes in lower case, as Python's own `str` and `re` see it.

The table has two levels: `pages[code >> 8]` is a row of `cells`, and `cells[row, code & 255]` holds
`(lower − code) << 4 | kind`, 26 bits at most. Equal pages share a row, so that the whole of Unicode fits into a
quarter of a megabyte.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from likely.arrays import Flags, Int32, UInt8
from likely.text.bytes import suspects
from likely.text.documents import DocumentBlock
from likely.text.tokenizer import Accents, Cjk

N_CODES = 0x110000
PAGE = 256
OTHER, WORD, CJK, EMOJI, SPACE, FLAG, EXTENDER, ZWJ, SUSPECT = range(9)
"""Kinds of character. EXTENDER (skin tones, variation selector) and ZWJ carry an emoji on; two FLAGs make one.
A SUSPECT (Σ, İ) has a lower case that is not one character for one: its document is one for `str.lower`."""
KIND_BITS = 4
ASCII = 128
BEYOND_ASCII = 255
"""In the table of first bytes: look the character up."""

_CJK = ((0x3005, 0x3007), (0x3040, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),
        (0xFF66, 0xFF9D), (0x1B000, 0x1B16F), (0x20000, 0x323AF))  # fmt: skip
# Pictures; letters and mathematical signs in these blocks keep their kind.
_EMOJI = ((0x231A, 0x23FF), (0x25A0, 0x27BF), (0x2B05, 0x2B55), (0x1F000, 0x1FAFF))
_FLAGS = (0x1F1E6, 0x1F1FF)
_SKIN_TONES = (0x1F3FB, 0x1F3FF)
_VARIATION_SELECTOR, _JOINER = 0xFE0F, 0x200D
_DOTTED_I = "\u0130"
CONTEXT_LETTERS = "Σ" + _DOTTED_I
"""Lower case of Σ depends on its neighbours (σ or ς); İ becomes two characters."""


@dataclass(frozen=True, slots=True, eq=False)
class Characters:
    """Kind and lower case of every character; `first` answers at once for a byte of ASCII."""

    pages: Int32
    cells: Int32
    first: UInt8


@cache
def characters(lowercase: bool = True, cjk: Cjk = "word", emoji: bool = False) -> Characters:
    """The table for one way of reading.

    >>> table = characters()
    >>> code = ord("Ä")
    >>> cell = int(table.cells[table.pages[code >> 8], code & 255])
    >>> chr(code + (cell >> KIND_BITS)), cell & 15 == WORD
    ('ä', True)
    """
    kinds = _kinds().copy()
    if cjk != "word":
        for low, high in _CJK:
            kinds[low : high + 1][kinds[low : high + 1] == WORD] = CJK
    if emoji:
        _mark_emoji(kinds)
    if lowercase:
        kinds[[ord(letter) for letter in CONTEXT_LETTERS]] = SUSPECT
    shift = _lower_shift() if lowercase else np.zeros(N_CODES, dtype=np.int32)
    return Characters(*_two_levels(shift << KIND_BITS | kinds), _first_bytes(kinds, shift))


def _two_levels(flat: Int32) -> tuple[Int32, Int32]:
    """Pages of 256 cells, each different page stored once."""
    rows: dict[bytes, int] = {}
    pages = [rows.setdefault(page.tobytes(), len(rows)) for page in flat.reshape(-1, PAGE)]
    cells = np.frombuffer(b"".join(rows), dtype=np.int32).reshape(-1, PAGE)
    return np.array(pages, dtype=np.int32), cells.copy()


def _first_bytes(kinds: Int32, shift: Int32) -> UInt8:
    """For each first byte: 0 for no word, the byte in lower case, or BEYOND_ASCII."""
    first = np.full(PAGE, BEYOND_ASCII, dtype=np.uint8)
    first[:ASCII] = np.where(kinds[:ASCII] == WORD, np.arange(ASCII) + shift[:ASCII], 0)
    return first


@cache
def _all_characters() -> str:
    return np.arange(N_CODES, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


@cache
def _kinds() -> Int32:
    kinds = np.full(N_CODES, OTHER, dtype=np.int32)
    for pattern, kind in ((r"\w+", WORD), (r"\s+", SPACE)):
        for run in re.finditer(pattern, _all_characters()):
            kinds[run.start() : run.end()] = kind
    return kinds


@cache
def _lower_shift() -> Int32:
    """From each code to its lower case; İ stands in as i."""
    lower = _all_characters().replace(_DOTTED_I, "i").lower()
    codes = np.frombuffer(lower.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return (codes.astype(np.int32) - np.arange(N_CODES, dtype=np.int32)).astype(np.int32)


def _mark_emoji(kinds: Int32) -> None:
    for low, high in _EMOJI:
        for code in range(low, high + 1):
            # Cn: a picture younger than this Python's Unicode.
            if unicodedata.category(chr(code)) in ("So", "Cn"):
                kinds[code] = EMOJI
    kinds[_FLAGS[0] : _FLAGS[1] + 1] = FLAG
    kinds[_SKIN_TONES[0] : _SKIN_TONES[1] + 1] = EXTENDER
    kinds[_VARIATION_SELECTOR] = EXTENDER
    kinds[_JOINER] = ZWJ


# Documents that need Python's own Unicode machinery before they are scanned: few, and only those.
#
# Lower case is per character in the compiled scan, except for two letters: Σ, which depends on its neighbours, and İ,
# which becomes two characters. Composition (NFC) and the stripping of accents are left to `unicodedata`.

_HANGUL_VOWELS_AND_TAILS = slice(0x1160, 0x1200)


def rewriter(lowercase: bool, compose: bool, accents: Accents | None) -> Callable[[DocumentBlock], DocumentBlock]:
    """What has to be done to a block before it is scanned."""

    def rewrite(text: str) -> str:
        if compose:
            text = unicodedata.normalize("NFC", text)
        if lowercase:
            text = text.lower()
        return text.translate(_accents(accents)) if accents else text

    table = _beyond_ascii() if accents else _marked(lowercase, compose)

    def rewritten(block: DocumentBlock) -> DocumentBlock:
        found = suspects(block.data, block.ends, *table) if table else np.zeros(len(block), dtype=np.bool_)
        # Stripping an accent may leave a capital (℡ → TEL), which then stays: so ASCII is lowered here as well.
        lower_ascii = lowercase and accents is not None
        return _replaced(block, found, rewrite, lower_ascii) if lower_ascii or found.any() else block

    return rewritten


def _replaced(block: DocumentBlock, found: Flags, rewrite: Callable[[str], str], lower_ascii: bool) -> DocumentBlock:
    """The block with some documents rewritten."""
    data = block.data.tobytes()
    if lower_ascii:
        data = data.lower()
    starts = np.concatenate([[0], block.ends])
    lengths = np.diff(starts)
    pieces = []
    done = 0
    for doc in np.flatnonzero(found):
        pieces.append(data[done : starts[doc]])
        done = starts[doc + 1]
        original = block.data[starts[doc] : done].tobytes()
        pieces.append(rewrite(original.decode("utf-8", "replace")).encode("utf-8", "replace"))
        lengths[doc] = len(pieces[-1])
    pieces.append(data[done:])
    return DocumentBlock(np.frombuffer(b"".join(pieces), dtype=np.uint8), np.cumsum(lengths))


@cache
def _marked(lowercase: bool, compose: bool) -> tuple[Int32, Int32] | None:
    """The characters that make a document one for Python."""
    marks = np.zeros(N_CODES, dtype=np.int32)
    if lowercase:
        marks[[ord(letter) for letter in CONTEXT_LETTERS]] = 1
    if compose:
        marks |= _maybe_not_composed()
    return _two_levels(marks) if lowercase or compose else None


def _maybe_not_composed() -> Int32:
    """Characters that are not composed, or that may compose with the one before."""
    marks = np.zeros(N_CODES, dtype=np.int32)
    marks[_HANGUL_VOWELS_AND_TAILS] = 1
    for code in range(ASCII, N_CODES):
        character = chr(code)
        if unicodedata.combining(character):
            marks[code] = 1
        parts = unicodedata.decomposition(character)
        if parts and not parts.startswith("<"):
            marks[code] |= not unicodedata.is_normalized("NFC", character)
            marks[[int(part, 16) for part in parts.split()[1:]]] = 1
    return marks


@cache
def _beyond_ascii() -> tuple[Int32, Int32]:
    marks = np.ones(N_CODES, dtype=np.int32)
    marks[:ASCII] = 0
    return _two_levels(marks)


class _Stripped(dict[int, str]):
    """Each character without its accents, looked up once."""

    def __init__(self, accents: Accents) -> None:
        super().__init__()
        self.accents = accents

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFKD", chr(code))
        if self.accents == "ascii":
            plain = "".join(part for part in parts if part.isascii())
        else:
            plain = "".join(part for part in parts if not unicodedata.combining(part))
        self[code] = plain
        return plain


@cache
def _accents(accents: Accents) -> _Stripped:
    return _Stripped(accents)
