"""Means and sums of squares that an engine counts: around a centre near the data, so that 1e8 ± 1 keeps its spread.

One query sums deviations from a centre, which comes from a sample of the rows, and their squares. Where a class lies so
far from that centre that digits were lost, a second query centres on the mean of each class, which the engine computes
and joins. Where sums leave the floats, a third knows the range of a column and measures in units of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.engines.group_by import Aggregate, Grouping
from likely.engines.relation import EngineError, Expression, ibis_module
from likely.errors import DataError, TooLarge
from likely.numerics import too_large
from likely.stats import Moments, Scatter
from likely.stats.moments import TINY_SQUARE
from likely.stats.scatter import Pairs

FAR = 100.0
"""A class whose mean lies so many times (squared) its own spread from the centre is counted again around its mean."""

AT_ONCE = 100
"""Columns whose class means are joined in one query."""

VANISHING = 1e-150
"""The square of what is smaller is no float, and an engine may refuse to compute it."""


@dataclass(frozen=True, slots=True, eq=False)
class Deviations:
    """Columns of numbers, measured from a centre in units of a scale; `guarded` where NaN and tiny squares occur.

    `by_class` centres on the mean of each class besides.
    """

    grouping: Grouping
    columns: tuple[str, ...]
    values: tuple[Expression, ...]
    centre: Array
    scale: Array
    guarded: bool = False
    by_class: bool = False

    @classmethod
    def of(cls, grouping: Grouping, columns: Sequence[str], values: Sequence[Expression], centre: Array) -> Deviations:
        """Around a centre that a sample suggests."""
        near = np.where(np.isfinite(centre), centre, 0.0)
        return cls(grouping, tuple(columns), tuple(values), near, np.ones(len(near)))

    def select(self, places: NDArray[np.intp]) -> Deviations:
        """Some of the columns."""
        chosen = [int(k) for k in places]
        return replace(
            self,
            columns=tuple(self.columns[k] for k in chosen),
            values=tuple(self.values[k] for k in chosen),
            centre=self.centre[places],
            scale=self.scale[places],
        )

    def moments(self) -> list[Moments]:
        """Weight, mean and root of squares by fold."""
        n, mean, root = self._counted()
        out = []
        for fold in range(self.grouping.n_folds):
            seen = Moments(n[fold], mean[fold], root[fold])
            if too_large(seen.n, seen.mean, seen.root).any():
                try:
                    seen.refuse_large()
                except TooLarge as large:
                    raise large.named(self.columns) from None
            out.append(seen)
        return out

    def _counted(self) -> tuple[Array, Array, Array]:
        """Weight, mean and root of squares (folds × classes × columns)."""
        n, first, second = self._sums()
        if self.by_class:
            step, squares, far = first, second, np.zeros(first.shape, dtype=np.bool_)
        else:
            with np.errstate(invalid="ignore", over="ignore"):
                step = np.divide(first, n, out=np.zeros_like(first), where=n > 0.0)
                squares = np.maximum(second - step * first, 0.0)
                far = (step * first > FAR * squares) & (n > 0.0)
        whole: NDArray[np.bool_] = np.asarray((np.isfinite(first) & np.isfinite(second)).all(axis=(0, 1)))
        with np.errstate(invalid="ignore", over="ignore"):
            mean = np.where(n > 0.0, self.centre + step * self.scale, 0.0)
            root = np.sqrt(squares) * self.scale
        if not self.guarded:
            vanished = (n > 0.0).any(axis=(0, 1)) & (second < TINY_SQUARE).all(axis=(0, 1))
            again = np.flatnonzero(~whole | vanished)
            if len(again):
                n[..., again], mean[..., again], root[..., again] = self.select(again)._guarded()._counted()
                whole[again] = False
        places = np.flatnonzero(far.any(axis=(0, 1)) & whole)
        if len(places):
            closer = replace(self.select(places), centre=np.zeros(len(places)), by_class=True)
            n[..., places], mean[..., places], root[..., places] = closer._counted()
        return n, mean, root

    def _sums(self) -> tuple[Array, Array, Array]:
        """Weight, deviations and their squares; infinite where an engine refuses to add them up.

        By class: weight, mean deviation, and squares around it.
        """
        g, n = self.grouping, len(self.columns)
        if self.by_class:
            return self._sums_by_class()
        wanted: list[Aggregate] = []
        for k in range(n):
            wanted += [self._known(k), self._first(k), self._second(k)]
        try:
            found = g.sums(g.project(self.named), wanted, probe=self.guarded)
        except EngineError:
            if self.guarded:
                raise
            found = np.full((g.n_folds, g.n_classes, 3 * n), np.inf)
        return found[..., 0::3].copy(), found[..., 1::3], found[..., 2::3]

    @property
    def named(self) -> dict[str, Expression]:
        """The columns under plain names."""
        return {f"x{k}": value for k, value in enumerate(self.values)}

    def around_class_means(self, places: Sequence[int]) -> Expression:
        """Rows with the deviations of some columns from the mean of their class, and these means (`m0`, `m1` …).

        The engine computes the means and joins them; nothing is written.
        """
        g = self.grouping
        table = g.project({f"x{k}": self.values[k] for k in places})
        means = table.group_by(g.keys).aggregate(**{f"m{k}": self.step(table, k).mean() for k in places})
        weight = {} if g.weight is None else {"w": table.w}
        own = {name: table[name] for name in g.keys}
        return table.join(means, [table[name] == means[name] for name in g.keys]).select(
            **own, **weight,
            **{f"x{k}": self.step(table, k) - means[f"m{k}"] for k in places},
            **{f"m{k}": means[f"m{k}"] for k in places},
        )  # fmt: skip

    def _sums_by_class(self) -> tuple[Array, Array, Array]:
        g, n = self.grouping, len(self.columns)
        out = np.zeros((g.n_folds, g.n_classes, 4 * n))
        for start in range(0, n, AT_ONCE):
            some = range(start, min(start + AT_ONCE, n))
            joined = self.around_class_means(some)
            wanted: dict[str, Expression] = {}
            for k in some:
                d = joined[f"x{k}"]
                wanted |= {
                    f"s{4 * k}": g.weight_of(joined, d), f"s{4 * k + 1}": g.weighed(joined, d),
                    f"s{4 * k + 2}": g.weighed(joined, self.square(d)), f"s{4 * k + 3}": joined[f"m{k}"].max(),
                }  # fmt: skip
            g.fill(out, joined.group_by(g.keys).aggregate(**wanted))
        known, steps, squares, means = (out[..., k::4] for k in range(4))
        rest = np.divide(steps, known, out=np.zeros_like(steps), where=known > 0.0)
        return known.copy(), means + rest, np.maximum(squares - rest * steps, 0.0)

    def step(self, table: Expression, k: int) -> Expression:
        """A column's deviation, a gap as null."""
        x = table[f"x{k}"]
        if self.guarded and self.grouping.relation.engine != "sqlite":
            x = x.isnan().ifelse(ibis_module().null("float64"), x)
        step = x - float(self.centre[k]) if self.centre[k] else x
        return step / float(self.scale[k]) if self.scale[k] != 1.0 else step

    def square(self, step: Expression) -> Expression:
        if not self.guarded:
            return step * step
        near = self.near(step)
        return near * near

    def near(self, step: Expression) -> Expression:
        """A deviation, or zero where its square would vanish."""
        return ibis_module().ifelse(step.abs() < VANISHING, 0.0, step)

    def _known(self, k: int) -> Aggregate:
        return lambda table: self.grouping.weight_of(table, self.step(table, k))

    def _first(self, k: int) -> Aggregate:
        return lambda table: self.grouping.weighed(table, self.step(table, k))

    def _second(self, k: int) -> Aggregate:
        return lambda table: self.grouping.weighed(table, self.square(self.step(table, k)))

    def _guarded(self) -> Deviations:
        """The same columns in units of their range, which is asked for; an infinite number is refused."""
        low, high = self._range()
        centre = 0.5 * low + 0.5 * high
        _, exponent = np.frexp(np.maximum(np.abs(low - centre), np.abs(high - centre)))
        scale = np.ldexp(1.0, np.clip(exponent, -1000, 1000))
        return replace(self, centre=centre, scale=np.where(scale > 0.0, scale, 1.0), guarded=True)

    def _range(self) -> tuple[Array, Array]:
        """The least and the largest number of each column."""
        table = self.grouping.project(self.named)
        known = replace(self, centre=np.zeros(len(self.columns)), guarded=True)
        wanted = {f"l{k}": known.step(table, k).min() for k in range(len(self.columns))}
        wanted |= {f"h{k}": known.step(table, k).max() for k in range(len(self.columns))}
        found = self.grouping.relation.run(table.aggregate(**wanted)).to_pylist()[0]
        ends = np.array([[found[f"{end}{k}"] for k in range(len(self.columns))] for end in "lh"], dtype=np.float64)
        for k in np.flatnonzero(np.isinf(ends).any(axis=0)):
            raise DataError(
                f"{self.grouping.relation.name}: column {self.columns[k]!r} holds an infinite number; make it a gap "
                "or a number."
            )
        ends = np.nan_to_num(ends)
        return ends[0], ends[1]


