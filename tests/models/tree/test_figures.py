"""The lecture's trees and prunings, to the node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from sklearn.datasets import load_iris

from likely import TreeClassifier
from likely.measures import confident_errors
from likely.models.tree import Feature, Tree
from likely.models.tree.prune import Pruning, description_length, pessimistic_errors
from likely.models.tree.tree import Surrogates
from likely.teaching import datasets


@pytest.fixture(scope="module")
def iris() -> tuple[pd.DataFrame, Any]:
    data = load_iris()
    names = [name.removesuffix(" (cm)") for name in data.feature_names]
    return pd.DataFrame(data.data, columns=names), data.target_names[data.target]


def nodes_and_errors(clf: TreeClassifier, iris: tuple[pd.DataFrame, Any]) -> tuple[int, int]:
    X, y = iris
    return clf.n_nodes_, int((clf.predict(X) != y).sum())


def test_the_patients() -> None:
    """High pressure: A, low: B, normal: by age, between 30 and 52. No errors."""
    table = datasets.patients()
    for measure in ("information_gain", "gain_ratio", "misclassification", "chi2", "gini"):
        clf = TreeClassifier(prune=None, measure=measure).fit(table, "drug")
        assert clf.to_text() == "\n".join(
            [
                "blood_pressure",
                "├─ high: A (3)",
                "├─ low: B (3)",
                "└─ normal: age",
                "   ├─ < 41: A (3)",
                "   └─ ≥ 41: B (3)",
            ]
        )
        assert (clf.predict(table) == table["drug"]).all()
        assert clf.tree_.threshold[3] == 41.0


def test_iris_unpruned(iris: tuple[pd.DataFrame, Any]) -> None:
    clf = TreeClassifier(prune=None, restrained=False).fit(*iris)
    assert nodes_and_errors(clf, iris) == (11, 2)
    assert clf.to_text().splitlines() == [
        "petal length",
        "├─ < 2.45: setosa (50)",
        "└─ ≥ 2.45: petal width",
        "   ├─ < 1.75: petal length",
        "   │  ├─ < 5.35: petal length",
        "   │  │  ├─ < 4.95: versicolor (48/1)",
        "   │  │  └─ ≥ 4.95: petal width",
        "   │  │     ├─ < 1.55: virginica (2)",
        "   │  │     └─ ≥ 1.55: versicolor (2)",
        "   │  └─ ≥ 5.35: virginica (2)",
        "   └─ ≥ 1.75: virginica (46/1)",
    ]
    assert nodes_and_errors(TreeClassifier(prune=None, restrained=False, collapse=False).fit(*iris), iris) == (15, 2)


@pytest.mark.parametrize("measure", ["information_gain", "symmetric_gain_ratio_1", "symmetric_gain_ratio_2", "chi2"])
def test_iris_by_other_measures(measure: str, iris: tuple[pd.DataFrame, Any]) -> None:
    assert nodes_and_errors(TreeClassifier(prune=None, measure=measure).fit(*iris), iris) == (9, 3)


@pytest.mark.parametrize("collapse", [True, False])
@pytest.mark.parametrize("raising", [True, False])
def test_iris_pruned(raising: bool, collapse: bool, iris: tuple[pd.DataFrame, Any]) -> None:
    for prune, expected in ((("confidence", 0.8), (7, 4)), (("pessimistic", 2), (5, 6))):
        clf = TreeClassifier(restrained=False, prune=prune, raising=raising, collapse=collapse).fit(*iris)
        assert nodes_and_errors(clf, iris) == expected
        grown = TreeClassifier(prune=None, restrained=False, collapse=collapse).fit(*iris)
        later = grown.pruned(prune, *(iris if raising else ()), raising=raising)
        assert later.to_text() == clf.to_text()
        assert grown.n_nodes_ >= 11, "pruning changed the tree that it was given"


def test_the_confidence_level_at_which_iris_shrinks(iris: tuple[pd.DataFrame, Any]) -> None:
    sizes = [
        TreeClassifier(restrained=False, prune=("confidence", c)).fit(*iris).n_nodes_
        for c in (0.79, 0.7915, 0.7917, 0.8)
    ]
    assert sizes == [11, 11, 7, 7]


def by_hand() -> Tree:
    """A node with classes (13, 7) and three children."""
    counts = np.array([[13.0, 7.0], [5.0, 2.0], [6.0, 2.0], [2.0, 3.0]])
    leaf = np.array([0, -1, -1, -1], dtype=np.int32)
    return Tree(
        np.array(["c1", "c2"]),
        (Feature("a", ("a1", "a2", "a3")),),
        "weights",
        leaf,
        np.zeros(4),
        np.array([1, 0, 0, 0], dtype=np.int32),
        np.array([3, 0, 0, 0], dtype=np.int32),
        np.array([0, -1, -1, -1]),
        np.arange(3, dtype=np.int32),
        np.array([1, -1, -1, -1], dtype=np.int32),
        counts,
        Surrogates.none(4),
    )


def test_pruning_by_hand() -> None:
    tree = by_hand()
    assert (tree.errors[0], tree.training_errors) == (7.0, 6.0)
    charged = pessimistic_errors(tree.sizes, tree.errors, 0.8)
    assert (charged[0], charged[1:].sum()) == (approx(7.8), approx(8.4))
    assert len(Pruning("pessimistic", 0.8).apply(tree)) == 1
    charged = pessimistic_errors(tree.sizes, tree.errors, 0.4)
    assert (charged[0], charged[1:].sum()) == (approx(7.4), approx(7.2))
    assert len(Pruning("pessimistic", 0.4).apply(tree)) == 4


def test_errors_at_a_confidence_level() -> None:
    """Two of ten wrong, two-sided 95 %: Wilson's interval ends at 0.5098."""
    upper = confident_errors(np.array([10.0, 10.0, 10.0]), np.array([2.0, 0.0, 1.0]), 0.95)
    assert upper[0] == approx(5.098, abs=5e-4)
    assert upper[1] == approx(10 * (1 - 0.025**0.1))
    half = confident_errors(np.array([10.0]), np.array([0.5]), 0.95)
    assert half[0] == approx((upper[1] + upper[2]) / 2)
    assert confident_errors(np.array([1.0]), np.array([1.0]), 0.99)[0] <= 1.0


def test_description_length_by_hand() -> None:
    """One column with three values: 1 bit for each of four nodes, nothing for the column, and the classes."""
    from math import log2, pi

    tree = by_hand()
    labels = sum(
        -a * log2(a / (a + b)) - b * log2(b / (a + b)) + 0.5 * log2((a + b) / 2) + log2(pi)
        for a, b in ((5, 2), (6, 2), (2, 3))
    )
    assert description_length(tree) == approx(4 + labels)
