"""The branch that most cases take, at numbers of cases where a small absolute difference is lost in rounding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from likely import TreeClassifier, load
from likely.models.tree import Feature, GrowthPlan, TrainingData, Tree
from likely.models.tree.level import LevelPartition
from tests.models.tree.test_batches import by_batches

LIMITS = [2**14, 2**14 + 1, 2**15, 2**15 + 1, 2**16, 2**16 + 1, 2**31, 2**53 - 1]


@pytest.mark.parametrize("most", LIMITS)
def test_usual_branch_of_many_cases(most: int) -> None:
    partition = LevelPartition.of(np.array([2, 0, 3], dtype=np.int32), np.empty(0, dtype=np.int32))
    known = np.array([most // 2, most, most // 4, most, most], dtype=np.float64)
    assert partition.majority_branches(known).tolist() == [1, -1, 1]


def test_rounding_decides_nothing() -> None:
    partition = LevelPartition.of(np.array([2], dtype=np.int32), np.empty(0, dtype=np.int32))
    whole = 2.0**16
    assert partition.majority_branches(np.array([np.nextafter(whole, 0.0), whole])).tolist() == [0]


def made(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Two numbers that tell two classes, most rows on the upper side."""
    rng = np.random.default_rng(n_rows)
    y = (np.arange(n_rows) >= 0.3 * n_rows).astype(int)
    return rng.normal(size=(n_rows, 2)) + 4.0 * y[:, None], y


def usual_of(tree: Tree) -> list[int]:
    """The largest child of each node, −1 for a leaf."""
    pairs = zip(tree.first_child.tolist(), tree.n_children.tolist(), strict=True)
    return [int(np.argmax(tree.sizes[first : first + n])) if n else -1 for first, n in pairs]


@pytest.mark.parametrize("n_rows", [2**14, 2**15 + 2, 2**16, 2**16 + 4])
@pytest.mark.parametrize("missing", ["weights", "surrogates"])
def test_tree_of_many_rows_comes_back(n_rows: int, missing: str, tmp_path: Path) -> None:
    X, y = made(n_rows)
    clf = TreeClassifier(max_depth=2, missing=missing).fit(X, y)
    clf.save(tmp_path / "tree.likely")
    again = load(tmp_path / "tree.likely")
    gaps = np.full((1, 2), np.nan)
    assert again.predict_proba(X[:50]).tolist() == clf.predict_proba(X[:50]).tolist()
    assert again.predict_proba(gaps).tolist() == clf.predict_proba(gaps).tolist()
    assert clf.predict(gaps).tolist() == [1]
    assert clf.tree_.majority_branch.tolist() == usual_of(clf.tree_)


def test_heavy_rows_are_many_rows() -> None:
    X, y = made(400)
    tree = TreeClassifier(max_depth=2, missing="surrogates").fit(X, y, np.full(400, 1e6)).tree_
    assert 1 in usual_of(tree)
    assert tree.majority_branch.tolist() == usual_of(tree)


def test_usual_branch_of_counted_batches() -> None:
    X, y = made(2**16)
    features = Feature("a", None), Feature("b", None)
    columns = np.ascontiguousarray(X[:, 0]), np.ascontiguousarray(X[:, 1])
    stock = TrainingData(features, columns, np.arange(2), y.astype(np.int32), None)
    tree = by_batches(GrowthPlan(max_depth=2, min_cases=2.0), stock, 2**15)
    assert 1 in usual_of(tree)
    assert tree.majority_branch.tolist() == usual_of(tree)
