"""Averaged one-dependence estimators: against a slow oracle, adding up, gaps, guards, saving, the dependence report."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import likely
from likely import AODEClassifier, BayesClassifier, DataError, Loss, MEstimate, NotMergeable, SettingsError
from likely.explain.rank import rank_by
from likely.measures import information_gain
from likely.teaching import datasets

rng = np.random.default_rng(11)
N = 240
TABLE = {
    "colour": rng.choice(["red", "green", "blue", None], N),  # type: ignore[list-item]
    "size": rng.choice(["s", "m", "l"], N),
    "height": np.round(rng.normal(size=N), 2),
    "visits": rng.poisson(2, N).astype(float),
}
TABLE["visits"][::13] = np.nan
Y = np.where((TABLE["height"] > 0) == (TABLE["size"] == "s"), "odd", "even")
Y[:30] = "rare"


@parametrize_with_checks([AODEClassifier()])
def test_estimator_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def part(rows: Any) -> dict[str, Any]:
    return {name: cells[rows] for name, cells in TABLE.items()}


def slow_joint(clf: AODEClassifier, gamma: float, least: float) -> np.ndarray:
    """The definition, row by row, with Python's own counting."""
    columns = []
    for name, cells in TABLE.items():
        if name in clf.cuts_:
            cuts = clf.cuts_[name]
            columns.append([None if np.isnan(x) else sum(x >= cut for cut in cuts) for x in cells])
        else:
            columns.append(list(cells))
    sizes = [
        len(clf.cuts_[name]) + 1 if name in clf.cuts_ else len({x for x in TABLE[name] if x is not None})
        for name in TABLE
    ]
    out = np.empty((N, 3))
    for i, (c, label) in product(range(N), enumerate(clf.classes_)):
        own = np.flatnonzero(label == Y)
        known = [k for k in range(4) if columns[k][i] is not None]
        parents = [j for j in known if sum(x == columns[j][i] for x in columns[j]) >= least]
        terms = []
        for j in parents or [None]:
            term = 0.0
            for k in known:
                rows = own if k == j or j is None else [r for r in own if columns[j][r] == columns[j][i]]
                told = [columns[k][r] for r in rows if columns[k][r] is not None]
                term += np.log((told.count(columns[k][i]) + gamma) / (len(told) + gamma * sizes[k]))
            terms.append(term)
        out[i, c] = np.log(len(own) / N) + np.log(np.mean(np.exp(terms)))
    return out


@pytest.mark.parametrize("gamma, least", [(1.0, 1.0), (0.3, 70.0), (1.0, 1000.0)])
def test_definition(gamma: float, least: float) -> None:
    clf = AODEClassifier(smoothing=gamma, min_cases=least, bins=4).fit(TABLE, Y)
    np.testing.assert_allclose(clf.predict_joint_log_proba(TABLE), slow_joint(clf, gamma, least), rtol=1e-9)


def test_two_columns_that_only_speak_together() -> None:
    report = likely.evaluate(AODEClassifier(), part(slice(30, None)), Y[30:], cv=5)
    naive = likely.evaluate(BayesClassifier(families={"height": "bins"}), part(slice(30, None)), Y[30:], cv=5)
    assert report.accuracy > 0.85 > naive.accuracy


def test_a_column_said_twice_does_not_count_twice() -> None:
    """Two copies of one column: naive Bayes squares the odds, this does not."""
    x = np.array(["u"] * 30 + ["v"] * 10 + ["u"] * 10 + ["v"] * 30)
    y = np.repeat(["a", "b"], 40)
    clf = AODEClassifier(smoothing=0).fit({"x": x, "copy": x}, y)
    assert clf.predict_proba({"x": ["u"], "copy": ["u"]})[0, 0] == pytest.approx(0.75)
    naive = BayesClassifier(smoothing=0).fit({"x": x, "copy": x}, y)
    assert naive.predict_proba({"x": ["u"], "copy": ["u"]})[0, 0] == pytest.approx(0.9)


