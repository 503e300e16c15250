"""Whether a kernel is a scalar product on the rows at hand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from likely.svm.kernels import Kernel, as_kernel, as_rows, gram
from likely.svm.products import Matrix

SAMPLE = 400
"""Rows that are looked at: their eigenvalues take a moment, and a bad kernel shows on few rows."""

ROUNDING = 1e-9
"""Eigenvalues above minus this share of the largest are zeros that were rounded."""


class KernelWarning(UserWarning):
    """A kernel is no scalar product on the data, so the machine may not be the best one."""


def smallest_eigenvalue(kernel: Kernel | str, X: Any) -> float:
    """The smallest eigenvalue of the Gram matrix of (at most 400 of) the rows, relative to the largest.

    Below zero the kernel is not positive semidefinite, and no space exists in which it is a scalar product.

    >>> from likely.svm import Linear, Sigmoid
    >>> rows = np.array([[0.1, 0.0], [1.0, 0.2], [4.0, 5.0]])
    >>> smallest_eigenvalue(Sigmoid(slope=1.0, offset=-1.0), rows) < 0.0 <= smallest_eigenvalue(Linear(), rows) + 1e-9
    True
    """
    rows = X if sparse.issparse(X) else as_rows(X)
    return _smallest(as_kernel(kernel).settled(1.0), _some(rows))


def warn_if_not_positive(kernel: Kernel, rows: Matrix) -> None:
    """Warn of a kernel that is no scalar product on some of the rows; those that always are one are not looked at."""
    if kernel.is_positive:
        return
    smallest = _smallest(kernel, _some(rows))
    if smallest < -ROUNDING:
        warnings.warn(
            f"The kernel {kernel!r} is not positive semidefinite on these rows (its smallest eigenvalue is "
            f"{smallest:.2g} of the largest), so the machine found may not be the best: try another kernel or offset.",
            KernelWarning,
            stacklevel=4,
        )


def _smallest(kernel: Kernel, rows: Matrix) -> float:
    values = np.linalg.eigvalsh(gram(kernel, rows, rows))
    return float(values[0] / max(float(np.abs(values).max()), np.finfo(float).tiny))


def _some(rows: Matrix) -> Matrix:
    if rows.shape[0] <= SAMPLE:
        return rows
    return rows[np.linspace(0, rows.shape[0] - 1, SAMPLE).astype(np.intp)]
