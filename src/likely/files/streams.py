"""Bytes of a file as UTF-8 text: unpacked, decoded, and with its troubles told in our words."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from types import TracebackType
from typing import Any, Self

from likely.errors import FileError
from likely.files.sources import Source

PIECE = 1 << 20
BOM = b"\xef\xbb\xbf"
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def packing(source: Source) -> str:
    """How a file is compressed, by its first bytes: "gzip", "zstd" or nothing."""
    start = first_bytes(source, 4)
    return "gzip" if start.startswith(GZIP) else "zstd" if start == ZSTD else ""


def first_bytes(source: Source, n: int) -> bytes:
    """The first bytes on the disk, packed or not."""
    try:
        with source.path.open("rb") as file:
            return file.read(n)
    except OSError as error:
        raise FileError(f"{source.name} cannot be opened: {error.strerror or error}.") from None


class RawBytes:
    """The bytes of a file, unpacked if need be."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.packing = packing(source)
        self._disk = open(source.path, "rb")  # noqa: SIM115
        self._file: Any = self._disk
        if self.packing == "gzip":
            self._file = gzip.GzipFile(fileobj=self._disk)
        elif self.packing == "zstd":
            import pyarrow as pa

            self._file = pa.CompressedInputStream(pa.PythonFile(self._disk, "r"), "zstd")

    def read(self, n: int) -> bytes:
        """So many bytes, fewer only at the end."""
        try:
            found = bytes(self._file.read(n))
            while found and len(found) < n:  # streams may give less than they have
                more = self._file.read(n - len(found))
                if not more:
                    break
                found += more
            return found
        except (OSError, EOFError, zlib.error) as error:
            raise FileError(
                f"{self.source.name} is damaged or ends too early ({error}); fetch or pack it again."
            ) from None

    def seek(self, offset: int) -> None:
        """Go on at a place; what is packed has to be read up to there."""
        if not self.packing:
            self._file.seek(offset)
            return
        while offset > 0:
            passed = len(self.read(min(offset, PIECE)))
            if not passed:
                return
            offset -= passed

    def close(self) -> None:
        self._file.close()
        self._disk.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class TextBytes:
    """The text of a file as UTF-8 without a byte order mark, from the beginning or from a place in that text."""

    def __init__(self, source: Source, encoding: str, offset: int = 0) -> None:
        self.source, self.encoding = source, encoding
        self._raw = RawBytes(source)
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
            text = self._decode(raw)
            buffer.write(text.encode("utf-8"))
            if not raw:
                break
        found = buffer.getvalue()
        return self._cut(found, n)

    def _cut(self, found: bytes, n: int) -> bytes:
        self._waiting = found[n:]
        return found[:n]

    def _decode(self, raw: bytes) -> str:
        assert self._decoder is not None
        try:
            text = self._decoder.decode(raw, final=not raw)
        except (UnicodeDecodeError, UnicodeEncodeError) as error:
            line = self._lines + 1 + raw[: error.start].count(b"\n")
            raise FileError(
                f"{self.source.name}, about line {line}: the bytes are no {self.encoding} ({error.reason}); "
                "name the right encoding, as in encoding='latin-1'."
            ) from None
        if not self._begun and text:
            self._begun, text = True, text.removeprefix("\ufeff")
        self._lines += text.count("\n")
        return text

    def close(self) -> None:
        self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