@pytest.mark.parametrize("smoothing", [1.0, 0.0, MEstimate(2)])
def test_explanation_adds_up(smoothing: Any) -> None:
    clf = AODEClassifier(smoothing=smoothing).fit(TABLE, Y)
    rows = part(slice(0, 20))
    why = clf.explain(rows)
    assert why.columns == ("colour", "size", "height", "visits")
    np.testing.assert_allclose(why.joint, clf.predict_joint_log_proba(rows), rtol=1e-9)
    gap = next(row for row in range(20) if TABLE["colour"][row] is None)
    np.testing.assert_array_equal(why.contributions[gap, 0], 0.0)


def test_live_model_forgetting_merging() -> None:
    weight = rng.choice([0.5, 1.0, 2.0], N)
    whole = AODEClassifier().fit(TABLE, Y, weight)
    cuts = whole.cuts_
    first = AODEClassifier(cuts=cuts).fit(part(slice(0, 100)), Y[:100], weight[:100])
    second = AODEClassifier(cuts=cuts).fit(part(slice(100, N)), Y[100:], weight[100:])
    expected = whole.predict_joint_log_proba(TABLE)
    np.testing.assert_allclose((first + second).predict_joint_log_proba(TABLE), expected)
    learned = AODEClassifier(cuts=cuts).fit(part(slice(0, 100)), Y[:100], weight[:100])
    learned.partial_fit(part(slice(100, N)), Y[100:], sample_weight=weight[100:])
    np.testing.assert_allclose(learned.predict_joint_log_proba(TABLE), expected)
    learned.forget(part(slice(100, N)), Y[100:], weight[100:])
    np.testing.assert_allclose(learned.predict_joint_log_proba(TABLE), first.predict_joint_log_proba(TABLE))


def test_other_cuts_do_not_merge() -> None:
    first, second = AODEClassifier().fit(part(slice(0, 90)), Y[:90]), AODEClassifier().fit(part(slice(90, N)), Y[90:])
    with pytest.raises(NotMergeable, match="cuts_"):
        first.merge(second)


@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_fitting_without_the_row(weighted: bool) -> None:
    weight = rng.choice([0.5, 1.0, 2.0], N) if weighted else None
    cuts = AODEClassifier(bins=5).fit(TABLE, Y).cuts_
    table = {**TABLE, "colour": TABLE["colour"].copy()}
    table["colour"][77] = "unique"
    clf, told = AODEClassifier(cuts=cuts, min_cases=3), np.empty((N, 3))

    def keep(block: slice, posterior: np.ndarray) -> None:
        told[block] = posterior

    clf._leave_one_out(clf._task(table, Y, weight), keep)
    for row in range(0, N, 11):
        rest = np.arange(N) != row
        left = AODEClassifier(cuts=cuts, min_cases=3)
        left.fit({k: v[rest] for k, v in table.items()}, Y[rest], None if weight is None else weight[rest])
        expected = left.predict_proba({k: v[[row]] for k, v in table.items()})[0]
        np.testing.assert_allclose(told[row], expected, rtol=1e-9, atol=1e-12)


def test_wide_tables_pair_the_telling_columns() -> None:
    X = rng.normal(size=(200, 30))
    y = X[:, 3] + X[:, 17] > 0
    clf = AODEClassifier(max_cells=2000).fit(X, y)
    assert {"x3", "x17"} <= set(clf.paired_) and len(clf.paired_) < 8
    assert set(clf.families_.values()) == {"aode", "bins"}
    np.testing.assert_allclose(clf.explain(X[:5]).joint, clf.predict_joint_log_proba(X[:5]))
    assert len(AODEClassifier().fit(X, y).paired_) == 30


def test_saved_and_decided(tmp_path: Path) -> None:
    clf = AODEClassifier(families={"visits": "poisson"}).fit(TABLE, Y)
    clf.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    np.testing.assert_array_equal(again.predict_proba(TABLE), clf.predict_proba(TABLE))
    assert again.cuts_ == clf.cuts_
    assert set(again.decide(TABLE, Loss.zero_one(["even", "odd", "rare"]))) <= {"even", "odd", "rare"}
    np.testing.assert_allclose(again.resettle(priors="uniform").model_.prior, 1 / 3)


