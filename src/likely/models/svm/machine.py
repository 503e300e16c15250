"""A solved machine: one-vs-one pairs of classes, support vectors with their coefficients, and the slack of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int64
from likely.models.svm.gram import GramBlocks, each_block
from likely.models.svm.kernels import Kernel, Linear, Matrix


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


def class_sums(pairs: Array, n_classes: int) -> Array:
    """What all pairs together say for each class: the sum of their values, with the sign turned for the earlier one."""
    earlier, later = class_pairs(n_classes)
    sums = np.zeros((len(pairs), n_classes))
    for place, (a, b) in enumerate(zip(earlier, later, strict=True)):
        sums[:, a] -= pairs[:, place]
        sums[:, b] += pairs[:, place]
    return sums


def one_vs_one_votes(pairs: Array, n_classes: int) -> Array:
    """How many pairs each class wins; sums of their values, squeezed to less than half a vote, break ties.

    A value of zero is a vote for the earlier class.
    """
    earlier, later = class_pairs(n_classes)
    won = np.zeros((len(pairs), n_classes))
    for place, (a, b) in enumerate(zip(earlier, later, strict=True)):
        for_later = pairs[:, place] > 0.0
        won[:, b] += for_later
        won[:, a] += ~for_later
    sums = class_sums(pairs, n_classes)
    return np.asarray(won + sums / (3.0 * (np.abs(sums) + 1.0)))


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
        """2 / ‖w‖ of every pair, in the space of the kernel; infinite where nothing had to be told apart."""
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


def nearest_rival(pairs: Array, y: NDArray[np.int32], n_classes: int) -> tuple[NDArray[np.int64], Array]:
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
