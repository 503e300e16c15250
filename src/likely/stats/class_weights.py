"""How many rows, and how much weight, each class has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.arrays import AnyArray, Array, Index, Int32, Int64
from likely.errors import NotMergeable, listed
from likely.numerics import together
from likely.parallel import row_blocks, run
from likely.stats.kernels import count_classes, count_labels
from likely.stats.protocol import NEVER_SEEN, leave, require, require_counts, take_rows
from likely.table import merge_classes

BLOCK_ROWS = 1 << 18
"""Labels are soon counted: fewer of them are not worth a task."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassWeights:
    """Labels in their order, the weight of each and its number of rows."""

    labels: AnyArray
    weights: Array
    rows: Int64

    @classmethod
    def empty(cls) -> ClassWeights:
        return cls(np.empty(0, dtype=object), np.zeros(0), np.zeros(0, dtype=np.int64))

    @classmethod
    def observe(cls, labels: AnyArray, y: Int32, weight: Array | None = None, n_jobs: int | None = 1) -> ClassWeights:
        """Count the codes `y` into `labels`."""
        if weight is None:
            blocks = row_blocks(len(y), 1, fewest=max(BLOCK_ROWS, 8 * len(labels))) or [slice(0, 0)]
            rows = np.sum(run(lambda block: count_labels(y[block], len(labels)), blocks, n_jobs), axis=0)
            return cls(labels, rows.astype(np.float64), rows)
        weights, rows = np.zeros(len(labels)), np.zeros(len(labels), dtype=np.int64)
        count_classes(y, weight, weights, rows)
        return cls(labels, weights, rows)

    def validate(self) -> None:
        """Raise a `DataError` where labels, weights and rows do not fit together."""
        n = len(self.labels)
        require(self.rows.shape == (n,) and (self.rows >= 0).all(), "A class has fewer than no rows.")
        require_counts(self.weights, n)

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: ClassWeights) -> ClassWeights:
        labels, mine, theirs = self.union(other)
        a, b = self._placed(mine), other._placed(theirs)
        together(np.asarray(a.weights.sum()), np.asarray(b.weights.sum()))
        return ClassWeights(labels, a.weights + b.weights, a.rows + b.rows)

    def __sub__(self, other: ClassWeights) -> ClassWeights:
        out = other._placed(self.where(other))
        if (out.rows > self.rows).any():
            raise NotMergeable(NEVER_SEEN)
        left = ClassWeights(self.labels, leave(self.weights, out.weights), self.rows - out.rows)
        kept = np.flatnonzero(left.rows)
        return ClassWeights(left.labels[kept], left.weights[kept], left.rows[kept])

    def union(self, other: ClassWeights) -> tuple[AnyArray, Index, Index]:
        """Labels of both, and for each of them its row here and its row there (−1: it has none)."""
        labels, mine, theirs = merge_classes(self.labels, other.labels)
        return labels, _inverse(mine, len(labels)), _inverse(theirs, len(labels))

    def where(self, other: ClassWeights) -> Index:
        """For each label here its row in `other`, whose labels must all be known."""
        labels, mine, theirs = self.union(other)
        strangers = labels[mine < 0]
        if len(strangers):
            raise NotMergeable(f"The class {listed(strangers.tolist())} was never learned, so it cannot be forgotten.")
        return theirs

    def _placed(self, source: Index) -> ClassWeights:
        rows = take_rows(self.rows, source).astype(np.int64)
        return ClassWeights(self.labels, take_rows(self.weights, source), rows)


def _inverse(positions: Index, size: int) -> Index:
    source = np.full(size, -1, dtype=np.intp)
    source[positions] = np.arange(len(positions))
    return source
