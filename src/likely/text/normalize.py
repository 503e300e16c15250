"""Documents that need Python's own Unicode machinery before they are scanned: few, and only those.

Lower case is per character in the compiled scan, except for two letters: Σ, which depends on its neighbours, and İ,
which becomes two characters. Composition (NFC) and the stripping of accents are left to `unicodedata`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from likely.text.characters import ASCII, CONTEXT_LETTERS, N_CODES, two_levels
from likely.text.documents import Block
from likely.text.kernels.bytes import suspects

Accents = Literal["unicode", "ascii"]
Table = tuple[NDArray[np.int32], NDArray[np.int32]]

_HANGUL_VOWELS_AND_TAILS = slice(0x1160, 0x1200)


def rewriter(lowercase: bool, compose: bool, accents: Accents | None) -> Callable[[Block], Block]:
    """What has to be done to a block before it is scanned."""

    def rewrite(text: str) -> str:
        if compose:
            text = unicodedata.normalize("NFC", text)
        if lowercase:
            text = text.lower()
        return text.translate(_accents(accents)) if accents else text

    table = _beyond_ascii() if accents else _marked(lowercase, compose)

    def rewritten(block: Block) -> Block:
        found = suspects(block.data, block.ends, *table) if table else np.zeros(len(block), dtype=np.bool_)
        # Stripping an accent may leave a capital (℡ → TEL), which then stays: so ASCII is lowered here as well.
        lower_ascii = lowercase and accents is not None
        return _replaced(block, found, rewrite, lower_ascii) if lower_ascii or found.any() else block

    return rewritten


def _replaced(block: Block, found: NDArray[np.bool_], rewrite: Callable[[str], str], lower_ascii: bool) -> Block:
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
    return Block(np.frombuffer(b"".join(pieces), dtype=np.uint8), np.cumsum(lengths))


@cache
def _marked(lowercase: bool, compose: bool) -> Table | None:
    """The characters that make a document one for Python."""
    marks = np.zeros(N_CODES, dtype=np.int32)
    if lowercase:
        marks[[ord(letter) for letter in CONTEXT_LETTERS]] = 1
    if compose:
        marks |= _maybe_not_composed()
    return two_levels(marks) if lowercase or compose else None


def _maybe_not_composed() -> NDArray[np.int32]:
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
def _beyond_ascii() -> Table:
    marks = np.ones(N_CODES, dtype=np.int32)
    marks[:ASCII] = 0
    return two_levels(marks)


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
