"""Categorical naive Bayes with scikit-learn's parameters and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import ClassVar

import numba
import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import validate_data

from likely.arrays import AnyArray, Array, ColumnLike, Int32, Int64
from likely.errors import DataError, SettingsError
from likely.families.categorical import add_lines
from likely.families.outcomes import BlockScorer
from likely.families.uncertainty import Certainty
from likely.models.prediction import RowsLike
from likely.naive_bayes.classifier import NaiveBayes
from likely.naive_bayes.codes import CodeCounts, NegativeCode, as_codes, places_among, spread
from likely.naive_bayes.counts import CONSTRAINTS, check_alpha, is_prior_counted, log_class_prior, tags_of_counts
from likely.numerics import log_of

NEGATIVE = "Negative values in data passed to CategoricalNB (input X)."


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


class CategoricalNB(NaiveBayes[CodeCounts]):
    """Columns of category codes 0, 1, …, each with its own distribution in each class.

    A category that was never heard of contributes nothing to a prediction.

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
        Least number of categories of each column.

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

    n_features_in_: int
    _beliefs: CodeLines

    _check_alpha = check_alpha
    _log_prior = log_class_prior
    _prior_is_counted = is_prior_counted

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ColumnLike | None = None,
        min_categories: int | ColumnLike | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

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
            return np.asarray(validate_data(self, X, reset=reset))

    def _observe(self, rows: AnyArray, y: Int32, weight: Array | None, n_classes: int) -> CodeCounts:
        try:
            return CodeCounts.observe(rows, y, weight, n_classes)
        except NegativeCode:
            raise DataError(NEGATIVE) from None

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
        tags = tags_of_counts(super().__sklearn_tags__())
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        return tags


# The compiled loop that adds the evidence of many nominal columns at once.


@numba.njit(nogil=True, cache=True)
def _line_of(code: int, first: int, width: int, size: int, none: int) -> int:
    """The line of a code: of its level, of codes never counted, or the empty one for codes never heard of."""
    return first + min(code, width) if 0 <= code < size else none


@numba.njit(nogil=True, cache=True)
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