# Scatter: products of deviations, for all pairs of columns.


def scatter(deviations: Deviations) -> list[Scatter]:
    """Moments of each column, and how each pair moves together around the means of its class; by fold."""
    g, n = deviations.grouping, len(deviations.columns)
    moments = deviations.moments()
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    if not pairs:
        return [_tidy(seen, np.zeros((*seen.shape, n)), None) for seen in moments]
    whole = all(bool((seen.n == weights[:, None]).all()) for seen, weights in zip(moments, g.weights, strict=True))
    at, far = replace(deviations, scale=_common_scale(moments), guarded=True), _any_far(deviations, moments)
    from_zero = replace(at, centre=np.zeros(n))
    table = from_zero.around_class_means(range(n)) if far else g.project(at.named)
    here = replace(from_zero, scale=np.ones(n)) if far else at
    wanted: list[Aggregate] = [_product(here, i, j) for i, j in pairs]
    if not whole:
        wanted += [_both_known(here, i, j) for i, j in pairs]
        wanted += [_sum_where(here, i, j) for i, j in pairs] + [_sum_where(here, j, i) for i, j in pairs]
    sums = g.sums(table, wanted).reshape(g.n_folds, g.n_classes, -1, len(pairs))
    out = []
    for fold, seen in enumerate(moments):
        centre = seen.mean if far else np.broadcast_to(at.centre, seen.shape)
        out.append(_scatter_of(seen, sums[fold], pairs, centre, at.scale, whole))
    return out


