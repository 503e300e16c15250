"""Columns of every type that an engine has: right, or one sentence that names table, column and what to do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import likely
from likely.engines.connect import as_relation
from likely.engines.relation import Relation
from likely.errors import DataError, LikelyError, SchemaError
from tests.engines.conftest import ENGINES
from tests.engines.test_same_model import same
from tests.engines.test_scoring import numbers

on = pytest.mark.parametrize

ROWS = 400
LABEL = "case when i % 3 = 0 then 'yes' else 'no' end"

COLUMNS: dict[str, dict[str, tuple[str, str]]] = {
    "duckdb": {
        "decimal": ("((i % 17) / 3.0)::decimal(10, 2)", "numeric"),
        "huge": ("(i % 5)::hugeint * 100000000000000000000::hugeint", "numeric"),
        "unsigned huge": ("(i % 5)::uhugeint", "numeric"),
        "largest": ("(9223372036854775807 - i % 5)::bigint", "numeric"),
        "uuid": ("('00000000-0000-0000-0000-0000000000' || (10 + i % 7))::uuid", "nominal"),
        "json": ("('{\"a\": ' || (i % 3) || '}')::json", "nominal"),
        "mood": ("(['sad', 'ok'])[1 + i % 2]::enum('sad', 'ok')", "nominal"),
        "bits": ("(case when i % 3 = 0 then '101' else '010' end)::bit", "nominal"),
        "span": ("interval (i % 5) day", "nominal"),
        "either": ("union_value(num := i % 3)", "nominal"),
        "list": ("[i % 3]", "ignored"),
        "struct": ("{'a': i % 3}", "ignored"),
        "nothing": ("null", "ignored"),
        "moment": ("timestamptz '2024-01-01 00:00:00+00' + interval (i * 7) hour", "date"),
        "time": ("time '00:00' + interval (i) minute", "ignored"),
        "truth": ("i % 4 = 0", "nominal"),
        "zero": ("case when i % 2 = 0 then -0.0::double else 0.0::double end", "numeric"),
        "not a number": ("case when i % 10 = 0 then 'nan'::double else i % 7 end", "numeric"),
        "blanks": ("'a' || repeat(' ', (i % 3)::int)", "nominal"),
    },
    "postgres": {
        "decimal": ("((i % 17) / 3.0)::numeric", "numeric"),
        "money": ("(i % 7)::int::money", "numeric"),
        "far": ("((i % 17) * 1e40)::numeric", "numeric"),
        "not a number": ("case when i % 10 = 0 then 'NaN'::numeric else (i % 7)::numeric end", "numeric"),
        "largest": ("(9223372036854775807 - i % 5)::bigint", "numeric"),
        "oid": ("(i % 20)::oid", "numeric"),
        "uuid": ("('00000000-0000-0000-0000-0000000000' || (10 + i % 7))::uuid", "nominal"),
        "json": ("('{\"a\": ' || (i % 3) || '}')::json", "nominal"),
        "jsonb": ("('{\"a\": ' || (i % 3) || '}')::jsonb", "nominal"),
        "padded": ("('a' || (i % 3))::char(5)", "nominal"),
        "one": ("(array['a', 'b'])[1 + i % 2]::\"char\"", "nominal"),
        "address": ("('10.0.0.' || (i % 3))::inet", "nominal"),
        "range": ("int4range(0, (i % 3)::int)", "nominal"),
        "bits": ("(i % 3)::int::bit(3)", "nominal"),
        "list": ("array[i % 3, 2]", "ignored"),
        "span": ("i * interval '1 day'", "ignored"),
        "moment": ("timestamptz '2024-01-01 00:00:00+00' + (i * 7) * interval '1 hour'", "date"),
        "truth": ("i % 4 = 0", "nominal"),
        "blanks": ("'a' || repeat(' ', (i % 3)::int)", "nominal"),
    },
    "spark": {
        "decimal": ("cast((i % 17) / 3.0 as decimal(10, 2))", "numeric"),
        "largest": ("9223372036854775807 - i % 5", "numeric"),
        "months": ("make_ym_interval(cast(i % 5 as int))", "nominal"),
        "days": ("make_dt_interval(cast(i % 5 as int))", "nominal"),
        "variant": ("parse_json(concat('{\"a\":', i % 3, '}'))", "nominal"),
        "list": ("array(i % 3)", "ignored"),
        "map": ("map('a', i % 3)", "ignored"),
        "nothing": ("null", "ignored"),
        "not a number": ("if(i % 10 = 0, double('nan'), i % 7)", "numeric"),
        "moment": ("timestamp_ntz'2024-01-01 00:00:00' + make_interval(0, 0, 0, 0, cast(i * 7 as int))", "date"),
        "a`b": ("make_dt_interval(cast(i % 3 as int))", "nominal"),
    },
}
"""An expression of the row's number i for each type, and what the column is taken for."""


