"""Rows and their scalar products: all that a support vector machine ever asks of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from likely.arrays import Array

Matrix = Any
"""Rows × features: a dense array, or a sparse one in CSR."""

DENSE_CELLS = 1 << 25
"""Sparse rows of up to so many cells (256 MiB) are spread out for products with many others."""


NARROWEST = 1e-80
"""A variance below this is taken for none: its inverse would not go with the limits of kernels."""


def products(a: Matrix, b: Matrix) -> Array:
    """The scalar product of every row of one matrix with every row of another."""
    if sparse.issparse(a) and sparse.issparse(b):
        return np.ascontiguousarray((a @ b.T).toarray())
    if sparse.issparse(b):
        return np.ascontiguousarray((b @ a.T).T)
    return np.ascontiguousarray(a @ b.T)


def squares(a: Matrix) -> Array:
    """The scalar product of every row with itself."""
    if sparse.issparse(a):
        return np.asarray(a.multiply(a).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", a, a), dtype=np.float64)


def spread(a: Matrix) -> Matrix:
    """A dense copy of sparse rows if it is small enough: products with it are faster."""
    if sparse.issparse(a) and a.shape[0] * a.shape[1] <= DENSE_CELLS:
        return a.toarray()
    return a


def narrow(a: Matrix) -> Matrix:
    """The same rows for scikit-learn's solvers, which read sparse ones with 32-bit indices."""
    if not sparse.issparse(a):
        return a
    return sparse.csr_matrix((a.data, a.indices.astype(np.int32), a.indptr.astype(np.int32)), shape=a.shape)


def typical_square(a: Matrix, weight: Array | None = None) -> float:
    """Number of features times their variance over all cells: about how far apart rows lie, squared and halved."""
    each = np.full(a.shape[0], 1.0 / a.shape[0]) if weight is None else weight / weight.sum()
    mean = float(each @ np.asarray(a.sum(axis=1)).ravel()) / a.shape[1]
    if sparse.issparse(a):
        variance = float(each @ squares(a)) / a.shape[1] - mean * mean
    else:
        variance = float(each @ squares(a - mean)) / a.shape[1]
    return a.shape[1] * variance if NARROWEST < variance < np.inf else 1.0
