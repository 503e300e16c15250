"""A tree written down as the definitions say it, without arrays and without haste: the oracle of the tests.

Rows are lists with None for a gap; numbers are numeric columns, strings nominal ones. Weights are fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import log2
from typing import Any

Case = tuple[int, Fraction]


@dataclass
class Plan:
    measure: str
    missing: str
    mode: str = "every"
    min_cases: int = 2
    max_depth: int | None = None
    restrained: bool = False


@dataclass
class Data:
    rows: list[list[Any]]
    kinds: list[str]
    labels: list[int]
    n_classes: int

    def values(self, column: int) -> list[Any]:
        return sorted({row[column] for row in self.rows if row[column] is not None})


@dataclass
class Node:
    counts: list[Fraction]
    column: int | None = None
    threshold: float | None = None
    branch: dict[Any, int] | None = None
    children: list[Node] = field(default_factory=list)
    usual: int = -1
    stand_ins: list[tuple[int, float | None, Any]] = field(default_factory=list)
    shares: list[Fraction] = field(default_factory=list)

    @property
    def n(self) -> Fraction:
        return sum(self.counts, Fraction(0))

    @property
    def errors(self) -> Fraction:
        return self.n - max(self.counts)

    def leaf(self) -> Node:
        return Node(self.counts)


def entropy(weights: list[Any]) -> float:
    total = sum(weights)
    return -sum(float(w / total) * log2(w / total) for w in weights if w > 0)


def measured(name: str, branches: list[list[Fraction]]) -> float:
    """The measure of a test with these class weights in its branches."""
    classes = [sum(cells) for cells in zip(*branches, strict=True)]
    sizes = [sum(branch) for branch in branches]
    n = sum(sizes)
    if name == "misclassification":
        return float((sum(max(branch) for branch in branches) - max(classes)) / n)
    if name == "gini":
        within = sum(sum(w * w for w in b) / s for b, s in zip(branches, sizes, strict=True) if s)
        return float(within / n - sum(w * w for w in classes) / (n * n))
    if name == "chi2":
        terms = [
            (b[c] - s * classes[c] / n) ** 2 / (s * classes[c] / n) / n
            for b, s in zip(branches, sizes, strict=True)
            for c in range(len(classes))
            if s * classes[c]
        ]
        return float(sum(terms))
    of_class, of_value, of_both = entropy(classes), entropy(sizes), entropy([w for b in branches for w in b])
    gain = of_class + of_value - of_both
    if gain <= 1e-12:
        return 0.0
    below = {
        "information_gain": 1.0,
        "gain_ratio": of_value,
        "symmetric_gain_ratio_1": of_both,
        "symmetric_gain_ratio_2": of_value + of_class,
    }
    return gain / below[name]


Test = tuple[float, float | None, dict[Any, int] | None]
"""Value, threshold, branch of each value."""


def tabled(data: Data, cases: list[Case], branch_of: Callable[[int], int | None], n: int) -> list[list[Fraction]]:
    branches = [[Fraction(0)] * data.n_classes for _ in range(n)]
    for row, weight in cases:
        branch = branch_of(row)
        if branch is not None:
            branches[branch][data.labels[row]] += weight
    return branches


def best_cut(data: Data, cases: list[Case], column: int, plan: Plan) -> Test:
    present = sorted({data.rows[row][column] for row, _ in cases if data.rows[row][column] is not None})
    best, threshold = 0.0, None
    for low, high in pairwise(present):
        middle = (low + high) / 2
        split = tabled(data, cases, lambda row, m=middle: side(data.rows[row][column], m), 2)  # type: ignore[misc]
        if min(map(sum, split)) < plan.min_cases:
            continue
        value = measured(plan.measure, split)
        if value > 1e-12 and value >= best * (1 - 1e-10):
            best, threshold = max(best, value), middle
    return best, threshold, None


def side(value: Any, threshold: float) -> int | None:
    return None if value is None else int(value >= threshold)


def one_against_rest(data: Data, cases: list[Case], column: int, plan: Plan, present: list[Any]) -> Test:
    best, found = 0.0, None
    for value in present:
        branch = {other: int(other != value) for other in data.values(column)}
        split = tabled(data, cases, lambda row, b=branch: b.get(data.rows[row][column]), 2)  # type: ignore[misc]
        if min(map(sum, split)) < plan.min_cases:
            continue
        value_of = measured(plan.measure, split)
        if value_of > 1e-12 and value_of > best * (1 + 1e-10):
            best, found = value_of, branch
    return best, None, found


def best_values(data: Data, cases: list[Case], column: int, plan: Plan) -> Test:
    present = sorted({data.rows[row][column] for row, _ in cases if data.rows[row][column] is not None})
    if len(present) < 2:
        return 0.0, None, None

    def judged(groups: list[list[Any]]) -> tuple[float, dict[Any, int]]:
        ordered = sorted(groups, key=min)
        branch = {value: place for place, group in enumerate(ordered) for value in group}
        split = tabled(data, cases, lambda row: branch.get(data.rows[row][column]), len(groups))
        return measured(plan.measure, split), branch

    def large(branch: dict[Any, int]) -> int:
        n = len(set(branch.values()))
        split = tabled(data, cases, lambda row: branch.get(data.rows[row][column]), n)
        return sum(sum(cells) >= plan.min_cases for cells in split)

    if plan.mode == "one":
        return one_against_rest(data, cases, column, plan, present)
    groups = [[value] for value in present]
    current, branch = judged(groups)
    while plan.mode == "groups" and len(groups) > 2:
        best_value, best_groups = -1.0, groups
        for option in mergers(groups):
            value_of = judged(option)[0]
            if best_value < 0 or value_of > best_value * (1 + 1e-10):
                best_value, best_groups = value_of, option
        if best_value < current * (1 - 1e-10):
            break
        groups = best_groups
        current, branch = judged(groups)
    return (current, None, branch) if current > 1e-12 and large(branch) >= 2 else (0.0, None, None)


def mergers(groups: list[list[Any]]) -> Iterator[list[list[Any]]]:
    """All ways to join two groups."""
    for a in range(len(groups)):
        for b in range(a + 1, len(groups)):
            others = [group for k, group in enumerate(groups) if k not in (a, b)]
            yield [*others[:a], groups[a] + groups[b], *others[a:]]


def known_weight(data: Data, cases: list[Case], column: int) -> Fraction:
    return sum((weight for row, weight in cases if data.rows[row][column] is not None), Fraction(0))


def grow(data: Data, cases: list[Case], plan: Plan, used: frozenset[int] = frozenset(), depth: int = 0) -> Node:
    node = Node(tabled(data, cases, lambda row: 0, 1)[0])
    if node.errors == 0 or (plan.max_depth is not None and depth >= plan.max_depth):
        return node
    best, winner, test = 0.0, None, (0.0, None, None)
    considered = telling_columns(data, cases, plan, used) if plan.restrained else set(range(len(data.kinds))) - used
    for column, kind in enumerate(data.kinds):
        if column not in considered:
            continue
        found: Test = (best_cut if kind == "numeric" else best_values)(data, cases, column, plan)
        if plan.restrained and kind == "numeric":
            found = ratio_of_the_best_gain(data, cases, column, plan)
        value = found[0] * float(known_weight(data, cases, column) / node.n)
        if value > best * (1 + 1e-10):
            best, winner, test = value, column, found  # type: ignore[assignment]
    if winner is None:
        return node
    node.column, node.threshold, node.branch = winner, test[1], test[2]
    below = used | {winner} if node.branch is not None and plan.mode == "every" else used
    for part in divided(data, node, cases, plan):
        node.children.append(grow(data, part, plan, frozenset(below), depth + 1))
    return node


def telling_columns(data: Data, cases: list[Case], plan: Plan, used: frozenset[int]) -> set[int]:
    """Columns whose greatest gain is at least the average of those that gain anything."""
    by_gain, gains = replace(plan, measure="information_gain"), {}
    n = sum(weight for _, weight in cases)
    for column, kind in enumerate(data.kinds):
        if column not in used:
            value = (best_cut if kind == "numeric" else best_values)(data, cases, column, by_gain)[0]
            gains[column] = value * float(known_weight(data, cases, column) / n)
    positive = [value for value in gains.values() if value > 0]
    average = sum(positive) / max(len(positive), 1)
    return {column for column, value in gains.items() if value >= average * (1 - 1e-10)}


def ratio_of_the_best_gain(data: Data, cases: list[Case], column: int, plan: Plan) -> Test:
    _, threshold, _ = best_cut(data, cases, column, replace(plan, measure="information_gain"))
    if threshold is None:
        return 0.0, None, None
    split = tabled(data, cases, lambda row: side(data.rows[row][column], threshold), 2)
    return measured("gain_ratio", split), threshold, None


def branch_of(data: Data, node: Node, row: list[Any]) -> int | None:
    assert node.column is not None
    value = row[node.column]
    if node.threshold is not None:
        return side(value, node.threshold)
    assert node.branch is not None
    return node.branch.get(value)


def divided(data: Data, node: Node, cases: list[Case], plan: Plan) -> list[list[Case]]:
    """The cases of each branch; finds the stand-ins on the way."""
    n = 2 if node.branch is None else len(set(node.branch.values()))
    branches = {row: branch_of(data, node, data.rows[row]) for row, _ in cases}
    known = [sum((w for row, w in cases if branches[row] == b), Fraction(0)) for b in range(n)]
    node.usual = known.index(max(known))
    if plan.missing == "surrogates":
        node.stand_ins = stand_ins(data, node, cases, branches, n)
        for row in branches:
            if branches[row] is None:
                branches[row] = by_stand_in(data, node, data.rows[row])
    parts: list[list[Case]] = [[] for _ in range(n)]
    for row, weight in cases:
        for b in range(n):
            if branches[row] is None:
                parts[b].append((row, weight * known[b] / sum(known)))
            elif branches[row] == b:
                parts[b].append((row, weight))
    return parts


def by_stand_in(data: Data, node: Node, row: list[Any]) -> int:
    for column, threshold, sides in node.stand_ins:
        value = row[column]
        if value is None:
            continue
        if threshold is not None:
            return int(sides[int(value >= threshold)])
        if value in sides:
            return int(sides[value])
    return node.usual


def stand_ins(
    data: Data, node: Node, cases: list[Case], branches: dict[int, int | None], n: int
) -> list[tuple[int, float | None, Any]]:
    found = []
    for column, kind in enumerate(data.kinds):
        both = [(data.rows[r][column], branches[r], w) for r, w in cases]
        both = [(v, b, w) for v, b, w in both if v is not None and b is not None]
        followed = sum(w for _, b, w in both if b == node.usual)

        def most(some: list[Any]) -> tuple[int, Fraction]:
            sums = [sum((w for _, b, w in some if b == k), Fraction(0)) for k in range(n)]
            return sums.index(max(sums)), max(sums)

        present = sorted({v for v, _, _ in both})
        best: tuple[Fraction, float | None, Any] = (Fraction(0), None, None)
        if kind == "numeric":
            for low, high in pairwise(present):
                middle = (low + high) / 2
                left = most([case for case in both if case[0] < middle])
                right = most([case for case in both if case[0] >= middle])
                gain = left[1] + right[1] - followed
                if gain > 0 and gain >= best[0]:
                    best = gain, middle, (left[0], right[0])
        else:
            sides = {v: most([case for case in both if case[0] == v]) for v in present}
            gain = sum((right for _, right in sides.values()), Fraction(0)) - followed
            if gain > 0:
                best = gain, None, {v: b for v, (b, _) in sides.items()}
        if best[0] > 0 and column != node.column:
            found.append((best[0], column, best[1], best[2]))
    found.sort(key=lambda line: -line[0])
    return [line[1:] for line in found[:5]]


# Prediction


def predict(data: Data, node: Node, row: list[Any], plan: Plan, smoothing: int = 1) -> list[float]:
    if node.column is None:
        total = node.n + smoothing * len(node.counts)
        return [float((count + smoothing) / total) for count in node.counts]
    branch = branch_of(data, node, row)
    if branch is None and plan.missing == "surrogates":
        branch = by_stand_in(data, node, row)
    if branch is not None:
        return predict(data, node.children[branch], row, plan, smoothing)
    total = sum(child.n for child in node.children)
    parts = [(child.n / total, predict(data, child, row, plan, smoothing)) for child in node.children]
    return [sum(float(share) * shares[c] for share, shares in parts) for c in range(len(node.counts))]
