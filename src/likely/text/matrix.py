"""Counts as the sparse matrix that scikit-learn is set to give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

_LARGEST_INT32 = np.iinfo(np.int32).max


def to_matrix(
    columns: NDArray[np.int32],
    counts: NDArray[np.int64],
    starts: NDArray[np.int64],
    n_columns: int,
    binary: bool,
    dtype: Any,
) -> Any:
    """A CSR matrix (an array where scikit-learn's `sparse_interface` says so), with 32-bit indices where they do."""
    from scipy.sparse import csr_array, csr_matrix

    cells = np.ones(len(counts), dtype=dtype) if binary else counts.astype(dtype, copy=False)
    index = np.int64 if len(columns) > _LARGEST_INT32 else np.int32
    kind = csr_array if get_config().get("sparse_interface") == "sparray" else csr_matrix
    arrays = cells, columns.astype(index, copy=False), starts.astype(index)
    matrix = kind(arrays, shape=(len(starts) - 1, n_columns))
    matrix.has_canonical_format = True
    return matrix
