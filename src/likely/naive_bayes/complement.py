"""Complement naive Bayes with scikit-learn's parameters and attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from sklearn.utils import Tags

from likely.arrays import Array, ColumnLike
from likely.errors import SettingsError
from likely.families.complement import LEAST_PSEUDO, complement_weights
from likely.families.counts import DenseWeights, Weights
from likely.models.prediction import RowsLike
from likely.naive_bayes.counts import CONSTRAINTS, DiscreteNB
from likely.stats import FeatureCounts


class ComplementNB(DiscreteNB):
    """Counts of words or events, weighed by how rare they are in all other classes.

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

    def __init__(
        self,
        *,
        alpha: float | ColumnLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ColumnLike | None = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _believe(self, weights: Array, counts: FeatureCounts, pseudo: Array) -> Weights:
        return complement_weights(counts, np.maximum(pseudo, LEAST_PSEUDO), norm=self.norm)

    def _log_shares(self, beliefs: DenseWeights) -> Array:
        return beliefs.lines.T

    def _settle(self, weights: Array, columns: FeatureCounts) -> None:
        super()._settle(weights, columns)
        self.feature_all_ = columns.column_sums()

    def _log_start(self) -> Array:
        return self.class_log_prior_ if len(self.classes_) == 1 else np.zeros(len(self.classes_))

    def _evidence(self, X: RowsLike, ordinary: Mapping[str, float]) -> Array:
        raise SettingsError("ComplementNB weighs words by the other classes and so has no density to find novelty by.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
