"""Weight, mean and spread of numeric columns in each class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likely.arrays import Array, Index, Int32
from likely.errors import NotMergeable, TooLarge
from likely.jit import kernel
from likely.numerics import too_large
from likely.parallel import run
from likely.stats.protocol import NEVER_SEEN, NOISE, Difference, as_counted, pad, require, require_counts, take_rows

TINY_SQUARE = 1e-280
TINY_MEAN = 1e-120
"""Below these, squares of deviations may have fallen out of the range of floats."""

LIGHT = 1e-100
"""Where all weights are below this, they are counted after dividing them by a power of two, which loses nothing."""

ROUNDED = 1e-8
"""Spread that rounding may leave to part of a column which is constant as a whole, relative to its size."""


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Weight, mean and root of the centred sum of squares; one row per class, one column per column.

    The root is kept rather than the sum: the square of a spread of 1e160 is no float, nor is that of 1e-170.

    >>> seen = Moments.observe(np.array([[1.0], [3.0], [8.0]]), np.array([0, 0, 1], dtype=np.int32))
    >>> seen.n.tolist(), seen.mean.tolist(), seen.variance(unbiased=True)[0].round(9).tolist()
    ([[2.0], [1.0]], [[2.0], [8.0]], [2.0])
    """

    stored_as: ClassVar[str] = "moments"
    by_column: ClassVar[bool] = False

    n: Array
    mean: Array
    root: Array

    @classmethod
    def empty(cls, n_classes: int = 0, n_columns: int = 0) -> Moments:
        return cls(*np.zeros((3, n_classes, n_columns)))

    @classmethod
    def observe(cls, rows: Array, y: Int32, weight: Array | None = None, n_classes: int | None = None) -> Moments:
        """Count the known cells of `rows` (finite, or NaN for a gap) for the classes `y`."""
        weight, n_classes = as_counted(y, weight, n_classes)
        if 0.0 < (heaviest := weight.max(initial=0.0)) < LIGHT:
            half = int(np.frexp(heaviest)[1]) // 2
            seen = cls.observe(rows, y, np.ldexp(weight, -2 * half), n_classes)
            return cls(np.ldexp(seen.n, 2 * half), seen.mean, np.ldexp(seen.root, half))
        n, mean, squares = np.zeros((3, n_classes, rows.shape[1]))
        in_range = observe_moments(rows, y, weight, n, mean, squares)
        if in_range and not _left_the_floats(rows, mean, squares):
            return cls(n, mean, np.sqrt(squares))
        return cls._observe_scaled(rows, y, weight, n_classes)

    @classmethod
    def _observe_scaled(cls, rows: Array, y: Int32, weight: Array, n_classes: int) -> Moments:
        """Count columns of extreme size after dividing each by a power of two, which loses nothing."""
        largest = np.nanmax(np.abs(rows), axis=0, initial=0.0)
        _, exponent = np.frexp(largest)
        n, mean, squares = np.zeros((3, n_classes, rows.shape[1]))
        if not observe_moments(np.ldexp(rows, -exponent), y, weight, n, mean, squares):
            squares.fill(np.inf)  # an infinite cell: the root says so
        with np.errstate(over="ignore"):  # what leaves the floats is refused by whoever knows the columns
            return cls(n, np.ldexp(mean, exponent), np.ldexp(np.sqrt(squares), exponent))

    @property
    def shape(self) -> tuple[int, int]:
        n_classes, n_columns = self.n.shape
        return n_classes, n_columns

    @property
    def known_weights(self) -> Array:
        return self.n

    def validate(self) -> None:
        require(self.n.ndim == 2 and self.n.shape == self.mean.shape == self.root.shape, "Moments do not fit together.")
        require_counts(self.n, *self.shape)
        fair = not too_large(self.n, self.mean, self.root).any() and (self.root >= 0.0).all()
        require(fair, "A mean or a spread is no number.")

    def difference(self, mine: int, other: Moments, theirs: int) -> Difference | None:
        """Of the first column."""
        a, b = self._first_column(mine), other._first_column(theirs)
        if np.isclose(a, b, rtol=1e-9, atol=1e-12).all():
            return None
        return "mean", "", f"{a[0]:.6g} ± {a[1]:.4g}", f"{b[0]:.6g} ± {b[1]:.4g}"

    def _first_column(self, row: int) -> Array:
        return np.array([self.mean[row, 0], self.deviation(unbiased=True)[row, 0]])

    def refuse_large(self) -> None:
        """Raise for the first column whose sums have left what can be learned from."""
        columns = np.flatnonzero(too_large(self.n, self.mean, self.root).any(axis=0))
        if len(columns):
            raise TooLarge(int(columns[0]))

    def __add__(self, other: Moments) -> Moments:
        a, b = self._matched(other)
        n = a.n + b.n
        share = np.divide(b.n, n, out=np.zeros_like(n), where=n > 0)
        with np.errstate(over="ignore", invalid="ignore"):
            gap = b.mean - a.mean
            between = np.abs(gap) * np.sqrt(a.n * share)
            both = Moments(n, a.mean + gap * share, np.hypot(np.hypot(a.root, b.root), between))
        both.refuse_large()
        return both

    def __sub__(self, other: Moments) -> Moments:
        a, b = self._matched(other)
        n = a.n - b.n
        if (n < -NOISE * a.n).any():
            raise NotMergeable(NEVER_SEEN)
        left = n > NOISE * a.n
        back = np.divide(b.n, n, out=np.zeros_like(n), where=left)
        mean = a.mean + (a.mean - b.mean) * back
        scale = np.where(a.root > 0, a.root, ROUNDED * np.maximum(np.abs(a.mean), np.abs(b.mean)))
        scale = np.where(scale > 0, scale, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            before, after = (b.mean - a.mean) / scale, (b.mean - mean) / scale
            between = before * after * b.n
            # Of rows of next to no weight the deviation is that small, too: a square would leave the floats.
            between = np.where(np.isfinite(between), between, before * np.sqrt(b.n) * (after * np.sqrt(b.n)))
            between = np.where(b.n > 0, between, 0.0)
            reach = NOISE * (1.0 + (np.abs(a.mean) + np.abs(b.mean)) / scale)
        share = np.where(a.root > 0.0, 1.0, 0.0) - (b.root / scale) ** 2 - between
        # The spread of a class far smaller than the column's others may have vanished when it was squared.
        vanished = scale * np.sqrt(np.maximum(-share, 0.0)) <= np.sqrt(TINY_SQUARE)
        if (left & (share < -reach) & ~vanished).any():
            raise NotMergeable(NEVER_SEEN)
        root = scale * np.sqrt(np.maximum(share, 0.0))
        return Moments(np.where(left, n, 0.0), np.where(left, mean, 0.0), np.where(left, root, 0.0))

    def take_classes(self, source: Index) -> Moments:
        return self._each(lambda table: take_rows(table, source))

    def select(self, columns: Index) -> Moments:
        return self._each(lambda table: table[:, columns])

    def padded(self, *shape: int) -> Moments:
        """The same with further classes and columns that nothing is known of."""
        return self._each(lambda table: pad(table, *shape))

    def _each(self, change: Callable[[Array], Array]) -> Moments:
        return Moments(change(self.n), change(self.mean), change(self.root))

    def pooled(self) -> Moments:
        """The moments of each column whatever the class: one row."""
        n = self.n.sum(axis=0)
        share = np.divide(self.n, n, out=np.zeros_like(self.n), where=n > 0)
        highest = np.where(self.n > 0, self.mean, -np.inf).max(axis=0, initial=-np.inf)
        origin = np.where(np.isfinite(highest), highest, 0.0)  # so that a constant stays what it is, to the last bit
        mean = origin + (share * np.where(self.n > 0, self.mean - origin, 0.0)).sum(axis=0)
        parts = np.vstack([self.root, np.sqrt(self.n) * np.abs(self.mean - mean)])
        scale = parts.max(axis=0, initial=0.0)
        shrunk = np.divide(parts, scale, out=np.zeros_like(parts), where=scale > 0)
        root = scale * np.sqrt(np.square(shrunk).sum(axis=0))
        return Moments(n[None], mean[None], root[None])

    def deviation(self, *, unbiased: bool) -> Array:
        """Standard deviation of each column in each class; zero where there is nothing to estimate it from."""
        rows = np.sqrt(np.maximum(self.n - 1.0, 0.0) if unbiased else self.n)
        return np.divide(self.root, rows, out=np.zeros_like(self.root), where=rows > 0)

    def variance(self, *, unbiased: bool) -> Array:
        """Square of the deviation."""
        return np.square(self.deviation(unbiased=unbiased))

    def _matched(self, other: Moments) -> tuple[Moments, Moments]:
        if self.n.shape == other.n.shape:
            return self, other
        shape = tuple(np.maximum(self.n.shape, other.n.shape))
        return self.padded(*shape), other.padded(*shape)


def _left_the_floats(rows: Array, mean: Array, squares: Array) -> bool:
    """Whether some column is so large or so small that its squares overflowed or vanished."""
    if not np.isfinite(squares).all():
        return True
    suspect = ((squares < TINY_SQUARE) & (np.abs(mean) < TINY_MEAN)).all(axis=0)
    return bool(suspect.any() and (np.nan_to_num(rows[:, suspect]) != 0.0).any())


MOST_BLOCK_CELLS = 1 << 22
"""Cells of the moments of all blocks at once; above, blocks are so large that adding them up costs little."""


def moments_of_blocks(
    read: Callable[[slice], Array],
    blocks: Sequence[slice],
    y: Int32,
    weight: Array | None,
    shape: tuple[int, int],
    n_jobs: int | None,
) -> Moments | None:
    """The moments of rows that are read in blocks, which threads count and compiled code adds up.

    None where that is not enough, and blocks have to be observed one by one: for numbers or weights of extreme size, an
    infinite cell, or more classes than is worth it. A block costs next to nothing beside its loop, so that threads do
    not wait for one another.
    """
    if len(blocks) * shape[0] * shape[1] > MOST_BLOCK_CELLS or not blocks:
        return None
    n, mean, squares = np.zeros((3, len(blocks), *shape))
    ones = np.ones(0 if weight is not None else max(block.stop - block.start for block in blocks))

    def observe(place: int) -> bool:
        block = blocks[place]
        rows = read(block)
        w = ones[: len(rows)] if weight is None else weight[block]
        light = weight is not None and 0.0 < w.max(initial=0.0) < LIGHT
        return not light and observe_moments(rows, y[block], w, n[place], mean[place], squares[place])

    if not all(run(observe, range(len(blocks)), n_jobs)):
        return None
    small = np.any(np.all((squares < TINY_SQUARE) & (np.abs(mean) < TINY_MEAN), axis=1), axis=1)
    for place in np.flatnonzero(small | ~np.all(np.isfinite(squares), axis=(1, 2))).tolist():
        if _left_the_floats(read(blocks[place]), mean[place], squares[place]):
            return None
    for place in range(1, len(blocks)):
        _merge(n[0], mean[0], squares[0], n[place], mean[place], squares[place])
    seen = Moments(n[0].copy(), mean[0].copy(), np.sqrt(squares[0]))
    return None if too_large(seen.n, seen.mean, seen.root).any() else seen


# Means and centred sums of squares per class, in one trip through memory.

CACHED_CELLS = 1 << 16
"""Cells of a stripe of rows: where it has to be read twice, the second time is from the cache (512 KiB)."""

KNOWN_SHARE = 0.25
"""A mean of this many times a stripe's weight may stand for the stripe's own: half a digit is lost at most."""


@kernel
def _merge(n: Array, mean: Array, squares: Array, more_n: Array, more_mean: Array, more_squares: Array) -> None:
    """Add the moments of a stripe to those of the stripes before it, by the pairwise formula."""
    for c in range(n.shape[0]):
        for j in range(n.shape[1]):
            if more_n[c, j] > 0.0:
                total = n[c, j] + more_n[c, j]
                share = more_n[c, j] / total
                gap = more_mean[c, j] - mean[c, j]
                mean[c, j] += gap * share
                squares[c, j] += more_squares[c, j] + gap * gap * share * n[c, j]
                n[c, j] = total


@kernel
def _well_known(n: Array, class_weight: Array) -> bool:
    """Whether all classes of a stripe have means already that are worth something beside it."""
    for c in range(n.shape[0]):
        for j in range(n.shape[1]):
            if n[c, j] < KNOWN_SHARE * class_weight[c]:
                return False
    return True


@kernel
def _sum_steps(rows: Array, y: Int32, weight: Array, mean: Array, steps: Array, squares: Array) -> bool:
    """Weighted deviations from the means so far and their squares; False if a cell is no plain number."""
    steps[:] = 0.0
    squares[:] = 0.0
    for i in range(rows.shape[0]):
        row, centre, of_class, of_squares, w = rows[i], mean[y[i]], steps[y[i]], squares[y[i]], weight[i]
        for j in range(row.shape[0]):
            step = row[j] - centre[j]
            of_class[j] += w * step
            of_squares[j] += w * step * step
    return bool(np.isfinite(steps).all())


@kernel
def _move(n: Array, mean: Array, squares: Array, class_weight: Array, steps: Array, more_squares: Array) -> None:
    """Bring the means to where the deviations from them cancel."""
    for c in range(n.shape[0]):
        if class_weight[c] > 0.0:
            for j in range(n.shape[1]):
                n[c, j] += class_weight[c]
                shift = steps[c, j] / n[c, j]
                mean[c, j] += shift
                squares[c, j] += more_squares[c, j] - steps[c, j] * shift


@kernel
def _first_known(rows: Array, y: Int32, first: Array) -> None:
    """The first known cell of each class and column."""
    n_columns = rows.shape[1]
    lacking = np.full(first.shape[0], n_columns)
    first[:] = np.nan
    for i in range(rows.shape[0]):
        if lacking[y[i]] > 0:
            row, found = rows[i], first[y[i]]
            for j in range(n_columns):
                if np.isnan(found[j]) and not np.isnan(row[j]):
                    found[j] = row[j]
                    lacking[y[i]] -= 1


@kernel
def _average(rows: Array, y: Int32, weight: Array, first: Array, n: Array, mean: Array) -> bool:
    """Weight and mean of the known cells of a stripe; False if a mean leaves the floats.

    What is summed are the steps from the first cell: so a constant column has its own constant as its mean, to the last
    bit, and no spread. Choosing a term rather than skipping it lets the compiler take many columns at once.
    """
    _first_known(rows, y, first)
    n[:] = 0.0
    mean[:] = 0.0
    for i in range(rows.shape[0]):
        row, known, origin, total, w = rows[i], n[y[i]], first[y[i]], mean[y[i]], weight[i]
        for j in range(row.shape[0]):
            gap = np.isnan(row[j])
            known[j] += 0.0 if gap else w
            total[j] += 0.0 if gap else w * (row[j] - origin[j])
    for c in range(n.shape[0]):
        for j in range(n.shape[1]):
            if n[c, j] > 0.0:
                mean[c, j] = first[c, j] + mean[c, j] / n[c, j]
            if not np.isfinite(mean[c, j]):
                return False
    return True


@kernel
def _square(rows: Array, y: Int32, weight: Array, mean: Array, squares: Array) -> None:
    """Weighted squares of the deviations of the known cells from the means of their classes."""
    squares[:] = 0.0
    for i in range(rows.shape[0]):
        row, centre, total, w = rows[i], mean[y[i]], squares[y[i]], weight[i]
        for j in range(row.shape[0]):
            gap = np.isnan(row[j])
            step = row[j] - centre[j]
            total[j] += 0.0 if gap else w * (step * step)


@kernel(interpretable=True)
def observe_moments(rows: Array, y: Int32, weight: Array, n: Array, mean: Array, squares: Array) -> bool:
    """Add the known cells of `rows` to the moments of their classes; False once a mean leaves the floats.

    A stripe of rows is averaged first and squared around its own class means afterwards, so that data
    far from zero keep their variance. Once its classes are well known, it is squared around their means
    so far instead, in one go. A NaN is a gap and counts nowhere; a stripe with gaps goes the first way.
    """
    n_rows, n_columns = rows.shape
    n_classes = n.shape[0]
    stripe = max(CACHED_CELLS // max(n_columns, 1), n_classes, 16)
    class_weight = np.zeros(n_classes)
    stripe_n = np.zeros((n_classes, n_columns))
    stripe_mean = np.zeros((n_classes, n_columns))
    stripe_squares = np.zeros((n_classes, n_columns))
    stripe_first = np.empty((n_classes, n_columns))
    for start in range(0, n_rows, stripe):
        stop = min(start + stripe, n_rows)
        part, of_rows, w = rows[start:stop], y[start:stop], weight[start:stop]
        class_weight[:] = 0.0
        for i in range(stop - start):
            class_weight[of_rows[i]] += w[i]
        if _well_known(n, class_weight) and _sum_steps(part, of_rows, w, mean, stripe_mean, stripe_squares):
            _move(n, mean, squares, class_weight, stripe_mean, stripe_squares)
            continue
        if not _average(part, of_rows, w, stripe_first, stripe_n, stripe_mean):
            return False
        _square(part, of_rows, w, stripe_mean, stripe_squares)
        _merge(n, mean, squares, stripe_n, stripe_mean, stripe_squares)
    return True
