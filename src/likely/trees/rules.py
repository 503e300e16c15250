"""A tree as rules: one for each leaf, from the tests on the way to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from likely.trees.tree import Tree
from likely.trees.wording import condition, number, weight


@dataclass(frozen=True, slots=True)
class Rule:
    """If all conditions hold, then this class; of so many cases, with this confidence (its smoothed share)."""

    conditions: tuple[str, ...]
    then: Any
    cases: float
    confidence: float

    def __str__(self) -> str:
        start = f"if {' and '.join(self.conditions)} then " if self.conditions else "always "
        one = "case" if self.cases == 1 else "cases"
        return f"{start}{self.then}, {weight(self.cases)} {one}, confidence {self.confidence:.3f}"


def rules(tree: Tree, smoothing: float = 1.0) -> list[Rule]:
    """One rule per leaf, in the order of the drawing; several cuts of one column become one interval."""
    shares, labels = tree.probabilities(smoothing), tree.classes.tolist()
    found = []
    for leaf, path in _paths(tree):
        best = int(shares[leaf].argmax())
        then = labels[best] if tree.decided is None else tree.decided[leaf]
        sure = shares[leaf, labels.index(then) if then in labels else best]
        found.append(Rule(_joined(tree, path), then, float(tree.sizes[leaf]), float(sure)))
    return found


def _paths(tree: Tree) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    pending: list[tuple[int, list[tuple[int, int]]]] = [(0, [])]
    while pending:
        node, path = pending.pop()
        if tree.is_leaf[node]:
            yield node, path
            continue
        children = list(tree.children(node))
        pending += [(child, [*path, (node, b)]) for b, child in reversed(list(enumerate(children)))]


def _joined(tree: Tree, path: list[tuple[int, int]]) -> tuple[str, ...]:
    """Conditions in the order of first use; of the cuts of a column the tightest two."""
    said: dict[Any, str] = {}
    low: dict[int, float] = {}
    high: dict[int, float] = {}
    for node, branch in path:
        column = int(tree.column[node])
        if not tree.features[column].is_numeric:
            said[column, node] = condition(tree, node, branch)
            continue
        cut = float(tree.threshold[node])
        if branch:
            low[column] = max(low.get(column, cut), cut)
        else:
            high[column] = min(high.get(column, cut), cut)
        said[column] = _interval(tree.features[column].name, low.get(column), high.get(column))
    return tuple(said.values())


def _interval(name: str, low: float | None, high: float | None) -> str:
    if low is None:
        return f"{name} < {number(high or 0.0)}"
    return f"{name} ≥ {number(low)}" if high is None else f"{number(low)} ≤ {name} < {number(high)}"
