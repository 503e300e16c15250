"""The full Bayes classifier: numeric columns that depend on each other within a class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Self, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely.arrays import Array
from likely.families.multivariate import MultivariateGaussian
from likely.families.protocol import Covariance
from likely.models.learner import Learner
from likely.models.settings import (
    FullChanges,
    Missing,
    Unseen,
    Variance,
    Weighting,
    is_floor,
    is_truth,
    member_of,
    parameter,
    share_or_auto,
)


@dataclass(kw_only=True, eq=False, repr=False)
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

    reads_sparse: ClassVar[bool] = False
    covariance: Covariance = parameter("full", member_of(Covariance))
    shrinkage: float | Literal["auto"] = parameter("auto", share_or_auto)
    missing: Missing = parameter("ignore", member_of(Missing))
    unseen: Unseen = parameter("ignore", member_of(Unseen))
    variance: Variance = parameter("unbiased", member_of(Variance))
    variance_floor: float = parameter(1e-9, is_floor)
    weighting: Weighting = parameter("counts", member_of(Weighting))
    normalise: bool = parameter(False, is_truth)

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
