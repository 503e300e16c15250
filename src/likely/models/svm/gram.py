"""Gram matrices: in blocks that stay in the cache, side by side; and whether one is positive semidefinite."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from likely.arrays import Array
from likely.models.svm.kernels import (
    LOWEST,
    Gauss,
    Kernel,
    Matrix,
    as_kernel,
    as_rows,
    densified,
    gram,
    inner_products,
    squared_norms,
)
from likely.parallel import one_thread_each, run

BLOCK_CELLS = 1 << 18
"""Cells of a block of rows with all others: they stay in the cache (2 MiB)."""

FEWEST_ROWS, MOST_ROWS = 64, 1 << 14


class GramBlocks:
    """A kernel with one side given: `of(rows)` is rows × the given ones."""

    def __init__(self, kernel: Kernel, others: Matrix) -> None:
        self.kernel, self.others = kernel, densified(others)

    def of(self, rows: Matrix) -> Array:
        """The kernel of every row with every given one."""
        if not isinstance(self.kernel, Gauss) or sparse.issparse(rows) or sparse.issparse(self.others):
            return self.kernel.of(inner_products(rows, self.others), squared_norms(rows), self._squared_norms)
        # One product makes the whole exponent: 2γ x·v − γ x·x − γ v·v.
        gamma = self.kernel.gamma
        augmented = np.empty((len(rows), rows.shape[1] + 2))
        np.multiply(rows, 2.0 * gamma, out=augmented[:, :-2])
        augmented[:, -2] = -gamma * squared_norms(rows)
        augmented[:, -1] = 1.0
        exponents = augmented @ self._augmented
        np.clip(exponents, LOWEST, 0.0, out=exponents)
        return np.exp(exponents, out=exponents)

    @cached_property
    def _squared_norms(self) -> Array:
        return squared_norms(self.others)

    @cached_property
    def _augmented(self) -> Array:
        assert isinstance(self.kernel, Gauss)
        columns = [self.others, np.ones(len(self.others)), -self.kernel.gamma * self._squared_norms]
        return np.ascontiguousarray(np.column_stack(columns).T)


def each_block(n_rows: int, cells_per_row: int, use: Callable[[slice], None], n_jobs: int | None) -> None:
    """Hand out blocks of rows to threads; a matrix product in one of them keeps to its thread."""
    size = min(max(BLOCK_CELLS // max(cells_per_row, 1), FEWEST_ROWS), MOST_ROWS)
    blocks = [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    with one_thread_each():
        run(use, blocks, n_jobs)


def gram_matrix(kernel: Kernel, rows: Matrix, others: Matrix, n_jobs: int | None) -> Array:
    """The whole matrix, block by block."""
    gram_blocks, out = GramBlocks(kernel, others), np.empty((rows.shape[0], others.shape[0]))

    def fill(block: slice) -> None:
        out[block] = gram_blocks.of(rows[block])

    each_block(rows.shape[0], others.shape[0], fill, n_jobs)
    return out


SAMPLE = 400
"""Rows that are looked at: their eigenvalues take a moment, and a bad kernel shows on few rows."""

ROUNDING = 1e-9
"""Eigenvalues above minus this share of the largest are zeros that were rounded."""


class KernelWarning(UserWarning):
    """A kernel is no scalar product on the data, so the machine may not be the best one."""


def smallest_eigenvalue(kernel: Kernel | str, X: Any) -> float:
    """The smallest eigenvalue of the Gram matrix of (at most 400 of) the rows, relative to the largest.

    Below zero the kernel is not positive semidefinite, and no space exists in which it is a scalar product.

    >>> from likely.models.svm import Linear, Sigmoid
    >>> rows = np.array([[0.1, 0.0], [1.0, 0.2], [4.0, 5.0]])
    >>> smallest_eigenvalue(Sigmoid(slope=1.0, offset=-1.0), rows) < 0.0 <= smallest_eigenvalue(Linear(), rows) + 1e-9
    True
    """
    rows = X if sparse.issparse(X) else as_rows(X)
    return _relative_smallest_eigenvalue(as_kernel(kernel).settled(1.0), _sample(rows))


def warn_if_not_psd(kernel: Kernel, rows: Matrix) -> None:
    """Warn of a kernel that is no scalar product on some of the rows; those that always are one are not looked at."""
    if kernel.is_positive:
        return
    smallest = _relative_smallest_eigenvalue(kernel, _sample(rows))
    if smallest < -ROUNDING:
        warnings.warn(
            f"The kernel {kernel!r} is not positive semidefinite on these rows (its smallest eigenvalue is "
            f"{smallest:.2g} of the largest), so the machine found may not be the best: try another kernel or offset.",
            KernelWarning,
            stacklevel=4,
        )


def _relative_smallest_eigenvalue(kernel: Kernel, rows: Matrix) -> float:
    values = np.linalg.eigvalsh(gram(kernel, rows, rows))
    return float(values[0] / max(float(np.abs(values).max()), np.finfo(float).tiny))


def _sample(rows: Matrix) -> Matrix:
    if rows.shape[0] <= SAMPLE:
        return rows
    return rows[np.linspace(0, rows.shape[0] - 1, SAMPLE).astype(np.intp)]
