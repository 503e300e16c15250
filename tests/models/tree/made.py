"""Small tables of all kinds, and trees as nested tuples, so that two of them can be compared."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from likely.models.tree import Feature, TrainingData, Tree
from tests.models.tree import slow

FEWER = settings(max_examples=max(settings.default.max_examples // 3, 1))  # type: ignore[union-attr]
"""For a law that is checked for every measure and policy: they share the examples."""


@st.composite
def tables(draw: st.DrawFn, gaps: bool = True, most: int = 16) -> slow.Data:
    """Up to 16 rows, three columns and three classes, with gaps and ties."""
    kinds = draw(st.lists(st.sampled_from(["numeric", "nominal"]), min_size=1, max_size=3))
    n_classes = draw(st.integers(2, 3))
    cells = {
        "numeric": st.integers(0, 5).map(float),
        "nominal": st.sampled_from("abcd"),
    }
    row = st.tuples(*((st.none() | cells[kind] | cells[kind]) if gaps else cells[kind] for kind in kinds)).map(list)
    rows = draw(st.lists(row, min_size=2, max_size=most))
    labels = draw(st.lists(st.integers(0, n_classes - 1), min_size=len(rows), max_size=len(rows)))
    return slow.Data(rows, kinds, labels, n_classes)


def features(data: slow.Data) -> tuple[Feature, ...]:
    return tuple(
        Feature(f"x{place}") if kind == "numeric" else Feature(f"x{place}", tuple(data.values(place)))
        for place, kind in enumerate(data.kinds)
    )


def columns(data: slow.Data, known: tuple[Feature, ...] = ()) -> list[Any]:
    found: list[Any] = []
    for place, kind in enumerate(data.kinds):
        cells = [row[place] for row in data.rows]
        if kind == "numeric":
            found.append(np.array([np.nan if cell is None else cell for cell in cells]))
        else:
            values = list(known[place].levels or ()) if known else data.values(place)
            found.append(np.array([values.index(cell) if cell in values else -1 for cell in cells], dtype=np.int32))
    return found


def stocked(data: slow.Data) -> TrainingData:
    """The same table as a tree reads it."""
    labels = np.array(data.labels, dtype=np.int32)
    return TrainingData(features(data), tuple(columns(data)), np.arange(data.n_classes), labels, None)


def everyone(data: slow.Data) -> list[slow.Case]:
    return [(row, Fraction(1)) for row in range(len(data.rows))]


def nested(tree: Tree, node: int = 0) -> Any:
    """Column, threshold, branches, class weights and children of a node and all below it."""
    counts = tuple(round(float(count), 9) for count in tree.counts[node])
    if tree.is_leaf[node]:
        return counts
    feature = tree.features[tree.column[node]]
    test: Any = float(tree.threshold[node])
    if feature.levels is not None:
        branches = tree.branch_map(node).tolist()
        test = tuple((value, b) for value, b in zip(feature.levels, branches, strict=True) if b >= 0)
    children = tuple(nested(tree, child) for child in tree.children(node))
    return counts, int(tree.column[node]), test, stand_ins(tree, node), children


def stand_ins(tree: Tree, node: int) -> Any:
    own, found = tree.surrogates, []
    for k in range(own.starts[node], own.starts[node + 1]):
        column = int(own.column[k])
        levels = tree.features[column].levels
        if levels is None:
            found.append((column, float(own.threshold[k]), (int(own.low[k]), int(own.high[k]))))
        else:
            branches = tree.branches[own.values[k] : own.values[k] + len(levels)].tolist()
            pairs = tuple((value, b) for value, b in zip(levels, branches, strict=True) if b >= 0)
            found.append((column, None, pairs))
    return tuple(found)


def nested_slow(node: slow.Node) -> Any:
    counts = tuple(round(float(count), 9) for count in node.counts)
    if node.column is None:
        return counts
    test: Any = node.threshold
    if node.branch is not None:
        test = tuple(sorted(node.branch.items()))
    stands = tuple(
        (column, threshold, tuple(sides) if threshold is not None else tuple(sorted(sides.items())))
        for column, threshold, sides in node.stand_ins
    )
    return counts, node.column, test, stands, tuple(nested_slow(child) for child in node.children)
