"""A solved machine: Gram matrices, one-vs-one pairs of classes, support vectors and coefficients, slack of rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likely.arrays import Array, Int32, Int64
from likely.models.svm.kernels import (
    LOWEST,
    Gauss,
    Kernel,
    Linear,
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


def smallest_eigenvalue(kernel: Kernel | str, X: ArrayLike) -> float:
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


# Pairs of classes.


def class_pairs(n_classes: int) -> tuple[Int64, Int64]:
    """The earlier and the later class of every pair: (0, 1), (0, 2), …, (1, 2), …; a value above 0 is for the later.

    >>> [each.tolist() for each in class_pairs(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    earlier, later = np.triu_indices(n_classes, 1)
    return earlier.astype(np.int64), later.astype(np.int64)


def n_pairs(n_classes: int) -> int:
    """How many pairs there are."""
    return n_classes * (n_classes - 1) // 2


def one_vs_one_votes(pairs: Array, n_classes: int) -> Array:
    """How many pairs each class wins; sums of their values, squeezed to less than half a vote, break ties.

    A value of zero is a vote for the earlier class.
    """
    earlier, later = (np.eye(n_classes)[each] for each in class_pairs(n_classes))
    sums = pairs @ (later - earlier)
    return np.asarray((pairs > 0.0) @ later + (pairs <= 0.0) @ earlier + sums / (3.0 * (np.abs(sums) + 1.0)))


@dataclass(frozen=True, eq=False)
class Machine:
    """f(x) = Σ dual · K(support vector, x) + b for every pair of classes, or w·x + b where only a hyperplane is kept.

    Support vectors stand class by class, `n_support` of each; those of all pairs are kept once. Row p of `dual` is
    for the p-th of the other classes: a support vector speaks in one pair with each of them. Without `n_support` every
    vector speaks in all pairs, and there is a row of `dual` for each. `rows` are their numbers among the rows learned.
    """

    n_classes: int
    kernel: Kernel
    vectors: Matrix
    dual: Array
    n_support: Int64 | None
    rows: Int64
    b: Array
    hyperplanes: Array | None = None

    @property
    def vectors_are(self) -> str:
        """What its vectors are called: with landmarks there is no α, so they are no support vectors."""
        return "landmarks" if self.n_support is None and self.hyperplanes is None else "support vectors"

    @cached_property
    def w(self) -> Array | None:
        """One hyperplane per pair, for a linear kernel."""
        if self.hyperplanes is not None or not isinstance(self.kernel, Linear):
            return self.hyperplanes
        hyperplanes = np.zeros((len(self.b), self.vectors.shape[1]))
        for place in range(len(hyperplanes)):
            hyperplanes[place] = self.coefficients(place) @ self.vectors
        return hyperplanes

    @cached_property
    def margin(self) -> Array:
        """2 / ‖w‖ of every pair, in the space of the kernel; infinite where w is zero."""
        if self.w is not None:
            norms = np.sqrt(np.square(self.w).sum(axis=1))
        else:
            values = self.decision_values(self.vectors) - self.b
            squared = [self.coefficients(place) @ values[:, place] for place in range(len(self.b))]
            norms = np.sqrt(np.maximum(np.array(squared, dtype=np.float64), 0.0))
        return np.asarray(np.divide(2.0, norms, out=np.full(len(norms), np.inf), where=norms > 0.0), dtype=np.float64)

    def decision_values(self, X: Matrix, n_jobs: int | None = None) -> Array:
        """f of every row and pair, in blocks side by side."""
        out, w, gram_blocks = np.empty((X.shape[0], len(self.b))), self.w, self._gram_blocks

        def evaluate(block: slice) -> None:
            if w is not None:
                out[block] = X[block] @ w.T
            else:
                self._sum_over_vectors(gram_blocks.of(X[block]), out[block])
            out[block] += self.b

        each_block(X.shape[0], len(self.rows) if w is None else X.shape[1], evaluate, n_jobs)
        return out

    def _sum_over_vectors(self, kernel: Array, out: Array) -> None:
        """Sums over the support vectors of each class, put together pair by pair."""
        if self.n_support is None or self.n_classes == 2:
            np.matmul(kernel, self.dual.T, out=out)
            return
        ends = np.cumsum(self.n_support)
        by_class = [
            kernel[:, end - n : end] @ self.dual[:, end - n : end].T
            for n, end in zip(self.n_support, ends, strict=True)
        ]
        for place, (a, b) in enumerate(zip(*class_pairs(self.n_classes), strict=True)):
            np.add(by_class[a][:, b - 1], by_class[b][:, a], out=out[:, place])

    def coefficients(self, place: int) -> Array:
        """α·y of all support vectors in one pair; zero for those of other classes."""
        if self.n_support is None:
            return np.asarray(self.dual[place])
        a, b = (int(each[place]) for each in class_pairs(self.n_classes))
        ends = np.cumsum(self.n_support)
        whole = np.zeros(len(self.rows))
        for own, line in ((a, b - 1), (b, a)):
            part = slice(int(ends[own] - self.n_support[own]), int(ends[own]))
            whole[part] = self.dual[line, part]
        return whole

    @cached_property
    def _gram_blocks(self) -> GramBlocks:
        return GramBlocks(self.kernel, self.vectors)


def nearest_rival(pairs: Array, y: Int32, n_classes: int) -> tuple[Int64, Array]:
    """Of each row the rival class that comes nearest, and y·f against it: below 1 within the margin, below 0 wrong."""
    rival, least = np.full(len(y), -1, dtype=np.int64), np.full(len(y), np.inf)
    for place, (a, b) in enumerate(zip(*class_pairs(n_classes), strict=True)):
        for own, other, sign in ((a, b, -1.0), (b, a, 1.0)):
            mine = np.flatnonzero(y == own)
            values = sign * pairs[mine, place]
            nearer = values < least[mine]
            least[mine[nearer]], rival[mine[nearer]] = values[nearer], other
    return rival, least


def slack_and_case(values: Array, tolerance: float) -> tuple[Array, NDArray[np.str_]]:
    """ξ = max(0, 1 − y·f), and the case: A beyond the margin, B within it on the right side, C on the wrong side."""
    slack = np.maximum(1.0 - values, 0.0)
    slack[slack <= tolerance] = 0.0
    return slack, np.where(slack == 0.0, "A", np.where(values > 0.0, "B", "C"))
