"""Glances into the middle of a file, so that types are not judged from its head alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import FileError
from likely.files import kernels
from likely.files.blocks import NONE, Block
from likely.files.conversion import Layout, read_cell, read_text
from likely.files.records import count_lines, locate
from likely.files.sources import Source

if TYPE_CHECKING:
    import pyarrow as pa

SPOTS = 32
SPOT = 1 << 16
CHUNK = 1 << 24


@dataclass(frozen=True)
class Spots:
    """Pieces of raw bytes from evenly spaced places of a file that is not packed, each with its place."""

    source: Source
    pieces: list[tuple[int, bytes]]

    @classmethod
    def of(cls, source: Source, head: int, n_files: int = 1) -> Spots:
        """The glances of one of so many files, which share them."""
        size, spots = source.size, SPOTS // n_files
        if size <= head + SPOT or not spots:
            return cls(source, [])
        pieces = []
        with source.path.open("rb") as file:
            places = np.linspace(head, size - SPOT, spots).astype(np.int64) if size > head + spots * SPOT else [head]
            for place in places:
                file.seek(int(place))
                pieces.append((int(place), file.read(SPOT if len(places) > 1 else size - head)))
        return cls(source, pieces)

    @property
    def raw(self) -> list[bytes]:
        return [piece for _, piece in self.pieces]

    @cached_property
    def _last(self) -> int:
        return len(self.pieces) - 1

    def blocks(self, layout: Layout, width: int) -> Iterator[Block]:
        """The whole records of each piece; a piece that cannot be read by itself is passed over."""
        if layout.dialect.encoding != "utf-8":
            return
        for number, (place, piece) in enumerate(self.pieces):
            # A piece begins anywhere: perhaps in a cell with quotes. Then it is no witness, and the pass will judge.
            start = piece.find(b"\n") + 1
            data = piece[start:]
            array = np.frombuffer(data, dtype=np.uint8)
            final = number == self._last
            codes = layout.dialect.codes
            answer = kernels.scan(array, *codes, width, final, True, layout.dialect.trim, -1, NONE, NONE)
            if start and answer[kernels.CODE] == kernels.FINE and answer[kernels.RECORDS]:
                end = int(answer[kernels.END])
                high = bool(answer[kernels.HIGH] >= 128)
                yield Block(self.source, data[:end], place + start, place + end, 0, int(answer[kernels.RECORDS]), high)

    def tables(self, layout: Layout, width: int, after: int) -> Iterator[pa.Table]:
        """The same as strings, those behind a place."""
        for block in self.blocks(layout, width):
            if block.offset < after:
                continue
            try:
                yield read_text(block, layout, layout.names, gaps=True)
            except FileError:
                continue

    def first_odd(self, name: str, layout: Layout) -> tuple[int, str] | None:
        """The first cell of a column in these pieces that spells no number, with its line in the file."""
        for block in self.blocks(layout, len(layout.names)):
            found = first_odd(block, name, layout)
            if found is not None:
                line, text = found
                return line + self._lines_before(block.offset), text
        return None

    def _lines_before(self, place: int) -> int:
        lines = 0
        with self.source.path.open("rb") as file:
            while place > 0 and (piece := file.read(min(CHUNK, place))):
                lines += count_lines(piece)
                place -= len(piece)
        return lines


def first_odd(block: Block, name: str, layout: Layout) -> tuple[int, str] | None:
    """The first cell of a column in a block that spells no number, with its line."""
    for row, text in enumerate(read_text(block, layout, [name], gaps=True).column(0).to_pylist()):
        try:
            if text is not None:
                read_cell(text, "number", layout.dialect)
        except ValueError:
            return locate(block, row, layout.dialect)[0], text
    return None
