"""Prunings written down as the definitions say them: the second half of the tests' oracle."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import gamma, log2, pi, sqrt
from statistics import NormalDist

from tests.models.tree.slow import Case, Data, Node, Plan, branch_of, by_stand_in, grow, predict, tabled


def pruned(node: Node, leaf_cost: Callable[[Node], float], test_cost: Callable[[Node], float] | None = None) -> Node:
    return _pruned(node, leaf_cost, test_cost or (lambda node: 0.0))[0]


def _pruned(node: Node, leaf_cost: Callable[[Node], float], test_cost: Callable[[Node], float]) -> tuple[Node, float]:
    own = leaf_cost(node)
    if node.column is None:
        return node, own
    below = [_pruned(child, leaf_cost, test_cost) for child in node.children]
    cost = test_cost(node) + sum(cost for _, cost in below)
    if own <= cost * (1 + 1e-6):
        return node.leaf(), own
    kept = Node(node.counts, node.column, node.threshold, node.branch, [child for child, _ in below], node.usual)
    kept.stand_ins = node.stand_ins
    return kept, cost


def pessimistic(r: float) -> Callable[[Node], float]:
    return lambda node: min(float(node.n), float(node.errors) + r)


def confidence(level: float) -> Callable[[Node], float]:
    beta = (1 - level) / 2
    z = NormalDist().inv_cdf(1 - beta)

    def upper(n: float, e: float) -> float:
        p = min(e / n, 1.0)
        root = sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return n * (p + z * z / (2 * n) + z * root) / (1 + z * z / n)

    def cost(node: Node) -> float:
        n, e = float(node.n), float(node.errors)
        none, one = n * (1 - beta ** (1 / n)), upper(n, 1.0)
        return min(n, upper(n, e) if e >= 1 else none + e * (one - none))

    return cost


def stochastic_complexity(node: Node) -> float:
    n, k = float(node.n), len(node.counts)
    labels = sum(float(count) * log2(n / float(count)) for count in node.counts if count)
    parameters = (k - 1) / 2 * log2(max(n, 2.0) / 2) + log2(pi ** (k / 2) / gamma(k / 2))
    return 1 + labels + max(parameters, 0.0)


def length_of_test(data: Data) -> Callable[[Node], float]:
    def cost(node: Node) -> float:
        assert node.column is not None
        bits = 1 + log2(len(data.kinds))
        if node.branch is None:
            return bits + log2(max(len(data.values(node.column)) - 1, 1))
        grouped = len(node.children) < len(node.branch)
        return bits + (len(node.branch) * log2(len(node.children)) if grouped else 0.0)

    return cost


def counted(data: Data, node: Node, cases: list[Case], plan: Plan) -> Node:
    """The same tests, with the class weights of other cases."""
    new = Node(tabled(data, cases, lambda row: 0, 1)[0], node.column, node.threshold, node.branch)
    if node.column is None:
        return new
    total = sum(child.n for child in node.children)
    for place, child in enumerate(node.children):
        part = []
        for row, weight in cases:
            branch = branch_of(data, node, data.rows[row])
            if branch is None and plan.missing == "surrogates":
                branch = by_stand_in(data, node, data.rows[row])
            if branch is None:
                part.append((row, weight * child.n / total))
            elif branch == place:
                part.append((row, weight))
        new.children.append(counted(data, child, part, plan))
    return new


def size(node: Node) -> int:
    return 1 + sum(size(child) for child in node.children)


def leaf_errors(node: Node) -> Fraction:
    return node.errors if node.column is None else sum((leaf_errors(child) for child in node.children), Fraction(0))


def leaves(node: Node) -> int:
    return 1 if node.column is None else sum(leaves(child) for child in node.children)


def cheapest(node: Node, alpha: float, total: float) -> Node:
    """The smallest subtree with the least errors / total + alpha · leaves."""
    return pruned(node, lambda leaf: float(leaf.errors) / total + alpha)


def weakest_first(node: Node, total: int) -> list[tuple[Fraction, Node]]:
    """Breiman's sequence: prices of a leaf at which the tree shrinks, and the tree from each of them on."""
    found = [(Fraction(0), node)]
    while True:
        price, smallest = found[-1]
        links = {id(one): link(one, total) for one in inner(smallest)}
        if not links:
            return found
        least = min(links.values())
        weakest = {one for one, saved in links.items() if saved == least}
        smaller = without(smallest, weakest)
        found = [*found[:-1], (price, smaller)] if least == price else [*found, (least, smaller)]


