"""What the four classifiers of counts share: pseudo counts, priors, tags."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval

from likely.errors import SettingsError
from likely.naive_bayes.classifier import NaiveBayes
from likely.numerics import log_of
from likely.stats.protocol import Array

LEAST_ALPHA = 1e-10


class DiscreteNB(NaiveBayes):
    """Counts per class, smoothed by `alpha`."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any
    n_features_in_: int
    class_count_: Array
    class_log_prior_: Array

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "force_alpha": ["boolean"],
    }

    def _check_alpha(self) -> float | Array:
        """`alpha`, lifted off zero unless the user forbids it; scikit-learn's tests know it by this name."""
        alpha: Any = self.alpha if isinstance(self.alpha, Real) else np.asarray(self.alpha, dtype=np.float64)
        least = np.min(alpha)
        if isinstance(alpha, np.ndarray):
            if len(alpha) != self.n_features_in_:
                raise SettingsError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {len(alpha)} elements instead of {self.n_features_in_}."
                )
            if least < 0.0:
                raise SettingsError("All values in alpha must be greater than 0.")
        if least < LEAST_ALPHA and not self.force_alpha:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=6,
            )
            return np.asarray(np.maximum(alpha, LEAST_ALPHA))
        return alpha  # type: ignore[no-any-return]

    def _pseudo_counts(self) -> Array:
        """One pseudo count per column."""
        return np.full(self.n_features_in_, self._check_alpha(), dtype=np.float64)

    def _log_prior(self, weights: Array) -> Array:
        if self.class_prior is not None:
            if len(self.class_prior) != len(weights):
                raise SettingsError("Number of priors must match number of classes.")
            return log_of(np.asarray(self.class_prior, dtype=np.float64))
        if self.fit_prior:
            return log_of(weights) - float(np.log(weights.sum()))
        return np.full(len(weights), -np.log(len(weights)))

    def _prior_is_counted(self) -> bool:
        return self.fit_prior and self.class_prior is None

    def _prior(self) -> Array:
        shares = np.exp(self.class_log_prior_)
        return np.asarray(shares / shares.sum())

    def _log_start(self) -> Array:
        return np.asarray(self.class_log_prior_, dtype=np.float64)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags
