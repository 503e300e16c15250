"""Queries that score a table give, in every engine, what `predict_proba` gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from likely import (
    AODEClassifier,
    BayesClassifier,
    EvidenceClassifier,
    FullBayesClassifier,
    Loss,
    TreeClassifier,
)
from likely.errors import DataError, SchemaError, SettingsError
from likely.models.calibrated import CalibratedClassifier
from tests.engines import tables
from tests.engines.conftest import ENGINES, Load
from tests.models.evidence.test_ensemble import parity

pytestmark = pytest.mark.parametrize("engine", ENGINES)

NUMERIC = {"count": "numeric", "known": "nominal"}
CLASSIFIERS: dict[str, Any] = {
    "naive": BayesClassifier(),
    "gaps as values": BayesClassifier(missing="value", unseen="smooth"),
    "no smoothing": BayesClassifier(smoothing=0, priors="uniform"),
    "learned weights": BayesClassifier(weights="learned"),
    "other families": BayesClassifier(families={"size": "bins", "count": "poisson"}),
    "logarithms": BayesClassifier(families={"size": "tree-bins", "count": "lognormal"}, schema=NUMERIC),
    "full": FullBayesClassifier(schema=NUMERIC),
    "full, pooled": FullBayesClassifier(schema=NUMERIC, covariance="pooled"),
    "aode": AODEClassifier(),
    "evidence": EvidenceClassifier(max_pairs=3, max_triples=1),
    "tree": TreeClassifier(),
    "tree, unpruned": TreeClassifier(prune=None, min_cases=15),
    "tree with surrogates": TreeClassifier(missing="surrogates", prune=None, min_cases=15),
    "calibrated": CalibratedClassifier(BayesClassifier()),
}


def learned_from(classifier: Any, rows: pa.Table, target: str) -> Any:
    return type(classifier)(**classifier.get_params(deep=False)).fit(rows, target)


def scored(clf: Any, table: Any, engine: str, **asked: Any) -> pa.Table:
    """What the engine itself makes of the query, as text."""
    backend, name = table.get_backend(), table.op().name
    query = clf.to_sql(engine, name, **asked)
    if engine == "spark":
        return backend._session.sql(query).toArrow()
    if engine == "duckdb":
        return backend.con.sql(query).to_arrow_table()
    with backend.con.cursor() as cursor:
        cursor.execute(query)
        lines = cursor.fetchall()
        names = [each.name for each in cursor.description]
    backend.con.commit()
    columns = zip(*lines, strict=True)
    return pa.table([pa.array(list(column)) for column in columns], names=names)


def numbers(found: pa.Table, names: list[str]) -> np.ndarray:
    return np.column_stack([np.asarray(found.column(name).to_pylist(), dtype=float) for name in names])


def in_order(table: pa.Table) -> pa.Table:
    return table.append_column("row number", pa.array(range(table.num_rows)))


def agree(clf: Any, rows: pa.Table, engine: str, load: Load) -> pa.Table:
    there = load(in_order(rows))
    found = scored(clf, there, engine).sort_by("row number")
    assert found.column_names[: rows.num_columns] == rows.column_names
    got = numbers(found, [f"P({label})" for label in clf.classes_.tolist()])
    np.testing.assert_allclose(got, clf.predict_proba(rows), rtol=0, atol=1e-9)
    assert found.column("prediction").to_pylist() == clf.predict(rows).tolist()
    return there


def odd(rows: pa.Table) -> pa.Table:
    """The same with values never seen, and numbers far away."""
    size, town = rows.column("size").to_pylist(), rows.column("town").to_pylist()
    size[:6] = [1e9, -1e300, 0.0, 1e-200, 1e120, None]
    town[:3] = ["never seen", "it's", None]
    changed = rows.set_column(rows.column_names.index("size"), "size", pa.array(size, pa.float64()))
    return changed.set_column(rows.column_names.index("town"), "town", pa.array(town))


@pytest.mark.parametrize("how", CLASSIFIERS)
def test_every_classifier_scores_where_the_rows_are(how: str, engine: str, load: Load) -> None:
    rows = tables.plain()
    if how == "logarithms":
        count = pa.array([None if x is None else x + 0.5 for x in rows.column("count").to_pylist()])
        rows = rows.set_column(1, "count", count)
    clf = learned_from(CLASSIFIERS[how], rows.slice(0, 500), "label")
    agree(clf, odd(rows.slice(400).drop_columns(["label"])), engine, load)


@pytest.mark.parametrize("name", tables.TABLES)
def test_strange_names_values_and_numbers(name: str, engine: str, load: Load) -> None:
    rows = tables.TABLES[name]()
    target = rows.column_names[-1]
    agree(BayesClassifier().fit(rows, target), rows.drop_columns([target]), engine, load)


@pytest.fixture(scope="module")
def with_trees() -> tuple[Any, pa.Table]:
    """Evidence that needs boosted trees, for four columns speak only together; and rows with gaps."""
    rows, label = parity(2200)
    clf = EvidenceClassifier(n_jobs=1).fit(rows, label)
    assert len(clf.model_.evidence.trees) > 0
    some = pa.Table.from_pandas(rows.iloc[:150], preserve_index=False)
    gap = pa.array([None if k % 9 == 0 else v for k, v in enumerate(some.column(0).to_pylist())], some.schema.types[0])
    return clf, some.set_column(0, some.column_names[0], gap)


def test_boosted_trees_score_where_the_rows_are(with_trees: tuple[Any, pa.Table], engine: str, load: Load) -> None:
    """Probabilities, decisions and contributions, which are told together where no column has them alone."""
    clf, rows = with_trees
    there = agree(clf, rows, engine, load)
    loss = Loss.zero_one(clf.classes_.tolist()).refusing(0.2)
    found = scored(clf, there, engine, output="decision", loss=loss).sort_by("row number")
    want = clf.decisions(rows, loss)
    assert found.column("decision").to_pylist() == [str(each) for each in want["decision"]]
    np.testing.assert_allclose(numbers(found, ["risk"])[:, 0], want["risk"], rtol=0, atol=1e-9)
    found = scored(clf, there, engine, output="explanation").sort_by("row number")
    names = found.column_names[found.column_names.index(f"prior: {clf.classes_[0]}") :]
    for label, joint in zip(clf.classes_.tolist(), clf.predict_joint_log_proba(rows).T, strict=True):
        own = [name for name in names if name.endswith(f": {label}")]
        assert len(own) > rows.num_columns
        np.testing.assert_allclose(numbers(found, own).sum(axis=1), joint, rtol=1e-9, atol=1e-9)


TEXTS = {
    "multinomial": BayesClassifier(schema={"body": "text"}),
    "tf-idf": BayesClassifier(schema={"body": "text"}, weighting="tf-idf", weights="learned"),
    "bernoulli": BayesClassifier(schema={"body": "text"}, families={"body": "bernoulli"}),
    "complement": BayesClassifier(schema={"body": "text"}, families={"body": "complement"}),
    "evidence": EvidenceClassifier(schema={"body": "text", "size": "numeric"}),
    "tree": TreeClassifier(schema={"body": "text"}, text_tokens=5, prune=None, min_cases=20),
}


@pytest.mark.parametrize("how", TEXTS)
def test_texts_are_cut_into_words_there(how: str, engine: str, load: Load) -> None:
    rows = tables.texts()
    rows = rows.append_column("size", pa.array(np.random.default_rng(0).normal(size=rows.num_rows)))
    clf = learned_from(TEXTS[how], rows.slice(0, 250), "label")
    rows = rows.drop_columns(["label"])
    body = rows.column("body").to_pylist()
    body[:4] = ["", "nothing known", None, "Cheap cheap CHEAP"]
    agree(clf, rows.set_column(0, "body", pa.array(body)), engine, load)


def test_decisions_have_the_least_expected_cost(engine: str, load: Load) -> None:
    rows = tables.plain()
    clf = BayesClassifier().fit(rows, "label")
    rows = odd(rows.drop_columns(["label"]))
    there = load(in_order(rows))
    costs = {"stop": {"red": 0, "green": 3, "blue": 2}, "go": {"red": 9, "green": 0, "blue": 1.5}}
    for loss in (None, Loss(costs), Loss(costs, refuse=1.2), Loss.zero_one(["red", "green", "blue"]).refusing(0.3)):
        found = scored(clf, there, engine, output="decision", loss=loss).sort_by("row number")
        want = clf.decisions(rows, Loss.zero_one(clf.classes_.tolist()) if loss is None else loss)
        assert found.column("decision").to_pylist() == [str(each) for each in want["decision"]]
        np.testing.assert_allclose(numbers(found, ["risk"])[:, 0], want["risk"], rtol=0, atol=1e-9)
    tree = TreeClassifier(loss=Loss(costs), prune=None, min_cases=40).fit(tables.plain(), "label")
    agree(tree, rows, engine, load)


@pytest.mark.parametrize("how", ["naive", "full", "aode", "evidence"])
def test_contributions_add_up(how: str, engine: str, load: Load) -> None:
    rows = tables.plain()
    clf = learned_from(CLASSIFIERS[how], rows, "label")
    rows = rows.slice(0, 200).drop_columns(["label"])
    found = scored(clf, load(in_order(rows)), engine, output="explanation").sort_by("row number")
    why, labels = clf.explain(rows), clf.classes_.tolist()
    assert how != "evidence" or any("with others" in name for name in why.columns), "it has a discriminant"
    total = numbers(found, [f"prior: {label}" for label in labels])
    for k, name in enumerate(why.columns):
        got = numbers(found, [f"{name}: {label}" for label in labels])
        np.testing.assert_allclose(got, why.contributions[:, k], rtol=1e-9, atol=1e-9)
        total += got
    np.testing.assert_allclose(total, clf.predict_joint_log_proba(rows), rtol=1e-9, atol=1e-9)


def test_a_row_that_every_class_rules_out_has_the_prior_and_an_infinite_number_nothing(engine: str, load: Load) -> None:
    rows = pa.table({"a": ["x", "x", "y"], "b": ["u", "u", "v"]})
    clf = BayesClassifier(smoothing=0).fit(rows, [True, True, False])
    agree(clf, pa.table({"a": ["x", "y", "x"], "b": ["v", "v", "u"]}), engine, load)
    rng = np.random.default_rng(0)
    x = pa.table({"x": rng.normal(size=60), "z": rng.normal(size=60)})
    for some in (BayesClassifier(), BayesClassifier(families="bins"), TreeClassifier(prune=None), AODEClassifier()):
        learned = some.fit(x, np.where(x.column("x").to_numpy() > 0, "p", "q"))
        there = load(pa.table({"x": [np.inf, -np.inf, 0.5, np.nan], "z": [0.0, 1.0, 2.0, 3.0]}))
        found = scored(learned, there, engine).sort_by("z")
        assert found.column("prediction").is_null().to_pylist() == [True, True, False, False]
        assert found.column("P(p)").is_null().to_pylist() == [True, True, False, False]


@pytest.mark.parametrize("how", ["naive", "evidence", "tree", "calibrated"])
def test_a_table_of_ibis_gives_an_expression(how: str, engine: str, load: Load) -> None:
    """It can go on being asked, nothing is fetched before, and nothing is left behind."""
    rows = tables.plain(200)
    clf = learned_from(CLASSIFIERS[how], rows, "label")
    there = load(in_order(rows))
    some = there.filter(there["row number"] < 100)
    assert isinstance(clf.predict(some), type(there))
    told = Asked.of(clf.predict(some))
    assert told.column_names == [*there.columns, "prediction"]
    assert told.sort_by("row number").column("prediction").to_pylist() == clf.predict(rows.slice(0, 100)).tolist()
    found = Asked.of(clf.predict_proba(some)).sort_by("row number")
    names = [f"P({label})" for label in clf.classes_]
    assert found.column_names == [*there.columns, *names]
    np.testing.assert_allclose(numbers(found, names), clf.predict_proba(rows.slice(0, 100)), rtol=0, atol=1e-9)
    loss = Loss.zero_one(["red", "green", "blue"]).refusing(0.4)
    decided = clf.decide(some, loss)
    counted = Asked.of(decided.group_by("decision").aggregate(n=decided.count()))
    want = [str(each) for each in clf.decide(rows.slice(0, 100), loss)]
    assert {line["decision"]: line["n"] for line in counted.to_pylist()} == {each: want.count(each) for each in want}


class Asked:
    """Runs an expression as `likely` does it."""

    @staticmethod
    def of(expression: Any) -> pa.Table:
        from likely.engines.connect import as_relation

        return as_relation(expression).run(expression)


def test_what_an_engine_cannot_score_is_told(engine: str, load: Load) -> None:
    rows = tables.plain(60)
    clf = BayesClassifier().fit(rows, "label")
    with pytest.raises(SchemaError, match="lacks the column 'town'"):
        clf.predict(load(rows.drop_columns(["town"])))
    words = rows.set_column(0, "size", pa.array(["large"] * 60))
    with pytest.raises(SchemaError, match=r"Column 'size' of table .* holds string, but numbers were learned"):
        clf.predict(load(words))
    with pytest.raises(SettingsError, match="Novel rows cannot be told in an engine"):
        clf.decide(load(rows), Loss.zero_one(["red", "green", "blue"]), novelty=clf.novelty(rows))
    if engine != "spark":
        return
    texts = BayesClassifier(schema={"body": "text"}).fit(tables.texts(), "label")
    with pytest.raises(DataError, match=r"U\+0301.*reads otherwise than Python does"):
        texts.predict(load(pa.table({"body": ["cafe\u0301"]})))


def test_parts_of_dates_are_worked_out_by_the_engine(engine: str, load: Load) -> None:
    random = np.random.default_rng(5)
    moments = np.datetime64("1968-03-01T00:00:00", "us") + random.integers(0, 60 * 365 * 86_400, 300).astype(
        "timedelta64[s]"
    )
    held = pa.array([None if k % 11 == 0 else moment for k, moment in enumerate(moments.tolist())], pa.timestamp("us"))
    late = random.random(300) < 0.2 + 0.5 * (moments.astype("datetime64[D]").astype(int) % 7 < 3)
    rows = pa.table({"id": np.arange(300), "when": held, "y": np.where(late, "late", "early")})
    for classifier in (BayesClassifier(), EvidenceClassifier(max_pairs=1), TreeClassifier(min_cases=10)):
        clf = classifier.set_params(schema={"id": "ignored"}).fit(rows, "y")
        found = scored(clf, load(rows), engine, columns=["id"]).sort_by("id")
        shares = np.column_stack([found.column(f"P({label})").to_numpy() for label in ("early", "late")])
        assert shares.astype(float) == pytest.approx(clf.predict_proba(rows), abs=1e-9)


def test_dates_in_texts_are_read_by_the_clock_on_the_wall(engine: str, load: Load) -> None:
    rows = tables.dated(200).append_column("id", pa.array(range(200)))
    clf = BayesClassifier(schema={"id": "ignored"}).fit(rows, "label")
    found = scored(clf, load(rows), engine, columns=["id"]).sort_by("id")
    shares = np.column_stack([found.column(f"P({label})").to_numpy() for label in ("no", "yes")])
    assert shares.astype(float) == pytest.approx(clf.predict_proba(rows), abs=1e-9)


def test_a_column_that_holds_no_dates_is_named(engine: str, load: Load) -> None:
    clf = BayesClassifier().fit(tables.dated(100), "label")
    wrong = tables.dated(5).set_column(0, "day", pa.array([1, 2, 3, 4, 5]))
    with pytest.raises(SchemaError, match=r"Column 'day' of table .* holds int64, but dates were learned"):
        clf.predict(load(wrong))
