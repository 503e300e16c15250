"""One order for labels and categories of any type, so that results do not depend on who came first."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


def in_order(values: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """The values sorted; where their types cannot be compared, by type and then by how they are written."""
    listed = list(values)
    try:
        return tuple(sorted(listed))  # type: ignore[type-var]
    except TypeError:
        return tuple(sorted(listed, key=lambda value: (type(value).__name__, repr(value))))
