"""Bytes of a file as UTF-8 text: unpacked, decoded, and with its troubles told in our words."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from contextlib import closing

from likely.arrow import pa
from likely.errors import About, Aside, AtLine, FileError, Message, Setting, SettingsError, did_you_mean
from likely.io.sources import Source

PIECE = 1 << 20
BOM = codecs.BOM_UTF8
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def packing(source: Source) -> str:
    """How a file is compressed, by its first bytes: "gzip", "zstd" or nothing."""
    try:
        with source.path.open("rb") as file:
            start = file.read(len(ZSTD))
    except OSError as error:
        raise FileError(About("closed"), f"{source.name} cannot be opened: {error.strerror or error}.") from None
    return "gzip" if start.startswith(GZIP) else "zstd" if start == ZSTD else ""


class RawBytes:
    """The bytes of a file, unpacked if need be."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.packing = packing(source)
        self._disk = open(source.path, "rb")  # noqa: SIM115
        self._file: io.BufferedReader | gzip.GzipFile = self._disk
        if self.packing == "gzip":
            self._file = gzip.GzipFile(fileobj=self._disk)
        elif self.packing == "zstd":
            self._file = pa.CompressedInputStream(pa.PythonFile(self._disk, "r"), "zstd")

    def read(self, n: int) -> bytes:
        """So many bytes, fewer only at the end."""
        try:
            found = bytes(self._file.read(n))
            while found and len(found) < n and (more := self._file.read(n - len(found))):
                found += more  # streams may give less than they have
            return found
        except (OSError, EOFError, zlib.error) as error:
            why = f"{self.source.name} is damaged or ends too early ({error}); fetch or pack it again."
            raise FileError(About("cut off"), why) from None

    def seek(self, offset: int) -> None:
        """Go on at a place; what is packed has to be read up to there."""
        if not self.packing:
            self._disk.seek(offset)
            return
        while offset > 0 and (passed := self.read(min(offset, PIECE))):
            offset -= len(passed)

    def close(self) -> None:
        self._file.close()
        self._disk.close()


class TextBytes:
    """The text of a file as UTF-8 without a byte order mark, from the beginning or from a place in that text."""

    def __init__(self, source: Source, encoding: str, offset: int = 0) -> None:
        self.source, self.encoding = source, encoding
        self._raw = RawBytes(source)
        self.close = self._raw.close
        self._decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)("strict")
        self._waiting = b""
        self._lines, self._begun = 0, False
        if self._decoder is None:
            start = self._raw.read(len(BOM))
            place = offset + (len(BOM) if start == BOM else 0)
            if place <= len(start):
                self._waiting = start[place:]
            else:
                self._raw.seek(place - len(start) if self._raw.packing else place)
        else:
            while offset > 0 and (passed := self.read(min(offset, PIECE))):
                offset -= len(passed)

    def read(self, n: int) -> bytes:
        """So many bytes of UTF-8, fewer only at the end."""
        if self._decoder is None:
            found, self._waiting = self._waiting, b""
            return found + self._raw.read(n - len(found)) if len(found) < n else self._cut(found, n)
        buffer = io.BytesIO()
        buffer.write(self._waiting)
        while buffer.tell() < n:
            raw = self._raw.read(PIECE)
            buffer.write(self._decode(self._decoder, raw).encode("utf-8"))
            if not raw:
                break
        return self._cut(buffer.getvalue(), n)

    def _cut(self, found: bytes, n: int) -> bytes:
        self._waiting = found[n:]
        return found[:n]

    def _decode(self, decoder: codecs.IncrementalDecoder, raw: bytes) -> str:
        try:
            text = decoder.decode(raw, final=not raw)
        except (UnicodeDecodeError, UnicodeEncodeError) as error:
            line = self._lines + 1 + raw[: error.start].count(b"\n")
            about, what = About("encoding", self.encoding), f": the bytes are no {self.encoding} ({error.reason}); "
            named = "name the right encoding, as in ", Setting("encoding", "latin-1"), "."
            raise FileError(about, AtLine(self.source.name, line, "about line"), what, *named) from None
        if not self._begun and text:
            self._begun, text = True, text.removeprefix("\ufeff")
        self._lines += text.count("\n")
        return text


# Which encoding a text has: seen by its marks, proved by its validity, or supposed and said so.

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
KNOWN = (
    "utf-8", "utf-16", "cp1252", "latin-1", "cp1250", "cp1251", "shift_jis", "gb18030", "euc-kr", "koi8-r", "mac-roman",
)  # fmt: skip
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


class EncodingNote(Message):
    """What was supposed of an encoding, which a user must hear of: letters may be others than they were."""


def find_encoding(head: bytes, probes: list[bytes], source: Source) -> tuple[str, str]:
    """The encoding of a file from its head and some bytes further in, and a note if it is only supposed."""
    name = source.name
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding, ""
    wide = _without_mark(head)
    if wide:
        return wide, EncodingNote(name, " has no byte order mark but looks like ", wide, " and is read so")
    pieces = [head, *probes]
    if all(_is_utf8(piece) for piece in pieces):
        return "utf-8", ""
    if all(_is_western(piece) for piece in pieces):
        supposed = " is not UTF-8 and is read as cp1252 (Windows, Western Europe)"
        return "cp1252", EncodingNote(name, supposed, Aside(": say "), Setting("encoding"), " if it is not")
    if any(b"\0" in piece for piece in pieces):
        what = " is no text: it holds zero bytes, as pictures, archives and programs do. Give a table, as CSV say."
        raise FileError(About("no text"), name, what)
    where, others = AtLine(name, _bad_line(source)), f" (others: {', '.join(KNOWN[2:])}), or mend the line."
    why = ": these bytes are no UTF-8, and which encoding the file has cannot be told; name it, as in "
    raise FileError(About("unknown encoding"), where, why, Setting("encoding", "cp1251"), others)


def _bad_line(source: Source) -> int:
    """The first line that is not UTF-8."""
    lines, decoder = 1, codecs.getincrementaldecoder("utf-8")("strict")
    with closing(RawBytes(source)) as raw:
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
    if odd.count(0) > NUL_SHARE * len(odd) and 0 not in even:
        return "utf-16-le"
    return "utf-16-be" if even.count(0) > NUL_SHARE * len(even) and 0 not in odd else ""


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
        signs = [char for char in run if char not in WESTERN_LETTERS]
        if not all(sign in WESTERN_SIGNS for sign in signs) or len(run) - len(signs) > LONGEST_RUN:
            return False
    return True
