"""`likely train` from a database file, an address, and files that an engine reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest

import likely
from likely.engines.connect import read_files
from tests.engines import tables


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "likely", *arguments], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, **environment}, timeout=300,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as con:
        con.register("rows", tables.plain())
        con.execute("create table days as select * from rows")
    pq.write_table(tables.plain(), tmp_path / "days.parquet")
    return tmp_path


def test_a_table_of_a_database_file(folder: Path) -> None:
    done = run(folder, "train", "warehouse.duckdb", "--table", "days", "-t", "label", "--model", "naive")
    assert done.returncode == 0, done.stderr
    assert "Learned 600 rows, 4 columns, 3 classes" in done.stderr
    there, here = likely.load(folder / "days.likely"), likely.BayesClassifier().fit(tables.plain(), "label")
    assert (there.predict(tables.plain(9)) == here.predict(tables.plain(9))).all()
    again = run(
        folder, "train", "days.parquet", "--engine", "duckdb", "-t", "label", "-o", "files.likely", "--model", "naive"
    )
    assert again.returncode == 0, again.stderr


def test_what_is_not_said_is_asked_for(folder: Path) -> None:
    for arguments, asked in (
        (["warehouse.duckdb", "-t", "label"], "'warehouse.duckdb' is a database; say which table: --table NAME"),
        (["--connect", "duckdb:///warehouse.duckdb", "-t", "label"], "Say --table NAME beside --connect"),
        (["-t", "label"], "Name files, or say --connect URL --table NAME"),
        (["warehouse.duckdb", "--table", "nights", "-t", "label"], "Table 'nights' cannot be opened in duckdb"),
        (["warehouse.duckdb", "--table", "days"], "Say --target COLUMN; the columns are"),
        (["days.parquet", "--table", "days", "-t", "label"], "--table is for databases"),
    ):
        done = run(folder, "train", *arguments)
        assert done.returncode not in (0, 1) and asked in done.stderr.replace("\n", " "), (arguments, done.stderr)
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("engine", ["postgres"])
def test_an_address_and_a_name(folder: Path, engine: str, load: Any, postgres_url: str) -> None:
    load(tables.plain(), "command_line_days")
    url = postgres_url.replace("likely@", "likely:s3cret@")
    done = run(folder, "train", "--connect", url, "--table", "command_line_days", "-t", "label", "--model", "naive")
    assert done.returncode == 0, done.stderr
    model = (folder / "command_line_days.likely").read_bytes()
    assert b"s3cret" not in model and b"127.0.0.1" not in model
    wrong = run(folder, "train", "--connect", url, "--table", "nowhere", "-t", "label")
    assert wrong.returncode != 0 and "s3cret" not in wrong.stderr + wrong.stdout


@pytest.mark.parametrize("engine", ["spark"])
def test_a_folder_of_files_is_read_by_spark(folder: Path, engine: str, spark: Any) -> None:
    """The shell starts a session of its own; the model is the one of memory."""
    (folder / "parts").mkdir()
    for k in range(2):
        pq.write_table(tables.plain().slice(300 * k, 300), folder / "parts" / f"{k}.parquet")
    done = run(
        folder, "train", "parts", "--engine", "spark", "-t", "label", "--model", "naive", "-o", "m.likely",
        SPARK_LOCAL_IP="127.0.0.1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    there, here = likely.load(folder / "m.likely"), likely.BayesClassifier().fit(tables.plain(), "label")
    assert there.summary_.n_rows == 600
    np.testing.assert_allclose(there.predict_proba(tables.plain(9)), here.predict_proba(tables.plain(9)), atol=1e-9)
    with pytest.raises(likely.DataError, match="spark cannot read 'nowhere'"):
        read_files("spark", ["nowhere"])


def test_a_table_of_sqlite(tmp_path: Path) -> None:
    """Whatever needs no function that SQLite lacks works there without special code."""
    import sqlite3

    rows = tables.plain().to_pandas()
    with sqlite3.connect(tmp_path / "days.sqlite") as con:
        rows.drop(columns="known").to_sql("days", con, index=False)
    done = run(tmp_path, "train", "days.sqlite", "--table", "days", "-t", "label", "--model", "naive", "-o", "m.likely")
    assert done.returncode == 0, done.stderr
    clf = likely.load(tmp_path / "m.likely")
    here = likely.BayesClassifier().fit(tables.plain().drop_columns(["known"]), "label")
    np.testing.assert_allclose(clf.predict_proba(tables.plain(9)), here.predict_proba(tables.plain(9)), atol=1e-9)
    scored = (
        sqlite3.connect(tmp_path / "days.sqlite").execute(clf.to_sql("sqlite", "days", columns=["town"])).fetchall()
    )
    np.testing.assert_allclose([line[2:] for line in scored], here.predict_proba(tables.plain()), atol=1e-9)
