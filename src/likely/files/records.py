"""Single records of a checked text: where they stand, and what their cells say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from likely.files import kernels
from likely.files.blocks import Block
from likely.files.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says, and whether it stood in quotes."""

    text: str
    quoted: bool


def split_record(record: str, dialect: Dialect) -> list[Cell]:
    """The cells of one record, which is known to be well formed.

    >>> [cell.text for cell in split_record('1,"a ""b"", c",', Dialect())]
    ['1', 'a "b", c', '']
    """
    cells: list[Cell] = []
    i, record = 0, record.rstrip("\r\n")
    while True:
        while dialect.trim and record[i : i + 1] == " ":
            i += 1
        quoted = bool(dialect.quote) and record[i : i + 1] == dialect.quote
        text, i = _quoted(record, i + 1, dialect) if quoted else _bare(record, i, dialect)
        cells.append(Cell(text, quoted))
        if i >= len(record):
            return cells
        i += 1


def _bare(record: str, i: int, dialect: Dialect) -> tuple[str, int]:
    if not dialect.escape:
        end = record.find(dialect.delimiter, i)
        end = len(record) if end < 0 else end
        return record[i:end], end
    text = ""
    while i < len(record) and record[i] != dialect.delimiter:
        i += record[i] == dialect.escape
        text += record[i : i + 1]
        i += 1
    return text, i


def _quoted(record: str, i: int, dialect: Dialect) -> tuple[str, int]:
    text = ""
    while i < len(record):
        char = record[i]
        if dialect.escape and char == dialect.escape:
            text += record[i + 1 : i + 2]
            i += 2
        elif char == dialect.quote and record[i + 1 : i + 2] == dialect.quote:
            text += char
            i += 2
        elif char == dialect.quote:
            return text, i + 1
        else:
            text += char
            i += 1
    return text, i


def each_record(data: bytes, dialect: Dialect, most: int) -> Iterator[tuple[int, list[Cell]]]:
    """The line (counted from 0) and the cells of the first records, up to the first that is not well formed."""
    starts, counts = np.zeros(most + 1, dtype=np.int64), np.zeros(most + 1, dtype=np.int64)
    array = np.frombuffer(data, dtype=np.uint8)
    answer = kernels.scan(array, *dialect.codes, -1, True, True, dialect.trim, -1, starts, counts)
    found = int(answer[kernels.RECORDS])
    ends = [*starts[1:found].tolist(), int(answer[kernels.END])]
    line = at = 0
    for start, end in zip(starts[:found].tolist(), ends, strict=True):
        line += count_lines(data[at:start])
        at = start
        # Blank lines after a record belong to none.
        yield line, split_record(data[start:end].decode("utf-8", "replace"), dialect)


def count_lines(data: bytes) -> int:
    """How many lines end in this text."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def locate(block: Block, record: int, dialect: Dialect) -> tuple[int, str]:
    """The line in the file and the text of a record of a block."""
    data = np.frombuffer(block.data, dtype=np.uint8)
    starts = np.zeros(record + 1, dtype=np.int64)
    answer = kernels.scan(data, *dialect.codes, -1, True, True, dialect.trim, -1, starts, starts.copy())
    start, end = int(starts[record]), int(answer[kernels.END])
    lines = count_lines(block.data[:start])
    gone = sum(lines_out for before, lines_out in block.left_out if before <= record)
    return block.line + lines + gone + 1, block.data[start:end].decode("utf-8", "replace")
