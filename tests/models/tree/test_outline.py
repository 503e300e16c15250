"""The outline of a tree that folds, its page, its pixels, and how deep they go."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from likely import TreeClassifier
from likely.models.tree.plot import MOST_LINES, OPEN_LEVELS
from likely.teaching import datasets


@pytest.fixture(scope="module")
def grown() -> TreeClassifier:
    rng = np.random.default_rng(0)
    return TreeClassifier(measure="gini", prune=None).fit(rng.normal(size=(600, 3)), rng.integers(0, 2, 600))


class Depth(HTMLParser):
    """How deep lines of an outline lie in each other, and whether everything that opens closes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.now, self.deepest, self.opened = 0, 0, 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "details":
            self.now += 1
            self.deepest = max(self.deepest, self.now)
            self.opened += "open" in dict(attrs)

    def handle_endtag(self, tag: str) -> None:
        self.now -= tag == "details"


def test_every_node_is_a_line_that_folds(grown: TreeClassifier) -> None:
    html = grown.plot().to_html()
    tree = grown.tree_
    inner = int((~tree.is_leaf).sum())
    assert html.count("<summary>") == inner and html.count('class="leaf"') == tree.n_leaves
    depth = Depth(html)
    assert depth.now == 0 and depth.deepest == int(tree.depths.max())
    assert depth.opened == int((~tree.is_leaf & (tree.depths < OPEN_LEVELS)).sum())
    assert 'data-zoom="1.25"' in html and "http" not in re.sub(r'xmlns="[^"]*"', "", html)


def test_a_depth_limit_holds_for_every_drawing(grown: TreeClassifier) -> None:
    kept = int((grown.tree_.depths <= 2).sum())
    assert grown.plot(max_depth=2).to_svg().count("<title>") == kept
    page = grown.plot(max_depth=2).to_html()
    assert page.count("<summary>") + page.count('class="leaf"') == kept
    dot = grown.to_dot(max_depth=2)
    assert len(re.findall(r"^  n\d+ \[label=", dot, re.MULTILINE)) == kept
    assert dot.count(" -> ") == kept - 1 and "style=dashed" in dot
    assert len(grown.plot(max_depth=2).to_png()) < len(grown.plot(max_depth=4).to_png())


def test_the_way_of_a_row_is_unfolded_and_marked(grown: TreeClassifier) -> None:
    row = np.array([[0.1, 0.2, 0.3]])
    page = grown.plot(row).to_html()
    depth = int(grown.tree_.depths[grown.apply(row)[0]])
    assert page.count('class="on-the-way"') == depth + 1


def test_a_tree_is_saved_as_pixels(tmp_path: Path) -> None:
    clf = TreeClassifier().fit(datasets.patients(), "drug")
    saved = clf.plot().save(tmp_path / "tree.png").read_bytes()
    assert saved.startswith(b"\x89PNG")
    assert saved == clf.plot().to_png(), "the same tree is the same picture"


def test_a_tree_of_thousands_of_nodes_is_cut_between_levels() -> None:
    rng = np.random.default_rng(0)
    clf = TreeClassifier(measure="gini", prune=None, min_cases=1).fit(
        rng.normal(size=(9000, 2)), rng.integers(0, 2, 9000)
    )
    assert clf.n_nodes_ > MOST_LINES
    page = clf.plot().to_html()
    assert page.count("<summary>") + page.count('class="leaf"') <= MOST_LINES