def test_dependence() -> None:
    x = rng.choice(["u", "v"], 400)
    copy, other = np.where(rng.random(400) < 0.05, "w", x), rng.choice(["r", "s"], 400)
    found = AODEClassifier().fit({"x": x, "copy": copy, "other": other}, rng.choice(["a", "b"], 400)).dependence()
    frame = found.to_frame()
    assert frame.iloc[0][["column", "other"]].tolist() == ["x", "copy"]
    assert frame.iloc[0]["bits"] == pytest.approx(0.95, abs=0.05)
    assert frame.iloc[1]["excess"] < 0.02
    picture = found.plot()
    assert "x and copy" in picture.description and "<svg" in picture.to_html()
    assert "copy" in found._repr_html_()


def test_one_fair_pair_has_no_information() -> None:
    table = {"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "v"]}
    assert AODEClassifier().fit(table, ["k"] * 4).dependence().bits.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_bad_settings() -> None:
    with pytest.raises(SettingsError, match="bins is 0"):
        AODEClassifier(bins=0).fit(TABLE, Y)
    with pytest.raises(SettingsError, match="no numeric column"):
        AODEClassifier(cuts={"size": [1.0]}).fit(TABLE, Y)
    with pytest.raises(SettingsError, match="ascending"):
        AODEClassifier(cuts={"height": [1.0, 0.0]}).fit(TABLE, Y)
    with pytest.raises(SettingsError, match="mapping"):
        AODEClassifier(cuts=[1.0]).fit(TABLE, Y)


def test_worked_example_golf() -> None:
    table = datasets.golf()
    play = table.pop("play")
    clf = AODEClassifier().fit(table, play)
    assert clf.score(table, play) >= BayesClassifier().fit(table, play).score(table, play)


def test_columns_are_ranked_by_what_was_counted_of_them() -> None:
    clf = AODEClassifier(bins=4).fit(TABLE, Y)
    codes = {name: np.searchsorted(clf.cuts_[name], TABLE[name], side="right") for name in clf.cuts_}
    wanted = {}
    for name in TABLE:
        known = ~np.isnan(TABLE[name]) if name in codes else np.array([cell is not None for cell in TABLE[name]])
        table = {(v, c): 0 for v in set(codes.get(name, TABLE[name])[known]) for c in set(Y)}
        for v, c in zip(codes.get(name, TABLE[name])[known], Y[known], strict=True):
            table[v, c] += 1
        wanted[name] = information_gain([[n for (_, c), n in table.items() if c == own] for own in sorted(set(Y))])
        wanted[name] *= known.mean()
    ranked = clf.rank(by="information")
    assert ranked["column"].tolist() == sorted(wanted, key=lambda name: -wanted[name])
    assert ranked["information"].tolist() == pytest.approx(sorted(wanted.values(), reverse=True))
    assert clf.rank(TABLE, by="contribution")["contribution"].min() > 0.0
    measured = rank_by(clf.model_, clf.summary_)
    assert measured["column"].tolist() == ranked["column"].tolist()
    assert measured["information_gain"].tolist() == pytest.approx(ranked["information"].tolist())


def test_rank_has_columns_in_pairs_and_others() -> None:
    clf = AODEClassifier(families={"visits": "poisson"}).fit(TABLE, Y)
    naive = BayesClassifier(smoothing=0.5, families={"visits": "poisson"}).fit(TABLE, Y)
    found, same = (each.rank().set_index("column")["information"] for each in (clf, naive))
    assert sorted(found.index) == sorted(TABLE)
    for name in ("colour", "size", "visits"):
        assert found[name] == pytest.approx(same[name])


@pytest.mark.parametrize("row", [0, 3])
def test_an_infinite_number_is_refused_by_its_place(row: int) -> None:
    clf = AODEClassifier().fit(TABLE, Y)
    heights = TABLE["height"][:5].copy()
    heights[row] = np.inf
    with pytest.raises(DataError, match=f"Row {row} of column 'height' holds inf"):
        clf.predict({**part(slice(0, 5)), "height": heights})