def link(node: Node, total: int) -> Fraction:
    """What a subtree saves for each leaf that it has more than one."""
    return (node.errors - leaf_errors(node)) / total / (leaves(node) - 1)


def inner(node: Node) -> list[Node]:
    return [] if node.column is None else [node, *(one for child in node.children for one in inner(child))]


def without(node: Node, weakest: set[int]) -> Node:
    if node.column is None or id(node) in weakest:
        return node.leaf()
    kept = Node(node.counts, node.column, node.threshold, node.branch, usual=node.usual, stand_ins=node.stand_ins)
    kept.children = [without(child, weakest) for child in node.children]
    return kept


def price_by_folds(data: Data, plan: Plan, fold: list[int]) -> float:
    """The price with the fewest errors on rows that were left out, and the highest of equals.

    Tried are the geometric means of neighbouring prices of the whole tree, and the last of these.
    """
    whole = grow(data, [(row, Fraction(1)) for row in range(len(data.rows))], plan)
    steps = [float(price) for price, _ in weakest_first(whole, len(data.rows))]
    prices = [*(sqrt(low * high) for low, high in pairwise(steps)), steps[-1]]
    errors = [0] * len(prices)
    for k in sorted(set(fold)):
        learned = [(row, Fraction(1)) for row, own in enumerate(fold) if own != k]
        sequence = weakest_first(grow(data, learned, plan), len(learned))
        for place, price in enumerate(prices):
            tree = [smaller for step, smaller in sequence if float(step) <= price * (1 + 1e-10) + 1e-12][-1]
            for row in (row for row, own in enumerate(fold) if own == k):
                shares = predict(data, tree, data.rows[row], plan, smoothing=0)
                errors[place] += shares.index(max(shares)) != data.labels[row]
    return max(price for price, wrong in zip(prices, errors, strict=True) if wrong == min(errors))


def raised(
    data: Data, node: Node, cases: list[Case], plan: Plan, charge: Callable[[Node], float]
) -> tuple[Node, float]:
    """Leaf, largest branch or the whole: what is charged least for these cases; from the leaves up."""
    here = Node(tabled(data, cases, lambda row: 0, 1)[0])
    as_leaf = charge(here) if here.n else 0.0
    if node.column is None:
        return here, as_leaf
    parts = shared_out(data, node, cases, plan)
    below = [raised(data, child, part, plan, charge) for child, part in zip(node.children, parts, strict=True)]
    cost = sum(charged for _, charged in below)
    weights = [sum((w for _, w in part), Fraction(0)) for part in parts]
    largest = weights.index(max(weights))
    branch = below[largest][0]
    as_branch = charged_for(data, branch, cases, plan, charge)
    if as_leaf <= min(cost, as_branch) * (1 + 1e-6):
        return here, as_leaf
    if as_branch <= cost * (1 + 1e-6):
        return raised(data, branch, cases, plan, charge)
    kept = Node(here.counts, node.column, node.threshold, node.branch, [child for child, _ in below], node.usual)
    kept.stand_ins, kept.shares = node.stand_ins, shares_of(node)
    return kept, cost


def shares_of(node: Node) -> list[Fraction]:
    """What part of a gap each branch gets: as the cases that the tree grew from went."""
    return node.shares or [child.n / sum(c.n for c in node.children) for child in node.children]


def shared_out(data: Data, node: Node, cases: list[Case], plan: Plan) -> list[list[Case]]:
    parts: list[list[Case]] = [[] for _ in node.children]
    for row, weight in cases:
        branch = branch_of(data, node, data.rows[row])
        if branch is None and plan.missing == "surrogates":
            branch = by_stand_in(data, node, data.rows[row])
        for place, share in enumerate(shares_of(node)):
            if branch is None:
                parts[place].append((row, weight * share))
            elif branch == place:
                parts[place].append((row, weight))
    return parts


def charged_for(data: Data, node: Node, cases: list[Case], plan: Plan, charge: Callable[[Node], float]) -> float:
    """What a subtree, pruned already, is charged with for other cases."""
    if node.column is None:
        here = Node(tabled(data, cases, lambda row: 0, 1)[0])
        return charge(here) if here.n else 0.0
    parts = shared_out(data, node, cases, plan)
    pairs = zip(node.children, parts, strict=True)
    return sum(charged_for(data, child, part, plan, charge) for child, part in pairs)
