"""The query gives, in a real DuckDB, the posteriors that the classifier gives."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from likely import (
    AODEClassifier,
    BayesClassifier,
    EvidenceClassifier,
    FullBayesClassifier,
    Loss,
    SVMClassifier,
    TreeClassifier,
)
from likely.errors import SettingsError
from likely.models.export import numbers_of, readable
from likely.sql.dialects import DIALECTS
from likely.text import Tokenizer


def scored(clf: Any, rows: pd.DataFrame) -> pd.DataFrame:
    connection = duckdb.connect()
    connection.register("view", rows)
    connection.execute('CREATE TABLE "odd "" name" AS SELECT * FROM view')
    return connection.execute(clf.to_sql(table='odd " name')).df()


def agree(clf: Any, rows: pd.DataFrame) -> None:
    found = scored(clf, rows)
    shares = found[[f"P({label})" for label in clf.classes_.tolist()]].to_numpy()
    np.testing.assert_allclose(shares, clf.predict_proba(rows), rtol=0, atol=1e-9)
    assert found["prediction"].tolist() == clf.predict(rows).tolist()


def table(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, n)
    rows = pd.DataFrame(
        {
            'it\'s a "name"': rng.choice(["it's", 'a "b"', "c;--", "", "ü"], n),
            "flag": rng.choice([True, False], n).astype(object),
            "height": rng.normal(y, 1.5),
            "age": rng.gamma(2.0 + y),
            "income": rng.lognormal(y, 0.7),
            "visits": rng.poisson(y + 1.0).astype(float),
            "seen": rng.integers(0, 2, n).astype(float),
        }
    )
    rows.loc[rng.random(n) < 0.1, ["height", "visits", "age"]] = np.nan
    rows.loc[rng.random(n) < 0.1, "flag"] = None
    return rows.assign(y=np.array(["p", "q'", "r"])[y])


FAMILIES = {"age": "bins", "income": "lognormal", "visits": "poisson", "seen": "bernoulli"}


@pytest.mark.parametrize(
    "settings",
    [{}, {"missing": "value"}, {"unseen": "smooth", "smoothing": 0.5}, {"smoothing": 0, "priors": "uniform"}],
    ids=str,
)
def test_every_family_agrees(settings: dict[str, object]) -> None:
    rows = table()
    clf = BayesClassifier(families=FAMILIES, **settings).fit(rows[:200], "y")  # type: ignore[arg-type]
    rows.loc[250:260, 'it\'s a "name"'] = "never seen"
    rows.loc[261:265, "income"] = -1.0
    rows.loc[266:268, "height"] = 1e9
    agree(clf, rows.drop(columns="y"))


def test_counts_of_words() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.poisson(1.0, (100, 4)).astype(float), columns=list("abcd"))
    y = rng.choice([0, 1], 100)
    for family in ("multinomial", "complement"):
        agree(BayesClassifier(families=family).fit(rows, y), rows)


def test_a_row_that_every_class_rules_out_has_the_prior() -> None:
    rows = pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "u", "v"]})
    clf = BayesClassifier(smoothing=0).fit(rows, [True, True, False])
    agree(clf, pd.DataFrame({"a": ["x", "y", "x"], "b": ["v", "v", "u"]}))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=2, unique=True))
def test_any_text_is_quoted(words: list[str]) -> None:
    rows = pd.DataFrame({"w": pd.Series(words * 2, dtype=object)})
    clf = BayesClassifier(schema={"w": "nominal"}).fit(rows, ["p", "q"] * len(words))
    agree(clf, rows)


def test_what_sql_cannot_say() -> None:
    texts = {"t": ["a few words here", "some other words"]}
    pairs = BayesClassifier(schema={"t": "text"}, text=Tokenizer(ngram_range=(1, 2))).fit(texts, ["p", "q"])
    with pytest.raises(SettingsError, match=r"Words of column 't' are found by ngram_range=\(1, 2\)"):
        pairs.to_sql()
    words = BayesClassifier(schema={"t": "text"}).fit(texts, ["p", "q"])
    with pytest.raises(SettingsError, match="'t' is free text, which mysql is not taught to cut into words"):
        words.to_sql("mysql", columns=["t"])
    bare = BayesClassifier(schema={"t": "text"}, families={"t": "bernoulli"}, smoothing=0).fit(texts, ["p", "q"])
    with pytest.raises(SettingsError, match="a share of its words is 0 or 1"):
        bare.to_sql()
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    agree(FullBayesClassifier(covariance="diagonal").fit(rows, [0, 1] * 10), rows)
    machine = SVMClassifier().fit(rows, [0, 1] * 10)
    with pytest.raises(SettingsError, match="SVMClassifier cannot be written as SQL"):
        machine.to_sql()
    with pytest.raises(SettingsError, match=r"Costs that differ from row to row cannot be written"):
        clf = BayesClassifier().fit(rows, [0, 1] * 10)
        clf.to_sql(output="decision", loss=Loss(np.ones((20, 2, 2)), decisions=[0, 1], truths=[0, 1]))


def test_what_is_asked_for_is_checked() -> None:
    clf = BayesClassifier().fit({"x": [1.0, 2.0, 3.0, 4.0]}, [0, 0, 1, 1])
    for asked, said in (
        ({"dialect": "postgers"}, "Did you mean 'postgres'"),
        ({"output": "decisions"}, "Did you mean 'decision'"),
        ({"output": "probabilities", "loss": Loss.zero_one([0, 1])}, "A loss is for decisions"),
        ({"dialect": "trino"}, r"say which of the table the result is to have \(columns="),
        ({"columns": ["x", "prediction"]}, "has a column 'prediction' already"),
        ({"table": []}, "one to three parts"),
    ):
        with pytest.raises(SettingsError, match=said):
            clf.to_sql(**asked)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def mixed() -> dict[str, Any]:
    rows = table()
    kinds = {'it\'s a "name"': "nominal", "flag": "nominal"}
    return {
        "naive": BayesClassifier(families=FAMILIES, schema=kinds).fit(rows, "y"),
        "full": FullBayesClassifier(schema=kinds).fit(rows, "y"),
        "aode": AODEClassifier().fit(rows[["flag", "height", "visits", "y"]], "y"),
        "evidence": EvidenceClassifier(max_pairs=2).fit(rows, "y"),
        "tree": TreeClassifier(schema=kinds).fit(rows, "y"),
    }


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_is_read_again(dialect: str, mixed: dict[str, Any]) -> None:
    """In engines that are not at hand, the query is at least a sentence of their language."""
    for clf in mixed.values():
        for output in ("probabilities", "decision"):
            query = clf.to_sql(dialect, "sales.loans", output, columns=["height"])
            read = sqlglot.parse_one(query, dialect=dialect)
            names = [each.alias_or_name for each in read.selects]
            assert names[:5] == ["height", "prediction", "P(p)", "P(q')", "P(r)"], (dialect, names)
    if DIALECTS[dialect].star != "none":
        assert sqlglot.parse_one(mixed["naive"].to_sql(dialect, "t"), dialect=dialect).is_star


def test_columns_of_the_result_may_be_chosen() -> None:
    rows = table()
    clf = BayesClassifier().fit(rows, "y")
    connection = duckdb.connect()
    connection.register("rows", rows)
    found = connection.execute(clf.to_sql(table=["rows"], columns=["seen", "flag"])).df()
    assert list(found) == ["seen", "flag", "prediction", "P(p)", "P(q')", "P(r)"]


def test_full_bayes_of_too_many_columns_has_no_answer_for_gaps() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(200, 32)), columns=[f"x{k}" for k in range(32)])
    clf = FullBayesClassifier().fit(rows, rng.integers(0, 2, 200))
    agree(clf, rows)
    rows.loc[3, "x7"] = np.nan
    assert scored(clf, rows)["prediction"].isna().tolist() == [k == 3 for k in range(200)]


def test_a_deep_tree_is_one_query() -> None:
    rows = pd.DataFrame({"x": np.arange(120.0), "z": np.arange(120.0) % 7})
    y = (np.arange(120) * np.arange(120) // 3) % 2
    clf = TreeClassifier(prune=None, collapse=False, min_cases=1, measure="gini").fit(rows, y)
    assert int(clf.tree_.depths.max()) > 12
    rows.loc[5:9, "x"] = np.nan
    agree(clf, rows)


def test_numbers_that_are_listed_are_those_of_the_model() -> None:
    clf = BayesClassifier(families=FAMILIES, missing="value").fit(table(), "y")
    listed = {number[:5]: number.number for number in numbers_of(clf.model_)}
    assert listed["", "prior", "probability", None, "p"] == clf.model_.prior[0]
    shares = [
        value for key, value in listed.items() if key[:3] == ("flag", "categorical", "probability") and key[4] == "r"
    ]
    gap = listed["flag", "categorical", "probability of a gap", None, "r"]
    assert sum(shares) + gap == pytest.approx(1.0)
    assert listed["visits", "poisson", "rate", None, "r"] > listed["visits", "poisson", "rate", None, "p"]
    assert set(readable(clf.model_)["columns"]) == set(clf.families_)


def test_correlations_and_words_are_listed() -> None:
    rng = np.random.default_rng(0)
    full = FullBayesClassifier().fit(pd.DataFrame(rng.normal(size=(50, 2)), columns=["a", "b"]), [0, 1] * 25)
    belief = full.model_.beliefs[0]
    listed = {number[2:5]: number.number for number in numbers_of(full.model_)}
    assert listed["correlation", "a", 1] == belief.correlation[1, 0, 1]  # type: ignore[union-attr]
    for family in ("multinomial", "bernoulli", "complement"):
        text = BayesClassifier(families={"t": family}, schema={"t": "text"})
        text.fit({"t": ["red red wine", "blue wine"]}, ["p", "q"])
        words = {number.value for number in numbers_of(text.model_) if number.column == "t"}
        assert words == {"red", "wine", "blue"}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_evidence_agrees(n_classes: int) -> None:
    """Bins, gaps, categories never seen, pairs and triples."""
    rows = table()
    rng = np.random.default_rng(1)
    side = rng.choice(["l", "r"], (3, len(rows)))
    rows = rows.assign(a=side[0], b=side[1], c=side[2])
    odd = (side[:2] == "l").sum(axis=0) % 2
    odd = np.where(rng.random(len(rows)) < 0.5, odd, (side == "l").sum(axis=0) % 2)
    y = odd if n_classes == 2 else np.where(odd == 1, 2, rng.integers(0, 2, len(rows)))
    clf = EvidenceClassifier(max_pairs=6, max_triples=3).fit(rows[:200].drop(columns="y"), y[:200])
    assert {len(term) for term in clf.pairs_} == {2, 3}
    rows.loc[250:260, 'it\'s a "name"'] = "never seen"
    rows.loc[266:268, "height"] = 1e9
    agree(clf, rows.drop(columns="y"))
    agree(clf.partial_fit(rows[200:].drop(columns="y"), y[200:]), rows.drop(columns="y"))


def test_evidence_with_rare_categories_and_a_column_of_gaps() -> None:
    rng = np.random.default_rng(0)
    town = rng.choice([f"t{k}" for k in range(400)], 900, p=rng.dirichlet(np.full(400, 0.5)))
    rows = pd.DataFrame({"town": town, "x": rng.normal(size=900), "nothing": np.full(900, np.nan)})
    clf = EvidenceClassifier(schema={"town": "nominal", "nothing": "numeric"}).fit(rows, rng.integers(0, 2, 900))
    agree(clf, rows)


def test_wide_evidence_is_one_query() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(100, 300)), columns=[f"x{k}" for k in range(300)])
    agree(EvidenceClassifier(max_pairs=0).fit(rows, rng.integers(0, 2, 100)), rows)


def test_learned_weights_agree() -> None:
    rows = table()
    clf = BayesClassifier(families=FAMILIES, weights="learned").fit(rows[:200], "y")
    assert any(weight != 1.0 for weight in clf.weights_.values())
    agree(clf, rows.drop(columns="y"))
    weights = {
        number.column: number.number for number in numbers_of(clf.model_) if number.parameter == "weight of the column"
    }
    assert weights == pytest.approx(clf.weights_)


def test_words_of_evidence_are_listed() -> None:
    clf = EvidenceClassifier().fit(["cheap pills", "see you soon"] * 10, ["spam", "ham"] * 10)
    words = {number.value for number in numbers_of(clf.model_) if number.parameter == "evidence of its tf-idf"}
    assert {"cheap", "pills", "soon"} <= words


def test_numbers_of_evidence_add_up() -> None:
    rows = table()[["flag", "height"]]
    clf = EvidenceClassifier(max_pairs=1).fit(rows, rows["height"].fillna(0.0) > 1.0)
    lines = readable(clf.model_)
    told = clf.table_of("flag")
    listed = lines["columns"]["flag"]["parameters"]["evidence"]
    assert listed == {
        cell: {"False": no, "True": yes}
        for cell, no, yes in zip(told["flag"], told[False], told[True], strict=True)
    }  # fmt: skip
    assert "intercept" in lines["columns"]
