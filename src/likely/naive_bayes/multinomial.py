"""Multinomial naive Bayes with scikit-learn's parameters and attributes."""

from __future__ import annotations

from sklearn.utils import Tags

from likely.arrays import Array, ColumnLike
from likely.families.counts import DenseWeights, Weights
from likely.families.multinomial import add_counts, multinomial_weights
from likely.families.uncertainty import Certainty
from likely.naive_bayes.classifier import Rows
from likely.naive_bayes.counts import DiscreteNB, floats_of
from likely.stats import FeatureCounts


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

    def __init__(
        self,
        *,
        alpha: float | ColumnLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ColumnLike | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _believe(self, weights: Array, counts: FeatureCounts, pseudo: Array) -> Weights:
        return multinomial_weights(counts, pseudo)

    def _log_shares(self, beliefs: DenseWeights) -> Array:
        return beliefs.lines.T

    def _spreads(self, rows: Rows) -> list[Certainty]:
        a = self._seen[1].dense() + self._pseudo_counts()
        return [lambda block, *out: add_counts(a, floats_of(rows, block), *out)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
