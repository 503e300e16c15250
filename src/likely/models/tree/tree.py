"""A decision tree as flat arrays, one line per node in level order, siblings side by side; and how it is written."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likely.arrays import AnyArray, Array, Int32, Int64

Missing = Literal["weights", "surrogates"]

LEAF = -1

MOST_VALUES = 8

LONGEST = 48


@dataclass(frozen=True, slots=True)
class Feature:
    """A column that a tree may test: its values if it is nominal; `cuts` is the number of ways to cut a numeric one.

    Whether a text holds a word is a nominal column of its own: `word` is the name of the text column, and the word.
    """

    name: str
    levels: tuple[Hashable, ...] | None = None
    cuts: int = 0
    word: tuple[str, str] | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether tests compare it with a threshold."""
        return self.levels is None

    @property
    def column(self) -> str:
        """The column of the table that it is read from."""
        return self.name if self.word is None else self.word[0]


class NodeTest(NamedTuple):
    """A number below `threshold` takes the branch `low`, any other `high`; a category that of its value (−1: none)."""

    feature: Feature
    threshold: float
    low: int
    high: int
    branches: Int32


@dataclass(frozen=True, slots=True, eq=False)
class Surrogates:
    """Tests that stand in for a node's own, best first: those of node k lie between `starts[k]` and `starts[k + 1]`.

    On a numeric column `low` is the branch below the threshold and `high` the one from it up; on a nominal one, the
    branches of its values begin at `values` in the tree's `branches`.
    """

    starts: Int64
    column: Int32
    threshold: Array
    low: Int32
    high: Int32
    values: Int64

    @classmethod
    def none(cls, n_nodes: int) -> Surrogates:
        """No surrogates at all."""
        ints, order = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
        return cls(np.zeros(n_nodes + 1, dtype=np.int64), ints, np.empty(0), ints, ints, order)


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in level order; the root is node 0.

    `column` is the place of the tested feature, −1 in a leaf. A numeric test sends a value below `threshold` to the
    first child and any other to the second; a nominal one looks up its branch in `branches`, from `values` on (−1:
    this value leads nowhere, as a gap). `counts` holds the class weights of the training cases; `majority` the branch
    that most of them took. `decided` is what a loss makes of each node; it is no part of what was learned.
    """

    classes: AnyArray
    features: tuple[Feature, ...]
    missing: Missing
    column: Int32
    threshold: Array
    first_child: Int32
    n_children: Int32
    values: Int64
    branches: Int32
    majority_branch: Int32
    counts: Array
    surrogates: Surrogates
    decided: tuple[Hashable, ...] | None = None

    def __len__(self) -> int:
        """How many nodes there are, leaves included."""
        return len(self.column)

    @cached_property
    def sizes(self) -> Array:
        """Weight of the cases in each node."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def errors(self) -> Array:
        """Weight of the cases that each node would misclassify if it were a leaf."""
        return np.asarray(self.sizes - self.counts.max(axis=1, initial=0.0))

    @cached_property
    def majority(self) -> NDArray[np.intp]:
        """The most frequent class of each node; the first of equals."""
        return np.asarray(self.counts.argmax(axis=1))

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes test nothing."""
        return np.asarray(self.column == LEAF)

    @cached_property
    def parent(self) -> Int32:
        """The node above each node, −1 for the root."""
        found = np.full(len(self), -1, dtype=np.int32)
        inner = np.flatnonzero(~self.is_leaf)
        children = np.repeat(self.first_child[inner], self.n_children[inner])
        steps = np.arange(len(children)) - np.repeat(
            np.cumsum(self.n_children[inner]) - self.n_children[inner], self.n_children[inner]
        )
        found[children + steps] = np.repeat(inner, self.n_children[inner])
        return found

    @cached_property
    def depths(self) -> Int32:
        """How many tests lie above each node."""
        found = np.zeros(len(self), dtype=np.int32)
        for node in range(1, len(self)):
            found[node] = found[self.parent[node]] + 1
        return found

    @property
    def n_leaves(self) -> int:
        """How many nodes are leaves."""
        return int(self.is_leaf.sum())

    @property
    def training_errors(self) -> float:
        """Weight of the training cases that the leaves misclassify."""
        return float(self.errors[self.is_leaf].sum())

    def children(self, node: int) -> range:
        """The nodes below, in the order of the branches."""
        return range(self.first_child[node], self.first_child[node] + self.n_children[node])

    def branch_map(self, node: int) -> Int32:
        """The branch of every value of the nominal column that a node tests."""
        levels = self.features[self.column[node]].levels or ()
        return self.branches[self.values[node] : self.values[node] + len(levels)]

    def tests(self, node: int) -> list[NodeTest]:
        """A node's own test, and those that stand in for it, best first."""
        other, found = self.surrogates, list[NodeTest]()
        lines = [(self.column[node], self.threshold[node], 0, 1, self.values[node])]
        for k in range(other.starts[node], other.starts[node + 1]):
            lines.append((other.column[k], other.threshold[k], other.low[k], other.high[k], other.values[k]))
        for column, threshold, low, high, start in lines:
            feature = self.features[column]
            branches = self.branches[start : start + len(feature.levels or ())]
            found.append(NodeTest(feature, float(threshold), int(low), int(high), branches))
        return found

    def walk(self) -> Iterator[int]:
        """All nodes, each before those below it, the first branch first."""
        pending = [0]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(self.children(node)))

    def probabilities(self, smoothing: float) -> Array:
        """P(class) in each node with Laplace's correction; a node without cases takes after the whole tree."""
        counts = self.counts + smoothing
        totals = counts.sum(axis=1, keepdims=True)
        whole = self.counts[0] / max(self.counts[0].sum(), np.finfo(float).tiny)
        bare = np.broadcast_to(whole, counts.shape).copy()
        return np.asarray(np.divide(counts, totals, out=bare, where=totals > 0.0))

    def with_counts(self, counts: Array) -> Tree:
        """The same tests with the class weights of other cases."""
        return replace(self, counts=counts)


