"""Numbers in bins: shares as counted by hand, densities, gaps, leave-one-out, saving, pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import likely
from likely import BayesClassifier, DataError, MEstimate, SchemaError, SettingsError
from likely.explain.conditionals import conditionals
from likely.families.bins import Bins

rng = np.random.default_rng(5)
y = np.repeat(["a", "b", "c"], 60)
X = np.column_stack([rng.normal(size=180) + (y == "b"), rng.poisson(2 + 2 * (y == "c")), 1e8 + rng.normal(size=180)])
X[::17, 0] = np.nan


def bins_of(clf: BayesClassifier) -> Bins:
    (belief,) = clf.model_.beliefs
    assert isinstance(belief, Bins)
    return belief


def test_shares_by_hand() -> None:
    """Eight numbers, four bins of two: class a has 0 to 3, class b 4 to 7."""
    clf = BayesClassifier(families="bins", bins=4).fit(np.arange(8.0)[:, None], np.repeat(["a", "b"], 4))
    belief = bins_of(clf)
    assert belief.edges.tolist() == [-0.5, 1.5, 3.5, 5.5, 7.5]
    np.testing.assert_allclose(belief.shares(), np.array([[3, 1], [3, 1], [1, 3], [1, 3]]) / 8)
    joint = clf.predict_joint_log_proba([[1.0], [6.0], [99.0]])
    np.testing.assert_allclose(np.exp(joint), np.array([[3, 1], [1, 3], [1, 3]]) / 8 / 2.0 / 2)
    np.testing.assert_allclose(clf.predict_proba([[1.0]]), [[0.75, 0.25]])


def test_density_is_that_of_a_gaussian_where_the_numbers_are() -> None:
    values = np.random.default_rng(0).normal(size=20_000)
    clf = BayesClassifier(families="bins", bins=40).fit(values[:, None], np.zeros(20_000))
    query = np.linspace(-1.5, 1.5, 7)
    expected = -0.5 * query**2 - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(clf.predict_joint_log_proba(query[:, None])[:, 0], expected, atol=0.12)


def test_gaps_say_nothing_unless_told_to() -> None:
    plain = BayesClassifier(families="bins").fit(X[:, :1], y)
    np.testing.assert_allclose(plain.predict_proba([[np.nan]]), plain.model_.prior[None])
    telling = BayesClassifier(families="bins", missing="value").fit(X[:, :1], y)
    shares = bins_of(telling).shares().sum(axis=0) + np.exp(bins_of(telling).table[0])
    np.testing.assert_allclose(shares, 1.0)
    assert not np.allclose(telling.predict_proba([[np.nan]]), telling.model_.prior)


@pytest.mark.parametrize(
    "settings", [{}, {"missing": "value"}, {"smoothing": 0.0}, {"smoothing": MEstimate(4), "bins": 5}]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_fitting_without_the_row(settings: dict[str, Any], weighted: bool) -> None:
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], len(y)) if weighted else None
    clf = BayesClassifier(families="bins", **settings)
    told = np.empty((len(y), 3))

    def keep(block: slice, posterior: np.ndarray) -> None:
        told[block] = posterior

    clf._leave_one_out(clf._task(X, y, weight), keep)
    for row in range(0, len(y), 11):
        rest = np.arange(len(y)) != row
        left = BayesClassifier(families="bins", **settings)
        left.fit(X[rest], y[rest], None if weight is None else weight[rest])
        np.testing.assert_allclose(told[row], left.predict_proba(X[[row]])[0], rtol=1e-9, atol=1e-12)


def test_live_model_on_and_forgetting_come_back() -> None:
    clf = BayesClassifier(families="bins").fit(X, y)
    before = clf.predict_joint_log_proba(X)
    clf.partial_fit(X[:50] + 0.25, y[:50])
    assert not np.allclose(clf.predict_joint_log_proba(X)[:, 0], before[:, 0])
    np.testing.assert_array_equal(clf.forget(X[:50] + 0.25, y[:50]).predict_joint_log_proba(X), before)
    halves = BayesClassifier(families="bins").fit(X[::2], y[::2]) + BayesClassifier(families="bins").fit(
        X[1::2], y[1::2]
    )
    np.testing.assert_allclose(halves.predict_joint_log_proba(X), before)


def test_saved_explained_ranked_and_drawn(tmp_path: Path) -> None:
    clf = BayesClassifier(families={"x0": "bins", "x2": "bins"}, bins=6).fit(X, y)
    clf.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_allclose(clf.explain(X[:9]).joint, clf.predict_joint_log_proba(X[:9]))
    assert clf.explain(X[:1]).status(0, 0) == "gap"
    ranked = clf.rank()
    assert set(ranked["column"]) == {"x0", "x1", "x2"} and (ranked["information"] >= 0).all()
    assert "x2" in conditionals(clf).description
    assert clf.nomogram("a").probability(clf.nomogram("a").total({"x0": 0.3})) == pytest.approx(
        clf.predict_proba([[0.3, np.nan, np.nan]])[0, 0]
    )


def test_other_numbers_of_bins_need_no_data() -> None:
    clf = BayesClassifier(families="bins").fit(X, y)
    assert len(bins_of(BayesClassifier(families="bins").fit(X[:, :1], y).resettle(bins=3)).edges) == 4
    assert len(clf.resettle(bins=20).model_.beliefs[0].edges) > 11  # type: ignore[union-attr]


def test_intervals_are_named_by_as_many_digits_as_tell_them_apart() -> None:
    def named(values: list[float]) -> list[Any]:
        clf = BayesClassifier(families="bins", bins=2).fit(np.array(values)[:, None], [0] * len(values))
        return [each.value for each in bins_of(clf).parameters()]

    assert named([0.0, 0.0, 2 / 3, 2 / 3]) == ["-0.3333333333 to 0.3333333333", "0.3333333333 to 1"]
    close = named([1.0, 1.0, 1.0 + 2e-12, 1.0 + 2e-12])
    assert close[0].split(" to ")[1] == close[1].split(" to ")[0] == f"{1.0 + 1e-12:.17g}"


def test_a_number_at_a_cut_is_in_the_bin_above_in_a_query_too() -> None:
    clf = BayesClassifier(families="bins", bins=4).fit({"x": np.arange(8.0)}, np.repeat(["a", "b"], 4))
    asked = bins_of(clf).edges
    engine = duckdb.connect()
    engine.register("t", pa.table({"x": asked, "row": np.arange(len(asked))}))
    found = engine.sql(clf.to_sql("duckdb", "t")).to_arrow_table().sort_by("row")
    np.testing.assert_allclose(found.column("P(a)").to_pylist(), clf.predict_proba({"x": asked})[:, 0])
    assert clf.predict_proba({"x": [3.5]})[0, 0] == pytest.approx(0.25)


def test_edges() -> None:
    constant = BayesClassifier(families="bins").fit([[5.0], [5.0], [5.0]], ["a", "a", "b"])
    np.testing.assert_allclose(constant.predict_proba([[5.0], [-7.0]]), constant.model_.prior[None].repeat(2, axis=0))
    unknown = BayesClassifier(families="bins").fit(np.array([[np.nan], [np.nan]]), ["a", "b"])
    np.testing.assert_allclose(unknown.predict_proba([[1.0]]), [[0.5, 0.5]])
    for column in ([np.nan] * 6, [1.0] + [np.nan] * 5, [1.0] * 6, [1.0, 2.0] + [np.nan] * 4):
        report = likely.evaluate(BayesClassifier(families="bins"), np.array(column)[:, None], list("aabbab"), cv="loo")
        assert np.isfinite(report.log_loss or 0.0)
    wide = BayesClassifier(families="bins").fit([[-1.7e308], [1.7e308], [0.0], [1e-320]], list("abab"))
    assert np.isfinite(wide.predict_joint_log_proba([[-1.7e308], [1.0]])).all()
    with pytest.raises(DataError, match="infinity"):
        BayesClassifier(families="bins").fit([[np.inf], [1.0]], ["a", "b"])
    with pytest.raises(DataError, match="infinity"):
        constant.predict([[np.inf]])
    with pytest.raises(SettingsError, match="bins is 0"):
        BayesClassifier(families="bins", bins=0).fit(X, y)


@pytest.mark.parametrize("schema", [None, {"town": "nominal"}])
@pytest.mark.parametrize("families", ["bins", {"town": "bins"}])
def test_words_have_no_bins_and_the_remedy_works(families: Any, schema: Any) -> None:
    table = {"town": ["7", None, "Ulm", "Bonn"], "age": [1.0, 2.0, 3.0, 4.0]}
    labels = [0, 1, 0, 1]
    with pytest.raises(SchemaError, match=r"'town', row 2: 'Ulm' is no number.*'bins'.*leaves 'town' out"):
        BayesClassifier(families=families, schema=schema).fit(table, labels)
    learned = BayesClassifier(families={"age": "bins"}, schema=schema).fit(table, labels)
    assert learned.families_ == {"town": "categorical", "age": "bins"}
