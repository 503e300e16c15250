"""Bernoulli naive Bayes with scikit-learn's parameters and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval

from likely.arrays import Array, Int32
from likely.engines.gpu.counts import DeviceCounter
from likely.engines.gpu.table import DeviceTable
from likely.families.bernoulli import PresenceTable, PresenceWeights, add_presence_uncertainty, presence_shares
from likely.families.counts import DenseWeights
from likely.families.on_device import CountTerm, DeviceTerm
from likely.families.outcomes import BlockScorer
from likely.families.protocol import Certainty
from likely.naive_bayes.classifier import NaiveBayes, Rows
from likely.naive_bayes.discrete import CONSTRAINTS, DiscreteNB, floats_of, tags_of_counts
from likely.parallel import row_blocks, total
from likely.stats import FeatureCounts, Presence
from likely.stats.feature_counts import with_cells
from likely.table import RowsLike

Shares = PresenceTable | PresenceWeights


@dataclass(kw_only=True, eq=False, repr=False)
class BernoulliNB(DiscreteNB):
    """Present or absent, column by column; absence counts too.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudo count of presence, and of absence, of each column.
    force_alpha : bool, default=True
        Take `alpha` as it is; if False, it is at least 1e-10.
    binarize : float or None, default=0.0
        A column is present above this threshold; None: the cells already say how present it is, 0 or 1.
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
        Weight of the rows with each column, and log P(present | class). Written out when asked for.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Examples
    --------
    >>> clf = BernoulliNB().fit([[2, 0], [1, 0], [0, 3]], ["sea", "sea", "hills"])
    >>> clf.predict([[1, 0]]), clf.feature_count_.tolist()
    (array(['sea'], dtype='<U5'), [[0.0, 1.0], [2.0, 0.0]])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **CONSTRAINTS,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    binarize: float | None = 0.0

    def _observe(self, rows: Rows, y: Int32, weight: Array | None, n_classes: int) -> FeatureCounts:
        if self.binarize is None or sparse.issparse(rows):
            return super()._observe(self._presence(rows), y, weight, n_classes)

        def observe(block: slice) -> FeatureCounts:
            own = None if weight is None else weight[block]
            return FeatureCounts.observe(self._presence(rows[block]), y[block], own, n_classes)

        blocks = row_blocks(rows.shape[0], rows.shape[1], fewest=4 * n_classes)
        return total(observe, blocks, None)

    def _observe_on_device(self, counter: DeviceCounter) -> FeatureCounts:
        present = self._read_on_device(counter.table)
        return super()._observe_on_device(DeviceCounter(present, counter.labels, counter.weight))

    def _read_on_device(self, table: DeviceTable) -> DeviceTable:
        table.refuse_gaps()
        return table.present(self.binarize)

    def _device_terms(self) -> list[DeviceTerm]:
        odds = self._beliefs[1]
        if odds is None:
            return NaiveBayes._device_terms(self)  # refuses
        return [CountTerm(tuple(f"x{j}" for j in range(len(odds.lines))), odds.lines, odds.bias)]

    def _presence(self, rows: Rows) -> Rows:
        """Ones where a column is present, zeros where it is not."""
        if self.binarize is None:
            return rows
        if isinstance(rows, np.ndarray):
            return (rows > self.binarize).astype(np.float64)
        return with_cells(rows, (rows.data > self.binarize).astype(np.float64))

    def _read(self, X: RowsLike, *, reset: bool) -> Rows:
        rows = super()._read(X, reset=reset)
        if not isinstance(rows, np.ndarray) and not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        return rows

    def _believe(self, weights: Array, counts: FeatureCounts, pseudo: Array) -> tuple[Shares, DenseWeights | None]:
        no_gaps = FeatureCounts(sparse.csr_array(counts.shape))
        shares = presence_shares(Presence(counts, no_gaps), weights, pseudo, pseudo)
        return shares, _as_odds(shares) if isinstance(shares, PresenceTable) else None

    def __sklearn_tags__(self) -> Tags:
        return tags_of_counts(super().__sklearn_tags__(), positive_only=False)

    def _log_shares(self, beliefs: tuple[PresenceTable, DenseWeights | None]) -> Array:
        return beliefs[0].present.T

    def _spreads(self, rows: Rows) -> list[Certainty]:
        weights, counts = self._seen
        pseudo, present = self._pseudo_counts(), counts.dense()
        yes, no = present + pseudo, np.maximum(weights[:, None] - present, 0.0) + pseudo
        presence = self._presence
        return [lambda block, *out: add_presence_uncertainty(yes, no, presence(floats_of(rows, block)), None, *out)]

    def _scorer(self, rows: Rows) -> BlockScorer:
        shares, odds = self._beliefs

        def score(block: slice, joint: Array) -> None:
            present = self._presence(floats_of(rows, block))
            if odds is not None:
                odds.add(present, joint)
            elif isinstance(shares, PresenceWeights):
                shares.odds.add(present, joint)
            else:
                shares.add(present, 0.0, joint)

        return score


def _as_odds(shares: PresenceTable) -> DenseWeights | None:
    """The same as all columns absent, corrected for those present: work for these alone.

    Not for shares of 0 or 1, whose infinite logarithms would cancel to NaN.
    """
    odds, bias = shares.present - shares.absent, shares.absent.sum(axis=0)
    return DenseWeights(odds, bias) if np.isfinite(odds).all() else None
