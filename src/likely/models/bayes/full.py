"""The full Bayes classifier: numeric columns that depend on each other within a class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self, Unpack, get_args

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely.arrays import Array
from likely.families.multivariate import MultivariateGaussian
from likely.families.protocol import Covariance
from likely.models.learner import Learner
from likely.models.settings import (
    BELIEFS,
    Check,
    FamiliesLike,
    FullChanges,
    Missing,
    SchemaLike,
    SmoothingLike,
    TokenizerLike,
    Unseen,
    Variance,
    Weighting,
    one_of,
    share_or_auto,
)
from likely.scorer import Priors


class FullBayesClassifier(Learner):
    """One Gaussian with its own mean vector and covariance matrix per class; nominal columns are further factors.

    Parameters
    ----------
    covariance : "full" (a matrix per class: quadratic discriminant analysis), "pooled" (one for all classes: linear
        discriminant analysis), "diagonal" (none between columns: naive Bayes) or "shrunk" (between full and diagonal).
    shrinkage : for "shrunk", how far to go from full (0) to diagonal (1), or "auto": estimated for each class.
    families : None (numeric columns form one Gaussian block, the others are categorical) or a mapping that takes
        columns out of the block, such as {"visits": "poisson"}.
    variance_floor : smallest variance of a class, relative to the variance of the whole column, and of any combination
        of columns, relative to one column; so a singular covariance matrix is not a problem.
    smoothing, priors, schema, text, missing, unseen, variance, weighting, normalise, n_jobs : as for `BayesClassifier`.

    >>> X = [[1.0, 1.1], [2.0, 2.1], [3.0, 2.9], [1.0, 2.9], [2.0, 2.1], [3.0, 1.0]]
    >>> clf = FullBayesClassifier().fit(X, ["up", "up", "up", "down", "down", "down"])
    >>> clf.predict([[4.0, 4.0], [4.0, 0.0]]).tolist()
    ['up', 'down']
    """

    setting_checks: ClassVar[Mapping[str, Check]] = {
        **BELIEFS,
        "covariance": one_of(*get_args(Covariance)),
        "shrinkage": share_or_auto,
    }

    def __init__(
        self,
        *,
        covariance: Covariance = "full",
        shrinkage: float | Literal["auto"] = "auto",
        smoothing: SmoothingLike = 1.0,
        priors: Priors = None,
        families: FamiliesLike = None,
        schema: SchemaLike = None,
        text: TokenizerLike = None,
        missing: Missing = "ignore",
        unseen: Unseen = "ignore",
        variance: Variance = "unbiased",
        variance_floor: float = 1e-9,
        weighting: Weighting = "counts",
        normalise: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.smoothing = smoothing
        self.priors = priors
        self.families = families
        self.schema = schema
        self.text = text
        self.missing = missing
        self.unseen = unseen
        self.variance = variance
        self.variance_floor = variance_floor
        self.weighting = weighting
        self.normalise = normalise
        self.n_jobs = n_jobs

    def resettle(self, **changes: Unpack[FullChanges]) -> Self:
        """Change the covariance, shrinkage, priors or other settings after training; needs no data.

        >>> X = [[1.0, 1.1], [2.0, 2.1], [3.0, 2.9], [1.0, 2.9], [2.0, 2.1], [3.0, 1.0]]
        >>> clf = FullBayesClassifier().fit(X, ["up", "up", "up", "down", "down", "down"])
        >>> clf.resettle(covariance="shrunk", shrinkage=0.1).predict([[4.0, 4.0]]).tolist()
        ['up']
        """
        return self._resettle(changes)

    @property
    def means_(self) -> Array:
        """Mean vector of each class, for the columns of the block in their order."""
        return self._block().margins.mean

    @property
    def covariances_(self) -> Array:
        """Covariance matrix of each class as it is used: shrunk, pooled, and raised where it was singular."""
        return self._block().covariance()

    @property
    def shrinkages_(self) -> Array:
        """How far each class was pulled towards independent columns: 0 for "full", 1 for "diagonal"."""
        return np.broadcast_to(self._block().shrinkage, len(self.classes_))

    def _block(self) -> MultivariateGaussian:
        check_is_fitted(self)
        for belief in self.model_.beliefs:
            if isinstance(belief, MultivariateGaussian):
                return belief
        raise AttributeError("No numeric column was learned as part of a Gaussian block.")

    def _usual_families(self) -> Mapping[str, str]:
        return {**super()._usual_families(), "numeric": "multivariate", "sparse": "multivariate"}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
