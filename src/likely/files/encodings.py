"""Which encoding a text has: seen by its marks, proved by its validity, or supposed and said so."""

from __future__ import annotations

import codecs
import re

from likely.errors import FileError, SettingsError, did_you_mean
from likely.files.sources import Source
from likely.files.streams import PIECE, RawBytes

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
KNOWN = (
    "utf-8",
    "utf-16",
    "cp1252",
    "latin-1",
    "cp1250",
    "cp1251",
    "shift_jis",
    "gb18030",
    "euc-kr",
    "koi8-r",
    "mac-roman",
)
WESTERN_LETTERS = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüÿŒœ"
WESTERN_SIGNS = "€£§°²³½«»‘’“”–—…•©®™´¡¿·ºª¼¾µ×\u00a0"
NUL_SHARE = 0.3
LONGEST_RUN = 2
"""Western words hold one or two accented letters in a row among plain ones; words of other scripts are long runs."""


def named_encoding(given: str) -> str:
    """The encoding that a user names, as Python calls it."""
    try:
        name = codecs.lookup(given).name
        "".encode(name)
    except (LookupError, TypeError):
        hint = did_you_mean(given, KNOWN)
        raise SettingsError(f"No encoding is called {given!r}.{hint or ' Common ones: ' + ', '.join(KNOWN)}") from None
    return "utf-8" if name in ("utf-8", "utf-8-sig", "ascii") else name


def find_encoding(head: bytes, spots: list[bytes], source: Source) -> tuple[str, str]:
    """The encoding of a file from its head and some bytes further in, and a note if it is only supposed."""
    name = source.name
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding, ""
    wide = _without_mark(head)
    if wide:
        return wide, f"{name} has no byte order mark but looks like {wide} and is read so"
    pieces = [head, *spots]
    if all(_is_utf8(piece) for piece in pieces):
        return "utf-8", ""
    if all(_is_western(piece) for piece in pieces):
        return (
            "cp1252",
            f"{name} is not UTF-8 and is read as cp1252 (Windows, Western Europe): say encoding= if it is not",
        )
    raise FileError(
        f"{name}, line {_bad_line(source)}: these bytes are no UTF-8, and which encoding the file has cannot be told; "
        f"name it, as in encoding='cp1251' (others: {', '.join(KNOWN[2:])}), or mend the line."
    )


def _bad_line(source: Source) -> int:
    """The first line that is not UTF-8."""
    lines, decoder = 1, codecs.getincrementaldecoder("utf-8")("strict")
    with RawBytes(source) as raw:
        while piece := raw.read(PIECE):
            try:
                lines += decoder.decode(piece).count("\n")
            except UnicodeDecodeError as error:
                return lines + error.object[: error.start].count(b"\n")
    return lines


def _without_mark(head: bytes) -> str:
    """UTF-16 shows in plain text by a NUL in every other byte."""
    even, odd = head[0::2], head[1::2]
    if len(odd) < 2:
        return ""
    zeros_even, zeros_odd = even.count(0) / len(even), odd.count(0) / len(odd)
    if zeros_odd > NUL_SHARE and zeros_even == 0.0:
        return "utf-16-le"
    return "utf-16-be" if zeros_even > NUL_SHARE and zeros_odd == 0.0 else ""


def _is_utf8(piece: bytes) -> bool:
    """Whether it is UTF-8, apart from letters that were cut in two at its ends."""
    start = next((i for i in range(min(4, len(piece))) if piece[i] & 0xC0 != 0x80), 0)
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(piece[start:])
    except UnicodeDecodeError:
        return False
    return True


_HIGH = re.compile(r"[^\x00-\x7f]+")


def _is_western(piece: bytes) -> bool:
    """Whether it makes sense as cp1252: single accented letters and common signs, nothing else above ASCII."""
    try:
        text = piece.decode("cp1252")
    except UnicodeDecodeError:
        return False
    for run in _HIGH.findall(text):
        letters = [char for char in run if char in WESTERN_LETTERS]
        if any(char not in WESTERN_LETTERS and char not in WESTERN_SIGNS for char in run):
            return False
        if len(letters) > LONGEST_RUN:
            return False
    return True
