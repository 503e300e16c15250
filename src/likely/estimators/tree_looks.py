"""What a fitted tree shows of itself: drawings, rules, exports, pictures and the ways of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from likely.trees import Rows, Tree
from likely.trees.drawing import drawn
from likely.trees.exchange import as_dot, as_json
from likely.trees.paths import Paths
from likely.trees.picture import TreePicture
from likely.trees.rules import Rule, rules
from likely.trees.sql import Gaps, case_expression


class TreeLooks:
    """Stands beside a classifier with a `tree_`, before scikit-learn's classes among its bases."""

    tree_: Tree
    smoothing: float

    def _rows(self, X: Any) -> Rows:
        raise NotImplementedError("A tree's looks stand beside a classifier, which reads the table.")

    def _shares(self) -> NDArray[np.float64]:
        raise NotImplementedError("A tree's looks stand beside a classifier, which knows the shares of its leaves.")

    def _shown(self) -> Tree:
        raise NotImplementedError("A tree's looks stand beside a classifier, which decides in its leaves.")

    def _decided(self, X: Any) -> Sequence[Any] | None:
        raise NotImplementedError("A tree's looks stand beside a classifier, which decides for rows.")

    def explain(self, X: Any) -> Paths:
        """The tests that each row passed and the leaf, or leaves, that it came to."""
        check_is_fitted(self)
        rows = replace(self._rows(X), tree=self._shown())
        return Paths.of(rows, self._shares(), self._decided(X))

    def to_text(self, max_depth: int | None = None) -> str:
        """The tree in lines: tests, outcomes, and in a leaf its class, its cases and, after a stroke, its errors."""
        check_is_fitted(self)
        return drawn(self._shown(), max_depth)

    def rules(self) -> list[Rule]:
        """One rule for each leaf: if … and … then class, cases, confidence."""
        check_is_fitted(self)
        return rules(self._shown(), float(self.smoothing))

    def to_sql(self, gaps: Gaps = "null") -> str:
        """One SQL expression with the class of a row (with a `loss`, the decision): names and values are quoted.

        With `missing="weights"` a row that meets a gap gets NULL, or by `gaps="usual"` follows most cases.
        """
        check_is_fitted(self)
        return case_expression(self._shown(), gaps)

    def to_json(self, indent: int | None = None) -> str:
        """The tree as strict JSON: classes, columns, and nodes that name their children by number."""
        check_is_fitted(self)
        return as_json(self._shown(), indent)

    def to_dot(self) -> str:
        """The tree as a graph for Graphviz."""
        check_is_fitted(self)
        return as_dot(self._shown())

    def plot(self, X: Any = None, row: int = 0, max_depth: int | None = None) -> TreePicture:
        """The tree as a picture with class bars; with rows, the way of one of them is highlighted."""
        check_is_fitted(self)
        return TreePicture(self._shown(), max_depth=max_depth) if X is None else self.explain(X).plot(row, max_depth)

    def _repr_html_inner(self) -> str:
        if hasattr(self, "tree_"):
            return self._page()
        return str(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = cast("dict[str, str]", super()._repr_mimebundle_(**kwargs))  # type: ignore[misc]
        if hasattr(self, "tree_") and get_config()["display"] == "diagram":
            bundle["text/html"] = self._page()
        return bundle

    def _page(self) -> str:
        tree = self._shown()
        counted = f"{len(tree):,} nodes, {tree.n_leaves:,} of them leaves, {int(tree.depths.max()):,} tests deep"
        return f"<p><b>{escape(repr(self))}</b><br>{counted}</p>{TreePicture(tree)._repr_html_()}"
