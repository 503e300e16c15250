"""Trees from files: the same as from a table in memory, whatever the pieces are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely import SettingsError, TreeClassifier, open_table
from likely.streaming import train_tree_file

rng = np.random.default_rng(7)


def rows(n: int = 3000) -> pd.DataFrame:
    y = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "height": np.where(rng.random(n) < 0.1, np.nan, np.round(rng.normal(size=n) + y, 2)),
            "town": rng.choice(["Ulm", "Bonn", "Köln", None], n),
            "visits": rng.poisson(2 + y),
            "w": rng.integers(1, 4, n),
            "label": np.array(["a", "b", "c"])[y],
        }
    )


TABLE = rows()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    TABLE.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


@pytest.mark.parametrize(
    "settings",
    [
        {"max_depth": 6, "schema": {"w": "ignored"}},
        {"prune": ("confidence", 0.5), "measure": "gini", "schema": {"w": "weight"}},
        {"subsets": True, "priors": "uniform", "max_depth": 5, "schema": {"w": "ignored", "visits": "nominal"}},
    ],
    ids=str,
)
def test_a_file_gives_the_tree_of_its_rows(
    settings: dict[str, Any], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory = TreeClassifier(binned=True, **settings)
    as_words = settings["schema"].get("visits") == "nominal"
    table = TABLE.assign(visits=TABLE["visits"].astype(str)) if as_words else TABLE
    in_memory.fit(table, "label")
    passes = []
    clf = train_tree_file(
        path,
        "label",
        classifier=TreeClassifier(binned=True, **settings),
        progress=lambda p: passes.append(p.share),
    )
    assert clf.to_text(max_depth=50) == in_memory.to_text(max_depth=50)
    np.testing.assert_allclose(clf.predict_proba(table), in_memory.predict_proba(table), rtol=1e-9)
    assert clf.n_rows_ == len(TABLE)
    assert passes.count(1.0) >= 3
    halves = [path.with_name(f"part{k}.csv") for k in range(2)]
    TABLE[:1000].to_csv(halves[0], index=False)
    TABLE[1000:].to_csv(halves[1], index=False)
    parts = train_tree_file([str(half) for half in halves], "label", classifier=TreeClassifier(binned=True, **settings))
    assert parts.to_text(max_depth=50) == clf.to_text(max_depth=50)


def test_the_weight_column_may_be_named(path: Path) -> None:
    named = train_tree_file(open_table(path), "label", weight="w", classifier=TreeClassifier(binned=True, max_depth=3))
    assert named.tree_.sizes[0] == TABLE["w"].sum()


def test_what_needs_rows_is_refused(path: Path) -> None:
    for settings in (
        {"binned": False},
        {"missing": "surrogates"},
        {"prune": "cost_complexity"},
        {"prune": ("reduced_error", 0.3)},
        {"prune": ("confidence", 0.5), "raising": True},
    ):
        with pytest.raises(SettingsError, match="from files"):
            train_tree_file(path, "label", classifier=TreeClassifier(**{"binned": True, **settings}))
    pruned = train_tree_file(
        path,
        "label",
        weight="w",
        classifier=TreeClassifier(restrained=False, binned=True, prune=("reduced_error", (TABLE, "label"))),
    )
    full = TreeClassifier(binned=True, prune=None, restrained=False)
    assert 1 < pruned.n_nodes_ < train_tree_file(path, "label", weight="w", classifier=full).n_nodes_


def test_the_sample_of_a_long_file_does_not_depend_on_its_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    from likely.models.tree import stream as tree
    from likely.stats import ClassWeights
    from likely.table.schema import Schema

    monkeypatch.setattr(tree, "MOST_SAMPLED", 100)
    numbers = rng.normal(size=5000)
    found, classes = [], ClassWeights(np.array([0]), np.ones(1), np.ones(1, dtype=np.int64))
    for size in (37, 1000, 5000):
        first_pass = tree.FirstPass(Schema.infer({"x": numbers}))
        for start in range(0, 5000, size):
            part = numbers[start : start + size]
            first_pass.take(tree.PieceSeen(len(part), classes, {}, {"x": part}))
        found.append(np.concatenate(first_pass.sampled["x"]))
    assert 100 <= len(found[0]) < 300
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
