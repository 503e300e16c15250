"""Nothing is written over that is read, that another output names, or that is of another kind."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

import likely
from likely import BayesClassifier
from likely.errors import FileError
from likely.io import open_table, outputs
from likely.io.outputs import Output
from likely.models.export import export_file
from likely.streaming import convert_file, predict_file, train_file

CSV = "a,b,y\n1,u,p\n2,v,q\n3,u,p\n4,v,q\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text(CSV)
    return path


@pytest.fixture
def clf(table: Path) -> BayesClassifier:
    return train_file(table, "y", schema={"a": "numeric", "b": "nominal"})


SUFFIXES = [".csv", ".tsv", ".csv.gz", ".csv.zst", ".parquet", ".arrow", ".jsonl"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_may_be_written_again_and_nothing_else(table: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out{suffix}"
    for _ in range(2):
        assert convert_file(table, out) == 4
    others = {"model": b"likely\r\n....", "page": b"<!DOCTYPE html>", "picture": b"\x89PNG\r\n", "other": b"\0\1\2\3"}
    for content in others.values():
        out.write_bytes(content)
        with pytest.raises(FileError, match="is there already and holds"):
            convert_file(table, out)
        assert out.read_bytes() == content


@pytest.mark.parametrize("kind", ["json", "csv", "sql", "parquet", "onnx", "pmml"])
def test_exports_may_be_written_again_and_replace_no_table(
    clf: BayesClassifier, table: Path, tmp_path: Path, kind: str
) -> None:
    out = tmp_path / f"out.{kind}"
    for _ in range(2):
        export_file(clf, out)
    if kind != "csv":
        with pytest.raises(FileError, match="holds text"):
            export_file(clf, table, kind=kind)
        assert table.read_text() == CSV


def test_trees_pages_and_pictures_may_be_written_again_and_replace_no_table(table: Path, tmp_path: Path) -> None:
    rows = pd.read_csv(table)
    tree = likely.TreeClassifier().fit(rows, "y")
    report = likely.evaluate(BayesClassifier(), rows, "y", cv=2)
    naive = BayesClassifier().fit(rows, "y")
    writers = {
        "tree.json": lambda path: export_file(tree, path, kind="json"),
        "tree.dot": lambda path: export_file(tree, path, kind="dot"),
        "tree.sql": lambda path: export_file(tree, path, kind="sql"),
        "tree.svg": lambda path: tree.plot().save(path),
        "tree.html": lambda path: tree.plot().save(path),
        "bars.png": lambda path: naive.explain(rows[:1]).plot().save(path),
        "bars.svg": lambda path: naive.explain(rows[:1]).plot().save(path),
        "report.html": report.to_html,
        "report.json": report.to_json,
        "m.likely": naive.save,
    }
    for name, write in writers.items():
        path = tmp_path / name
        for _ in range(2):
            write(path)
        path.write_text(CSV)
        with pytest.raises(FileError, match="is there already and holds text"):
            write(path)
        assert path.read_text() == CSV, name


def test_tables_that_are_read_are_not_written(clf: BayesClassifier, table: Path, tmp_path: Path) -> None:
    link, hard, roundabout = tmp_path / "link.csv", tmp_path / "hard.csv", tmp_path / ".." / tmp_path.name / "rows.csv"
    link.symlink_to(table)
    os.link(table, hard)
    for out in (table, link, hard, roundabout):
        with pytest.raises(FileError, match="one of the files to read"):
            predict_file(clf, table, out)
        with pytest.raises(FileError, match="one of the files to read"):
            convert_file(table, out)
        with pytest.raises(FileError, match="one of the files to read"):
            open_table(table, rejects=out)
        with pytest.raises(FileError, match="one of the files to read"):
            train_file(table, "y", checkpoint=out)
    assert table.read_text() == CSV


def test_a_checkpoint_removes_nothing_but_itself(clf: BayesClassifier, table: Path, tmp_path: Path) -> None:
    model, other, notes = tmp_path / "m.likely", tmp_path / "other.csv", tmp_path / "c.place"
    clf.save(model)
    other.write_text(CSV)
    notes.write_text("mine\n")
    for path in (model, other, tmp_path / "c"):
        before = path.read_bytes() if path.exists() else None
        with pytest.raises(FileError, match="is there already"):
            train_file(table, "y", checkpoint=path)
        assert (path.read_bytes() if path.exists() else None) == before
    assert notes.read_text() == "mine\n"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="no file that a checkpoint could be kept in"):
        train_file(table, "y", checkpoint=tmp_path / "pipe")
    os.mkfifo(tmp_path / "d.place")
    with pytest.raises(FileError, match="no part of a checkpoint"):
        train_file(table, "y", checkpoint=tmp_path / "d")
    empty = tmp_path / "empty"
    empty.touch()
    train_file(table, "y", checkpoint=empty)
    assert empty.exists()  # nothing was saved there, so nothing is removed


def test_lines_that_are_left_out_replace_no_other_table(table: Path, tmp_path: Path) -> None:
    left, other = tmp_path / "left.csv", tmp_path / "other.csv"
    table.write_text(CSV + "5\n")
    other.write_text(CSV)
    for _ in range(2):
        assert open_table(table, rejects=left).read().num_rows == 4
    with pytest.raises(FileError, match="lines that were left out"):
        open_table(table, rejects=other)
    with pytest.raises(FileError, match="at once"):
        convert_file(open_table(table, rejects=left), left)
    assert other.read_text() == CSV


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    (tmp_path / "link.html").symlink_to("page.html")
    pairs = [("page.html", "page.html"), ("page.html", "link.html"), ("page.html", "./page.html")]
    for one, other in pairs:
        with pytest.raises(FileError, match="at once"):
            outputs.refuse([Output(tmp_path / one), Output(f"{tmp_path}/{other}")])
    with pytest.raises(FileError, match="at once"):
        outputs.refuse([Output(tmp_path / "c", outputs.CHECKPOINT), Output(tmp_path / "c.place", outputs.MODEL)])
    outputs.refuse([Output(tmp_path / "page.html"), Output(tmp_path / "other.html")])


def test_encodings_are_text(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "latin-1"):
        (tmp_path / "rows.csv").write_text("ä,b\n1,2\n", encoding=encoding)
        assert outputs.kind_of(tmp_path / "rows.csv") == outputs.TEXT
