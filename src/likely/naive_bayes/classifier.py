"""What scikit-learn's five classifiers share: learning in batches by its rules, predicting and deciding."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from typing import Generic, Self, TypeAlias, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted

from likely.arrays import AnyArray, Array, ColumnLike, Int32
from likely.engines.gpu import is_on_device
from likely.engines.gpu.counts import DeviceCounter
from likely.engines.gpu.rows import counter_of
from likely.engines.gpu.scores import DeviceLogJoint
from likely.engines.gpu.steps import steps_of
from likely.engines.gpu.table import DeviceTable
from likely.errors import DataError, SettingsError
from likely.families.on_device import DeviceTerm
from likely.families.outcomes import BlockScorer
from likely.families.protocol import Certainty
from likely.models import prediction
from likely.numerics import refuse_heavy, together
from likely.parallel import Adds
from likely.scorer import LogJoint, ScoredRows
from likely.stats import ClassWeights
from likely.table import Labels, RowsLike, encode_labels
from likely.table.table import Numbered

Rows: TypeAlias = "AnyArray | sparse.csr_array"
Seen = TypeVar("Seen", bound=Adds)
"""The statistic of the columns."""


def agreed_classes(known: AnyArray | None, given: ColumnLike | None) -> AnyArray:
    """The classes of all batches: given with the first one, and never changed afterwards."""
    if known is None:
        if given is None:
            raise DataError("classes must be passed on the first call to partial_fit.")
        return np.asarray(unique_labels(given))
    if given is not None and not np.array_equal(known, unique_labels(given)):
        raise DataError(f"`classes={given!r}` is not the same as on last call to partial_fit, was: {known!r}")
    return known


def places_among(labels: Labels, classes: AnyArray) -> Int32:
    """The place of each row's label among the classes of all batches."""
    place = {label: position for position, label in enumerate(classes.tolist())}
    found = np.array([place.get(label, -1) for label in labels.classes.tolist()], dtype=np.int32)
    if (found < 0).any():
        strangers = labels.classes[found < 0]
        raise DataError(f"The target label(s) {strangers} in y do not exist in the initial classes {classes}")
    return np.asarray(found[labels.codes])


