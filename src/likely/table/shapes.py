"""Errors about the shape of what came in, worded as scikit-learn's users know them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import SchemaError

_RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
    "or array.reshape(1, -1) if it contains a single sample."
)


def not_two_dimensional(X: NDArray[Any]) -> SchemaError:
    """The error for a scalar, a single row or column, or a cube."""
    if X.ndim > 2:
        return SchemaError(f"Found array with dim {X.ndim}, while dim <= 2 is required: rows and columns.")
    what = "scalar" if X.ndim == 0 else "1D"
    shown = np.array2string(X, threshold=10, edgeitems=3)
    return SchemaError(f"Expected 2D array, got {what} array instead:\narray={shown}.\n{_RESHAPE}")


def no_rows(n_columns: int) -> SchemaError:
    """The error for a table without rows."""
    return _too_small("sample", (0, n_columns))


def no_columns(n_rows: int) -> SchemaError:
    """The error for a table without columns."""
    return _too_small("feature", (n_rows, 0))


def _too_small(what: str, shape: tuple[int, int]) -> SchemaError:
    return SchemaError(f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")
