"""Weight, mean and scatter matrix of numeric columns in each class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likely.arrays import Array, Index, Int32, Int64
from likely.errors import NotMergeable, TooLarge
from likely.jit import kernel
from likely.numerics import LARGEST
from likely.stats.moments import Moments
from likely.stats.protocol import (
    NEVER_SEEN,
    NOISE,
    ROUNDED_UP,
    Statistic,
    leave,
    pad,
    require,
    require_counts,
    take_rows,
)

CHUNK_CELLS = 1 << 16
"""Cells that are centred at a time: they are multiplied while they are still in the cache (512 KiB)."""

HUGE = 1e100
"""A spread that shrinks by more than this when rows leave was all theirs; the square of it is still a float."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Of each pair of columns: the weight of the rows that know both, and the first one's mean in these rows.

    `n[c, i, j]` and `mean[c, i, j]`; only needed once a gap was seen.
    """

    n: Array
    mean: Array


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """Moments of each column in each class, and how each pair of columns moves together.

    `cross[c, i, j]` is the centred sum of products of two columns, divided by both roots of `moments`: without
    gaps their correlation. So neither 1e154 nor 1e-170 leaves the floats. A row with gaps counts in every
    pair of columns that it knows.

    >>> rows = np.array([[1.0, 5.0], [3.0, 1.0], [5.0, 3.0]])
    >>> seen = Scatter.observe(rows, np.array([0, 0, 0], dtype=np.int32))
    >>> seen.moments.mean.tolist(), seen.covariance(unbiased=True).round(9).tolist()
    ([[3.0, 3.0]], [[[4.0, -2.0], [-2.0, 4.0]]])
    """

    stored_as: ClassVar[str] = "scatter"
    by_column: ClassVar[bool] = False

    moments: Moments
    cross: Array
    pairs: Pairs | None = None

    @classmethod
    def empty(cls, n_classes: int = 0, n_columns: int = 0) -> Scatter:
        return cls(Moments.empty(n_classes, n_columns), np.zeros((n_classes, n_columns, n_columns)))

    @classmethod
    def observe(cls, rows: Array, y: Int32, weight: Array | None = None, n_classes: int | None = None) -> Scatter:
        """Count the known cells and pairs of `rows` (finite, or NaN for a gap) for the classes `y`."""
        if weight is None:
            weight = np.ones(len(rows))
        moments = Moments.observe(rows, y, weight, n_classes)
        if not np.isfinite(moments.root).all():  # an infinite cell: the root says so
            return cls(moments, np.zeros((*moments.root.shape, rows.shape[1])))
        whole = _cross_products(rows, y, weight, moments)
        if whole is None:
            return _observe_pairs(rows, y, weight, moments)
        return cls(moments, _with_diagonal(whole, moments))

    @property
    def shape(self) -> tuple[int, int]:
        return self.moments.shape

    @property
    def known_weights(self) -> Array:
        return self.moments.n

    def validate(self) -> None:
        self.moments.validate()
        shape, cross = (*self.shape, self.shape[1]), self.cross
        require(cross.shape == shape, "Products of columns do not fit the columns.")
        alike = np.allclose(cross, cross.swapaxes(1, 2), rtol=0.0, atol=1e-12)
        require((np.abs(cross) <= ROUNDED_UP).all() and alike, "Two columns move together as no rows can.")
        if self.pairs is not None:
            require_counts(self.pairs.n, *shape)
            fair = self.pairs.mean.shape == shape and (np.abs(self.pairs.mean) <= LARGEST).all()
            require(fair, "A mean of a pair is no number.")

    @property
    def pair_n(self) -> Array:
        """Weight of the rows that know both columns of a pair (classes × columns × columns, or × 1)."""
        return self.moments.n[:, :, None] if self.pairs is None else self.pairs.n

    @property
    def pair_mean(self) -> Array:
        """Mean of the first column of a pair in the rows that know both."""
        return self.moments.mean[:, :, None] if self.pairs is None else self.pairs.mean

    def __add__(self, other: Scatter) -> Scatter:
        a, b = self._matched(other)
        moments = a.moments + b.moments
        for side in (a, b):
            side._refuse_large_pairs()
        n = a.pair_n + b.pair_n
        share = np.divide(b.pair_n, n, out=np.zeros_like(n), where=n > 0)
        gap = b.pair_mean - a.pair_mean
        scale = _not_zero(moments.root)
        lever = gap / scale[:, :, None] * np.sqrt(a.pair_n * share)
        cross = (
            a.cross * _outer(a.moments.root / scale) + b.cross * _outer(b.moments.root / scale) + lever * _turned(lever)
        )
        return _joined(moments, cross, a, b, n, a.pair_mean + gap * share)

    def _refuse_large_pairs(self) -> None:
        """Raise for a column whose mean in some pair has left what can be learned from."""
        if self.pairs is not None and not (small := np.abs(self.pairs.mean) <= LARGEST).all():
            raise TooLarge(int(np.argwhere(~small)[0, 1]))

    def __sub__(self, other: Scatter) -> Scatter:
        a, b = self._matched(other)
        moments = a.moments - b.moments
        n = leave(a.pair_n, b.pair_n)
        left = n > 0.0
        back = np.divide(b.pair_n, n, out=np.zeros_like(n), where=left)
        step = a.pair_mean - b.pair_mean
        scale = np.where(a.moments.root > 0.0, a.moments.root, np.inf)  # a constant column moves with none
        lever = step / scale[:, :, None] * np.sqrt(a.pair_n * back)
        rest = np.where(left, a.cross - b.cross * _outer(b.moments.root / scale) - lever * _turned(lever), 0.0)
        reach = NOISE * (1.0 + (np.abs(a.moments.mean) + np.abs(b.moments.mean)) / scale)
        spread = np.sqrt(np.square(moments.root / scale) + reach)
        if (np.abs(rest) > _outer(spread) + reach[:, :, None] + reach[:, None, :]).any():
            raise NotMergeable(NEVER_SEEN)  # no rows vary together more than they vary
        with np.errstate(over="ignore"):
            grown = np.minimum(scale / _not_zero(moments.root), HUGE)
        cross = np.clip(rest * _outer(np.where(moments.root > 0.0, grown, 0.0)), -1.0, 1.0)
        return _joined(moments, cross, a, b, n, np.where(left, a.pair_mean + step * back, 0.0))

    def take_classes(self, source: Index) -> Scatter:
        return self._each(self.moments.take_classes(source), lambda table: take_rows(table, source))

    def select(self, columns: Index) -> Scatter:
        both = np.ix_(np.arange(len(self.cross)), columns, columns)
        return self._each(self.moments.select(columns), lambda table: table[both])

    def _each(self, moments: Moments, change: Callable[[Array], Array]) -> Scatter:
        """The same change to all tables of pairs."""
        pairs = None if self.pairs is None else Pairs(change(self.pairs.n), change(self.pairs.mean))
        return Scatter(moments, change(self.cross), pairs)

    def covariance(self, *, unbiased: bool) -> Array:
        """Covariance of each pair of columns in each class; zero where there is nothing to estimate it from."""
        rows = np.maximum(self.pair_n - 1.0, 0.0) if unbiased else self.pair_n
        root = self.moments.root
        share = np.divide(self.cross, rows, out=np.zeros_like(self.cross), where=rows > 0)
        return root[:, :, None] * share * root[:, None, :]

    def with_pairs(self) -> Scatter:
        """The same, with weight and mean written out for each pair."""
        if self.pairs is not None:
            return self
        shape = self.cross.shape
        n, mean = (np.broadcast_to(table, shape).copy() for table in (self.pair_n, self.pair_mean))
        return Scatter(self.moments, self.cross, Pairs(n, mean))

    def _matched(self, other: Scatter) -> tuple[Scatter, Scatter]:
        """Both with the same classes and columns; pairs are written out in both or in none."""
        n_classes, n_columns = (int(k) for k in np.maximum(self.moments.n.shape, other.moments.n.shape))
        a, b = self, other
        wider = self.cross.shape[1] != other.cross.shape[1]  # the other side has a gap in every row there
        if wider or self.pairs is not None or other.pairs is not None:
            a, b = self.with_pairs(), other.with_pairs()
        return a._padded(n_classes, n_columns), b._padded(n_classes, n_columns)

    def _padded(self, n_classes: int, n_columns: int) -> Scatter:
        whole = n_classes, n_columns, n_columns
        if self.cross.shape == whole:
            return self
        return self._each(self.moments.padded(n_classes, n_columns), lambda table: pad(table, *whole))


def moments_of(seen: Statistic) -> Moments | None:
    """The moments of single columns, where a statistic holds them."""
    if isinstance(seen, Scatter):
        return seen.moments
    return seen if isinstance(seen, Moments) else None


def _cross_products(rows: Array, y: Int32, weight: Array, moments: Moments) -> Array | None:
    """Σ weight · (xᵢ − meanᵢ)(xⱼ − meanⱼ) in units of the roots; None if there is a gap."""
    n_classes, n_columns = moments.n.shape
    cross, scale = np.zeros((n_classes, n_columns, n_columns)), _not_zero(moments.root)
    centred = np.empty((min(_chunk_size(n_columns), len(rows)), n_columns))
    for c, some in _chunks(y, n_classes, n_columns):
        chunk = centred[: len(some)]
        if not centre(rows, some, moments.mean[c], scale[c], weight, chunk):
            return None
        cross[c] += chunk.T @ chunk
    return cross


def _chunk_size(n_columns: int) -> int:
    return max(CHUNK_CELLS // max(n_columns, 1), 16)


def _chunks(y: Int32, n_classes: int, n_columns: int) -> Iterator[tuple[int, Int64]]:
    """A class and some of its rows, until there are none."""
    order, starts = sort_by_class(y, n_classes)
    size = _chunk_size(n_columns)
    for c in range(n_classes):
        for start in range(starts[c], starts[c + 1], size):
            yield c, order[start : min(start + size, starts[c + 1])]


def _observe_pairs(rows: Array, y: Int32, weight: Array, moments: Moments) -> Scatter:
    """The same for rows with gaps: weights, sums and products of each pair of columns over the rows that know both."""
    n_classes, n_columns = moments.n.shape
    n, sums, cross = np.zeros((3, n_classes, n_columns, n_columns))
    scale = _not_zero(moments.root)
    centred, known = np.empty((2, min(_chunk_size(n_columns), len(rows)), n_columns))
    for c, some in _chunks(y, n_classes, n_columns):
        of_rows, here = centred[: len(some)], known[: len(some)]
        centre_known(rows, some, moments.mean[c], scale[c], of_rows, here)
        weighted = weight[some, None] * of_rows
        n[c] += (weight[some, None] * here).T @ here
        sums[c] += weighted.T @ here
        cross[c] += weighted.T @ of_rows
    return scatter_of_products(moments, cross, n, sums)


def scatter_of_products(moments: Moments, cross: Array, n: Array | None = None, sums: Array | None = None) -> Scatter:
    """From Σ weight · zᵢ zⱼ by class, z being deviations from the means in units of the roots.

    Where cells were missing, `n` and `sums` are Σ weight and Σ weight · zᵢ over the rows that know both columns.
    """
    if n is None or sums is None:
        return Scatter(moments, _with_diagonal(cross, moments))
    scale = _not_zero(moments.root)
    step = np.divide(sums, n, out=np.zeros_like(n), where=n > 0)
    mean = np.where(n > 0, moments.mean[:, :, None] + step * scale[:, :, None], 0.0)
    return _tidied(moments, cross - step * _turned(step) * n, n, mean)


def _joined(moments: Moments, cross: Array, a: Scatter, b: Scatter, n: Array, mean: Array) -> Scatter:
    if a.pairs is None and b.pairs is None:
        return Scatter(moments, _with_diagonal(cross, moments))
    return _tidied(moments, cross, n, mean)


def _tidied(moments: Moments, cross: Array, n: Array, mean: Array) -> Scatter:
    """What single columns know is said once; pairs are left out where no row has some columns without the others."""
    diagonal = np.arange(n.shape[1])
    n[:, diagonal, diagonal], mean[:, diagonal, diagonal] = moments.n, moments.mean
    cross = np.clip((cross + _turned(cross)) / 2.0, -1.0, 1.0)
    complete = bool((n == moments.n[:, :, None]).all())
    return Scatter(moments, _with_diagonal(cross, moments), None if complete else Pairs(n, mean))


def _with_diagonal(cross: Array, moments: Moments) -> Array:
    """A column moves together with itself, exactly; a constant one with none."""
    diagonal = np.arange(cross.shape[1])
    cross[:, diagonal, diagonal] = moments.root > 0.0
    return cross


def _outer(factors: Array) -> Array:
    return factors[:, :, None] * factors[:, None, :]


def _turned(table: Array) -> Array:
    return table.swapaxes(1, 2)


def _not_zero(root: Array) -> Array:
    return np.where(root > 0.0, root, 1.0)


# Rows made ready for a matrix product: sorted by class, centred, brought to one size.


@kernel(interpretable=True)
def sort_by_class(y: Int32, n_classes: int) -> tuple[Int64, Int64]:
    """Rows of each class in their order, and where each class begins (one entry more than classes)."""
    starts = np.zeros(n_classes + 1, dtype=np.int64)
    for i in range(y.shape[0]):
        starts[y[i] + 1] += 1
    for c in range(n_classes):
        starts[c + 1] += starts[c]
    place = starts[:-1].copy()
    order = np.empty(y.shape[0], dtype=np.int64)
    for i in range(y.shape[0]):
        order[place[y[i]]] = i
        place[y[i]] += 1
    return order, starts


@kernel(interpretable=True)
def centre(rows: Array, order: Int64, mean: Array, scale: Array, weight: Array, out: Array) -> bool:
    """√weight · (row − mean) / scale for some rows; False if there is a gap among them."""
    check = 0.0
    for k in range(order.shape[0]):
        row, root_weight, of_row = rows[order[k]], np.sqrt(weight[order[k]]), out[k]
        for j in range(row.shape[0]):
            of_row[j] = root_weight * ((row[j] - mean[j]) / scale[j])
        for j in range(row.shape[0]):
            check += of_row[j]
    return not np.isnan(check)


@kernel(interpretable=True)
def centre_known(rows: Array, order: Int64, mean: Array, scale: Array, out: Array, known: Array) -> None:
    """(row − mean) / scale, zero for a gap; and one where a cell is known, zero where it is not."""
    for k in range(order.shape[0]):
        row, of_row, is_known = rows[order[k]], out[k], known[k]
        for j in range(row.shape[0]):
            gap = np.isnan(row[j])
            is_known[j] = 0.0 if gap else 1.0
            of_row[j] = 0.0 if gap else (row[j] - mean[j]) / scale[j]
