"""The kernel of many rows with the same few: blocks that stay in the cache, side by side."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.blas import one_thread_each
from likely.svm.kernels import LOWEST, Gauss, Kernel
from likely.svm.products import Matrix, products, spread, squares
from likely.threads import side_by_side

Array = NDArray[np.float64]

BLOCK_CELLS = 1 << 18
"""Cells of a block of rows with all others: they stay in the cache (2 MiB)."""

FEWEST_ROWS, MOST_ROWS = 64, 1 << 14


class Against:
    """A kernel with one side given: `of(rows)` is rows × the given ones."""

    def __init__(self, kernel: Kernel, others: Matrix) -> None:
        self.kernel, self.others = kernel, spread(others)

    def of(self, rows: Matrix) -> Array:
        """The kernel of every row with every given one."""
        if not isinstance(self.kernel, Gauss) or sparse.issparse(rows) or sparse.issparse(self.others):
            return self.kernel.of(products(rows, self.others), squares(rows), self._squares)
        # One product makes the whole exponent: 2γ x·v − γ x·x − γ v·v.
        gamma = self.kernel.gamma
        wide = np.empty((len(rows), rows.shape[1] + 2))
        np.multiply(rows, 2.0 * gamma, out=wide[:, :-2])
        wide[:, -2] = -gamma * squares(rows)
        wide[:, -1] = 1.0
        exponents = wide @ self._widened
        np.clip(exponents, LOWEST, 0.0, out=exponents)
        return np.exp(exponents, out=exponents)

    @cached_property
    def _squares(self) -> Array:
        return squares(self.others)

    @cached_property
    def _widened(self) -> Array:
        assert isinstance(self.kernel, Gauss)
        columns = [self.others, np.ones(len(self.others)), -self.kernel.gamma * self._squares]
        return np.ascontiguousarray(np.column_stack(columns).T)


def each_block(n_rows: int, cells_per_row: int, use: Callable[[slice], None], n_jobs: int | None) -> None:
    """Hand out blocks of rows to threads; a matrix product in one of them keeps to its thread."""
    size = min(max(BLOCK_CELLS // max(cells_per_row, 1), FEWEST_ROWS), MOST_ROWS)
    blocks = [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    with one_thread_each():
        for _ in side_by_side(use, blocks, n_jobs):
            pass


def gram_matrix(kernel: Kernel, rows: Matrix, others: Matrix, n_jobs: int | None) -> Array:
    """The whole matrix, block by block."""
    fixed, out = Against(kernel, others), np.empty((rows.shape[0], others.shape[0]))

    def fill(block: slice) -> None:
        out[block] = fixed.of(rows[block])

    each_block(rows.shape[0], others.shape[0], fill, n_jobs)
    return out
