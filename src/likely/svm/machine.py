"""A solved machine: support vectors with their coefficients, and what they say about rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likely.svm.against import Against, each_block
from likely.svm.kernels import Kernel, Linear
from likely.svm.pairs import pairs_of
from likely.svm.products import Matrix

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Machine:
    """f(x) = Σ dual · K(support vector, x) + b for every pair of classes, or w·x + b where only a plane is kept.

    Support vectors stand class by class, `n_support` of each; those of all pairs are kept once. Row p of `dual` is
    for the p-th of the other classes: a support vector speaks in one pair with each of them. Without `n_support` every
    vector speaks in all pairs, and there is a row of `dual` for each. `rows` are their numbers among the rows learned.
    """

    n_classes: int
    kernel: Kernel
    vectors: Matrix
    dual: Array
    n_support: Ints | None
    rows: Ints
    b: Array
    plane: Array | None = None

    @property
    def vectors_are(self) -> str:
        """What its vectors are called: with landmarks there is no α, so they are no support vectors."""
        return "landmarks" if self.n_support is None and self.plane is None else "support vectors"

    @cached_property
    def w(self) -> Array | None:
        """One plane per pair, for a linear kernel."""
        if self.plane is not None or not isinstance(self.kernel, Linear):
            return self.plane
        planes = np.zeros((len(self.b), self.vectors.shape[1]))
        for place in range(len(planes)):
            planes[place] = self.coefficients(place) @ self.vectors
        return planes

    @cached_property
    def margin(self) -> Array:
        """2 / ‖w‖ of every pair, in the space of the kernel; infinite where nothing had to be told apart."""
        if self.w is not None:
            norms = np.sqrt(np.square(self.w).sum(axis=1))
        else:
            spoken = self.pairs(self.vectors) - self.b
            squared = [self.coefficients(place) @ spoken[:, place] for place in range(len(self.b))]
            norms = np.sqrt(np.maximum(np.array(squared, dtype=np.float64), 0.0))
        return np.asarray(np.divide(2.0, norms, out=np.full(len(norms), np.inf), where=norms > 0.0), dtype=np.float64)

    def pairs(self, X: Matrix, n_jobs: int | None = None) -> Array:
        """f of every row and pair, in blocks side by side."""
        out, w, fixed = np.empty((X.shape[0], len(self.b))), self.w, self._fixed

        def judge(block: slice) -> None:
            if w is not None:
                out[block] = X[block] @ w.T
            else:
                self._spoken(fixed.of(X[block]), out[block])
            out[block] += self.b

        each_block(X.shape[0], len(self.rows) if w is None else X.shape[1], judge, n_jobs)
        return out

    def _spoken(self, kernel: Array, out: Array) -> None:
        """Sums over the support vectors of each class, put together pair by pair."""
        if self.n_support is None or self.n_classes == 2:
            np.matmul(kernel, self.dual.T, out=out)
            return
        ends = np.cumsum(self.n_support)
        said = [
            kernel[:, end - n : end] @ self.dual[:, end - n : end].T
            for n, end in zip(self.n_support, ends, strict=True)
        ]
        for place, (a, b) in enumerate(zip(*pairs_of(self.n_classes), strict=True)):
            np.add(said[a][:, b - 1], said[b][:, a], out=out[:, place])

    def coefficients(self, place: int) -> Array:
        """α·y of all support vectors in one pair; zero for those of other classes."""
        if self.n_support is None:
            return np.asarray(self.dual[place])
        a, b = (int(each[place]) for each in pairs_of(self.n_classes))
        ends = np.cumsum(self.n_support)
        whole = np.zeros(len(self.rows))
        for own, line in ((a, b - 1), (b, a)):
            part = slice(int(ends[own] - self.n_support[own]), int(ends[own]))
            whole[part] = self.dual[line, part]
        return whole

    @cached_property
    def _fixed(self) -> Against:
        return Against(self.kernel, self.vectors)
