"""Addresses, relations of DuckDB, frames of Spark; nothing is left behind, and no secret is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pytest

import likely
from likely.engines.connect import as_relation, connect, is_relation
from likely.engines.relation import EngineError
from likely.errors import SchemaError, SettingsError
from tests.engines import tables


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(path)) as con:
        con.register("rows", tables.plain())
        con.execute('create table "the days" as select * from rows')
    return path


def test_a_table_of_a_duckdb_file_is_opened_by_its_address(warehouse: Path) -> None:
    relation = connect(f"duckdb:///{warehouse}", "the days")
    clf = likely.BayesClassifier().fit(relation, "label")
    assert clf.summary_.n_rows == 600
    relation.close()


def test_reading_is_enough(warehouse: Path) -> None:
    relation = connect(f"duckdb:///{warehouse}", "the days")
    with pytest.raises(duckdb.Error, match="read-only"):
        relation.table.get_backend().raw_sql("create table other (a int)")
    relation.close()


def test_a_missing_table_is_one_sentence(warehouse: Path) -> None:
    with pytest.raises(EngineError, match=r"Table 'nights' cannot be opened in duckdb: .*; see that the address"):
        connect(f"duckdb:///{warehouse}", "nights")


def test_an_unknown_engine_is_named() -> None:
    with pytest.raises(
        SettingsError, match=r"begins with 'postgre', but it names an engine: .* Did you mean 'postgres'"
    ):
        connect("postgre://host/db", "t")


@pytest.mark.parametrize("password", ["s3cret-w0rd", "p%40ss%2Fword"])
def test_a_password_is_never_told(password: str) -> None:
    with pytest.raises(EngineError) as refused:
        connect(f"postgresql://someone:{password}@127.0.0.1:1/db?connect_timeout=2", "t")
    told = f"{refused.value!r} {refused.value} {refused.value.__cause__!r}"
    assert password not in told and "p@ss/word" not in told
    assert "postgres at 127.0.0.1" in told


def test_a_relation_of_duckdb_is_asked_where_it_is() -> None:
    con = duckdb.connect()
    con.register("rows", tables.plain())
    relation = con.sql("select * from rows where size is not null")
    clf = likely.BayesClassifier().fit(relation, "label")
    assert clf.summary_.n_rows == relation.count("*").fetchall()[0][0]
    assert con.sql("show tables").fetchall() == [("rows",)]


def test_what_is_no_table_of_an_engine_is_told() -> None:
    assert not is_relation({"a": [1]})
    with pytest.raises(SettingsError, match="not dict"):
        as_relation({"a": [1]})


def test_labels_and_weights_are_columns(warehouse: Path) -> None:
    relation = connect(f"duckdb:///{warehouse}", "the days")
    with pytest.raises(SettingsError, match="give its name"):
        likely.BayesClassifier().fit(relation, ["a", "b"])
    with pytest.raises(SettingsError, match="schema="):
        likely.BayesClassifier().fit(relation, "label", [1.0, 2.0])
    with pytest.raises(likely.errors.SchemaError, match="Did you mean 'label'"):
        likely.BayesClassifier().fit(relation, "labels")
    relation.close()


@pytest.mark.parametrize("engine", ["spark"])
def test_a_frame_of_spark_leaves_no_view(engine: str, spark: Any) -> None:
    frame = spark.createDataFrame(tables.plain())
    clf = likely.BayesClassifier().fit(frame, "label")
    assert clf.summary_.n_rows == 600
    assert [table.name for table in spark.catalog.listTables() if table.name.startswith("likely")] == []


@pytest.mark.parametrize("gone", ["table", "connection"])
def test_a_relation_that_cannot_be_read_is_one_sentence(gone: str) -> None:
    con = duckdb.connect()
    con.execute("create table days as select 1 as a, 'x' as y")
    relation = con.sql("from days")
    if gone == "table":
        con.execute("drop table days")
    else:
        con.close()
    with pytest.raises(EngineError, match=r"The DuckDB relation cannot be read: .*; see that its connection is open"):
        likely.train(relation, "y")


def test_a_table_that_lacks_a_column_is_named() -> None:
    table = ibis.duckdb.connect().create_table("days", pa.table({"a": [1, 2], "y": ["u", "v"]}))
    with pytest.raises(SchemaError, match=r"Table 'days' lacks the column 'z'; it has 'a', 'y'"):
        likely.train(table, "z")
