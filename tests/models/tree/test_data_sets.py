"""Real tables: the same tree, case for case, as the slow implementation grows; and what is known about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from likely import TreeClassifier, compare
from likely.measures import MEASURES
from likely.models.tree import GrowthPlan, TreeRows, fit_tree
from likely.models.tree.prune import Pruning, cost_complexity, weakest_links
from tests.models.tree import slow, slow_pruning
from tests.models.tree.made import everyone, nested, nested_slow, stocked
from tests.models.tree.real import as_slow, read

ROWS = {"house_votes84": 435, "wine": 178, "car_evaluation": 1728, "mushroom": 8124}


@pytest.mark.parametrize("missing", ["weights", "surrogates"])
@pytest.mark.parametrize("name", ROWS)
def test_grown_and_pruned_alike(name: str, missing: Any, data_dir: Path) -> None:
    """All rows of the tables (every third mushroom), with both treatments of gaps; then every pruning."""
    X, y = read(data_dir, name)
    assert len(X) == ROWS[name]
    if name == "mushroom":
        X, y = X[::3], y[::3]
    data, plan = as_slow(X, y), slow.Plan("gain_ratio", missing)
    stock = stocked(data)
    tree = fit_tree(GrowthPlan(missing=missing, collapse=False), stock)
    oracle = slow.grow(data, everyone(data), plan)
    assert nested(tree) == nested_slow(oracle)
    assert nested(Pruning("confidence", 0.5).apply(tree)) == nested_slow(
        slow_pruning.pruned(oracle, slow_pruning.confidence(0.5))
    )
    assert nested(Pruning("pessimistic", 0.5).apply(tree)) == nested_slow(
        slow_pruning.pruned(oracle, slow_pruning.pessimistic(0.5))
    )
    lengths = slow_pruning.stochastic_complexity, slow_pruning.length_of_test(data)
    assert nested(Pruning("mdl").apply(tree)) == nested_slow(slow_pruning.pruned(oracle, *lengths))
    prices, sequence = weakest_links(tree).alphas, slow_pruning.weakest_first(oracle, len(data.rows))
    assert prices == pytest.approx([float(price) for price, _ in sequence], abs=1e-12)
    assert nested(cost_complexity(tree, prices[-2])) == nested_slow(sequence[-2][1])
    step = max(len(X) // 100, 1)
    found = TreeRows.from_columns(tree, stock.columns).posterior(tree.probabilities(1.0))
    for row, shares in zip(data.rows[::step], found[::step], strict=True):
        assert shares == pytest.approx(slow.predict(data, oracle, row, plan), abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", ["house_votes84", "car_evaluation"])
def test_grown_alike_by_every_measure(name: str, measure: str, data_dir: Path) -> None:
    data = as_slow(*read(data_dir, name))
    tree = fit_tree(GrowthPlan(measure, collapse=False), stocked(data))
    assert nested(tree) == nested_slow(slow.grow(data, everyone(data), slow.Plan(measure, "weights")))


def test_votes_follow_the_physician_fee_freeze(data_dir: Path) -> None:
    """Every program finds the same vote first; fractional weights keep the weight of all 435 members."""
    X, y = read(data_dir, "house_votes84")
    clf = TreeClassifier(prune=None, restrained=False).fit(X, y)
    assert "physician" in clf.to_text().splitlines()[0]
    assert clf.tree_.sizes[0] == 435
    assert clf.tree_.sizes[clf.tree_.is_leaf].sum() == pytest.approx(435)
    assert (clf.predict(X) == y).mean() > 0.97
    assert clf.pruned(("confidence", 0.5)).n_nodes_ < clf.n_nodes_


def test_no_mushroom_is_mistaken(data_dir: Path) -> None:
    """Odour first, then the colour of the spores: no errors, with either treatment of gaps."""
    X, y = read(data_dir, "mushroom")
    for missing in ("weights", "surrogates"):
        clf = TreeClassifier(missing=missing, measure="information_gain").fit(X, y)
        assert clf.to_text().splitlines()[0].startswith("odor")
        assert (clf.predict(X) == y).all()
        assert clf.n_nodes_ < 60


def test_cars_are_learned_by_heart(data_dir: Path) -> None:
    """All 1,728 combinations of six columns, each once: a tree that asks all of them makes no error."""
    X, y = read(data_dir, "car_evaluation")
    clf = TreeClassifier(prune=None, restrained=False, min_cases=1).fit(X, y)
    assert (clf.predict(X) == y).all()
    assert clf.tree_.depths.max() <= 6
    assert TreeClassifier(restrained=False, prune=("confidence", 0.5)).fit(X, y).n_nodes_ < clf.n_nodes_


def test_wines(data_dir: Path) -> None:
    X, y = read(data_dir, "wine")
    clf = TreeClassifier(prune=None, measure="gini").fit(X, y)
    assert (clf.predict(X) == y).mean() > 0.98
    assert clf.n_nodes_ < 25


@pytest.mark.parametrize("name", ["credit_g", "pima_diabetes", "breast_cancer_ljubljana"])
def test_by_default_it_beats_the_class_shares_and_is_small(data_dir: Path, name: str) -> None:
    """A full tree has more errors than the largest class on two of these, and by far more nodes."""
    X, y = read(data_dir, name)
    board = compare(X, y, {"usual": TreeClassifier(), "full": TreeClassifier(prune=None)}, cv=5).to_frame()
    for measure in ("error", "log_loss"):
        assert board.loc["usual", measure] < board.loc["majority class", measure]
    assert board.loc["usual", "log_loss"] < board.loc["full", "log_loss"]
    full = TreeClassifier(prune=None).fit(X, y)
    assert TreeClassifier().fit(X, y).n_nodes_ <= 0.75 * full.n_nodes_


def test_the_usual_restraint_is_that_of_gain_ratio(data_dir: Path) -> None:
    X, y = read(data_dir, "pima_diabetes")
    assert TreeClassifier().fit(X, y).to_json() == TreeClassifier(restrained=True).fit(X, y).to_json()
    assert TreeClassifier().fit(X, y).to_json() != TreeClassifier(restrained=False).fit(X, y).to_json()
    plain = TreeClassifier(measure="gini", restrained=False).fit(X, y)
    assert TreeClassifier(measure="gini").fit(X, y).to_json() == plain.to_json()
