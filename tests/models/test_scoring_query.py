"""The query gives, in a real DuckDB, the posteriors that the classifier gives."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely import BayesClassifier, EvidenceClassifier, FullBayesClassifier
from likely.errors import SettingsError
from likely.models.export import numbers_of, readable, scoring_query


def scored(clf: BayesClassifier | EvidenceClassifier | FullBayesClassifier, rows: pd.DataFrame) -> pd.DataFrame:
    connection = duckdb.connect()
    connection.register("view", rows)
    connection.execute('CREATE TABLE "odd "" name" AS SELECT * FROM view')
    return connection.execute(scoring_query(clf.model_, 'odd " name')).df()


def agree(clf: BayesClassifier | EvidenceClassifier | FullBayesClassifier, rows: pd.DataFrame) -> None:
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
    clf = BayesClassifier(schema={"t": "text"}).fit({"t": ["a few words here", "some other words"]}, ["p", "q"])
    with pytest.raises(SettingsError, match="'t' cannot be scored in SQL, because it is free text"):
        scoring_query(clf.model_)
    rows = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(SettingsError, match="depends on other columns"):
        scoring_query(FullBayesClassifier().fit(rows, [0, 1] * 10).model_)
    agree(FullBayesClassifier(covariance="diagonal").fit(pd.DataFrame(rows, columns=["a", "b"]), [0, 1] * 10),
          pd.DataFrame(rows, columns=["a", "b"]))  # fmt: skip


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


def test_texts_of_evidence_are_refused_in_sql_and_listed() -> None:
    clf = EvidenceClassifier().fit(["cheap pills", "see you soon"] * 10, ["spam", "ham"] * 10)
    with pytest.raises(SettingsError, match="free text"):
        scoring_query(clf.model_)
    words = {number.value for number in numbers_of(clf.model_) if number.parameter == "probability"}
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
