"""A fitted tree for people and other programs: a drawing in lines, rules, JSON, a graph and a page."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from likely.markup import Markup, joined, tag
from likely.models.tree.plot import TreePicture
from likely.models.tree.tree import Feature, Tree, cases, condition, label, number, outcome, shortened, weight

# A tree in lines of text: a test, and below it what follows from each outcome.

MOST_LINES = 400


def drawn(tree: Tree, max_depth: int | None = None, most_lines: int = MOST_LINES) -> str:
    """The tree as lines; a leaf says its class, its cases and, after a stroke, those of other classes."""
    lines: list[str] = []
    pending: list[tuple[int, int, str, str, str]] = [(0, 0, "", "", "")]
    while pending and len(lines) < most_lines:
        node, depth, first, rest, said = pending.pop()
        cut = max_depth is not None and depth >= max_depth and not tree.is_leaf[node]
        lines.append(f"{first}{said}{_node(tree, node)}{' …' if cut else ''}")
        if tree.is_leaf[node] or cut:
            continue
        children = list(tree.children(node))
        for branch in range(len(children) - 1, -1, -1):
            last = branch == len(children) - 1
            turns = (f"{rest}└─ ", f"{rest}   ") if last else (f"{rest}├─ ", f"{rest}│  ")
            pending.append((children[branch], depth + 1, *turns, f"{outcome(tree, node, branch)}: "))
    left = len(pending)
    return "\n".join([*lines, *([f"… {len(tree):,} nodes in all; say max_depth=… to see the top"] if left else [])])


def _node(tree: Tree, node: int) -> str:
    if tree.is_leaf[node]:
        return f"{label(tree, node)} ({cases(tree, node)})"
    return str(tree.features[tree.column[node]].name)


# A tree as rules: one for each leaf, from the tests on the way to it.


@dataclass(frozen=True, slots=True)
class Rule:
    """If all conditions hold, then this class; of so many cases, with this confidence (its smoothed share)."""

    conditions: tuple[str, ...]
    then: Hashable
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
    said: dict[int | tuple[int, int], str] = {}
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


# A tree for other programs: as JSON, and as Graphviz's dot.


FORMAT = 1
"""Of the JSON document; docs/model.schema.json describes it."""


def as_json(tree: Tree, indent: int | None = None, smoothing: float = 1.0) -> str:
    """Strict JSON: classes, columns, and a list of nodes that name their children by number."""
    document = {
        "format": FORMAT,
        "classifier": "TreeClassifier",
        "smoothing": smoothing,
        "classes": [_plain(value) for value in tree.classes.tolist()],
        "missing": tree.missing,
        "columns": [_column(feature) for feature in tree.features],
        "nodes": [_json_node(tree, node) for node in range(len(tree))],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)


def _column(feature: Feature) -> dict[str, object]:
    if feature.levels is None:
        return {"name": feature.name, "kind": "numeric"}
    found: dict[str, object] = {
        "name": feature.name,
        "kind": "nominal",
        "values": [_plain(value) for value in feature.levels],
    }
    return found if feature.word is None else found | {"text": feature.column, "word": feature.word[1]}


def _json_node(tree: Tree, node: int) -> dict[str, object]:
    found: dict[str, object] = {
        "node": node,
        "class": _plain(tree.classes.tolist()[tree.majority[node]]),
        "counts": tree.counts[node].tolist(),
    }
    if tree.decided is not None:
        found["decision"] = _plain(tree.decided[node])
    if tree.is_leaf[node]:
        return found
    feature = tree.features[tree.column[node]]
    found |= {"column": feature.name, "children": list(tree.children(node)), "usual": int(tree.majority_branch[node])}
    if feature.levels is None:
        found["threshold"] = float(tree.threshold[node])
    else:
        found["branches"] = tree.branch_map(node).tolist()
    stand_ins = [_stand_in(tree, k) for k in range(tree.surrogates.starts[node], tree.surrogates.starts[node + 1])]
    return found | ({"stand_ins": stand_ins} if stand_ins else {})


def _stand_in(tree: Tree, k: int) -> dict[str, object]:
    own, feature = tree.surrogates, tree.features[tree.surrogates.column[k]]
    if feature.levels is None:
        sides = {"below": int(own.low[k]), "from": int(own.high[k])}
        return {"column": feature.name, "threshold": float(own.threshold[k]), **sides}
    branches = tree.branches[own.values[k] : own.values[k] + len(feature.levels)]
    return {"column": feature.name, "branches": branches.tolist()}


def _plain(value: object) -> object:
    return value if value is None or type(value) in (bool, int, str) else str(value)


def as_dot(tree: Tree, max_depth: int | None = None) -> str:
    """A directed graph: tests as boxes, leaves as rounded ones, outcomes on the edges; what lies deeper is left out."""
    lines = ["digraph tree {", '  node [shape=box, fontname="sans-serif"];', '  edge [fontname="sans-serif"];']
    for node in range(len(tree)):
        if max_depth is not None and tree.depths[node] > max_depth:
            continue
        if tree.is_leaf[node]:
            text = f"{label(tree, node)}\n{cases(tree, node)}"
            lines.append(f"  n{node} [label={_quoted(text)}, style=rounded];")
            continue
        name = str(tree.features[tree.column[node]].name)
        if tree.depths[node] == max_depth:
            lines.append(f"  n{node} [label={_quoted(name + ' …')}, style=dashed];")
            continue
        lines.append(f"  n{node} [label={_quoted(name)}];")
        for branch, child in enumerate(tree.children(node)):
            lines.append(f"  n{node} -> n{child} [label={_quoted(shortened(outcome(tree, node, branch)))}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    """A string of dot: backslashes and quotes are escaped, a new line is \\n."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def as_page(tree: Tree, title: str) -> Markup:
    """How large the tree is, and its picture, as HTML."""
    counted = f"{len(tree):,} nodes, {tree.n_leaves:,} of them leaves, {int(tree.depths.max()):,} tests deep"
    return joined(tag("p", tag("strong", title), tag("br"), counted), TreePicture(tree)._repr_html_())
