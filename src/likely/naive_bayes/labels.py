"""Labels and classes, with scikit-learn's rules for the first call of `partial_fit` and the later ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import unique_labels

from likely.errors import DataError
from likely.table import Labels


def agreed_classes(known: NDArray[Any] | None, given: Any) -> NDArray[Any]:
    """The classes of all batches: given with the first one, and never changed afterwards."""
    if known is None:
        if given is None:
            raise DataError("classes must be passed on the first call to partial_fit.")
        return np.asarray(unique_labels(given))
    if given is not None and not np.array_equal(known, unique_labels(given)):
        raise DataError(f"`classes={given!r}` is not the same as on last call to partial_fit, was: {known!r}")
    return known


def places_among(labels: Labels, classes: NDArray[Any]) -> NDArray[np.int32]:
    """The place of each row's label among the classes of all batches."""
    place = {label: position for position, label in enumerate(classes.tolist())}
    found = np.array([place.get(label, -1) for label in labels.classes.tolist()], dtype=np.int32)
    if (found < 0).any():
        strangers = labels.classes[found < 0]
        raise DataError(f"The target label(s) {strangers} in y do not exist in the initial classes {classes}")
    return np.asarray(found[labels.codes])
