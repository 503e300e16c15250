"""A tree as a query: nested CASEs lead to a leaf, and where a gap sends a row to several, shares are added up.

A CASE goes one way only. So a row that meets a gap (with `missing="weights"`) has no leaf; for such rows alone the
posterior of every node is worked out from those of its children, from the bottom up.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from likely.arrays import Array, Index
from likely.decide import LossLike
from likely.engines.memory import USUAL_TOKENIZER
from likely.models.tree.tree import Feature, NodeTest, Tree
from likely.sql.nodes import Node
from likely.sql.posterior import Posterior, decision, first_largest
from likely.sql.query import Query

DEEPEST = 12
"""Tests inside each other in one expression; deeper trees go on in another step."""

MOST_SHARES = 1500
"""Shares of nodes that are worked out for rows with gaps; engines have a limit of columns."""

NOWHERE = -1
"""The leaf of a row that a gap sends to several, and the code of a missing or unknown value."""


def tree_posterior(query: Query, tree: Tree, shares: Array, loss: LossLike | None = None) -> Posterior:
    """P(class) of a row's leaf or leaves; `shares` are those of every node. With a loss, the cheapest is predicted.

    Where a tree is too large to be walked from below, a row that meets a gap has null.
    """
    rows = _Rows(query, tree)
    leaf = rows.leaf()
    leaves = np.flatnonzero(tree.is_leaf)
    place = query.kept(_place(query, leaf, leaves))
    found = [query.number_at(shares[leaves, c].tolist(), place.copy()) for c in range(shares.shape[1])]
    if tree.missing == "weights" and not tree.is_leaf[0]:
        lost = query.equal(leaf, query.whole(NOWHERE))
        partly = rows.from_below(shares, lost)
        found = [query.case([(lost.copy(), own)], node) for own, node in zip(partly, found, strict=True)]
    odd = rows.is_infinite()
    if odd is not None:
        found = [query.case([(odd.copy(), query.exp.Null())], node) for node in found]
    kept = [query.kept(node) for node in found]
    labels = [query.value(label) for label in tree.classes.tolist()]
    found_here = Posterior(kept, first_largest(query, kept, labels))
    if loss is None:
        return found_here
    return replace(found_here, prediction=decision(query, tree.classes, found_here, loss)["decision"])


def _place(query: Query, leaf: Node, leaves: Index) -> Node:
    """The place of a leaf among all; null for a row that has none."""
    known = query.at_most(query.whole(0), leaf.copy())
    numbers = np.zeros(int(leaves[-1]) + 1, dtype=np.int64)
    numbers[leaves] = np.arange(len(leaves))
    return query.case([(known, query.whole_at(numbers.tolist(), leaf.copy()))])


class _Rows:
    """The cells that a tree tests, and the branches that they take."""

    def __init__(self, query: Query, tree: Tree) -> None:
        self.query, self.tree = query, tree

    @cached_property
    def _tested(self) -> list[int]:
        return sorted({*self.tree.column[~self.tree.is_leaf].tolist(), *self.tree.surrogates.column.tolist()})

    @cached_property
    def _words(self) -> dict[str, list[str]]:
        """The words of each text that are asked for."""
        found: dict[str, list[str]] = {}
        for k in self._tested:
            word = self.tree.features[k].word
            if word is not None:
                found.setdefault(word[0], []).append(word[1])
        return found

    def _code(self, feature: Feature) -> Node:
        query, levels = self.query, feature.levels or ()
        if feature.word is None:
            return query.code(feature.name, levels, range(len(levels)), NOWHERE, NOWHERE)
        column, words = feature.word[0], self._words[feature.word[0]]
        counts = query.words(column, USUAL_TOKENIZER, words, np.eye(len(words)), distinct=True)
        there = query.case([(query.below(query.number(0.0), counts[words.index(feature.word[1])]), query.whole(1))])
        unknown = query.kept(query.null(query.cell(column)), ("no text", column))
        return query.kept(
            query.case([(unknown, query.whole(NOWHERE))], query.known_or(there, query.whole(0))), ("word", feature.word)
        )

    def is_infinite(self) -> Node | None:
        """Whether some tested number is infinite, which a tree refuses."""
        query, found = self.query, None
        for k in self._tested:
            if self.tree.features[k].is_numeric:
                odd = query.not_(query.finite(query.real(self.tree.features[k].name)))
                found = odd if found is None else query.either(found, odd)
        return None if found is None else query.kept(found)

    def _outcomes(self, test: NodeTest, n_branches: int) -> list[tuple[Node, int]]:
        """Conditions and the branch that each leads to; a branch that no value leads to has none."""
        query, feature = self.query, test.feature
        if feature.is_numeric:
            x, cut = query.real(feature.name), query.number(test.threshold)
            return [(query.below(x, cut), test.low), (query.at_most(cut.copy(), x.copy()), test.high)]
        own = test.branches.tolist()
        codes = [[query.whole(k) for k, to in enumerate(own) if to == branch] for branch in range(n_branches)]
        return [(query.among(self._code(feature), some), branch) for branch, some in enumerate(codes) if some]

    def _turns(self, node: int) -> tuple[list[tuple[Node, int]], int | None]:
        """The same of a node's test and its stand-ins; and the branch of all other rows, None if they have none."""
        tree = self.tree
        n_branches = int(tree.n_children[node])
        turns = [turn for test in tree.tests(node) for turn in self._outcomes(test, n_branches)]
        return turns, int(tree.majority_branch[node]) if tree.missing == "surrogates" else None

    def leaf(self) -> Node:
        """The leaf of a row, or `NOWHERE`."""
        query, frontier = self.query, [0]
        found = query.kept(self._down(0, DEEPEST, frontier := []))
        while frontier:
            deeper: list[int] = []
            whens = [
                (query.equal(found.copy(), query.whole(node)), self._down(node, DEEPEST, deeper)) for node in frontier
            ]
            found, frontier = query.kept(query.case(whens, found.copy())), deeper
        return found

    def _down(self, node: int, depth: int, frontier: list[int]) -> Node:
        """Nested CASEs below a node; nodes that are too deep go to the frontier."""
        query, tree = self.query, self.tree
        if tree.is_leaf[node]:
            return query.whole(node)
        if depth == 0:
            frontier.append(node)
            return query.whole(node)
        turns, usual = self._turns(node)
        first = int(tree.first_child[node])
        if usual is None:
            whens = [(when, self._down(first + branch, depth - 1, frontier)) for when, branch in turns]
            return query.case(whens, query.whole(NOWHERE))
        if len(turns) > tree.n_children[node]:  # several conditions lead to one branch, which is to be written once
            taken = query.kept(query.case([(when, query.whole(b)) for when, b in turns], query.whole(usual)))
            turns = [(query.equal(taken.copy(), query.whole(b)), b) for b in range(tree.n_children[node])]
        below = {b: self._down(first + b, depth - 1, frontier) for b in {b for _, b in turns} | {usual}}
        return query.case([(when, below[b]) for when, b in turns if b != usual], below[usual])

    def from_below(self, shares: Array, lost: Node) -> list[Node]:
        """P(class) of rows that reach several leaves: each branch counts with its share of the training cases."""
        query, tree, sizes = self.query, self.tree, self.tree.sizes
        n_classes = shares.shape[1]
        if int((~tree.is_leaf).sum()) * n_classes > MOST_SHARES:
            return [query.exp.Null() for _ in range(n_classes)]
        found: dict[int, list[Node]] = {}
        for node in range(len(tree) - 1, -1, -1):
            if tree.is_leaf[node]:
                found[node] = [query.number(share) for share in shares[node].tolist()]
                continue
            children = list(tree.children(node))
            turns, _ = self._turns(node)
            total = float(sizes[children].sum())
            weights = [float(sizes[child]) / total if total > 0.0 else 0.0 for child in children]
            found[node] = []
            for c in range(n_classes):
                parts = [
                    query.times(query.number(w), found[child][c].copy())
                    for child, w in zip(children, weights, strict=True)
                    if w > 0.0
                ]
                shared = query.sum(parts) if parts else query.number(float(shares[node, c]))
                whens = [(when.copy(), found[children[branch]][c].copy()) for when, branch in turns]
                found[node].append(query.kept(query.case([(lost.copy(), query.case(whens, shared))])))
        return found[0]
