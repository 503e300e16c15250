"""Cost-complexity pruning: the sequence of subtrees by Breiman's definition, and the price by cross-validation."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely import TreeClassifier
from likely.measures import MEASURES
from likely.models.tree import GrowthPlan, fit_tree
from likely.models.tree.prune import N_FOLDS, best_alpha, cost_complexity, weakest_links
from tests.models.tree import slow, slow_pruning
from tests.models.tree.made import FEWER, everyone, nested, nested_slow, stocked, tables
from tests.models.tree.real import as_slow, read


@pytest.mark.parametrize("missing", ["weights", "surrogates"])
@pytest.mark.parametrize("measure", MEASURES)
@FEWER
@given(st.data())
def test_the_weakest_link_goes_first(measure: str, missing: str, draw: st.DataObject) -> None:
    data = draw.draw(tables(most=24))
    tree = fit_tree(GrowthPlan(measure, 1, missing=missing, collapse=False), stocked(data))  # type: ignore[arg-type]
    expected = slow_pruning.weakest_first(
        slow.grow(data, everyone(data), slow.Plan(measure, missing, min_cases=1)), len(data.rows)
    )
    links = weakest_links(tree)
    assert links.alphas == pytest.approx([float(price) for price, _ in expected], abs=1e-12)
    for price, (_, smaller) in zip(links.alphas, expected, strict=True):
        assert nested(cost_complexity(tree, float(price), links)) == nested_slow(smaller)


@given(tables(gaps=False, most=40), st.sampled_from(list(MEASURES)), st.integers(0, 3))
def test_the_price_by_folds(data: slow.Data, measure: str, seed: int) -> None:
    """Every row is predicted by a tree that never saw it, at every price that is tried."""
    stock, plan = stocked(data), GrowthPlan(measure, 1, collapse=False)
    fold = stock.folds(min(N_FOLDS, len(stock)), seed)
    found = best_alpha(plan, fit_tree(plan, stock), stock, seed, 1)
    expected = slow_pruning.price_by_folds(data, slow.Plan(measure, "weights", min_cases=1), fold.tolist())
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_price_of_wine(data_dir: Path) -> None:
    """A third of a real table, and the tree that comes of it."""
    X, y = read(data_dir, "wine")
    data = as_slow(X[::3], y[::3])
    plan = slow.Plan("gini", "weights")
    fold = stocked(data).folds(N_FOLDS, 0)
    price = slow_pruning.price_by_folds(data, plan, fold.tolist())
    sequence = slow_pruning.weakest_first(slow.grow(data, everyone(data), plan), len(data.rows))
    expected = [smaller for step, smaller in sequence if float(step) <= price][-1]
    clf = TreeClassifier(measure="gini", prune="cost_complexity", collapse=False).fit(X[::3], y[::3])
    assert nested(clf.tree_) == nested_slow(expected)
    assert 1 < clf.n_nodes_ < TreeClassifier(measure="gini", collapse=False).fit(X[::3], y[::3]).n_nodes_
