"""Gaussian naive Bayes with scikit-learn's parameters and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils._param_validation import Interval

from likely.arrays import AnyArray, Array, ColumnLike, Int32
from likely.engines.gpu.counts import DeviceCounter, moments
from likely.engines.gpu.table import DeviceTable
from likely.errors import DataError, SettingsError
from likely.families.gaussian import LOG_ROOT_TAU, add_bells
from likely.families.gaussian_kernels import PLAIN, add_gaussian
from likely.families.on_device import BellTerm, DeviceTerm
from likely.families.outcomes import BlockScorer
from likely.families.protocol import Certainty
from likely.naive_bayes.classifier import NaiveBayes
from likely.naive_bayes.validation import validated
from likely.numerics import log_of
from likely.parallel import row_blocks, total
from likely.stats import Moments, moments_of_blocks
from likely.table import RowsLike

LEAST_DEVIATION = float(np.finfo(np.float64).tiny)
"""What a constant column without any smoothing gets: the narrowest bell whose height is still a float."""


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Moments of each class, and of all rows with equal weight: `epsilon_` comes from those."""

    by_class: Moments
    overall: Moments

    def __add__(self, other: Spread) -> Spread:
        return Spread(self.by_class + other.by_class, self.overall + other.overall)


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianNB(NaiveBayes[Spread]):
    """One Gaussian per class and column; all variances are widened by a fraction of the largest one.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        P(class); counted if not given.
    var_smoothing : float, default=1e-9
        This fraction of the largest variance of all columns is added to every variance.

    Attributes
    ----------
    class_count_, class_prior_ : ndarray of shape (n_classes,)
        Weight and probability of each class.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    epsilon_ : float
        What was added to the variances; taken from all rows seen so far, whatever the batches.
    theta_, var_ : ndarray of shape (n_classes, n_features)
        Mean and variance of each column in each class.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> clf = GaussianNB().fit(X, [1, 1, 1, 2, 2, 2])
    >>> clf.predict([[-0.8, -1]]), clf.theta_[0].tolist()
    (array([1]), [-2.0, -1.3333333333333333])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    priors: ColumnLike | None = None
    var_smoothing: float = 1e-9

    def _read(self, X: RowsLike, *, reset: bool) -> AnyArray:
        rows: AnyArray = validated(self, X, reset=reset, ensure_all_finite=False)
        if reset:
            self._dtype = np.dtype(np.float32 if rows.dtype == np.float32 else np.float64)
        return rows

    def _observe(self, rows: AnyArray, y: Int32, weight: Array | None, n_classes: int) -> Spread:
        if weight is None:
            by_class = self._moments(rows, y, None, n_classes)
            return Spread(by_class, by_class.pooled())
        overall = self._moments(rows, np.zeros(len(y), dtype=np.int32), None, 1)
        return Spread(self._moments(rows, y, weight, n_classes), overall)

    def _moments(self, rows: AnyArray, y: Int32, weight: Array | None, n_classes: int) -> Moments:
        """Moments of all blocks of rows; without weights they show whether a cell is no number."""

        def read(block: slice) -> Array:
            return np.ascontiguousarray(rows[block], dtype=np.float64)

        def observe(block: slice) -> Moments:
            cells = read(block)
            seen = Moments.observe(cells, y[block], None if weight is None else weight[block], n_classes)
            if weight is None and (not (seen.n.sum(axis=0) == len(cells)).all() or not np.isfinite(seen.root).all()):
                self._refuse_gaps(rows)
            seen.refuse_large()
            return seen

        blocks = row_blocks(len(rows), 2 * rows.shape[1], fewest=8 * n_classes)  # many threads end together
        seen = moments_of_blocks(read, blocks, y, weight, (n_classes, rows.shape[1]), None)
        if seen is not None and (weight is not None or (seen.n.sum(axis=0) == len(rows)).all()):
            return seen
        return total(observe, blocks, None)

    def _refuse_gaps(self, rows: AnyArray) -> None:
        """Say, as scikit-learn does, which of NaN and infinity the counts have shown to be there."""
        with np.errstate(invalid="ignore"):  # it adds all cells up to begin with
            assert_all_finite(rows, input_name="X", estimator_name=type(self).__name__)

    def _settle(self, weights: Array, columns: Spread) -> None:
        with np.errstate(over="ignore", under="ignore"):
            largest = columns.overall.deviation(unbiased=False).max()
            floor = np.sqrt(self.var_smoothing) * largest
            deviation = np.hypot(columns.by_class.deviation(unbiased=False), floor)
            prior = self._given_prior(len(weights)) if self.priors is not None else weights / weights.sum()
            self.class_prior_ = prior.astype(self._dtype)
            self.class_count_ = weights.astype(self._dtype)
            self.theta_ = columns.by_class.mean.astype(self._dtype)
            self.var_ = np.square(deviation).astype(self._dtype)
            self.epsilon_ = self._dtype.type(self.var_smoothing * np.square(largest))
        # A variance may leave the floats where its root does not: `_beliefs` keeps the roots.
        self._beliefs = np.maximum(deviation, LEAST_DEVIATION)

    def _given_prior(self, n_classes: int) -> Array:
        shares = np.asarray(self.priors, dtype=np.float64)
        if len(shares) != n_classes:
            raise SettingsError("Number of priors must match number of classes.")
        if not np.isclose(shares.sum(), 1.0):
            raise SettingsError("The sum of the priors should be 1.")
        if (shares < 0).any():
            raise SettingsError("Priors must be non-negative.")
        return shares

    def _prior_shares(self) -> Array:
        return np.asarray(self.class_prior_, dtype=np.float64)

    def _log_start(self) -> Array:
        return log_of(self._prior_shares())

    def _prior_is_counted(self) -> bool:
        return self.priors is None

    def _spreads(self, rows: AnyArray) -> list[Certainty]:
        n, mean, deviation = self._seen[1].by_class.n, np.asarray(self.theta_, dtype=np.float64), self._deviation()
        return [lambda block, *out: add_bells(n, mean, deviation, np.asarray(rows[block], dtype=np.float64), *out)]

    def _remember_columns(self, table: DeviceTable) -> None:
        super()._remember_columns(table)
        self._dtype = np.dtype(np.float32 if table.dtype == np.float32 else np.float64)

    def _observe_on_device(self, counter: DeviceCounter) -> Spread:
        columns = tuple(counter.table.names)
        by_class = moments(counter, columns)
        plain = by_class if counter.weight is None else moments(counter.unweighted(), columns)
        if not (plain.n.sum(axis=0) == counter.n_rows).all():
            raise DataError("Input X contains NaN: GaussianNB has no use for missing values.")
        return Spread(by_class, plain.pooled())

    def _device_terms(self) -> list[DeviceTerm]:
        mean, deviation = np.asarray(self.theta_, dtype=np.float64), self._deviation()
        columns = tuple(f"x{j}" for j in range(mean.shape[1]))
        return [BellTerm(columns, mean, 1.0 / deviation, -np.log(deviation) - LOG_ROOT_TAU)]

    def _precision_of(self, dtype: np.dtype[np.generic]) -> np.dtype[np.floating]:
        return np.result_type(dtype if dtype.kind == "f" else np.float64, self.theta_.dtype)

    def _deviation(self) -> Array:
        """Roots of `var_`, and those kept apart where it has left the floats."""
        limits = np.finfo(self.var_.dtype)
        in_range = (self.var_ >= limits.tiny) & (self.var_ <= limits.max)
        return np.asarray(np.where(in_range, np.sqrt(self.var_, dtype=np.float64), self._beliefs))

    def _scorer(self, rows: AnyArray) -> BlockScorer:
        mean, deviation = np.asarray(self.theta_, dtype=np.float64), self._deviation()
        precision, log_peak = 1.0 / deviation, -np.log(deviation) - LOG_ROOT_TAU

        def score(block: slice, joint: Array) -> None:
            cells = np.ascontiguousarray(rows[block], dtype=np.float64)
            if add_gaussian(cells, mean, precision, log_peak, joint) != PLAIN:
                self._refuse_gaps(rows[block])

        return score
