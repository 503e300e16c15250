"""A tree grown from counts of batches is the tree grown from all rows in bins."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.arrays import Array
from likely.measures import MEASURES
from likely.models.tree import Feature, GrowthPlan, TrainingData, fit_tree, grow, stream
from likely.models.tree.data import quantile_edges
from likely.models.tree.stream import OpenNodes, StreamedTreeGrower
from tests.models.tree.made import FEWER, nested, stocked, tables

MODES: list[dict[str, Any]] = [{}, {"subsets": True}, {"binary": True}]


def by_batches(plan: GrowthPlan, stock: TrainingData, size: int) -> Any:
    parts = [stock.take(np.arange(start, min(start + size, len(stock)))) for start in range(0, len(stock), size)]

    def count(open_nodes: OpenNodes) -> Array:
        return reduce(add, map(open_nodes.count, parts), open_nodes.empty())

    edges = tuple(
        quantile_edges(column) if feature.is_numeric else np.empty(0)
        for feature, column in zip(stock.features, stock.columns, strict=True)
    )
    root = np.bincount(stock.labels, minlength=len(stock.classes)).astype(float)
    return StreamedTreeGrower(plan, stock.classes, stock.features, edges, count).grow(root)


@pytest.mark.parametrize("measure", MEASURES)
@FEWER
@given(st.data())
def test_batches_add_up(measure: str, draw: st.DataObject) -> None:
    data = draw.draw(tables(most=24))
    settings = draw.draw(st.sampled_from(MODES)) | {"restrained": measure == "gain_ratio" and draw.draw(st.booleans())}
    plan = GrowthPlan(
        measure, draw.draw(st.integers(1, 3)), draw.draw(st.none() | st.integers(0, 3)), binned=True, **settings
    )
    stock = stocked(data)
    whole = nested(fit_tree(plan, stock))
    assert nested(by_batches(plan, stock, draw.draw(st.integers(1, 30)))) == whole


def test_a_wide_level_takes_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    column = rng.normal(size=2000)
    labels = (np.floor(column * 3) % 2).astype(np.int32)
    stock = TrainingData((Feature("x"),), (column,), np.arange(2), labels, None)
    plan = GrowthPlan("information_gain", binned=True)
    whole = nested(by_batches(plan, stock, 300))
    monkeypatch.setattr(stream, "MOST_CELLS", 600)
    assert nested(by_batches(plan, stock, 700)) == whole
    assert whole == nested(fit_tree(plan, stock))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_large_nodes_are_counted_alike(measure: str, gaps: float) -> None:
    """Whole numbers, fractions and tables: three ways to the same tree, where nodes have more cases than bins."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, 1500).astype(np.int32)
    found = [np.round(rng.normal(size=1500) + labels * (j == 0), 2) for j in range(2)]
    found[1][rng.random(1500) < gaps] = np.nan
    stock = TrainingData((Feature("a"), Feature("b")), tuple(found), np.arange(3), labels, None)
    plan = GrowthPlan(measure, 20, 6, binned=True)
    whole = nested(fit_tree(plan, stock))
    assert nested(by_batches(plan, stock, 400)) == whole
    heavy = TrainingData(stock.features, stock.columns, stock.classes, labels, np.full(1500, 0.5))
    halves = fit_tree(GrowthPlan(measure, 10, 6, binned=True), heavy)
    assert nested(halves.with_counts(2.0 * halves.counts)) == whole


@pytest.mark.parametrize("n_rows", [2, 200])
@pytest.mark.parametrize("binned", [True, False])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_column_of_gaps_tells_nothing(measure: str, binned: bool, n_rows: int) -> None:
    labels = (np.arange(n_rows) % 2).astype(np.int32)
    stock = TrainingData((Feature("a"),), (np.full(n_rows, np.nan),), np.arange(2), labels, None)
    assert len(fit_tree(GrowthPlan(measure, 1, binned=binned), stock)) == 1


@pytest.mark.parametrize("binned", [True, False])
@pytest.mark.parametrize("measure", MEASURES)
def test_nodes_larger_than_the_table_of_logarithms(measure: str, binned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above, logarithms are computed; below, looked up: the tree is the same."""
    rng = np.random.default_rng(8)
    labels = rng.integers(0, 3, 900).astype(np.int32)
    stock = TrainingData((Feature("a"),), (np.round(rng.normal(size=900) + labels, 2),), np.arange(3), labels, None)
    plan = GrowthPlan(measure, 5, binned=binned)
    whole = nested(fit_tree(plan, stock))
    for most in (0, 100):
        monkeypatch.setattr(grow, "MOST_LOGARITHMS", most)
        assert nested(fit_tree(plan, stock)) == whole
