"""What is wrong with a line of a file, told with its place and a remedy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.errors import FileError
from likely.files import kernels
from likely.files.dialect import Dialect

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
        return FileError(f"{self.file}, line {self.line}: {self.reason}; {self.remedy}. The line: {shown(self.text)}")


def shown(text: str) -> str:
    """A cell or line, cut to a readable length."""
    text = text.rstrip("\r\n")
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")


REJECTING = "mend the line, or pass rejects= to leave such lines out"


def structural(code: int, answer: kernels.Ints, dialect: Dialect, n_columns: int, line: int) -> tuple[str, str]:
    """Reason and remedy for a fault that the scan found; `line` is the line before the block."""
    quote_line = line + int(answer[kernels.QUOTE_LINE]) + 1
    cells = int(answer[kernels.FOUND])
    return {
        kernels.CELLS: (_cells(cells, n_columns), REJECTING),
        kernels.AFTER_QUOTE: (
            f"text follows the quote that closes a cell (opened in line {quote_line})",
            "close the cell, double a quote inside it, or say escape='\\\\' if backslashes escape",
        ),
        kernels.UNCLOSED: (f"the quote opened in line {quote_line} is never closed", "close it, or say quote=''"),
        kernels.NUL: (
            "there is a NUL byte",
            "the file is damaged, binary, or in another encoding, such as encoding='utf-16'",
        ),
        kernels.SPACE_QUOTE: (
            f"spaces stand before a quote after the {_name(dialect.delimiter)}",
            "remove them, or say quote='' if quotes are ordinary characters",
        ),
        kernels.LOOKS_UNCLOSED: (
            f"the cell in quotes from line {quote_line} on holds whole lines with as many cells as there are columns, "
            "as if a quote was never closed",
            "close it, or say multiline=True if that is one cell",
        ),
        kernels.BLANK_LINE: (
            "a blank line stands among the lines of a single column: it may be a gap or nothing",
            'write "" for a gap, or remove the blank lines',
        ),
    }[code]


def first_fault(body: bytes, dialect: Dialect, name: str, skip: int) -> FileError | None:
    """What the scan of a text finds wrong first, whatever the number of its columns."""
    none = np.zeros(0, dtype=np.int64)
    array = np.frombuffer(body, dtype=np.uint8)
    answer = kernels.scan(array, *dialect.codes, -1, True, True, dialect.trim, -1, none, none)
    code = int(answer[kernels.CODE])
    if code == kernels.FINE:
        return None
    reason, remedy = structural(code, answer, dialect, -1, skip)
    line = skip + int(answer[kernels.LINES]) + 1
    text = body[int(answer[kernels.END]) :][:SHOWN_BYTES].decode("utf-8", "replace").splitlines()[0]
    return Fault(name, line, reason, text, remedy).error()


def _cells(cells: int, n_columns: int) -> str:
    some = f"{cells} cell{'s' * (cells != 1)}"
    return f"{some} where the header has {n_columns}, so it is too {'short' if cells < n_columns else 'long'}"


def _name(delimiter: str) -> str:
    return {"\t": "tab", " ": "space"}.get(delimiter, f"{delimiter!r}")
