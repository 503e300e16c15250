"""What the three classifiers of count matrices share: dense or sparse rows, counts per class and column."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_non_negative, validate_data

from likely.errors import BadCell
from likely.families.linear import DenseWeights, SparseWeights
from likely.families.protocol import Scorer
from likely.matrices import as_csr
from likely.naive_bayes.discrete import DiscreteNB
from likely.stats import FeatureCounts
from likely.stats.protocol import Array
from likely.stats.sums import rows_of

Rows: TypeAlias = "NDArray[Any] | sparse.csr_array"


class FeatureNB(DiscreteNB):
    """A weight per column and class, settled from the sums of the columns in each class.

    With many classes the sums and weights stay sparse. `feature_count_` and `feature_log_prob_` are full
    tables, so they are written out when asked for and cannot be changed in place.
    """

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

    def _read(self, X: Any, *, reset: bool) -> Rows:
        sound = as_csr(X) if sparse.issparse(X) else X
        with np.errstate(invalid="ignore"):  # it adds all cells up to see whether one is no number
            rows = validate_data(self, sound, accept_sparse="csr", reset=reset)
        return sparse.csr_array(rows) if sparse.issparse(rows) else np.asarray(rows)

    def _observe(self, rows: Rows, y: NDArray[np.int32], weight: Array | None, n_classes: int) -> FeatureCounts:
        try:
            return FeatureCounts.observe(rows, y, weight, n_classes, n_jobs=None)
        except BadCell:
            check_non_negative(rows, f"{type(self).__name__} (input X)")
            raise

    def _settle(self, weights: Array, columns: FeatureCounts) -> None:
        beliefs = self._believe(weights, columns, self._pseudo_counts())
        self.class_count_, self.class_log_prior_ = weights, self._log_prior(weights)
        self._beliefs = beliefs

    def _scorer(self, rows: Rows) -> Scorer:
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
