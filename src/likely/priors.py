"""How probable each class is before a row is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import DataError, SettingsError, listed
from likely.stats import ClassWeights

Array = NDArray[np.float64]


def class_prior(given: Any, classes: ClassWeights) -> Array:
    """None or "counted", "smoothed" (one row more for each class), "uniform", a mapping, or shares in class order."""
    weights = classes.weights
    if given is None or (isinstance(given, str) and given == "counted"):
        if weights.sum() <= 0.0:
            raise DataError("All rows have weight zero, so there is nothing to learn the classes from.")
        return np.asarray(weights / weights.sum())
    if isinstance(given, str):
        if given == "smoothed":
            return np.asarray((weights + 1.0) / (weights.sum() + len(weights)))
        if given == "uniform":
            return np.full(len(weights), 1.0 / max(len(weights), 1))
        raise SettingsError(f"priors is {given!r}, but it is 'counted', 'smoothed', 'uniform' or a mapping by class.")
    shares = _by_class(given, classes) if isinstance(given, Mapping) else np.asarray(given, dtype=np.float64)
    if shares.shape != weights.shape:
        raise SettingsError(f"priors has {shares.size} shares for {len(weights)} classes. Give one for each class.")
    if not (shares >= 0.0).all() or abs(shares.sum() - 1.0) > 1e-6:
        raise SettingsError(f"priors sums to {shares.sum():g}, but shares are not negative and sum to 1.")
    return np.asarray(shares / shares.sum())


def remaining_priors(given: Any, classes: NDArray[Any], left: NDArray[Any]) -> Any:
    """The same wish where only some of the classes are left: shares that were given are scaled to sum to one."""
    if given is None or isinstance(given, str) or len(left) == len(classes):
        return given
    labels, kept = classes.tolist(), left.tolist()
    shares = dict(given) if isinstance(given, Mapping) else dict(zip(labels, np.asarray(given).tolist(), strict=True))
    total = sum(shares[label] for label in kept if label in shares)
    if not total > 0.0:
        raise SettingsError(f"priors leaves nothing for {listed(kept)}, the only classes that are left to learn.")
    gone = set(labels) - set(kept)
    return {label: share / total for label, share in shares.items() if label not in gone}


def _by_class(given: Mapping[Any, float], classes: ClassWeights) -> Array:
    labels = classes.labels.tolist()
    lacking, strange = [label for label in labels if label not in given], [k for k in given if k not in labels]
    if lacking:
        raise SettingsError(f"priors gives no share for the class {listed(lacking)}.")
    if strange:
        raise SettingsError(f"priors names {listed(strange)}, but the classes are {listed(labels)}.")
    return np.array([float(given[label]) for label in labels])
