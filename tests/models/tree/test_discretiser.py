"""Numbers as intervals: cut by a tree, by width, by frequency."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from likely import BayesClassifier, LikelyError, TreeClassifier, TreeDiscretiser


@parametrize_with_checks([TreeDiscretiser(encode="code"), TreeDiscretiser(encode="code", method="frequency", n_bins=4)])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def iris() -> tuple[pd.DataFrame, Any]:
    data = load_iris()
    names = [name.removesuffix(" (cm)") for name in data.feature_names]
    return pd.DataFrame(data.data, columns=names), data.target_names[data.target]


def test_a_tree_is_flattened(iris: tuple[pd.DataFrame, Any]) -> None:
    X, y = iris
    cuts = TreeDiscretiser().fit(X, y)
    assert cuts.intervals_["petal length"][:2] == ["< 2.45", "[2.45, 4.75)"]
    for name in X:
        tree = TreeClassifier(measure="information_gain", prune=("confidence", 0.8)).fit(X[[name]], y).tree_
        assert cuts.edges_[name].tolist() == sorted(set(tree.threshold[~tree.is_leaf].tolist()))
    intervals = cuts.transform(X)
    below = X["petal length"] < 2.45
    assert (intervals[below.to_numpy(), 2] == "< 2.45").all()
    assert set(intervals[:, 2]) == set(cuts.intervals_["petal length"])


def test_codes_gaps_and_other_columns() -> None:
    table = pd.DataFrame(
        {"x": [1.0, 2.0, np.nan, 4.0, 5.0, 100.0], "town": ["Ulm", None, "Bonn", "Ulm", "Ulm", "Bonn"]}
    )
    width = TreeDiscretiser(method="width", n_bins=3).fit(table)
    assert width.edges_["x"].tolist() == [34.0, 67.0]
    assert width.transform(table).tolist()[2] == [None, "Bonn"]
    assert width.transform(table)[:, 0].tolist() == ["< 34", "< 34", None, "< 34", "< 34", "≥ 67"]
    even = TreeDiscretiser(method="frequency", n_bins=2, encode="code", schema={"town": "ignored"}).fit(table)
    assert even.edges_["x"].tolist() == [4.5]
    assert even.transform(table)[:, 0].tolist()[:2] == [0.0, 0.0]
    framed = TreeDiscretiser(method="width", n_bins=3).set_output(transform="pandas").fit_transform(table)
    assert list(framed.columns) == ["x", "town"]


def test_an_edge_belongs_to_the_interval_above() -> None:
    cuts = TreeDiscretiser(method="width", n_bins=2, encode="code").fit([[0.0], [4.0]])
    assert cuts.transform([[1.999], [2.0], [9.0]]).ravel().tolist() == [0.0, 1.0, 1.0]


def test_numbers_near_the_largest_there_are() -> None:
    cuts = TreeDiscretiser(method="width", n_bins=2).fit([[-1.7e308], [1.7e308], [0.0]])
    assert cuts.intervals_ == {"x0": ["< 0", "≥ 0"]}


def test_nothing_to_cut() -> None:
    cuts = TreeDiscretiser().fit([[3.0], [3.0], [3.0]], [0, 1, 0])
    assert cuts.intervals_ == {"x0": ["all"]}
    assert cuts.transform([[7.0]]).tolist() == [["all"]]


def test_bayes_learns_from_intervals(iris: tuple[pd.DataFrame, Any]) -> None:
    model = make_pipeline(TreeDiscretiser(), BayesClassifier()).fit(*iris)
    assert model.score(*iris) > 0.94
    assert set(model[-1].families_.values()) == {"categorical"}


@pytest.mark.parametrize("settings", [{"method": "magic"}, {"encode": "words"}, {"method": "width", "n_bins": 0}])
def test_what_makes_no_sense_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(LikelyError):
        TreeDiscretiser(**settings).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(LikelyError, match="requires y"):
        TreeDiscretiser().fit([[0.0], [1.0]])


def test_a_target_that_is_named_is_no_column(iris: tuple[pd.DataFrame, Any]) -> None:
    X, y = iris
    cuts = TreeDiscretiser().fit(X.assign(species=y), "species")
    assert cuts.get_feature_names_out().tolist() == list(X)
    assert cuts.transform(X).tolist() == TreeDiscretiser().fit(X, y).transform(X).tolist()
