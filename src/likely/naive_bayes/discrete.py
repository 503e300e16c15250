"""Classifiers of counts: pseudo counts and priors, the base of those that read count matrices, and two of these."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_non_negative

from likely.arrays import Array, ColumnLike, Int32, read_only
from likely.engines.gpu.counts import DeviceCounter
from likely.engines.gpu.tables import feature_counts
from likely.errors import BadCell, SettingsError
from likely.families.complement import LEAST_PSEUDO, complement_weights
from likely.families.counts import DenseWeights, SparseWeights, Weights
from likely.families.multinomial import add_counts, multinomial_weights
from likely.families.on_device import CountTerm, DeviceTerm
from likely.families.outcomes import BlockScorer
from likely.families.protocol import Certainty
from likely.naive_bayes.classifier import NaiveBayes, Rows
from likely.naive_bayes.validation import validated
from likely.numerics import log_of
from likely.stats import FeatureCounts
from likely.stats.feature_counts import rows_of
from likely.table import RowsLike
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


def tags_of_counts(tags: Tags, *, positive_only: bool) -> Tags:
    """What scikit-learn's checks may expect of counts."""
    tags.input_tags.sparse = True
    tags.input_tags.positive_only = positive_only
    tags.classifier_tags.poor_score = True
    return tags


@dataclass(kw_only=True, eq=False, repr=False)
class DiscreteNB(NaiveBayes[FeatureCounts]):
    """A weight per column and class, settled from the sums of the columns in each class, smoothed by `alpha`.

    With many classes the sums and weights stay sparse. `feature_count_` and `feature_log_prob_` are full
    tables, so they are written out when asked for and cannot be changed in place.
    """

    alpha: float | ColumnLike = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: ColumnLike | None = None

    _parameter_constraints: ClassVar[dict[str, list[object]]] = CONSTRAINTS

    @abstractmethod
    def _believe(self, weights: Array, counts: FeatureCounts, pseudo: Array) -> Any:
        """The weights of the columns."""

    def _log_shares(self, beliefs: Any) -> Array:
        """`feature_log_prob_` from beliefs that are dense."""
        return np.asarray(beliefs.lines.T)

    @property
    def feature_count_(self) -> Array:
        """Weighted sum of each column in each class (n_classes × n_features)."""
        return read_only(self._seen[1].dense())

    @property
    def feature_log_prob_(self) -> Array:
        """What one occurrence of each column adds to the log joint of each class (n_classes × n_features)."""
        weights, counts = self._seen
        beliefs = self._beliefs
        if sparse.issparse(counts.table):
            beliefs = self._believe(weights, FeatureCounts(counts.dense()), self._pseudo_counts())
        return read_only(self._log_shares(beliefs))

    def _read(self, X: RowsLike, *, reset: bool) -> Rows:
        sound = as_csr(X) if sparse.issparse(X) else X
        with np.errstate(invalid="ignore"):  # it adds all cells up to see whether one is no number
            rows = validated(self, sound, accept_sparse="csr", reset=reset)
        return sparse.csr_array(rows) if sparse.issparse(rows) else np.asarray(rows)

    def _observe(self, rows: Rows, y: Int32, weight: Array | None, n_classes: int) -> FeatureCounts:
        try:
            return FeatureCounts.observe(rows, y, weight, n_classes, n_jobs=None)
        except BadCell:
            check_non_negative(rows, f"{type(self).__name__} (input X)")
            raise

    def _observe_on_device(self, counter: DeviceCounter) -> FeatureCounts:
        counter.table.refuse_gaps()
        return feature_counts(counter, tuple(counter.table.names))

    def _device_terms(self) -> list[DeviceTerm]:
        held: DenseWeights | SparseWeights = self._beliefs
        if not isinstance(held, DenseWeights):
            return super()._device_terms()
        return [CountTerm(tuple(f"x{j}" for j in range(len(held.lines))), held.lines, held.bias)]

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
        return tags_of_counts(super().__sklearn_tags__(), positive_only=True)

    def _scorer(self, rows: Rows) -> BlockScorer:
        weights: DenseWeights | SparseWeights = self._beliefs

        def score(block: slice, joint: Array) -> None:
            weights.add(floats_of(rows, block), joint)

        return score


@dataclass(kw_only=True, eq=False, repr=False)
class MultinomialNB(DiscreteNB):
    """Counts of words or events: each occurrence is drawn from the urn of its class.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudo count of each column (Laplace, Lidstone).
    force_alpha : bool, default=True
        Take `alpha` as it is; if False, it is at least 1e-10.
    fit_prior : bool, default=True
        Count P(class); if False, all classes are equally probable.
    class_prior : array-like of shape (n_classes,), default=None
        P(class), if it is known.

    Attributes
    ----------
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        Weight and log probability of each class.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Sum of each column in each class, and log P(column | class). Written out when asked for.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Examples
    --------
    >>> clf = MultinomialNB().fit([[2, 0], [1, 0], [0, 3]], ["sea", "sea", "hills"])
    >>> clf.predict([[1, 0]]), clf.feature_count_.tolist()
    (array(['sea'], dtype='<U5'), [[0.0, 3.0], [3.0, 0.0]])
    """

    def _believe(self, weights: Array, counts: FeatureCounts, pseudo: Array) -> Weights:
        return multinomial_weights(counts, pseudo)

    def _spreads(self, rows: Rows) -> list[Certainty]:
        a = self._seen[1].dense() + self._pseudo_counts()
        return [lambda block, *out: add_counts(a, floats_of(rows, block), *out)]


@dataclass(kw_only=True, eq=False, repr=False)
class ComplementNB(DiscreteNB):
    """Counts of words or events, weighted by how rare they are in all other classes.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudo count of each column. It is never below 1e-10: a weight must stay finite.
    force_alpha : bool, default=True
        If False, an `alpha` below 1e-10 comes with a warning.
    fit_prior : bool, default=True
        Only used if there is a single class.
    class_prior : array-like of shape (n_classes,), default=None
        Not used for predictions.
    norm : bool, default=False
        Divide the weights of each class by their sum.

    Attributes
    ----------
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        Weight and log probability of each class.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    feature_all_ : ndarray of shape (n_features,)
        Sum of each column.
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Sum of each column in each class, and its weight. Written out when asked for.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Examples
    --------
    >>> clf = ComplementNB().fit([[2, 0], [1, 0], [0, 3]], ["sea", "sea", "hills"])
    >>> clf.predict([[1, 0]]), clf.feature_all_.tolist()
    (array(['sea'], dtype='<U5'), [3.0, 3.0])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **CONSTRAINTS,
        "norm": ["boolean"],
    }

    norm: bool = False

    def _believe(self, weights: Array, counts: FeatureCounts, pseudo: Array) -> Weights:
        return complement_weights(counts, np.maximum(pseudo, LEAST_PSEUDO), norm=self.norm)

    def _settle(self, weights: Array, columns: FeatureCounts) -> None:
        super()._settle(weights, columns)
        self.feature_all_ = columns.column_sums()

    def _log_start(self) -> Array:
        return self.class_log_prior_ if len(self.classes_) == 1 else np.zeros(len(self.classes_))

    def _evidence(self, X: RowsLike, ordinary: Mapping[str, float]) -> Array:
        raise SettingsError("ComplementNB weighs words by the other classes and so has no density to find novelty by.")


def floats_of(rows: Rows, block: slice) -> Rows:
    """A block of rows as the kernels read it."""
    return rows_of(rows, block) if sparse.issparse(rows) else np.ascontiguousarray(rows[block], dtype=np.float64)
