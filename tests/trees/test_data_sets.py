"""Real tables: the same tree, case for case, as the slow implementation grows; and what is known about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely import TreeClassifier
from likely.trees import Plan, Rows, Stock, plant
from likely.trees.pruning import confidence, pessimistic
from tests.trees import slow, slow_pruning
from tests.trees.made import columns, everyone, features, nested, nested_slow


def read(data_dir: Path, name: str) -> tuple[pd.DataFrame, pd.Series]:
    table = pd.read_csv(data_dir / f"{name}.csv.gz", keep_default_na=False, na_values=["", "?"])
    target = {"house_votes84": "class", "wine": "class", "mushroom": "class", "car_evaluation": "class"}[name]
    found = next(column for column in table if str(column).lower() in (target, "target"))
    return table.drop(columns=[found]), table[found]


def as_slow(X: pd.DataFrame, y: pd.Series) -> slow.Data:
    kinds = ["numeric" if pd.api.types.is_numeric_dtype(X[name]) else "nominal" for name in X]
    rows = [[None if pd.isna(cell) else cell for cell in row] for row in X.itertuples(index=False)]
    classes = sorted(set(y))
    return slow.Data(rows, kinds, [classes.index(label) for label in y], len(classes))


@pytest.mark.parametrize("missing", ["weights", "surrogates"])
@pytest.mark.parametrize("name, rows, step", [("house_votes84", 435, 3), ("wine", 178, 2), ("car_evaluation", 1728, 7)])
def test_grown_and_pruned_alike(name: str, rows: int, step: int, missing: Any, data_dir: Path) -> None:
    X, y = read(data_dir, name)
    assert len(X) == rows
    data = as_slow(X[::step], y[::step])
    plan = slow.Plan("gain_ratio", missing)
    labels = np.array(data.labels, dtype=np.int32)
    stock = Stock(features(data), tuple(columns(data)), np.arange(data.n_classes), labels, None)
    tree = plant(Plan(missing=missing, collapse=False), stock)
    oracle = slow.grow(data, everyone(data), plan)
    assert nested(tree) == nested_slow(oracle)
    assert nested(confidence(tree, 0.5)) == nested_slow(slow_pruning.pruned(oracle, slow_pruning.confidence(0.5)))
    assert nested(pessimistic(tree, 0.5)) == nested_slow(slow_pruning.pruned(oracle, slow_pruning.pessimistic(0.5)))
    found = Rows.stocked(tree, stock.columns).posterior(tree.probabilities(1.0))
    for row, shares in zip(data.rows[::9], found[::9], strict=True):
        assert shares == pytest.approx(slow.predict(data, oracle, row, plan), abs=1e-12)


def test_votes_follow_the_physician_fee_freeze(data_dir: Path) -> None:
    """Every program finds the same vote first; fractional weights keep the weight of all 435 members."""
    X, y = read(data_dir, "house_votes84")
    clf = TreeClassifier().fit(X, y)
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
    clf = TreeClassifier(min_cases=1).fit(X, y)
    assert (clf.predict(X) == y).all()
    assert clf.tree_.depths.max() <= 6
    assert TreeClassifier(prune=("confidence", 0.5)).fit(X, y).n_nodes_ < clf.n_nodes_


def test_wines(data_dir: Path) -> None:
    X, y = read(data_dir, "wine")
    clf = TreeClassifier(measure="gini").fit(X, y)
    assert (clf.predict(X) == y).mean() > 0.98
    assert clf.n_nodes_ < 25
