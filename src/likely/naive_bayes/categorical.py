"""Categorical naive Bayes with scikit-learn's parameters and attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from threading import Event
from typing import ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval

from likely.arrays import AnyArray, Array, ColumnLike, Int32, Int64
from likely.engines.gpu.counts import DeviceCounter
from likely.engines.gpu.tables import count_codes
from likely.errors import DataError, SettingsError
from likely.families.categorical import add_lines
from likely.families.on_device import DeviceTerm, ValueTerm
from likely.families.outcomes import BlockScorer
from likely.families.protocol import Certainty
from likely.jit import kernel
from likely.naive_bayes.classifier import NaiveBayes
from likely.naive_bayes.discrete import CONSTRAINTS, check_alpha, is_prior_counted, log_class_prior, tags_of_counts
from likely.naive_bayes.validation import validated
from likely.numerics import log_of
from likely.parallel import pipeline, row_blocks, run
from likely.stats.kernels import code_bounds, count_code_matrix
from likely.table import RowsLike

NEGATIVE = "Negative values in data passed to CategoricalNB (input X)."

CODES_PER_ROW = 4
FEW_CODES = 256
"""Codes up to `FEW_CODES` + `CODES_PER_ROW` for each row are all given room; beyond that, only those that occur."""

GLANCE = 4096
GLANCE_CODES = FEW_CODES
"""The first rows mostly show how large codes are: then one pass over the matrix does. A larger code needs a second."""


class NegativeCode(Exception):
    """A code below zero was met."""


@dataclass(frozen=True, eq=False)
class CodeCounts:
    """Weight of each level of each column in each class; the columns' cells stand one after the other.

    The levels of a column are 0, 1, … unless its codes lie so far apart that most would stay empty.
    """

    levels: tuple[Int64, ...]
    counts: Array

    @cached_property
    def width(self) -> Int64:
        """Number of levels of each column."""
        return np.array([len(own) for own in self.levels], dtype=np.int64)

    @cached_property
    def first(self) -> Int64:
        """Where the cells of each column begin."""
        return np.cumsum(self.width) - self.width

    @cached_property
    def size(self) -> Int64:
        """The largest code of each column, plus one."""
        return np.array([own[-1] + 1 for own in self.levels], dtype=np.int64)

    @classmethod
    def observe(cls, rows: AnyArray, y: Int32, weight: Array | None, n_classes: int) -> CodeCounts:
        """Count a matrix of codes (whole numbers from 0 up, of any dtype) for the classes `y`."""
        weight = np.ones(len(y)) if weight is None else weight
        few = np.arange(GLANCE_CODES)
        glanced = cls._counted(tuple(few[: high + 1] for high in _largest(rows[:GLANCE])), rows, y, weight, n_classes)
        if glanced is not None:
            return glanced
        most = FEW_CODES + CODES_PER_ROW * len(rows)
        levels = tuple(
            np.arange(high + 1) if high < most else np.unique(as_codes(rows[:, [column]]))
            for column, high in enumerate(_largest(rows))
        )
        seen = cls._counted(levels, rows, y, weight, n_classes)
        assert seen is not None, "the levels hold all codes"
        return seen

    @classmethod
    def _counted(
        cls, levels: tuple[Int64, ...], rows: AnyArray, y: Int32, weight: Array, n_classes: int
    ) -> CodeCounts | None:
        """Count codes into these levels; None if one is not among them."""
        seen = cls(levels, np.zeros((n_classes, sum(map(len, levels)))))
        stop = Event()

        def count(block: slice) -> Array:
            counts = np.zeros_like(seen.counts)
            codes = places_among(seen.levels, as_codes(rows[block]), seen.size)
            if stop.is_set() or not count_code_matrix(codes, y[block], weight[block], seen.first, seen.width, counts):
                stop.set()
            return counts

        fewest = 4 * seen.counts.size // max(rows.shape[1], 1)
        for _, counts in pipeline(count, row_blocks(len(rows), rows.shape[1], fewest), None):
            np.add(seen.counts, counts, out=seen.counts)
        return None if stop.is_set() else seen

    def __add__(self, other: CodeCounts) -> CodeCounts:
        levels = tuple(
            a if np.array_equal(a, b) else np.union1d(a, b) for a, b in zip(self.levels, other.levels, strict=True)
        )
        total = CodeCounts(levels, np.zeros((len(self.counts), sum(map(len, levels)))))
        for part in (self, other):
            places = [np.searchsorted(whole, own) for whole, own in zip(levels, part.levels, strict=True)]
            cells = np.concatenate(places) + np.repeat(total.first, part.width)
            total.counts[:, cells] += part.counts
        return total

    def by_column(self, size: Int64) -> list[Array]:
        """One table (classes × codes below `size`) per column."""
        return spread(self.levels, size, np.split(self.counts, self.first[1:], axis=1))


def spread(
    levels: Sequence[Int64], size: Int64, tables: Sequence[Array], elsewhere: Sequence[Array] | None = None
) -> list[Array]:
    """Tables of levels (classes × levels) as tables of all codes; `elsewhere` fills the codes without a level."""
    full = []
    for column, (own, table) in enumerate(zip(levels, tables, strict=True)):
        if len(own) == size[column]:
            full.append(table)
            continue
        wide = np.zeros((len(table), size[column]))
        if elsewhere is not None:
            wide += elsewhere[column][:, None]
        wide[:, own] = table
        full.append(wide)
    return full


def as_codes(rows: AnyArray) -> Int64:
    """A block of rows as the kernels read it; fractions are cut off as scikit-learn does."""
    return np.ascontiguousarray(rows, dtype=np.int64)


def places_among(levels: Sequence[Int64], codes: Int64, size: Int64) -> Int64:
    """Codes as places among the levels of their column; next to the last place for a code without a level.

    From `size` on a code is a stranger and stays one. Most columns have all levels, so there is nothing to do.
    """
    scattered = [column for column, own in enumerate(levels) if own[-1] + 1 != len(own)]
    if not scattered:
        return codes
    places = codes.copy()
    for column in scattered:
        own, cells = levels[column], codes[:, column]
        place = np.searchsorted(own, cells)
        known = own[np.minimum(place, len(own) - 1)] == cells
        strange = np.where(cells < size[column], len(own), cells)
        places[:, column] = np.where(known | (cells < 0), np.where(cells < 0, cells, place), strange)
    return places


def _largest(rows: AnyArray) -> list[int]:
    """The largest code of each column."""

    def bounds(block: slice) -> tuple[Int64, Int64]:
        low, high = np.zeros(rows.shape[1], np.int64), np.zeros(rows.shape[1], np.int64)
        code_bounds(as_codes(rows[block]), low, high)
        return low, high

    largest = np.zeros(rows.shape[1], dtype=np.int64)
    for low, high in run(bounds, row_blocks(len(rows), rows.shape[1]), None):
        if low.min(initial=0) < 0:
            raise NegativeCode
        np.maximum(largest, high, out=largest)
    return [int(high) for high in largest]


@dataclass(frozen=True, eq=False)
class CodeLines:
    """log P(code | class): a line for every level of every column, and one for its codes that were never counted.

    The last line of all is zero: a code that was never heard of adds nothing.
    """

    levels: tuple[Int64, ...]
    size: Int64
    first: Int64
    width: Int64
    lines: Array

    @classmethod
    def settle(cls, seen: CodeCounts, size: Int64, alpha: float) -> CodeLines:
        column = np.repeat(np.arange(len(size)), seen.width)
        counts = np.full((len(column) + len(size), len(seen.counts)), alpha)
        counts[np.arange(len(column)) + column] += seen.counts.T
        own = np.repeat(np.arange(len(size)), seen.width + 1)
        total = (np.add.reduceat(seen.counts, seen.first, axis=1).T + alpha * size[:, None])[own]
        even = np.broadcast_to(1.0 / size[own, None], total.shape).copy()
        shares = np.divide(counts, total, out=even, where=total > 0.0)
        lines = np.vstack([log_of(shares), np.zeros(len(seen.counts))])
        return cls(seen.levels, size, seen.first + np.arange(len(size)), seen.width, lines)

    @cached_property
    def by_column(self) -> list[Array]:
        """One table (classes × codes) per column."""
        blocks = np.split(self.lines[:-1], self.first[1:])
        return spread(self.levels, self.size, [block[:-1].T for block in blocks], [block[-1] for block in blocks])

    def add(self, codes: Int64, joint: Array) -> bool:
        """Add the evidence of some rows; False if a code is negative."""
        places = places_among(self.levels, codes, self.size)
        return bool(add_code_lines(places, self.first, self.width, self.size, self.lines, joint))


@dataclass(kw_only=True, eq=False, repr=False)
class CategoricalNB(NaiveBayes[CodeCounts]):
    """Columns of category codes 0, 1, …, each with its own distribution in each class.

    An unseen category contributes nothing to a prediction.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo count of each category.
    force_alpha : bool, default=True
        Take `alpha` as it is; if False, it is at least 1e-10.
    fit_prior : bool, default=True
        Count P(class); if False, all classes are equally probable.
    class_prior : array-like of shape (n_classes,), default=None
        P(class), if it is known.
    min_categories : int or array-like of shape (n_features,), default=None
        Smallest number of categories of each column.

    Attributes
    ----------
    category_count_, feature_log_prob_ : list of n_features arrays of shape (n_classes, n_categories)
        Weight of each category in each class, and log P(category | class). Written out when asked for.
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        Weight and log probability of each class.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_categories_ : ndarray of shape (n_features,)
        Number of categories of each column in all rows seen so far.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Examples
    --------
    >>> clf = CategoricalNB().fit([[0, 2], [0, 1], [1, 0]], ["dry", "dry", "wet"])
    >>> clf.predict([[1, 0], [0, 7]]), clf.n_categories_
    (array(['wet', 'dry'], dtype='<U3'), array([2, 3]))
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **CONSTRAINTS,
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    alpha: float = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: ColumnLike | None = None
    min_categories: int | ColumnLike | None = None

    _check_alpha = check_alpha
    _log_prior = log_class_prior
    _prior_is_counted = is_prior_counted

    @property
    def category_count_(self) -> list[Array]:
        """One table of weights (n_classes × n_categories) per column."""
        return self._seen[1].by_column(self.n_categories_)

    @property
    def feature_log_prob_(self) -> list[Array]:
        """One table of log P(category | class) (n_classes × n_categories) per column."""
        return self._beliefs.by_column

    def _read(self, X: RowsLike, *, reset: bool) -> AnyArray:
        with np.errstate(invalid="ignore"):  # it adds all cells up to see whether one is no number
            return np.asarray(validated(self, X, reset=reset))

    def _observe(self, rows: AnyArray, y: Int32, weight: Array | None, n_classes: int) -> CodeCounts:
        try:
            return CodeCounts.observe(rows, y, weight, n_classes)
        except NegativeCode:
            raise DataError(NEGATIVE) from None

    def _observe_on_device(self, counter: DeviceCounter) -> CodeCounts:
        cells = counter.table.block(tuple(counter.table.names))
        if cells.dtype.kind not in "iub":
            raise DataError("Codes of categories on a GPU are whole numbers: convert them to int32.")
        found = count_codes(counter, cells)
        if found is None:
            raise DataError("Codes of categories reach too far on a GPU: number them from 0.")
        least, tables = found
        if least < 0:
            raise DataError(NEGATIVE)
        highest = [least + int(np.flatnonzero(table.any(axis=0))[-1]) for table in tables]
        whole = [
            np.pad(table, ((0, 0), (least, 0)))[:, : high + 1] for table, high in zip(tables, highest, strict=True)
        ]
        return CodeCounts(tuple(np.arange(high + 1) for high in highest), np.concatenate(whole, axis=1))

    def _device_terms(self) -> list[DeviceTerm]:
        nothing = np.zeros(len(self.classes_))
        return [
            ValueTerm((f"x{j}",), tuple(range(table.shape[1])), table.T, nothing, nothing)
            for j, table in enumerate(self._beliefs.by_column)
        ]

    def _settle(self, weights: Array, columns: CodeCounts) -> None:
        size = np.maximum(columns.size, self._least_categories())
        beliefs = CodeLines.settle(columns, size, float(self._check_alpha()))
        self.class_count_, self.class_log_prior_ = weights, self._log_prior(weights)
        self.n_categories_, self._beliefs = size, beliefs

    def _least_categories(self) -> Int64:
        if self.min_categories is None:
            return np.ones(1, dtype=np.int64)
        least = np.asarray(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise SettingsError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.shape not in ((), (self.n_features_in_,)):
            raise SettingsError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        return least.astype(np.int64)

    def _spreads(self, rows: AnyArray) -> list[Certainty]:
        alpha = float(self._check_alpha())
        tables = [(counts + alpha).T for counts in self.category_count_]

        def add_spread(block: slice, shift: Array, variance: Array) -> None:
            codes = as_codes(rows[block])
            for a, column in zip(tables, codes.T, strict=True):
                add_lines(a, np.where(column < len(a), column, -1), shift, variance)

        return [add_spread]

    def _scorer(self, rows: AnyArray) -> BlockScorer:
        def score(block: slice, joint: Array) -> None:
            if not self._beliefs.add(as_codes(rows[block]), joint):
                raise DataError(NEGATIVE)

        return score

    def __sklearn_tags__(self) -> Tags:
        tags = tags_of_counts(super().__sklearn_tags__(), positive_only=True)
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        return tags


# The compiled loop that adds the evidence of many nominal columns at once.


@kernel
def _line_of(code: int, first: int, width: int, size: int, none: int) -> int:
    """The line of a code: of its level, of codes never counted, or the empty one for codes never heard of."""
    return first + min(code, width) if 0 <= code < size else none


@kernel(interpretable=True)
def add_code_lines(codes: Int64, first: Int64, width: Int64, size: Int64, lines: Array, joint: Array) -> bool:
    """Add the line of each cell's place among the levels of its column; False if a code is negative.

    Column `j` owns the lines from `first[j]` on: one for each of its `width[j]` levels, and one for codes
    below `size[j]` that were never counted. The last line of all is zero. Four columns are taken at a time.
    """
    n_rows, n_columns = codes.shape
    fours = n_columns // 4
    none = lines.shape[0] - 1
    signs = 0
    for i in range(n_rows):
        row, total = codes[i], joint[i]
        for four in range(fours):
            j = 4 * four
            signs |= row[j] | row[j + 1] | row[j + 2] | row[j + 3]
            a = lines[_line_of(row[j], first[j], width[j], size[j], none)]
            b = lines[_line_of(row[j + 1], first[j + 1], width[j + 1], size[j + 1], none)]
            c = lines[_line_of(row[j + 2], first[j + 2], width[j + 2], size[j + 2], none)]
            d = lines[_line_of(row[j + 3], first[j + 3], width[j + 3], size[j + 3], none)]
            for m in range(total.shape[0]):
                total[m] += (a[m] + b[m]) + (c[m] + d[m])
        for j in range(4 * fours, n_columns):
            signs |= row[j]
            a = lines[_line_of(row[j], first[j], width[j], size[j], none)]
            for m in range(total.shape[0]):
                total[m] += a[m]
    return signs >= 0
