"""What is known of a column: its kind, and why it was taken for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, overload

from likely.table.cells import Storage
from likely.table.names import Numbered

Kind = Literal["numeric", "nominal", "text", "ignored"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its kind, how it is stored, distinct values and gaps where counted, and why this kind."""

    name: str
    kind: Kind
    storage: Storage
    levels: int | None = None
    gaps: int | None = None
    why: str = ""


class ManyColumns(Sequence[Column]):
    """Columns x0, x1, … of a sparse matrix, alike but for a few; made when asked for."""

    def __init__(self, n: int, pattern: Column, changed: Mapping[int, Column] | None = None) -> None:
        self.names = Numbered(n)
        self.pattern = pattern
        self.changed = dict(changed or {})

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, place: int) -> Column: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Column, ...]: ...
    def __getitem__(self, place: int | slice) -> Column | tuple[Column, ...]:
        if isinstance(place, slice):
            return tuple(self[j] for j in range(len(self))[place])
        j = range(len(self))[place]
        return self.changed[j] if j in self.changed else replace(self.pattern, name=self.names[j])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ManyColumns):
            return (self.names, self.pattern, self.changed) == (other.names, other.pattern, other.changed)
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash((self.names, self.pattern))

    def __repr__(self) -> str:
        return f"ManyColumns({len(self)}, {self.pattern!r})"
