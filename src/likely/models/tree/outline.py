"""A tree as an outline that folds, and the page around its picture: buttons to zoom, to fold and to unfold."""

from __future__ import annotations

import numpy as np

from likely.markup import Markup, joined, tag
from likely.models.tree.tree import Tree, cases, label, outcome, shortened

OPEN_LEVELS = 3
"""Levels that are unfolded at first."""

MOST_NODES = 3_000
"""Nodes of an outline at most: whole levels, as many as fit."""

LONGEST = 60
BAR = 8.0
"""Width of a class bar, in letters."""

STYLE = Markup(
    ".outline details,.outline .leaf{margin-left:1.3em;line-height:1.7}.outline summary{cursor:pointer}"
    ".outline .bars{display:inline-flex;height:.7em;margin:0 .5em;vertical-align:middle}"
    ".outline .on-the-way{font-weight:600;box-shadow:inset 0 -.4em 0 -.1em var(--accent)}"
    ".outline .cases{opacity:.7}.zoom button{font:inherit;min-width:2.2em;margin:0 .3em .6em 0;cursor:pointer}"
)

SCRIPT = Markup(
    'const all=(what,act)=>document.querySelectorAll(what).forEach(act),tree=document.querySelector("svg");'
    'all("[data-zoom]",b=>b.onclick=()=>{const by=+b.dataset.zoom,now=tree.getBoundingClientRect().width;'
    'tree.style.cssText=by?`max-width:none;width:${now*by}px`:"max-width:100%;width:100%"});'
    'all("[data-fold]",b=>b.onclick=()=>all(".outline details",d=>d.open=b.dataset.fold==="0"));'
)
"""It runs without any request, and a page whose scripts are switched off still shows and folds everything."""


def outline(tree: Tree, marked: frozenset[int] = frozenset(), max_depth: int | None = None) -> Markup:
    """Tests as lines that fold, with class bars; those on a row's way are marked."""
    limit = _depth_limit(tree, max_depth)
    done: dict[int, Markup] = {}
    for node in range(len(tree) - 1, -1, -1):  # children come after their parents, so they are done before them
        depth = int(tree.depths[node])
        if depth > limit:
            continue
        line = _line(tree, node, marked)
        if tree.is_leaf[node] or depth == limit:
            more = None if tree.is_leaf[node] else " …"
            done[node] = tag("div", line, more, class_="leaf")
            continue
        inside = [done.pop(child) for child in tree.children(node)]
        is_open = "" if depth < OPEN_LEVELS or node in marked else None
        done[node] = tag("details", tag("summary", line), *inside, open=is_open)
    return tag("div", tag("style", STYLE), done[0], class_="outline")


def _depth_limit(tree: Tree, max_depth: int | None) -> int:
    sizes = np.cumsum(np.bincount(tree.depths))
    readable = max(int(np.searchsorted(sizes, MOST_NODES, side="right")) - 1, 1)
    return readable if max_depth is None else min(readable, max_depth)


def _line(tree: Tree, node: int, marked: frozenset[int]) -> Markup:
    above = int(tree.parent[node])
    leads = None
    if above >= 0:
        leads = f"{shortened(outcome(tree, above, node - int(tree.first_child[above])), LONGEST)}: "
    leaf = bool(tree.is_leaf[node])
    name = label(tree, node) if leaf else tree.features[tree.column[node]].name
    total = max(float(tree.sizes[node]), 1e-300)
    bars = [
        tag("span", style=f"width:{BAR * count / total:.2f}em;background:var(--class-{min(k, 6)})")
        for k, count in enumerate(tree.counts[node].tolist())
        if count > 0.0
    ]
    return joined(
        tag("span", leads, tag("strong", shortened(name, LONGEST)) if leaf else shortened(name, LONGEST),
            class_="on-the-way" if node in marked else None),
        tag("span", *bars, class_="bars"),
        tag("span", cases(tree, node), class_="cases"),
    )  # fmt: skip


def zoomable(picture: Markup, folding: Markup) -> Markup:
    """A picture with buttons to zoom it, and below it the outline with buttons to fold it."""
    zoom = [("0.8", "−"), ("1.25", "+"), ("0", "fit")]
    fold = [("0", "unfold all"), ("1", "fold all")]
    return joined(
        tag("p", *(tag("button", text, type="button", data_zoom=by) for by, text in zoom), class_="zoom"),
        picture,
        tag("h2", "The same, to fold"),
        tag("p", *(tag("button", text, type="button", data_fold=by) for by, text in fold), class_="zoom"),
        folding,
        tag("script", SCRIPT),
    )
