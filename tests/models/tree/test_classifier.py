"""The tree behind the same door as every classifier: raw tables, weights, priors, losses, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import likely
from likely import Loss, SchemaError, SettingsError, TreeClassifier
from likely.measures import MEASURES
from likely.models.tree.prune import weakest_links
from likely.teaching import datasets

rng = np.random.default_rng(11)


def mixed(n: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    y = rng.integers(0, 3, n)
    table = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.15, np.nan, rng.normal(size=n) + y),
            "town": rng.choice(["Ulm", "Bonn", "Köln ☂", None], n),
            "member": rng.random(n) < 0.2 + 0.2 * y,
            "visits": rng.poisson(2 + y),
        }
    )
    return table, np.array(["low", "middle", "top"])[y]


X, Y = mixed()
HELD = X[::2].dropna()
HELD_Y = Y[::2][X[::2].notna().all(axis=1)]


@pytest.mark.parametrize("missing", ["weights", "surrogates"])
@pytest.mark.parametrize("measure", MEASURES)
def test_mixed_tables_with_gaps(measure: str, missing: str) -> None:
    clf = TreeClassifier(measure=measure, missing=missing).fit(X, Y)
    shares = clf.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares > 0.0).all()
    assert (clf.predict(X) == Y).mean() > 0.5
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[shares.argmax(axis=1)])
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), shares)
    assert clf.feature_names_in_.tolist() == list(X.columns)
    assert clf.schema_.nominal == ("town", "member")


def test_every_kind_of_table_gives_the_same_tree() -> None:
    clf = TreeClassifier().fit(X, Y)
    columns = {name: [None if pd.isna(cell) else cell for cell in X[name]] for name in X}
    for table in (columns, pl.DataFrame(columns), pl.DataFrame(columns).to_arrow(), X.assign(label=Y)):
        named = isinstance(table, pd.DataFrame)
        other = TreeClassifier().fit(table, "label" if named else Y)
        assert other.to_text() == clf.to_text()
        np.testing.assert_array_equal(other.predict_proba(X[X.columns[::-1]]), clf.predict_proba(X))


def test_the_order_of_rows_and_the_number_of_threads_do_not_matter() -> None:
    order = rng.permutation(len(X))
    whole = TreeClassifier(n_jobs=1).fit(X, Y)
    for clf in (TreeClassifier(n_jobs=2).fit(X, Y), TreeClassifier().fit(X.iloc[order], Y[order])):
        assert clf.to_text() == whole.to_text()
        np.testing.assert_allclose(clf.predict_proba(X), whole.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("settings", [{}, {"missing": "surrogates"}, {"binned": True}, {"subsets": True}], ids=str)
def test_a_weight_is_a_number_of_copies(settings: dict[str, Any]) -> None:
    weight = rng.integers(0, 4, len(X))
    copies = TreeClassifier(**settings).fit(X.loc[X.index.repeat(weight)], np.repeat(Y, weight))
    weighed = TreeClassifier(**settings).fit(X, Y, sample_weight=weight)
    assert weighed.to_text() == copies.to_text()
    np.testing.assert_allclose(weighed.predict_proba(X), copies.predict_proba(X))
    column = TreeClassifier(**settings, schema={"w": "weight"}).fit(X.assign(w=weight), Y)
    assert column.to_text() == copies.to_text()


def test_priors_are_weights_of_classes() -> None:
    shares = {"low": 0.7, "middle": 0.2, "top": 0.1}
    clf = TreeClassifier(priors=shares).fit(X, Y)
    np.testing.assert_allclose(clf.tree_.counts[0], len(X) * np.array([0.7, 0.2, 0.1]))
    counted = pd.Series(Y).value_counts(normalize=True)
    by_hand = np.array([shares[label] / counted[label] for label in Y])
    assert TreeClassifier().fit(X, Y, sample_weight=by_hand).to_text() == clf.to_text()
    assert (clf.predict(X) == "low").sum() > (TreeClassifier().fit(X, Y).predict(X) == "low").sum()


def test_a_loss_decides_at_the_leaves() -> None:
    costs = {"low": {"low": 0, "middle": 1, "top": 20}, "middle": {"low": 1, "middle": 0, "top": 20}}
    costs["top"] = {"low": 1, "middle": 1, "top": 0}
    plain, dear = TreeClassifier().fit(X, Y), TreeClassifier(loss=Loss(costs)).fit(X, Y)
    np.testing.assert_array_equal(dear.tree_.column, plain.tree_.column)
    np.testing.assert_array_equal(dear.tree_.counts, plain.tree_.counts)
    assert "top, though most are" in dear.to_text() and "though" not in plain.to_text()
    np.testing.assert_array_equal(dear.predict(X), plain.decide(X, Loss(costs)))
    assert (dear.predict(X) == "top").sum() > (plain.predict(X) == "top").sum()
    risk = plain.risk(X, Loss(costs))
    np.testing.assert_allclose(risk.min(axis=1), risk[np.arange(len(X)), risk.argmin(axis=1)])


def test_smoothing_is_laplace_at_the_leaves() -> None:
    table = datasets.patients()
    row = {"sex": ["male"], "age": [61], "blood_pressure": ["high"]}
    for smoothing, expected in ((0, 1.0), (1, 4 / 5), (0.5, 3.5 / 4)):
        shares = TreeClassifier(smoothing=smoothing).fit(table, "drug").predict_proba(row)
        assert shares[0].tolist() == pytest.approx([expected, 1 - expected])


def test_every_setting_changes_something() -> None:
    usual = TreeClassifier().fit(X, Y).to_json()
    changes: list[dict[str, Any]] = [
        {"measure": "gini"},
        {"restrained": True},
        {"min_cases": 9},
        {"max_depth": 2},
        {"missing": "surrogates"},
        {"prune": ("confidence", 0.9)},
        {"collapse": False},
        {"subsets": True},
        {"binary": True},
        {"priors": "uniform"},
        {"schema": {"visits": "nominal"}},
    ]
    for change in changes:
        assert TreeClassifier(**change).fit(X, Y).to_json() != usual, change
    drawn = [TreeClassifier(prune=("reduced_error", 0.3), random_state=seed).fit(X, Y).to_json() for seed in range(4)]
    assert len(set(drawn)) > 1
    raised = [TreeClassifier(prune=("confidence", 0.3), raising=r).fit(X, Y).to_json() for r in (False, True)]
    assert raised[0] != raised[1]


def test_restrained_gain_ratio_does_not_peel_noise() -> None:
    noise, label = rng.normal(size=(3000, 6)), rng.integers(0, 2, 3000)
    deep, flat = (TreeClassifier(restrained=r).fit(noise, label).tree_.depths.max() for r in (False, True))
    assert deep > 3 * flat


@pytest.mark.parametrize("binned", [False, True])
def test_restrained_weights_are_copies(binned: bool) -> None:
    weight = rng.integers(1, 4, len(X))
    copies = TreeClassifier(restrained=True, binned=binned).fit(X.loc[X.index.repeat(weight)], np.repeat(Y, weight))
    weighed = TreeClassifier(restrained=True, binned=binned).fit(X, Y, sample_weight=weight)
    assert weighed.to_text() == copies.to_text()


def test_bins_between_all_values_give_the_exact_tree() -> None:
    for measure in MEASURES:
        exact = TreeClassifier(measure=measure).fit(X[["visits", "town"]], Y)
        binned = TreeClassifier(measure=measure, binned=True).fit(X[["visits", "town"]], Y)
        np.testing.assert_array_equal(exact.tree_.column, binned.tree_.column)
        np.testing.assert_allclose(exact.tree_.counts, binned.tree_.counts)


def test_many_values_in_255_bins() -> None:
    numbers = rng.normal(size=(5000, 3))
    label = (numbers[:, 0] + 0.3 * rng.normal(size=5000) > 0.5).astype(int)
    exact = TreeClassifier(prune=("confidence", 0.9), measure="information_gain").fit(numbers, label)
    binned = TreeClassifier(prune=("confidence", 0.9), measure="information_gain", binned=True).fit(numbers, label)
    assert abs(exact.score(numbers, label) - binned.score(numbers, label)) < 0.02


def test_prunings_make_it_smaller() -> None:
    grown = TreeClassifier(collapse=False, min_cases=1).fit(X, Y)
    for prune in (("pessimistic", 0.5), ("confidence", 0.5), ("cost_complexity", 0.01), "mdl"):
        assert grown.pruned(prune).n_nodes_ < grown.n_nodes_
    half = grown.pruned("reduced_error", X[::2], Y[::2])
    assert half.n_nodes_ < grown.n_nodes_
    assert grown.pruned("reduced_error", X[::2], [*Y[1::2], "new"][: len(X[::2])]).n_nodes_ <= grown.n_nodes_
    assert TreeClassifier(prune="cost_complexity").fit(X, Y).n_nodes_ < grown.n_nodes_
    with pytest.raises(SettingsError, match="price of a leaf"):
        grown.pruned("cost_complexity")
    with pytest.raises(SettingsError, match="no rows to share out"):
        grown.pruned(("reduced_error", 0.3), X, Y)
    with pytest.raises(likely.DataError, match="No row to prune by"):
        grown.pruned("reduced_error", X, np.full(len(X), "new"))
    with pytest.raises(SettingsError, match="needs rows"):
        grown.pruned("reduced_error")
    with pytest.raises(SettingsError, match="needs rows"):
        grown.pruned(("confidence", 0.5), raising=True)


def test_a_table_to_prune_by_may_come_in_several_ways() -> None:
    frame = X.assign(label=Y)
    grown = TreeClassifier(collapse=False, min_cases=1).fit(frame[1::2], "label")
    wanted = grown.pruned("reduced_error", X[::2], Y[::2]).to_json()
    assert wanted != grown.to_json()
    for given in ((X[::2], Y[::2]), (frame[::2], "label"), frame[::2]):
        assert grown.pruned(("reduced_error", given)).to_json() == wanted
        clf = TreeClassifier(collapse=False, min_cases=1, prune=("reduced_error", given)).fit(frame[1::2], "label")
        assert clf.to_json() == wanted
    with pytest.raises(SettingsError, match="the target among its columns"):
        TreeClassifier(prune=("reduced_error", X[::2])).fit(frame, "label")


def test_cost_complexity_by_other_rows() -> None:
    """Without a price, the tree of the nested sequence with the fewest errors on the rows, and the smallest such."""
    grown = TreeClassifier(collapse=False, min_cases=1).fit(X[1::2], Y[1::2])
    prices = weakest_links(grown.tree_).alphas
    tried = [grown.pruned(("cost_complexity", float(price))) for price in prices]
    shares = [(clf.tree_.classes[clf.tree_.majority][clf.apply(HELD)] != HELD_Y).sum() for clf in tried]
    chosen = grown.pruned("cost_complexity", HELD, HELD_Y)
    best = [clf for clf, wrong in zip(tried, shares, strict=True) if wrong == min(shares)]
    assert chosen.n_nodes_ == min(clf.n_nodes_ for clf in best) < grown.n_nodes_
    free = grown.pruned(("cost_complexity", 0.0), HELD, HELD_Y)
    assert free.to_json() == grown.pruned("reduced_error", HELD, HELD_Y).to_json()


def test_a_node_without_cases_is_pruned_quietly() -> None:
    grown = TreeClassifier(collapse=False, min_cases=1).fit(X, Y)
    assert grown.pruned(("confidence", 0.5), X[:2], Y[:2]).n_nodes_ < grown.n_nodes_


def test_it_is_evaluated_like_others() -> None:
    report = likely.evaluate(TreeClassifier(prune=("confidence", 0.5)), X, Y, cv=5)
    assert 0.4 < report.accuracy < 1.0
    assert likely.evaluate(TreeClassifier(), X.assign(label=Y), "label", cv=3).accuracy > 0.3


def test_one_class_and_no_columns() -> None:
    clf = TreeClassifier().fit([[1.0], [2.0]], ["only", "only"])
    assert clf.predict([[3.0]]).tolist() == ["only"]
    assert clf.n_nodes_ == 1
    empty = TreeClassifier(schema={"x0": "ignored"}).fit([[1.0], [2.0]], ["a", "b"])
    assert empty.predict_proba([[5.0]]).tolist() == [[0.5, 0.5]]
    assert empty.to_text() == "a (2/1)"
    assert empty.rules()[0].conditions == ()


def test_neighbouring_numbers_are_told_apart() -> None:
    low, high = 1.0, np.nextafter(1.0, 2.0)
    clf = TreeClassifier(min_cases=1).fit([[low], [high], [low], [high]], ["a", "b", "a", "b"])
    assert clf.predict([[low], [high]]).tolist() == ["a", "b"]
    huge = TreeClassifier(min_cases=1).fit([[-1.7e308], [1.7e308]], ["a", "b"])
    assert huge.predict([[-1e308], [1e308]]).tolist() == ["a", "b"]


def test_many_classes() -> None:
    numbers = rng.normal(size=(3000, 4))
    label = np.floor(numbers[:, 0] * 40).astype(int)
    clf = TreeClassifier(measure="information_gain", min_cases=1).fit(numbers, label)
    assert clf.score(numbers, label) > 0.99
    assert len(clf.classes_) > 100


@pytest.mark.parametrize(
    "settings, told",
    [
        ({"measure": "gain"}, "no measure 'gain'"),
        ({"missing": "ignore"}, "'weights', 'surrogates'"),
        ({"prune": "pessimistic"}, "prune is 'pessimistic'"),
        ({"prune": ("confidence", 1.5)}, "between 0 and 1"),
        ({"prune": ("confidence", "high")}, "has to be a number"),
        ({"prune": ("reduced_error", 2.0)}, "between 0 and 1"),
        ({"prune": ("reduced_error", "table")}, "share of the rows"),
        ({"prune": 3}, "prune is 3"),
        ({"min_cases": 0}, "above 0"),
        ({"min_cases": "two"}, "min_cases is 'two'"),
        ({"max_depth": 2.5}, "whole number from 0 up, or None"),
        ({"smoothing": "much"}, "smoothing is 'much'"),
        ({"random_state": "chance"}, "random_state is 'chance'"),
        ({"loss": {"low": {"low": 0}}}, "middle"),
        ({"prune": ("reduced_error", (X, np.full(len(X), "new")))}, "No row to prune by"),
        ({"max_depth": -1}, "whole number from 0 up, or None"),
        ({"smoothing": -1}, "a number from 0 up"),
        ({"subsets": True, "binary": True}, "choose one"),
        ({"restrained": True, "measure": "gini"}, "is for measure='gain_ratio'"),
        ({"prune": "mdl", "raising": True}, "'pessimistic' and 'confidence'"),
        ({"schema": {"nowhere": "nominal"}}, "nowhere"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(likely.LikelyError, match=told):
        TreeClassifier(**settings).fit(X, Y)


def test_texts_and_sparse_matrices_are_refused_in_words() -> None:
    texts = [f"a longer text of several different words, number {k}" for k in range(30)]
    with pytest.raises(SchemaError, match="'body' is free text"):
        TreeClassifier().fit({"body": texts}, [0, 1] * 15)
    with pytest.raises(SchemaError, match="sparse"):
        TreeClassifier().fit(sparse.eye_array(4).tocsr(), [0, 1, 0, 1])
    with pytest.raises(SettingsError, match="300 values, and subsets=True"):
        TreeClassifier(subsets=True, schema={"x0": "nominal"}).fit(np.arange(300)[:, None], [0, 1] * 150)


def test_bad_cells_are_named() -> None:
    clf = TreeClassifier().fit(X, Y)
    bad = X.copy()
    bad.loc[5, "number"] = np.inf
    for use in (lambda: TreeClassifier().fit(bad, Y), lambda: clf.predict(bad)):
        with pytest.raises(likely.DataError, match="Row 5 of column 'number' holds inf"):
            use()
    with pytest.raises(SchemaError, match="town"):
        clf.predict(X.drop(columns=["town"]))