def _any_far(at: Deviations, moments: Sequence[Moments]) -> bool:
    return any(bool((np.square((m.mean - at.centre)) * m.n > FAR * np.square(m.root)).any()) for m in moments)


def _common_scale(moments: Sequence[Moments]) -> Array:
    """A power of two near the spread of each column."""
    largest = np.max([seen.root.max(axis=0, initial=0.0) for seen in moments], axis=0)
    _, exponent = np.frexp(largest)
    return np.where(largest > 0.0, np.ldexp(1.0, np.clip(exponent, -1000, 1000)), 1.0)


def _product(at: Deviations, i: int, j: int) -> Aggregate:
    return lambda table: at.grouping.weighed(table, at.near(at.step(table, i)) * at.near(at.step(table, j)))


def _both_known(at: Deviations, i: int, j: int) -> Aggregate:
    return lambda table: at.grouping.weight_of(table, at.step(table, i) + at.step(table, j))


def _sum_where(at: Deviations, i: int, j: int) -> Aggregate:
    """The sum of one column over the rows that know another."""
    return lambda table: at.grouping.weighed(table, at.step(table, j).notnull().ifelse(at.step(table, i), 0.0))


def _scatter_of(
    moments: Moments, sums: Array, pairs: Sequence[tuple[int, int]], centre: Array, scale: Array, whole: bool
) -> Scatter:
    """From sums around a centre to products around the means of the rows that know both columns of a pair."""
    n_classes, n = moments.shape
    weights, firsts, cross = np.zeros((3, n_classes, n, n))
    step = np.where(moments.n > 0.0, (moments.mean - centre) / scale, 0.0) * moments.n
    for k, (i, j) in enumerate(pairs):
        cross[:, i, j] = cross[:, j, i] = sums[:, 0, k]
        weights[:, i, j] = weights[:, j, i] = moments.n[:, i] if whole else sums[:, 1, k]
        firsts[:, i, j] = step[:, i] if whole else sums[:, 2, k]
        firsts[:, j, i] = step[:, j] if whole else sums[:, 3, k]
    mean = np.divide(firsts, weights, out=np.zeros_like(firsts), where=weights > 0.0)
    roots = moments.root / scale
    size = np.where(roots > 0.0, roots, np.inf)
    cross = (cross - mean * mean.swapaxes(1, 2) * weights) / size[:, :, None] / size[:, None, :]
    cross = np.clip(cross, -1.0, 1.0)
    if whole:
        return _tidy(moments, cross, None)
    means = np.where(weights > 0.0, centre[:, :, None] + mean * scale[:, None], 0.0)
    diagonal = np.arange(n)
    weights[:, diagonal, diagonal], means[:, diagonal, diagonal] = moments.n, moments.mean
    complete = bool((weights == moments.n[:, :, None]).all())
    return _tidy(moments, cross, None if complete else Pairs(weights, means))


def _tidy(moments: Moments, cross: Array, pairs: Pairs | None) -> Scatter:
    diagonal = np.arange(cross.shape[1])
    cross[:, diagonal, diagonal] = moments.root > 0.0
    return Scatter(moments, cross, pairs)
