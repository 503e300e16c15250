"""A tree as tensors of ONNX: the branch that each row takes at every node, and the share of it that reaches each leaf.

Rows without gaps reach one leaf. With `missing="weights"` a gap shares a row out among the branches, as the training
cases went; with surrogates another column decides. What reaches a node is the product of the shares on its way, found
by doubling: after k steps each node has multiplied 2ᵏ of them, so that a deep tree is no deep graph.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likely.arrays import Array, Flags, Int64
from likely.errors import SettingsError
from likely.families.export import Tensor
from likely.models.tree.tree import NodeTest, Tree
from likely.store.onnx import OnnxGraph

UNKNOWN = -1


def graph_posterior(graph: OnnxGraph, tree: Tree, shares: Array) -> Tensor:
    """P(class | row) as rows × classes, from the class shares of every node."""
    for feature in tree.features:
        if feature.word is not None:
            raise SettingsError(
                f"The tree tests whether {feature.name}, and ONNX has no words of a text: fit a tree without column "
                f"{feature.column!r}."
            )
    start = graph.apply("Add", graph.zeros(), graph.constant(np.ones((1, 1))))
    if tree.is_leaf[0]:
        return graph.apply("Mul", start, graph.constant(shares[:1]))
    inner = np.flatnonzero(~tree.is_leaf)
    places = Places.of(tree)
    position = np.zeros(len(tree), dtype=np.int64)
    position[inner] = np.arange(len(inner))
    branch = graph.columns(_branches(graph, tree, inner), position[places.parent[1:]].tolist())
    passed = graph.apply("Equal", branch, graph.constant(places.branch[None, 1:]))
    reached = graph.where(passed, graph.constant(1.0), graph.constant(0.0))
    if tree.missing == "weights":
        gap = _is_unknown(graph, branch)
        reached = graph.where(gap, graph.constant(places.share[None, 1:]), reached)
    reached = graph.apply("Concat", start, reached, attributes={"axis": 1})
    above = places.parent
    while above.any():
        reached = graph.apply("Mul", reached, graph.columns(reached, above.tolist()))
        above = above[above]
    said = np.where(places.ends[:, None], shares[places.node], 0.0)
    return graph.apply("MatMul", reached, graph.constant(said))


class Places(NamedTuple):
    """Where a row may come to, the root first: the nodes and, where no branch has had a case, the same node for a gap.

    `parent` is the place above, `branch` the one that leads here, `share` that of a gap, and `ends` says that nothing
    lies below.
    """

    node: Int64
    parent: Int64
    branch: Int64
    share: Array
    ends: Flags

    @classmethod
    def of(cls, tree: Tree) -> Places:
        nodes = np.arange(len(tree))
        parent = np.maximum(tree.parent, 0).astype(np.int64)
        branch = nodes - tree.first_child[parent]
        branch[0] = 0
        below = np.bincount(parent[1:], weights=tree.sizes[1:], minlength=len(tree))
        share = np.divide(tree.sizes, below[parent], out=np.zeros(len(tree)), where=below[parent] > 0.0)
        stay = np.flatnonzero(~tree.is_leaf & ~(below > 0.0))
        return cls(
            np.concatenate([nodes, stay]), np.concatenate([parent, stay]),
            np.concatenate([branch, np.full(len(stay), UNKNOWN)]), np.concatenate([share, np.ones(len(stay))]),
            np.concatenate([tree.is_leaf, np.ones(len(stay), dtype=np.bool_)]),
        )  # fmt: skip


def _branches(graph: OnnxGraph, tree: Tree, inner: Int64) -> Tensor:
    """The branch that each row takes at every inner node, −1 for a gap without surrogates."""
    tests = [tree.tests(node) for node in inner.tolist()]
    taken = _outcomes(graph, [own for own, *_ in tests])
    if tree.missing != "surrogates":
        return taken
    for turn in range(1, max(map(len, tests))):
        some = [k for k, own in enumerate(tests) if turn < len(own)]
        unknown = graph.constant(np.array([[UNKNOWN]]))
        outcomes = _outcomes(graph, [tests[k][turn] for k in some])
        padded = graph.apply("Concat", outcomes, graph.apply("Add", graph.as_int(graph.zeros()), unknown),
                             attributes={"axis": 1})  # fmt: skip
        places = np.full(len(inner), len(some))
        places[some] = np.arange(len(some))
        taken = graph.where(_is_unknown(graph, taken), graph.columns(padded, places.tolist()), taken)
    usual = graph.constant(tree.majority_branch[inner].astype(np.int64)[None])
    return graph.where(_is_unknown(graph, taken), usual, taken)


def _is_unknown(graph: OnnxGraph, branches: Tensor) -> Tensor:
    return graph.apply("Less", branches, graph.constant(np.array([[0]])))


def _outcomes(graph: OnnxGraph, tests: list[NodeTest]) -> Tensor:
    """Rows × tests: the branch that each test tells, −1 where it cannot."""
    is_numeric = np.array([test.feature.is_numeric for test in tests])
    numeric, nominal = np.flatnonzero(is_numeric), np.flatnonzero(~is_numeric)
    parts = []
    if len(numeric):
        parts.append(_numeric(graph, [tests[k] for k in numeric]))
    if len(nominal):
        parts.append(_nominal(graph, [tests[k] for k in nominal]))
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate([numeric, nominal]))
    return graph.columns(graph.apply("Concat", *parts, attributes={"axis": 1}), order.tolist())


def _numeric(graph: OnnxGraph, tests: list[NodeTest]) -> Tensor:
    names = _names(tests)
    numbers = graph.columns(graph.numbers(list(names)), [names[test.feature.name] for test in tests])
    above = graph.apply("LessOrEqual", graph.constant(np.array([[test.threshold for test in tests]])), numbers)
    high, low = (graph.constant(np.array([side])) for side in zip(*((t.high, t.low) for t in tests), strict=True))
    told = graph.where(above, high, low)
    return graph.where(graph.apply("IsNaN", numbers), graph.constant(np.array([[UNKNOWN]])), told)


def _nominal(graph: OnnxGraph, tests: list[NodeTest]) -> Tensor:
    """All branches lie in one table, those of each test behind a line for what is not known."""
    names = _names(tests)
    levels = {test.feature.name: test.feature.levels or () for test in tests}
    codes = [graph.codes(name, levels[name], unseen=UNKNOWN, gap=UNKNOWN) for name in names]
    matrix = codes[0] if len(codes) == 1 else graph.apply("Concat", *codes, attributes={"axis": 1})
    table: list[int] = []
    starts = []
    for test in tests:
        starts.append(len(table) + 1)
        table += [UNKNOWN, *test.branches.tolist()]
    wanted = graph.columns(matrix, [names[test.feature.name] for test in tests])
    places = graph.apply("Add", wanted, graph.constant(np.array([starts])))
    return graph.rows_of(np.array(table), places)


def _names(tests: list[NodeTest]) -> dict[str, int]:
    """The names of their columns, each once, and their places."""
    return {name: place for place, name in enumerate(dict.fromkeys(test.feature.name for test in tests))}
