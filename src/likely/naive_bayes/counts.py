"""What the classifiers of counts share: pseudo counts and priors; and the base of those that read count matrices."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_non_negative, validate_data

from likely.arrays import Array, ColumnLike, Int32
from likely.errors import BadCell, SettingsError
from likely.families.counts import DenseWeights, SparseWeights
from likely.families.outcomes import BlockScorer
from likely.models.prediction import RowsLike
from likely.naive_bayes.classifier import NaiveBayes, Rows
from likely.numerics import log_of
from likely.stats import FeatureCounts
from likely.stats.feature_counts import rows_of
from likely.table.sparse import as_csr

LEAST_ALPHA = 1e-10


CONSTRAINTS: dict[str, list[object]] = {
    "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
    "fit_prior": ["boolean"],
    "class_prior": ["array-like", None],
    "force_alpha": ["boolean"],
}
"""What the parameters of all four may be."""


class Smoothed(Protocol):
    """Parameters of a classifier of counts."""

    alpha: float | ColumnLike
    force_alpha: bool
    fit_prior: bool
    class_prior: ColumnLike | None
    n_features_in_: int


def check_alpha(clf: Smoothed) -> float | Array:
    """`alpha`, lifted off zero unless the user forbids it; scikit-learn's tests know it as `_check_alpha`."""
    alpha = float(clf.alpha) if isinstance(clf.alpha, Real) else np.asarray(clf.alpha, dtype=np.float64)
    least = np.min(alpha)
    if isinstance(alpha, np.ndarray):
        if len(alpha) != clf.n_features_in_:
            raise SettingsError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {len(alpha)} elements instead of {clf.n_features_in_}."
            )
        if least < 0.0:
            raise SettingsError("All values in alpha must be greater than 0.")
    if least < LEAST_ALPHA and not clf.force_alpha:
        warnings.warn(
            f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. "
            "Use `force_alpha=True` to keep alpha unchanged.",
            stacklevel=6,
        )
        return np.asarray(np.maximum(alpha, LEAST_ALPHA))
    return alpha


def log_class_prior(clf: Smoothed, weights: Array) -> Array:
    """log P(class): as given, as counted, or the same for all."""
    if clf.class_prior is not None:
        shares = np.asarray(clf.class_prior, dtype=np.float64)
        if len(shares) != len(weights):
            raise SettingsError("Number of priors must match number of classes.")
        return log_of(shares)
    if clf.fit_prior:
        return log_of(weights) - float(np.log(weights.sum()))
    return np.full(len(weights), -np.log(len(weights)))


def is_prior_counted(clf: Smoothed) -> bool:
    """Whether P(class) rests on rows."""
    return clf.fit_prior and clf.class_prior is None


def tags_of_counts(tags: Tags) -> Tags:
    """What scikit-learn's checks may expect of counts."""
    tags.input_tags.sparse = True
    tags.classifier_tags.poor_score = True
    return tags


class DiscreteNB(NaiveBayes[FeatureCounts]):
    """A weight per column and class, settled from the sums of the columns in each class, smoothed by `alpha`.

    With many classes the sums and weights stay sparse. `feature_count_` and `feature_log_prob_` are full
    tables, so they are written out when asked for and cannot be changed in place.
    """

    alpha: float | ColumnLike
    force_alpha: bool
    fit_prior: bool
    class_prior: ColumnLike | None
    n_features_in_: int
    class_count_: Array

    _parameter_constraints: ClassVar[dict[str, list[object]]] = CONSTRAINTS
    _beliefs: Any

    @abstractmethod
    def _believe(self, weights: Array, counts: FeatureCounts, pseudo: Array) -> Any:
        """The weights of the columns."""

    @abstractmethod
    def _log_shares(self, beliefs: Any) -> Array:
        """`feature_log_prob_` from beliefs that are dense."""

    @property
    def feature_count_(self) -> Array:
        """Weighted sum of each column in each class (n_classes × n_features)."""
        return _read_only(self._seen[1].dense())

    @property
    def feature_log_prob_(self) -> Array:
        """What one occurrence of each column adds to the log joint of each class (n_classes × n_features)."""
        weights, counts = self._seen
        beliefs = self._beliefs
        if sparse.issparse(counts.table):
            beliefs = self._believe(weights, FeatureCounts(counts.dense()), self._pseudo_counts())
        return _read_only(self._log_shares(beliefs))

    def _read(self, X: RowsLike, *, reset: bool) -> Rows:
        sound = as_csr(X) if sparse.issparse(X) else X
        with np.errstate(invalid="ignore"):  # it adds all cells up to see whether one is no number
            rows = validate_data(self, sound, accept_sparse="csr", reset=reset)
        return sparse.csr_array(rows) if sparse.issparse(rows) else np.asarray(rows)

    def _observe(self, rows: Rows, y: Int32, weight: Array | None, n_classes: int) -> FeatureCounts:
        try:
            return FeatureCounts.observe(rows, y, weight, n_classes, n_jobs=None)
        except BadCell:
            check_non_negative(rows, f"{type(self).__name__} (input X)")
            raise

    def _settle(self, weights: Array, columns: FeatureCounts) -> None:
        beliefs = self._believe(weights, columns, self._pseudo_counts())
        self.class_count_, self.class_log_prior_ = weights, self._log_prior(weights)
        self._beliefs = beliefs

    _check_alpha = check_alpha
    _log_prior = log_class_prior
    _prior_is_counted = is_prior_counted

    def _pseudo_counts(self) -> Array:
        """One pseudo count per column."""
        return np.full(self.n_features_in_, self._check_alpha(), dtype=np.float64)

    def __sklearn_tags__(self) -> Tags:
        return tags_of_counts(super().__sklearn_tags__())

    def _scorer(self, rows: Rows) -> BlockScorer:
        weights: DenseWeights | SparseWeights = self._beliefs

        def score(block: slice, joint: Array) -> None:
            weights.add(floats_of(rows, block), joint)

        return score


def floats_of(rows: Rows, block: slice) -> Rows:
    """A block of rows as the kernels read it."""
    return rows_of(rows, block) if sparse.issparse(rows) else np.ascontiguousarray(rows[block], dtype=np.float64)


def _read_only(table: Array) -> Array:
    shown = table.view()
    shown.flags.writeable = False
    return shown
