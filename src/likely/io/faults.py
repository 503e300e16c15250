"""What is wrong with a line of a file, told with its place and a remedy."""

from __future__ import annotations

import csv
import io
import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from likely.arrays import Int64
from likely.errors import FileError, Message, Setting
from likely.io import scan
from likely.io.dialect import Dialect, guarded
from likely.io.outputs import LEFT_OUT, LEFT_OUT_COLUMNS, Output, log_file

SHOWN = 60
SHOWN_BYTES = 400


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that cannot be read: where it stands, why, and what it says."""

    file: str
    line: int
    reason: str
    text: str
    remedy: str

    def error(self) -> FileError:
        """The refusal that a user sees."""
        return FileError(
            f"{self.file}, line {self.line}: ", self.reason, "; ", self.remedy, f". The line: {shown(self.text)}"
        )


def shown(text: str) -> str:
    """A cell or line, cut to a readable length."""
    text = text.rstrip("\r\n")
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")


REJECTING = Message("mend the line, or pass ", Setting("rejects"), " to leave such lines out")


def structural(code: int, answer: Int64, dialect: Dialect, n_columns: int, line: int) -> tuple[str, str]:
    """Reason and remedy for a fault that the scan found; `line` is the line before the block."""
    quote_line = line + int(answer[scan.QUOTE_LINE]) + 1
    cells = int(answer[scan.FOUND])
    return {
        scan.CELLS: (_cells(cells, n_columns), REJECTING),
        scan.AFTER_QUOTE: (
            f"text follows the quote that closes a cell (opened in line {quote_line})",
            Message(
                "close the cell, double a quote inside it, or say ", Setting("escape", "\\"), " if backslashes escape"
            ),
        ),
        scan.UNCLOSED: (
            f"the quote opened in line {quote_line} is never closed",
            Message("close it, or say ", Setting("quote", "")),
        ),
        scan.NUL: (
            "there is a NUL byte",
            Message("the file is damaged, binary, or in another encoding, such as ", Setting("encoding", "utf-16")),
        ),
        scan.SPACE_QUOTE: (
            f"spaces stand before a quote after the {_name(dialect.delimiter)}",
            Message("remove them, or say ", Setting("quote", ""), " if quotes are ordinary characters"),
        ),
        scan.LOOKS_UNCLOSED: (
            f"the cell in quotes from line {quote_line} on holds whole lines with as many cells as there are columns, "
            "as if a quote was never closed",
            Message("close it, or say ", Setting("multiline", True), " if that is one cell"),
        ),
        scan.BLANK_LINE: (
            "a blank line stands among the lines of a single column: it may be a gap or nothing",
            'write "" for a gap, or remove the blank lines',
        ),
    }[code]


def first_fault(body: bytes, dialect: Dialect, name: str, skip: int) -> FileError | None:
    """What the scan of a text finds wrong first, whatever the number of its columns."""
    none = np.zeros(0, dtype=np.int64)
    array = np.frombuffer(body, dtype=np.uint8)
    answer = scan.scan(array, *dialect.codes, -1, True, True, dialect.trim, -1, none, none)
    code = int(answer[scan.CODE])
    if code == scan.FINE:
        return None
    reason, remedy = structural(code, answer, dialect, -1, skip)
    line = skip + int(answer[scan.LINES]) + 1
    text = body[int(answer[scan.END]) :][:SHOWN_BYTES].decode("utf-8", "replace").splitlines()[0]
    return Fault(name, line, reason, text, remedy).error()


def _cells(cells: int, n_columns: int) -> str:
    some = f"{cells} cell{'s' * (cells != 1)}"
    return f"{some} where the header has {n_columns}, so it is too {'short' if cells < n_columns else 'long'}"


def _name(delimiter: str) -> str:
    return {"\t": "tab", " ": "space"}.get(delimiter, f"{delimiter!r}")


# Lines that were left out because the user said so: counted, the first ones kept, all written to a file.

KEPT = 100


class Rejects:
    """What was left out so far. Written to `path` (CSV) as it comes; begun anew with each pass over the table."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.count = 0
        self.first: list[Fault] = []
        self._lock = threading.Lock()

    @property
    def outputs(self) -> list[Output]:
        """The file that is written, if there is one."""
        return [] if self.path is None else [Output(self.path, LEFT_OUT)]

    def restart(self) -> None:
        """Forget what an earlier pass found."""
        self.count, self.first = 0, []
        self._write(LEFT_OUT_COLUMNS, anew=True)

    def add(self, fault: Fault) -> None:
        """Leave a line out; threads may do so at the same time."""
        with self._lock:
            self.count += 1
            if len(self.first) < KEPT:
                self.first.append(fault)
            self._write((fault.file, fault.line, fault.reason, guarded(fault.text.rstrip("\r\n"))))

    def extend(self, faults: Iterable[Fault]) -> None:
        """Leave several lines out."""
        for fault in faults:
            self.add(fault)

    def _write(self, cells: Sequence[object], *, anew: bool = False) -> None:
        # Opened for each line: bad lines are rare, and whatever ends the pass, those found so far are in the file.
        if self.path is not None:
            with log_file(self.path, anew=anew) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
                csv.writer(text).writerow(cells)

    def __len__(self) -> int:
        return self.count

    def __str__(self) -> str:
        lines = [f"{fault.file}, line {fault.line}: {fault.reason}" for fault in self.first[:5]]
        more = [f"… and {self.count - 5} more"] if self.count > 5 else []
        return "\n".join([f"{self.count} line{'s' * (self.count != 1)} left out", *lines, *more])