# How splits and nodes are written: in drawings, rules, pictures and paths.


def number(value: float) -> str:
    """Ten digits at most, and none that say nothing."""
    return f"{value:.10g}"


def label(tree: Tree, node: int) -> str:
    """The class that a node stands for, or what is decided there instead."""
    most = tree.classes.tolist()[tree.majority[node]]
    if tree.decided is None or tree.decided[node] == most:
        return str(most)
    return f"{tree.decided[node]}, though most are {most}"


def weight(value: float) -> str:
    """A number of cases; parts of cases with two digits."""
    if value >= 1e15:  # the last digits would be inventions
        return f"{value:.10g}"
    return f"{value:,.0f}" if abs(value - round(value)) < 5e-3 else f"{value:,.2f}"


def cases(tree: Tree, node: int) -> str:
    """Cases in a node, and after a stroke those of other classes, if there are any."""
    errors = float(tree.errors[node])
    return weight(tree.sizes[node]) + (f"/{weight(errors)}" if errors >= 5e-3 else "")


def values_of(tree: Tree, node: int, branch: int) -> list[Hashable]:
    """The values of a nominal column that take a branch."""
    levels = tree.features[tree.column[node]].levels or ()
    return [level for level, own in zip(levels, tree.branch_map(node), strict=True) if own == branch]


def outcome(tree: Tree, node: int, branch: int) -> str:
    """What has to hold for a branch, without the name of the column: "< 41", "high", "≠ red"."""
    if tree.features[tree.column[node]].is_numeric:
        return f"{'<' if branch == 0 else '≥'} {number(tree.threshold[node])}"
    values = values_of(tree, node, branch)
    if tree.n_children[node] == 2 and len(values) > 1:
        others = values_of(tree, node, 1 - branch)
        if len(others) == 1:
            return f"≠ {others[0]}"
    shown = ", ".join(str(value) for value in values[:MOST_VALUES])
    return shown if len(values) <= MOST_VALUES else f"{shown} and {len(values) - MOST_VALUES} more"


def outcome_above(tree: Tree, node: int) -> str:
    """What has to hold above a node for a row to come to it."""
    above = int(tree.parent[node])
    return outcome(tree, above, node - int(tree.first_child[above]))


def condition(tree: Tree, node: int, branch: int) -> str:
    """The same with the name: "age < 41", "blood_pressure = high", "colour in red, green"."""
    name, said = tree.features[tree.column[node]].name, outcome(tree, node, branch)
    if tree.features[tree.column[node]].is_numeric or said.startswith("≠ "):
        return f"{name} {said}"
    several = len(values_of(tree, node, branch)) > 1
    return f"{name} in {{{said}}}" if several else f"{name} = {said}"


def shortened(text: object, longest: int = LONGEST) -> str:
    """On one line, and not too long."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in str(text)).split()) or "(empty)"
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
