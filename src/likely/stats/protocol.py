"""What every statistic can do, what some can do besides, and how their rows (one per class) are moved about."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from likely.arrays import AnyArray, Array, Index, Int32
from likely.errors import DataError, NotMergeable
from likely.jit import kernel
from likely.numerics import HEAVIEST

Matrix = Any
"""A dense array, or a SciPy `csr_array` (which has no types to check against)."""

NOISE = 1e-9
"""What rounding may leave, relative to what was there, when as much is taken out as came in."""

NEVER_SEEN = "More would leave than ever came in: these rows were not learned, or not with these classes and weights."


class Statistic(Protocol):
    """Sufficient statistics of some columns, one row per class; a value that is never changed.

    `a + b` describes the rows of both, `a - b` those of `a` without those of `b`. Either side may know
    fewer classes: what it does not know, it has not seen. Its file in `stats` says all about it, and one line of
    `stats.STATISTICS` makes it known.
    """

    stored_as: ClassVar[str]
    """Its name in model files."""

    by_column: ClassVar[bool]
    """Whether it describes one column each time; the others describe a group."""

    @property
    def shape(self) -> tuple[int, int]:
        """Classes and columns."""
        ...

    @property
    def known_weights(self) -> Array | None:
        """Weight of the known cells (classes × columns); None where gaps are not told from zeros."""
        ...

    def validate(self) -> None:
        """Raise a `DataError` where its arrays do not fit together or hold what no rows can have."""
        ...

    def __add__(self, other: Self) -> Self: ...

    def __sub__(self, other: Self) -> Self: ...

    def take_classes(self, source: Index) -> Self:
        """Row `k` becomes what row `source[k]` was; −1 stands for a class without rows."""
        ...

    def select(self, columns: Index) -> Self:
        """The same for some of the columns."""
        ...


@runtime_checkable
class HasTables(Protocol):
    """A statistic that counts the values of each column."""

    def class_value_table(self, column: int) -> Array:
        """Classes × values of one column."""
        ...


@runtime_checkable
class HasResolutions(Protocol):
    """A statistic whose values can be taken together in several ways, as the cells of a histogram."""

    def resolutions(self, column: int) -> Iterator[Array]:
        """Classes × values of one column, from coarse to fine."""
        ...


@runtime_checkable
class HasValues(Protocol):
    """A statistic of one column that knows its values by name."""

    def value_blocks(self) -> Iterator[tuple[Sequence[Hashable], Array, Array]]:
        """Some values at a time: they, classes × values, and the weight of each class in which the column is known."""
        ...


@runtime_checkable
class HasInformation(Protocol):
    """A statistic that tells by itself how much its columns say about the class."""

    def information(self, weights: Array) -> Array:
        """Mutual information of each column with the class, in bits, given the weights of the classes."""
        ...


@runtime_checkable
class Differs(Protocol):
    """A statistic that can say in a few words how a class differs from one of another such statistic."""

    def difference(self, mine: int, other: Any, theirs: int) -> Difference | None:
        """What differs, where in the column, and how it is on either side; None if nothing does."""
        ...


Difference = tuple[str, str, str, str]
Values = Sequence[Hashable]


def difference_of_shares(values_a: Values, a: Array, values_b: Values, b: Array) -> Difference | None:
    """The value whose share within the class has changed most."""
    mine = dict(zip(values_a, (a / max(float(a.sum()), 1e-300)).tolist(), strict=True))
    theirs = dict(zip(values_b, (b / max(float(b.sum()), 1e-300)).tolist(), strict=True))
    change = {value: abs(mine.get(value, 0.0) - theirs.get(value, 0.0)) for value in dict.fromkeys([*mine, *theirs])}
    value = max(change, key=lambda key: change[key], default=None)
    if value not in change or change[value] <= 1e-12:
        return None
    return "share", str(value), f"{mine.get(value, 0.0):.4f}", f"{theirs.get(value, 0.0):.4f}"


ROUNDED_UP = 1.0 + 1e-9
"""Sums in another order may come out larger by so much."""

HEAVIEST_COUNT = ROUNDED_UP * HEAVIEST


def require(fair: bool | np.bool_, wrong: str) -> None:
    """Raise for a statistic that is none."""
    if not fair:
        raise DataError(wrong)


def require_counts(counts: AnyArray, *shape: int, most: float = HEAVIEST_COUNT) -> None:
    """Raise unless these are numbers from zero up, none larger than can be counted, in a table of that shape."""
    require(counts.shape == shape, f"A table of counts has the shape {counts.shape} where {shape} was expected.")
    require(((counts >= 0.0) & (counts <= most)).all(), "A table of counts holds something that is no count.")


def share_of(known: float, weights: Array) -> float:
    """The share of the rows, by weight, in which a column is known."""
    total = float(weights.sum())
    return min(float(known) / total, 1.0) if total > 0.0 else 0.0


def take_rows(table: AnyArray, source: Index) -> Array:
    """Rows of a table by number; −1 gives a row of zeros."""
    taken = np.zeros((len(source), *table.shape[1:]))
    known = source >= 0
    taken[known] = table[source[known]]
    return taken


def as_counted(y: Int32, weight: Array | None, n_classes: int | None) -> tuple[Array, int]:
    """Weights of rows and the number of classes; where none are given, a row counts as one, and so many occur."""
    size = int(y.max(initial=-1)) + 1 if n_classes is None else n_classes
    return np.ones(len(y)) if weight is None else weight, size


def pad(table: Array, *shape: int) -> Array:
    """The table with zeros at the end of each axis that is too short."""
    missing = [(0, max(size - old, 0)) for size, old in zip(shape, table.shape, strict=True)]
    return np.pad(table, missing) if any(after for _, after in missing) else table


def matched(a: Array, b: Array) -> tuple[Array, Array]:
    """Both tables in the larger of their shapes."""
    shape = np.maximum(a.shape, b.shape)
    return pad(a, *shape), pad(b, *shape)


def less(before: Array, out: Array) -> Array:
    """`before − out` for counts: nothing below zero, and an exact zero where only rounding is left."""
    left = before - out
    return np.where(left > NOISE * before, left, 0.0)


@kernel
def less_one(before: float, out: float) -> float:
    """The same for one number."""
    left = before - out
    return left if left > NOISE * before else 0.0


def leave(before: Array, out: Array) -> Array:
    """The same where more than rounding below zero is an error."""
    if (before - out < -NOISE * before).any():
        raise NotMergeable(NEVER_SEEN)
    return less(before, out)
