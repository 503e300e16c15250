"""What each character is and becomes in lower case, as Python's own `str` and `re` see it.

The table has two levels: `pages[code >> 8]` is a row of `cells`, and `cells[row, code & 255]` holds
`(lower − code) << 4 | kind`. Equal pages share a row, so that the whole of Unicode fits into a quarter of a megabyte.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Cjk = Literal["word", "char", "bigram"]

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

    pages: NDArray[np.int32]
    cells: NDArray[np.int32]
    first: NDArray[np.uint8]


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
    return Characters(*two_levels(shift << KIND_BITS | kinds), first_bytes(kinds, shift))


def two_levels(flat: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Pages of 256 cells, each different page stored once."""
    rows: dict[bytes, int] = {}
    pages = [rows.setdefault(page.tobytes(), len(rows)) for page in flat.reshape(-1, PAGE)]
    cells = np.frombuffer(b"".join(rows), dtype=np.int32).reshape(-1, PAGE)
    return np.array(pages, dtype=np.int32), cells.copy()


def first_bytes(kinds: NDArray[np.int32], shift: NDArray[np.int32]) -> NDArray[np.uint8]:
    """For each first byte: 0 for no word, the byte in lower case, or BEYOND_ASCII."""
    first = np.full(PAGE, BEYOND_ASCII, dtype=np.uint8)
    first[:ASCII] = np.where(kinds[:ASCII] == WORD, np.arange(ASCII) + shift[:ASCII], 0)
    return first


@cache
def _all_characters() -> str:
    return np.arange(N_CODES, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


@cache
def _kinds() -> NDArray[np.int32]:
    kinds = np.full(N_CODES, OTHER, dtype=np.int32)
    for pattern, kind in ((r"\w+", WORD), (r"\s+", SPACE)):
        for run in re.finditer(pattern, _all_characters()):
            kinds[run.start() : run.end()] = kind
    return kinds


@cache
def _lower_shift() -> NDArray[np.int32]:
    """From each code to its lower case; İ stands in as i."""
    lower = _all_characters().replace(_DOTTED_I, "i").lower()
    codes = np.frombuffer(lower.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return (codes.astype(np.int32) - np.arange(N_CODES, dtype=np.int32)).astype(np.int32)


def _mark_emoji(kinds: NDArray[np.int32]) -> None:
    for low, high in _EMOJI:
        for code in range(low, high + 1):
            # Cn: a picture younger than this Python's Unicode.
            if unicodedata.category(chr(code)) in ("So", "Cn"):
                kinds[code] = EMOJI
    kinds[_FLAGS[0] : _FLAGS[1] + 1] = FLAG
    kinds[_SKIN_TONES[0] : _SKIN_TONES[1] + 1] = EXTENDER
    kinds[_VARIATION_SELECTOR] = EXTENDER
    kinds[_JOINER] = ZWJ
