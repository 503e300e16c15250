"""Names of columns: their own, or x0, x1, … for arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from likely.errors import SchemaError, listed


class Numbered(Sequence[str]):
    """The names x0, x1, … of an array's columns, made when asked for: a sparse matrix may have a million."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(f"x{j}" for j in range(self._n)[place])
        return f"x{range(self._n)[place]}"

    def __iter__(self) -> Iterator[str]:
        return (f"x{j}" for j in range(self._n))

    def __contains__(self, name: object) -> bool:
        return self.find(name) is not None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Numbered):
            return self._n == other._n
        return isinstance(other, Sequence) and len(other) == self._n and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(("x", self._n))

    def __repr__(self) -> str:
        return f"Numbered({self._n})"

    def find(self, name: object) -> int | None:
        """The place of a name, or None."""
        if not isinstance(name, str) or not name[1:].isascii() or not name[1:].isdigit() or name[0] != "x":
            return None
        place = int(name[1:])
        return place if place < self._n and name == f"x{place}" else None


def unique_names(names: Iterable[object]) -> tuple[str, ...]:
    """The names as strings; two alike are an error."""
    texts = tuple(name if type(name) is str else str(name) for name in names)
    if len(set(texts)) < len(texts):
        double = [name for name, times in Counter(texts).items() if times > 1]
        raise SchemaError(f"Several columns are called {listed(double)}; give each column its own name.")
    return texts
