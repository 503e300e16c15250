"""What every format hands out: pieces of a table, to be read now or by another thread, and where each stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from likely.io.sources import Source

if TYPE_CHECKING:
    import pyarrow as pa

Wanted = Mapping[str, str]
"""Columns to be read, each with the type that it is to have ("" for the one it has)."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file goes on: a place in its text or its number of rows so far, and the line before it."""

    file: int = 0
    offset: int = 0
    line: int = 0


class Piece(Protocol):
    """Some rows of one file."""

    @property
    def n_rows(self) -> int: ...

    @property
    def after(self) -> Place:
        """Where the next piece begins."""

    @property
    def share(self) -> float:
        """How much of the file lies behind, from 0 to 1."""

    def read(self) -> pa.Table:
        """The rows; may be called in any thread."""

    def where(self, row: int) -> str:
        """The file and line of a row of this piece."""


class TableFile(Protocol):
    """One file of a table."""

    source: Source
    names: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def types(self) -> Mapping[str, str]:
        """What the columns seem to hold, in words."""

    def sample(self) -> pa.Table:
        """Rows from the head and, where that is cheap, from further on, with the types that they seem to have."""

    def schema(self) -> pa.Schema:
        """The Arrow types of the columns."""

    def late_changes(self) -> Mapping[str, str]:
        """Columns of numbers whose later cells are none, each with what is wrong, in words."""

    def pieces(self, wanted: Wanted, place: Place) -> Iterator[Piece]:
        """All rows from a place on."""
