"""How often each value of one nominal column came with each class."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likely.arrays import Array, Index, Int32, read_only
from likely.errors import NotMergeable
from likely.measures import information_gain
from likely.numerics import together
from likely.stats.kernels import count_codes
from likely.stats.protocol import (
    NEVER_SEEN,
    Difference,
    as_counted,
    difference_of_shares,
    leave,
    matched,
    require,
    require_counts,
    share_of,
    take_rows,
)
from likely.table import level_key
from likely.table.levels import in_order


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """Weight of each value in each class. Values without weight are not kept, so taking out undoes.

    >>> seen = ValueCounts.observe(["low", "high"], np.array([0, 1, 1, -1], np.int32), np.array([0, 0, 1, 1], np.int32))
    >>> seen.values, seen.counts.tolist()
    (('high', 'low'), [[1.0, 1.0], [1.0, 0.0]])
    """

    stored_as: ClassVar[str] = "value counts"
    by_column: ClassVar[bool] = True

    values: tuple[Hashable, ...]
    counts: Array

    @classmethod
    def empty(cls, n_classes: int = 0) -> ValueCounts:
        return cls((), np.zeros((n_classes, 0)))

    @classmethod
    def observe(
        cls,
        levels: Sequence[Hashable],
        codes: Int32,
        y: Int32,
        weight: Array | None = None,
        n_classes: int | None = None,
    ) -> ValueCounts:
        """Count codes into `levels` (a gap is −1) for the classes `y`."""
        weight, n_classes = as_counted(y, weight, n_classes)
        counts = np.zeros((n_classes, len(levels)))
        count_codes(read_only(codes), y, weight, counts)
        return cls._of(tuple(levels), counts)

    @classmethod
    def _of(cls, values: tuple[Hashable, ...], counts: Array) -> ValueCounts:
        """Values in their one order, those without weight left out."""
        seen = [values[v] for v in np.flatnonzero(counts.any(axis=0))]
        ordered = in_order(seen)
        # take, not [:, …]: that lays out columns, and their sums round otherwise than those of a file's rows.
        return cls(ordered, counts.take(_positions(values, ordered), axis=1))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.counts), 1

    @property
    def known_weights(self) -> Array:
        return np.asarray(self.counts.sum(axis=1, keepdims=True))

    def class_value_table(self, column: int) -> Array:
        return self.counts

    def value_blocks(self) -> Iterator[tuple[Sequence[Hashable], Array, Array]]:
        if self.values:
            yield self.values, self.counts, self.known_weights[:, 0]

    def information(self, weights: Array) -> Array:
        return np.array([information_gain(self.counts) * share_of(self.counts.sum(), weights)])

    def difference(self, mine: int, other: ValueCounts, theirs: int) -> Difference | None:
        return difference_of_shares(self.values, self.counts[mine], other.values, other.counts[theirs])

    def validate(self) -> None:
        require(len(self._keys()) == len(self.values), "A value of a column stands there twice.")
        require_counts(self.counts, len(self.counts), len(self.values))

    def __add__(self, other: ValueCounts) -> ValueCounts:
        if self.values == other.values:
            return ValueCounts(self.values, together(*matched(self.counts, other.counts)))
        known = self._keys()
        values = self.values + tuple(value for value in other.values if level_key(value) not in known)
        return self._of(values, together(*matched(self.counts, other._under(values))))

    def __sub__(self, other: ValueCounts) -> ValueCounts:
        if not other._keys() <= self._keys():
            raise NotMergeable(NEVER_SEEN)
        return self._of(self.values, leave(*matched(self.counts, other._under(self.values))))

    def _under(self, values: tuple[Hashable, ...]) -> Array:
        """The counts under more values."""
        counts = np.zeros((len(self.counts), len(values)))
        counts[:, _positions(values, self.values)] = self.counts
        return counts

    def _keys(self) -> set[Hashable]:
        return {level_key(value) for value in self.values}

    def take_classes(self, source: Index) -> ValueCounts:
        return ValueCounts(self.values, take_rows(self.counts, source))

    def select(self, columns: Index) -> ValueCounts:
        """Itself: it describes one column."""
        return self


def _positions(values: tuple[Hashable, ...], wanted: tuple[Hashable, ...]) -> Index:
    where = {level_key(value): position for position, value in enumerate(values)}
    return np.array([where[level_key(value)] for value in wanted], dtype=np.intp)
