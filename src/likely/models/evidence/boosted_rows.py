"""Rows while trees are grown on them: their scores, what these leave to explain, and sums of that by leaf.

Threads take the rows in blocks. Sums are those of the blocks, so that nothing depends on how many threads there are.
"""

from __future__ import annotations

import numpy as np

from likely.arrays import Array, Int32, UInt8
from likely.jit import kernel
from likely.models.evidence.ensemble import MAX_QUESTIONS, N_LEAVES, add_leaves
from likely.models.evidence.losses import fill_hessian, residuals, row_losses, strip_rows
from likely.models.evidence.row_source import RowsInMemory, log_prior

LEARNING_RATE = 0.2

LEAF_PRECISION = 3.0
"""λ: a leaf is shrunk as if it had rows of so much curvature with nothing left to explain."""

BLOCK_SCORES, BLOCK_ROWS = 1 << 16, 1 << 13
"""Scores of the rows that a thread takes at once, half a millisecond of work, but no fewer rows than these. Sums over
rows are those of blocks, whatever threads there are."""


def _blocks(rows: RowsInMemory) -> list[slice]:
    size = max(BLOCK_SCORES // rows.n_scores, BLOCK_ROWS)
    return [slice(at, min(at + size, len(rows))) for at in range(0, max(len(rows), 1), size)]


class BoostedRows:
    """The scores of rows while trees are grown, and the gradient and curvature of their log loss."""

    def __init__(self, rows: RowsInMemory, by_column: UInt8) -> None:
        self.rows, self.by_column, self.blocks = rows, by_column, _blocks(rows)
        self.scores = start_scores(rows)
        self.gradient, self.hessian = np.empty_like(self.scores), np.empty_like(self.scores)
        self.leaf = np.zeros(len(rows), dtype=np.uint8)
        self.add(np.zeros((N_LEAVES, rows.n_scores)))

    def settle(self, columns: Int32, sides: UInt8, leaves: Array, covers: Array) -> None:
        """A Newton step for every leaf and score of one tree, −rate · G/(H + λ), and the weight of its rows."""
        sums = np.zeros((len(self.blocks), N_LEAVES, 2 * self.rows.n_scores + 1))

        def add_up(k: int) -> None:
            block = self.blocks[k]
            find_leaves(self.by_column, columns, sides, block.start, block.stop, self.leaf)
            of_block = self.leaf[block], self.gradient[block], self.hessian[block], self.rows.weight[block]
            sum_by_leaf(*of_block, sums[k])

        self.rows.pool.do(add_up, range(len(self.blocks)))
        total, n = sums.sum(axis=0), self.rows.n_scores
        leaves[:] = -LEARNING_RATE * total[:, :n] / (total[:, n : 2 * n] + LEAF_PRECISION)
        covers[:] = total[:, -1]

    def add(self, leaves: Array) -> None:
        """Add the leaves of the tree that was settled to the scores of the rows."""

        def add_to(block: slice) -> None:
            scores, y, weight = self.scores[block], self.rows.y[block], self.rows.weight[block]
            add_and_derive(self.leaf[block], leaves, scores, y, weight, self.gradient[block], self.hessian[block])

        self.rows.pool.do(add_to, self.blocks)


class HeldOutRows:
    """The scores of rows that trees are judged by."""

    def __init__(self, rows: RowsInMemory, scores: Array) -> None:
        self.rows, self.scores, self.blocks = rows, scores, _blocks(rows)

    def add(self, columns: Int32, sides: UInt8, leaves: Array) -> None:
        """Add the leaves of some trees."""
        self.rows.pool.do(
            lambda block: add_leaves(self.rows.codes[block], columns, sides, leaves, self.scores[block]), self.blocks
        )

    def mean_loss(self) -> float:
        """Log loss in the mean."""
        out, rows = np.empty(len(self.rows)), self.rows
        rows.pool.do(lambda block: row_losses(self.scores[block], rows.y[block], out[block]), self.blocks)
        return float(rows.weight @ out / max(float(rows.weight.sum()), 1e-300))


def start_scores(rows: RowsInMemory, intercept: Array | None = None) -> Array:
    """Scores before the first tree: intercept and offset."""
    intercept = log_prior(rows.class_weights()) if intercept is None else intercept
    return np.tile(intercept, (len(rows), 1)) if not len(rows.offset) else intercept + rows.offset


@kernel
def find_leaves(codes: UInt8, columns: Int32, sides: UInt8, first: int, last: int, leaf: UInt8) -> None:
    """The leaf of the rows from `first` to `last` in one tree; `codes` is columns × rows."""
    leaf[first:last] = 0
    for k in range(MAX_QUESTIONS):
        column = columns[k]
        for i in range(first, last):
            leaf[i] = 2 * leaf[i] + sides[k, codes[column, i]]


@kernel
def sum_by_leaf(leaf: UInt8, gradient: Array, hessian: Array, weight: Array, sums: Array) -> None:
    """Add gradients, then curvatures, and last the weight of rows to the sums of their leaves."""
    n_scores = gradient.shape[1]
    for i in range(len(leaf)):
        at = leaf[i]
        for c in range(n_scores):
            sums[at, c] += gradient[i, c]
            sums[at, n_scores + c] += hessian[i, c]
        sums[at, 2 * n_scores] += weight[i]


@kernel
def add_and_derive(
    leaf: UInt8, leaves: Array, scores: Array, y: Int32, weight: Array, gradient: Array, hessian: Array
) -> None:
    """Add to the scores of each row what its leaf says; gradient and curvature of the log loss follow.

    They are weight · (p − [class is true]) and weight · p (1 − p).
    """
    n_scores = scores.shape[1]
    size = strip_rows(n_scores)
    for start in range(0, len(leaf), size):
        strip = slice(start, min(start + size, len(leaf)))
        for i in range(strip.start, strip.stop):
            for c in range(n_scores):
                scores[i, c] += leaves[leaf[i], c]
                gradient[i, c] = scores[i, c]
        residuals(gradient[strip], y[strip], weight[strip])
        fill_hessian(gradient[strip], y[strip], weight[strip], hessian[strip])
