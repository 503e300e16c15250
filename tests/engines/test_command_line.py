"""`likely train` from a database file, an address, and files that an engine reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

import likely
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
        (["warehouse.duckdb", "-t", "label"], "say --table NAME for one of its tables"),
        (["--connect", "duckdb:///warehouse.duckdb", "-t", "label"], "Say --table NAME beside --connect"),
        (["-t", "label"], "Name files, or say --connect URL --table NAME"),
        (["warehouse.duckdb", "--table", "nights", "-t", "label"], "Table 'nights' cannot be opened in duckdb"),
        (["warehouse.duckdb", "--table", "days"], "Say --target COLUMN; there are"),
        (["days.parquet", "--table", "days", "-t", "label"], "--table is for a database"),
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