TABLE = f"odd_types_{os.getpid()}"
"""Tests that run side by side share one server."""


@pytest.fixture
def made(engine: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Makes a table by a query over i, and gives what is handed over to `likely`."""
    wanted = {"duckdb": "duck", "postgres": "postgres", "spark": "spark"}[engine]
    backend = request.getfixturevalue(wanted)

    def run(command: str) -> None:
        if engine == "duckdb":
            backend.con.execute(command)
        else:
            with backend.begin() as cursor:
                cursor.execute(command)

    def make(columns: dict[str, str], n: int = ROWS) -> Any:
        mark = "`" if engine == "spark" else '"'
        names = {name: mark + name.replace(mark, 2 * mark) + mark for name in columns}
        chosen = ", ".join(f"{query} as {names[name]}" for name, query in columns.items())
        if engine == "spark":
            return backend.sql(f"select {chosen} from (select id as i from range({n}))")
        rows = f"range({n}) r(i)" if engine == "duckdb" else f"generate_series(0, {n - 1}) i"
        run(f"drop table if exists {TABLE}; create table {TABLE} as select {chosen} from {rows}")
        return backend.table(TABLE)

    make.run = run  # type: ignore[attr-defined]
    yield make
    if engine != "spark":
        run(f"drop table if exists {TABLE} cascade")


def fetched(table: Any) -> tuple[Relation, pa.Table]:
    relation = as_relation(table)
    return relation, relation.run(relation.table)


@on("engine", ENGINES)
def test_every_type_is_read(engine: str, made: Any) -> None:
    """The model from the engine is that of its rows, fetched; and its query is run there."""
    columns = {name: query for name, (query, _) in COLUMNS[engine].items()}
    table = made({**columns, "row": "i", "label": LABEL})
    there = likely.train(table, "label", model="naive", schema={"row": "ignored"})
    want = {name: kind for name, (_, kind) in COLUMNS[engine].items()}
    assert {name: there.schema_.kinds[name] for name in want} == want
    relation, rows = fetched(table)
    here = likely.train(rows, "label", model="naive", schema={"row": "ignored"})
    same(dict(here.summary_.parts), dict(there.summary_.parts))
    shares = there.predict_proba(rows)
    np.testing.assert_allclose(here.predict_proba(rows), shares, rtol=0, atol=1e-9)
    names = [f"P({label})" for label in there.classes_]
    if engine == "spark":
        return
    unread = ["money", "oid"] if engine == "postgres" else []
    there = likely.train(table, "label", model="naive", schema=dict.fromkeys(["row", *unread], "ignored"))
    scored = relation.run(there.predict_proba(relation).select("row", *names)).sort_by("row")
    np.testing.assert_allclose(numbers(scored, names), there.predict_proba(rows.sort_by("row")), rtol=0, atol=1e-9)


@on("engine", ["duckdb", "postgres"])
def test_a_prediction_keeps_the_types_of_the_table(engine: str, made: Any) -> None:
    table = made({"id": "('00000000-0000-0000-0000-0000000000' || (10 + i % 7))::uuid", "label": LABEL})
    clf = likely.train(table, "label", model="naive")
    assert clf.schema_.kinds["id"] == "nominal"
    assert str(clf.predict(table).schema()["id"]) == "uuid"


ENDLESS = {
    "date": "case when i % {0} = {0} - 1 then '{1}'::date else date '2024-01-01' + (i % 300)::int end",
    "timestamp": "case when i % {0} = {0} - 1 then '{1}'::timestamp else timestamp '2024-01-01 10:00:00' end",
}


@on("kind", ENDLESS)
@on("sign", ["", "-"])
@on("every", [50, 25_000])
@on("engine", ["duckdb", "postgres"])
def test_an_infinite_date_is_told(kind: str, sign: str, every: int, engine: str, made: Any) -> None:
    """Whether it is among the rows looked at or not."""
    table = made(
        {"when": ENDLESS[kind].format(every, f"{sign}infinity"), "z": "(i % 7)::float", "label": LABEL}, 30_000
    )
    told = r"olumn 'when'.*(infinite date|too far|too large|too small).*'when': 'ignored'"
    with pytest.raises(LikelyError, match=told):
        likely.train(table, "label", model="naive")
    assert likely.train(table, "label", model="naive", schema={"when": "ignored"}).summary_.n_rows == 30_000


@on("engine", ["duckdb"])
def test_whole_numbers_without_a_sign(engine: str, made: Any) -> None:
    table = made({"large": "(18446744073709551615::hugeint - i % 5)::ubigint", "label": LABEL})
    clf = likely.train(table, "label", model="naive", schema={"large": "nominal"})
    rows = table.to_pyarrow()
    found = numbers(table.get_backend().con.sql(clf.to_sql("duckdb", TABLE)).to_arrow_table(), ["P(no)", "P(yes)"])
    np.testing.assert_allclose(found, clf.predict_proba(rows), rtol=0, atol=1e-9)


@on("engine", ENGINES)
def test_labels_that_are_none_are_counted_and_lists_are_named(engine: str, made: Any) -> None:
    nan = {"spark": "double('nan')"}.get(engine, "'nan'::float8")
    table = made({"x": "i % 7", "y": f"case when i % 4 = 0 then {nan} else i % 2 end"})
    with pytest.raises(DataError, match="column 'y': 100 rows have no label"):
        likely.train(table, "y", model="naive")
    of = {"duckdb": "[i % 2]", "postgres": "array[i % 2]", "spark": "array(i % 2)"}[engine]
    with pytest.raises(SchemaError, match=rf"(table '{TABLE}'|the Spark frame): Column 'y' holds list"):
        likely.train(made({"x": "i % 7", "y": of}), "y", model="naive")


@on("engine", ["postgres"])
def test_texts_that_a_collation_takes_for_equal_are_told_apart(engine: str, made: Any) -> None:
    made.run("create collation if not exists loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    word = "(case when i % 3 = 0 then 'a' when i % 3 = 1 then 'A' else 'b' end) collate loose"
    table = made({"word": word, "y": word})
    assert likely.train(table, "y", model="naive").classes_.tolist() == ["A", "a", "b"]
    clf = likely.train(made({"word": word, "y": LABEL}), "y", model="naive")
    relation, rows = fetched(table)
    assert relation.run(clf.predict(table)).column("prediction").to_pylist() == clf.predict(rows).tolist()
    made.run(f"drop table {TABLE}; drop collation loose")


@on("engine", ["duckdb", "postgres"])
def test_a_view_of_many_rows_is_sampled(engine: str, made: Any) -> None:
    """PostgreSQL's TABLESAMPLE is for tables."""
    table = made({"id": "i", "z": "(i % 7)::float8", "label": LABEL}, 25_000)
    made.run('create schema if not exists "My views"')
    made.run(f'create or replace view "My views"."all.rows" as table {TABLE}')
    view = table.get_backend().table("all.rows", database="My views")
    clf, again = (likely.train(likely.engine_table(view, sample=600), "label", max_pairs=0) for _ in range(2))
    assert clf.summary_.n_rows == 25_000
    rows = table.limit(50).to_pyarrow()
    np.testing.assert_array_equal(clf.predict_proba(rows), again.predict_proba(rows))
    made.run('drop schema "My views" cascade')


@on("engine", ["postgres"])
def test_a_user_who_may_read_some_columns_only(engine: str, made: Any, request: pytest.FixtureRequest) -> None:
    made({"id": "i", "z": "(i % 7)::float8", "label": LABEL})
    made.run("drop role if exists partly; create role partly login")
    made.run(f"grant select (z, label) on {TABLE} to partly")
    url = request.getfixturevalue("postgres_url").replace("likely@", "partly@")
    table = likely.engine_table(url, f"public.{TABLE}")
    with pytest.raises(DataError, match=r"column 'id': .*permission denied.*'id': 'ignored'"):
        likely.train(table, "label", model="naive")
    for model in ("naive", "evidence"):
        clf = likely.train(table, "label", model=model, schema={"id": "ignored"})
        assert clf.schema_.kinds == {"id": "ignored", "z": "numeric"}
        clf.partial_fit(table, "label")
        assert clf.summary_.n_rows == 2 * ROWS
    table.close()
    made.run("drop owned by partly; drop role partly")


@on("engine", ["postgres"])
def test_names_with_dots(engine: str, made: Any, request: pytest.FixtureRequest) -> None:
    made({"z": "(i % 7)::float8", "label": LABEL})
    made.run(f'create schema if not exists "a.b"; create table "a.b"."c.d" as table {TABLE}')
    url = request.getfixturevalue("postgres_url")
    for name in ("a.b.c.d", TABLE, f"public.{TABLE}", f"postgres.public.{TABLE}"):
        table = likely.engine_table(url, name)
        assert likely.train(table, "label", model="naive").summary_.n_rows == ROWS
        table.close()
    with pytest.raises(DataError, match=r"'a\.b\.c' cannot be opened .*: there is no table of that name"):
        likely.engine_table(url, "a.b.c")
    made.run('drop schema "a.b" cascade')
