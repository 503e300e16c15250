"""A tree in lines of text: a test, and below it what follows from each outcome."""

from __future__ import annotations

from likely.trees.tree import Tree
from likely.trees.wording import cases, label, outcome

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