class NaiveBayes(ClassifierMixin, BaseEstimator, Generic[Seen], metaclass=ABCMeta):
    """What is seen adds up over batches; what is believed is settled from it after each of them.

    `_seen` (class weights and a statistic of the columns) is all that is remembered of the rows.
    """

    classes_: AnyArray
    class_count_: Array
    class_log_prior_: Array
    n_features_in_: int
    _seen: tuple[Array, Seen]

    @abstractmethod
    def _read(self, X: RowsLike, *, reset: bool) -> Rows:
        """The rows of X, checked; `reset` if they are the first ones."""

    @abstractmethod
    def _observe(self, rows: Rows, y: Int32, weight: Array | None, n_classes: int) -> Seen:
        """The statistic of some rows of the classes `y`."""

    @abstractmethod
    def _settle(self, weights: Array, columns: Seen) -> None:
        """Set what is believed, from the weight of each class and the statistic of the columns."""

    @abstractmethod
    def _scorer(self, rows: Rows) -> BlockScorer:
        """What adds the evidence of a block of rows to their log joint."""

    # Learning.

    def fit(self, X: RowsLike, y: ColumnLike, sample_weight: ColumnLike | None = None) -> Self:
        """Learn rows and their labels, and forget everything learned before."""
        self._validate_params()
        if is_on_device(X):
            counter = counter_of(X, y, sample_weight)
            self._remember_columns(counter.table)
            self._seen = self._count_on_device(counter)
            return self._conclude(counter.labels.classes)
        rows = self._read(X, reset=True)
        labels = encode_labels(y)
        self._seen = self._count(rows, labels.codes, sample_weight, labels.classes)
        return self._conclude(labels.classes)

    def partial_fit(
        self, X: RowsLike, y: ColumnLike, classes: ColumnLike | None = None, sample_weight: ColumnLike | None = None
    ) -> Self:
        """Learn more rows; the first call must name all classes that will ever occur."""
        self._validate_params()
        known = vars(self).get("classes_")
        agreed = agreed_classes(known, classes)
        if is_on_device(X):
            counter = counter_of(X, y, sample_weight).among(agreed)
            if known is None:
                self._remember_columns(counter.table)
            counter.table.aligned(Numbered(self.n_features_in_), type(self).__name__)
            weights, columns = self._count_on_device(counter)
        else:
            rows = self._read(X, reset=known is None)
            weights, columns = self._count(rows, places_among(encode_labels(y), agreed), sample_weight, agreed)
        if known is not None:
            together(np.asarray(self._seen[0].sum()), np.asarray(weights.sum()))
            weights, columns = self._seen[0] + weights, self._seen[1] + columns
        self._seen = weights, columns
        return self._conclude(agreed)

    def _count(self, rows: Rows, y: Int32, sample_weight: ColumnLike | None, classes: AnyArray) -> tuple[Array, Seen]:
        check_consistent_length(rows, y)
        weight = None if sample_weight is None else _read_weights(sample_weight, rows)
        weights = ClassWeights.observe(classes, y, weight, None).weights
        if not weights.sum() > 0.0:
            raise DataError("Sample weights must contain at least one non-zero number.")
        return weights, self._observe(rows, y, weight, len(classes))

    def _count_on_device(self, counter: DeviceCounter) -> tuple[Array, Seen]:
        """The same for rows on a GPU, which stay there."""
        weights, _ = counter.class_weights()
        if not weights.sum() > 0.0:
            raise DataError("Sample weights must contain at least one non-zero number.")
        return weights, self._observe_on_device(counter)

    def _observe_on_device(self, counter: DeviceCounter) -> Seen:
        """The statistic of rows on a GPU."""
        raise SettingsError(f"{type(self).__name__} does not count rows on a GPU: bring them to the host.")

    def _read_on_device(self, table: DeviceTable) -> DeviceTable:
        """Rows on a GPU as they are scored."""
        return table

    def _device_terms(self) -> list[DeviceTerm]:
        """What is believed, as tables that a GPU adds up."""
        raise SettingsError(f"{type(self).__name__} does not score rows on a GPU: bring them to the host.")

    def _remember_columns(self, table: DeviceTable) -> None:
        self.n_features_in_ = len(table.names)
        self.__dict__.pop("feature_names_in_", None)

    def _conclude(self, classes: AnyArray) -> Self:
        """Settle what is believed; where parameters forbid it, no older beliefs stay behind."""
        self.__dict__.pop("_beliefs", None)
        self.classes_ = classes
        self._settle(*self._seen)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "_beliefs" in vars(self)

    # Predicting and deciding.

    predict = prediction.predict
    predict_proba = prediction.predict_proba
    predict_log_proba = prediction.predict_log_proba
    predict_joint_log_proba = prediction.predict_joint_log_proba
    decide = prediction.decide
    risk = prediction.risk
    decisions = prediction.decisions
    novelty = prediction.novelty
    estimate_priors = prediction.estimate_priors
    _scores = prediction.scores

    def predict_interval(self, X: RowsLike, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper bound of P(class | row), given what was counted; see `BayesClassifier.predict_interval`.

        Too narrow where columns depend on each other within a class.
        """
        from likely.explain.credible import interval

        rows = self._read_more(X)
        counted = self._seen[0] if self._prior_is_counted() else None
        return interval(self.predict_joint_log_proba(X), self._spreads(rows), counted, self._prior_shares(), level)

    def _spreads(self, rows: Rows) -> list[Certainty]:
        """How sure the evidence of the rows is, for intervals."""
        raise SettingsError(f"{type(self).__name__} has no probabilities of rows whose certainty could be known.")

    @abstractmethod
    def _prior_is_counted(self) -> bool:
        """Whether P(class) rests on rows."""

    def _prior_shares(self) -> Array:
        """P(class)."""
        shares = np.exp(self.class_log_prior_)
        return np.asarray(shares / shares.sum())

    def _log_start(self) -> Array:
        """What the log joint of every row begins with."""
        return np.asarray(self.class_log_prior_, dtype=np.float64)

    def _evidence(self, X: RowsLike, ordinary: Mapping[str, float]) -> Array:
        return self._scores(X).log_evidence()

    def _ordinary_evidence(self, X: RowsLike) -> dict[str, float]:
        return {}  # there are no gaps

    def _read_more(self, X: RowsLike) -> Rows:
        check_is_fitted(self)
        return self._read(X, reset=False)

    def _log_joint(self, X: RowsLike) -> ScoredRows:
        if is_on_device(X):
            check_is_fitted(self)
            table = DeviceTable.of(X).aligned(Numbered(self.n_features_in_), type(self).__name__)
            dtype = self._precision_of(table.dtype)
            read = self._read_on_device(table)
            steps = steps_of(read, self._device_terms())
            return DeviceLogJoint(read, self._prior_shares(), self._log_start(), steps, dtype, gaps=False)
        rows = self._read_more(X)
        n_rows, n_columns = rows.shape
        held = n_columns if isinstance(rows, np.ndarray) else rows.nnz // max(n_rows, 1)
        start = self._log_start()
        scorers = [self._scorer(rows)]
        return LogJoint(n_rows, self._prior_shares(), start, scorers, held + len(start), dtype=self._precision(rows))

    def _precision(self, rows: Rows) -> np.dtype[np.floating]:
        return self._precision_of(rows.dtype)

    def _precision_of(self, dtype: np.dtype[np.generic]) -> np.dtype[np.floating]:
        """The type of the probabilities of rows of a type."""
        return np.dtype(np.float64)


def _read_weights(given: ColumnLike, rows: Rows) -> Array:
    """One weight per row, refused in scikit-learn's words where it is none."""
    try:
        weight: Array = _check_sample_weight(given, rows, dtype=np.float64, ensure_non_negative=True)
    except (OverflowError, TypeError, ValueError) as error:
        raise DataError(str(error)) from None
    refuse_heavy(weight)
    return weight
