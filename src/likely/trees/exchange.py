"""A tree for other programs: as JSON, and as Graphviz's dot."""

from __future__ import annotations

import json
from typing import Any

from likely.trees.tree import Feature, Tree
from likely.trees.wording import cases, label, outcome, shortened


def as_json(tree: Tree, indent: int | None = None) -> str:
    """Strict JSON: classes, columns, and a list of nodes that name their children by number."""
    document = {
        "classes": [_plain(value) for value in tree.classes.tolist()],
        "missing": tree.missing,
        "columns": [_column(feature) for feature in tree.features],
        "nodes": [_node(tree, node) for node in range(len(tree))],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)


def _column(feature: Feature) -> dict[str, Any]:
    if feature.levels is None:
        return {"name": feature.name, "kind": "numeric"}
    found = {"name": feature.name, "kind": "nominal", "values": [_plain(value) for value in feature.levels]}
    return found if feature.word is None else found | {"text": feature.column, "word": feature.word[1]}


def _node(tree: Tree, node: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "node": node,
        "class": _plain(tree.classes.tolist()[tree.majority[node]]),
        "counts": tree.counts[node].tolist(),
    }
    if tree.decided is not None:
        found["decision"] = _plain(tree.decided[node])
    if tree.is_leaf[node]:
        return found
    feature = tree.features[tree.column[node]]
    found |= {"column": feature.name, "children": list(tree.children(node)), "usual": int(tree.usual[node])}
    if feature.levels is None:
        found["threshold"] = float(tree.threshold[node])
    else:
        found["branches"] = tree.branch_map(node).tolist()
    stand_ins = [_stand_in(tree, k) for k in range(tree.surrogates.starts[node], tree.surrogates.starts[node + 1])]
    return found | ({"stand_ins": stand_ins} if stand_ins else {})


def _stand_in(tree: Tree, k: int) -> dict[str, Any]:
    own, feature = tree.surrogates, tree.features[tree.surrogates.column[k]]
    if feature.levels is None:
        sides = {"below": int(own.low[k]), "from": int(own.high[k])}
        return {"column": feature.name, "threshold": float(own.threshold[k]), **sides}
    branches = tree.branches[own.values[k] : own.values[k] + len(feature.levels)]
    return {"column": feature.name, "branches": branches.tolist()}


def _plain(value: Any) -> Any:
    return value if value is None or type(value) in (bool, int, str) else str(value)


def as_dot(tree: Tree) -> str:
    """A directed graph: tests as boxes, leaves as rounded ones, outcomes on the edges."""
    lines = ["digraph tree {", '  node [shape=box, fontname="sans-serif"];', '  edge [fontname="sans-serif"];']
    for node in range(len(tree)):
        if tree.is_leaf[node]:
            text = f"{label(tree, node)}\n{cases(tree, node)}"
            lines.append(f"  n{node} [label={_quoted(text)}, style=rounded];")
            continue
        lines.append(f"  n{node} [label={_quoted(tree.features[tree.column[node]].name)}];")
        for branch, child in enumerate(tree.children(node)):
            lines.append(f"  n{node} -> n{child} [label={_quoted(shortened(outcome(tree, node, branch)))}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    """A string of dot: backslashes and quotes are escaped, a new line is \\n."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
