"""Values that tell, reasons, measures and differences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from likely import BayesClassifier
from likely.errors import SettingsError
from likely.explain.rank import class_value_tables, rank_by, telling_values
from likely.explain.reasons import reasons
from likely.measures import MEASURES
from likely.models.difference import differences, to_frame
from likely.table import as_table
from likely.teaching import datasets


def patients() -> BayesClassifier:
    table = datasets.patients()
    return BayesClassifier().fit(table, table.pop("drug"))


def test_the_most_telling_value_is_common_here_and_rare_elsewhere() -> None:
    frame = telling_values(patients().summary_, 1)
    found = frame.set_index("class")
    assert found.loc["A", "value"] == "high"
    assert found.loc["B", "value"] == "low"
    assert found.loc["A", "share"] == 0.5
    assert found.loc["A", "elsewhere"] == 0.0


def test_words_count_once_in_a_text() -> None:
    clf = BayesClassifier().fit(["spam spam spam", "spam eggs", "eggs bacon"], ["s", "s", "h"])
    found = telling_values(clf.summary_, 2)
    top = found[found["class"] == "s"].iloc[0]
    assert (top["value"], top["weight"], top["share"]) == ("spam", 2.0, 1.0)


def test_nothing_tells_where_there_is_nothing() -> None:
    assert telling_values(BayesClassifier().fit({"x": [1.0, 2.0]}, ["a", "b"]).summary_).empty


def test_reasons_are_the_contributions() -> None:
    clf = patients()
    new = {"sex": ["male", None], "age": [61, 30], "blood_pressure": ["normal", "never"]}
    found = reasons(clf.explain, as_table(new), 5)
    why = clf.explain(new)
    best = why.posterior.argmax(axis=1)
    for row, given in enumerate(found):
        gaps = why.contributions[row, :, best[row]] - why.contributions[row, :, 1 - best[row]]
        expected = sorted((gap for gap in gaps if gap), key=abs, reverse=True)
        np.testing.assert_allclose([reason.log_odds for reason in given], expected)
    assert str(found[0][0]).startswith("age = 61: +")
    assert [reason.what for reason in found[1]] == ["age = 30"]


def test_reasons_of_impossible_rows_are_no_nan() -> None:
    clf = BayesClassifier(smoothing=0).fit({"a": ["x", "y", "z"], "b": ["u", "v", "w"]}, ["p", "q", "r"])
    for given in reasons(clf.explain, as_table({"a": ["x"], "b": ["v"]}), 3):
        assert not any(np.isnan(reason.log_odds) for reason in given)
    alone = BayesClassifier().fit({"a": ["x", "y"]}, ["p", "p"])
    assert reasons(alone.explain, as_table({"a": ["x"]}), 3) == [[]]


def test_categories_are_measured_as_counted() -> None:
    clf = patients()
    frame = rank_by(clf.model_, clf.summary_).set_index("column")
    counts = [[0, 3, 3], [3, 3, 0]]
    for name, measure in MEASURES.items():
        assert frame.loc["blood_pressure", name] == pytest.approx(measure(counts))


def test_numbers_are_measured_in_ten_intervals() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 5000)
    rows = pd.DataFrame({"good": rng.normal(3.0 * y), "bad": rng.normal(size=5000)})
    clf = BayesClassifier().fit(rows, y)
    tables = class_value_tables(clf.model_, clf.summary_)
    assert tables["good"].shape == (2, 10)
    np.testing.assert_allclose(tables["good"].sum(), 5000, rtol=1e-6)
    cells = tables["good"].sum(axis=0)
    assert cells.max() < 1.2 * cells.min()
    exact = clf.rank().set_index("column").loc["good", "information"]
    frame = rank_by(clf.model_, clf.summary_, "gini")
    assert frame["column"].tolist() == ["good", "bad"]
    assert 0.9 * exact < frame["information_gain"][0] <= exact
    with pytest.raises(SettingsError, match="Did you mean 'gini'"):
        rank_by(clf.model_, clf.summary_, "ginni")


def mixed(n: int, seed: int = 0) -> tuple[pd.DataFrame, list[str]]:
    rng = np.random.default_rng(seed)
    y = rng.choice(["p", "q"], n)
    return pd.DataFrame({"x": rng.normal(size=n), "town": rng.choice(list("uvw"), n)}), y.tolist()


def test_differences_are_found_and_only_these() -> None:
    rows, y = mixed(60)
    clf = BayesClassifier().fit(rows, y)
    assert differences(clf, BayesClassifier().fit(rows[::-1], y[::-1])) == []
    assert differences(clf, BayesClassifier(n_jobs=1).fit(rows, y)) == []
    other = BayesClassifier(smoothing=2.0).fit(rows.rename(columns={"x": "z"}).assign(town="u"), ["p"] * 59 + ["r"])
    found = differences(clf, other)
    assert {d.what for d in found} >= {"setting", "column", "rows of class", "prior of class", "values", "share"}
    assert ("column", "x", "numeric", "—") in found
    assert ("values", "town", "v, w", "—") in found
    assert list(to_frame(found).columns) == ["what", "where", "a", "b"]


def test_a_shifted_mean_is_told() -> None:
    rows, y = mixed(60)
    found = differences(BayesClassifier().fit(rows, y), BayesClassifier().fit(rows.assign(x=rows["x"] + 1.0), y))
    assert [(d.what, d.where) for d in found] == [("mean", "x, p"), ("mean", "x, q")]


@pytest.mark.parametrize("family", ["bins", "lognormal", "bernoulli", "multinomial"])
def test_other_statistics_are_compared_number_by_number(family: str) -> None:
    rng = np.random.default_rng(0)
    rows, y = pd.DataFrame({"x": rng.integers(1, 9, 60).astype(float), "z": rng.integers(1, 9, 60)}), ["p", "q"] * 30
    clf = BayesClassifier(families=family).fit(rows, y)
    assert differences(clf, BayesClassifier(families=family).fit(rows, y)) == []
    assert differences(
        clf,
        BayesClassifier(families=family).fit(
            rows.assign(x=rows["x"][::-1].to_numpy() % 3 + (family != "bernoulli")), y
        ),
    )
