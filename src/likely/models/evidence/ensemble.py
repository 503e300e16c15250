"""The rest: boosted trees over the codes of columns, for what no table of three columns can say.

A tree asks up to six questions, the same ones of every row: is the code of a column one of these? The answers are the
bits of the leaf's number, and a leaf adds to every score. So a tree is a table over a few columns that are cut in two,
and whoever can look tables up can score it.

    score(x) = Σ_trees leaves[tree, Σ_k 2^(5−k) · sides[tree, k, code of column k of the tree]]

What a column contributes is its Shapley value, exact for every tree: v(S) is the mean of the leaves that agree with the
row in the questions about the columns S, weighted by the training rows in them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from likely.arrays import Array, Index, Int32, UInt8
from likely.jit import kernel
from likely.models.evidence.encoding import N_CODES
from likely.numerics import Place

MAX_QUESTIONS = 6
N_LEAVES = 1 << MAX_QUESTIONS


@dataclass(frozen=True, slots=True, eq=False)
class TreeEnsemble:
    """`columns` is trees × questions, `sides` trees × questions × codes of 0 or 1, `leaves` trees × leaves × scores.

    `covers` is the weight of the training rows in each leaf. A question that was not asked has sides of 0 only.
    """

    columns: Int32
    sides: UInt8
    leaves: Array
    covers: Array

    @classmethod
    def empty(cls, n_scores: int, n_trees: int = 0) -> TreeEnsemble:
        return cls(
            np.zeros((n_trees, MAX_QUESTIONS), dtype=np.int32),
            np.zeros((n_trees, MAX_QUESTIONS, N_CODES), dtype=np.uint8),
            np.zeros((n_trees, N_LEAVES, n_scores)),
            np.zeros((n_trees, N_LEAVES)),
        )

    def __len__(self) -> int:
        return len(self.columns)

    def first(self, n_trees: int) -> TreeEnsemble:
        """The first of the trees."""
        return TreeEnsemble(self.columns[:n_trees], self.sides[:n_trees], self.leaves[:n_trees], self.covers[:n_trees])

    def scaled(self, weight: float) -> TreeEnsemble:
        return replace(self, leaves=weight * self.leaves)

    def questions(self, tree: int) -> list[tuple[int, UInt8]]:
        """The column of every question that a tree asks, and the side of each code."""
        asked = np.flatnonzero(self.sides[tree].any(axis=1)).tolist()
        return [(int(self.columns[tree, k]), self.sides[tree, k]) for k in asked]

    def asked_leaves(self, tree: int) -> Index:
        """The leaves that answers to the questions asked lead to, in the order of these answers as bits."""
        asked = self.sides[tree].any(axis=1)
        shifts = (MAX_QUESTIONS - 1 - np.flatnonzero(asked))[::-1]
        leaves = np.zeros(1, dtype=np.intp)
        for shift in shifts:
            leaves = np.concatenate([leaves, leaves | 1 << int(shift)])
        return leaves

    def used_columns(self) -> Index:
        """The columns that some tree asks about."""
        asked = self.sides.any(axis=2)
        return np.unique(self.columns[asked]).astype(np.intp)

    def add_scores(self, codes: UInt8, block: slice, out: Array) -> None:
        """Add the leaves of a block of rows to their scores, given the codes of all rows; `out` begins at the block."""
        if len(self):
            add_leaves(codes[block], self.columns, self.sides, self.leaves, out)

    def contributions(self, codes: UInt8) -> tuple[Array, Array]:
        """Scores of a row of which nothing is known, and rows × used columns × scores that add up to the rest."""
        used, n_scores = self.used_columns(), self.leaves.shape[2]
        base, out = np.zeros(n_scores), np.zeros((len(codes), len(used), n_scores))
        for tree in range(len(self)):
            asked = np.flatnonzero(self.sides[tree].any(axis=1))
            players = np.unique(self.columns[tree, asked])
            if not len(players):
                base += self.leaves[tree, 0]
                continue
            player_of = np.full(MAX_QUESTIONS, -1, dtype=np.int64)
            player_of[asked] = np.searchsorted(players, self.columns[tree, asked])
            worth = coalition_values(player_of, len(players), self.leaves[tree], self.covers[tree])
            base += worth[0, 0]
            leaf = np.zeros(len(codes), dtype=np.int64)
            for k in range(MAX_QUESTIONS):
                leaf = 2 * leaf + self.sides[tree, k, codes[:, self.columns[tree, k]]]
            values = shapley_values(worth, len(players))  # leaves × players × scores
            out[:, np.searchsorted(used, players)] += values[leaf]
        return base, out


NO_TREES = TreeEnsemble.empty(1)


@kernel
def add_leaves(codes: UInt8, columns: Int32, sides: UInt8, leaves: Array, out: Array) -> None:
    """Add the leaf of each row in each tree to its scores."""
    n_trees, n_questions = columns.shape
    n_scores = leaves.shape[2]
    for i in range(codes.shape[0]):
        for t in range(n_trees):
            leaf = Place(0)
            for k in range(n_questions):
                leaf = leaf * Place(2) + Place(sides[t, k, codes[i, columns[t, k]]])
            for c in range(n_scores):
                out[i, c] += leaves[t, leaf, c]


def coalition_values(player_of: Index, n_players: int, leaves: Array, covers: Array) -> Array:
    """v(S) of every coalition of columns (a bit for each) at every leaf: coalitions × leaves × scores.

    The leaves that agree with a leaf in the questions of S share one mean; where no row fell into any, a plain one.
    """
    numbers = np.arange(N_LEAVES)
    out = np.empty((1 << n_players, N_LEAVES, leaves.shape[1]))
    shifts = MAX_QUESTIONS - 1 - np.arange(MAX_QUESTIONS)
    asked = player_of >= 0
    reachable = (numbers & sum(1 << int(s) for s in shifts[~asked])) == 0  # a question not asked has the answer 0
    for coalition in range(1 << n_players):
        known = [k for k in np.flatnonzero(asked) if coalition >> int(player_of[k]) & 1]
        group = numbers & sum(1 << int(shifts[k]) for k in known)
        weight = np.where(reachable, covers, 0.0)
        total = np.bincount(group, weights=weight, minlength=N_LEAVES)
        weight = np.where(total[group] > 0.0, weight, reachable.astype(np.float64))
        total = np.bincount(group, weights=weight, minlength=N_LEAVES)
        for c in range(leaves.shape[1]):
            sums = np.bincount(group, weights=weight * leaves[:, c], minlength=N_LEAVES)
            out[coalition, :, c] = (sums / np.where(total > 0.0, total, 1.0))[group]
    out[-1] = leaves
    return out


def shapley_values(worth: Array, n_players: int) -> Array:
    """Leaves × players × scores: the mean of v(S ∪ {j}) − v(S) over all orders in which columns can become known."""
    out = np.zeros((worth.shape[1], n_players, worth.shape[2]))
    orders = np.cumprod([1.0, *range(1, n_players + 1)])
    for coalition in range(1 << n_players):
        size = coalition.bit_count()
        for j in range(n_players):
            if not coalition >> j & 1:
                share = orders[size] * orders[n_players - size - 1] / orders[n_players]
                out[:, j] += share * (worth[coalition | 1 << j] - worth[coalition])
    return out
