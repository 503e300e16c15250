"""Tables come out of every format as they went in."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pytest

from likely import BayesClassifier
from likely.errors import FileError, SettingsError
from likely.io import open_table
from likely.streaming.transform import convert_file, predict_file

SUFFIXES = ["csv", "tsv", "psv", "parquet", "arrow", "feather", "jsonl", "csv.gz", "csv.zst", "jsonl.gz"]
TEXT = 'n,x,word,ok\n1,0.5,"a,b",true\n2,,"line\nbreak",false\n3,1e300,NULL,\n-4,-0.25,"=1+1",true\n'


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("second", ["csv", "parquet", "jsonl"])
def test_round_trips(suffix: str, second: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(TEXT)
    assert convert_file(tmp_path / "rows.csv", tmp_path / f"a.{suffix}") == 4
    assert convert_file(tmp_path / f"a.{suffix}", tmp_path / f"b.{second}") == 4
    first = open_table(tmp_path / "rows.csv").read()
    assert open_table(tmp_path / f"b.{second}").read().to_pydict() == first.to_pydict()


@pytest.mark.parametrize("delimiter", [";", "|", "^", "]", "\\", "~"])
def test_predictions_are_written_in_the_dialect_of_the_table(delimiter: str, tmp_path: Path) -> None:
    odd = f'odd{delimiter}"one"'
    lines = [
        ["n", "word", "y"],
        *(["1,5", "a b", "p"], ["2,25", odd, "q"]) * 4,
        ["1,5", "a b", "q"],
        ["2,25", odd, "p"],
    ]
    quoted = [['"' + cell.replace('"', '""') + '"' if delimiter in cell else cell for cell in line] for line in lines]
    (tmp_path / "rows.csv").write_text("".join(delimiter.join(line) + "\n" for line in quoted))
    table = open_table(tmp_path / "rows.csv", delimiter=delimiter, decimal=",", quote='"')
    clf = BayesClassifier().fit(table.read(), "y")
    predict_file(clf, table, tmp_path / "said.csv")
    written = (tmp_path / "said.csv").read_text().splitlines()
    assert written[0] == delimiter.join(["n", "word", "y", "prediction", "P(p)", "P(q)"])
    assert written[1].startswith(delimiter.join(["1,5", "a b", "p", "p", "0,"]))
    back = open_table(tmp_path / "said.csv", delimiter=delimiter, decimal=",", quote='"').read()
    assert back.column("word").to_pylist() == table.read().column("word").to_pylist()
    assert back.column("P(p)").to_pylist() == pytest.approx(clf.predict_proba(table.read())[:, 0].tolist())
    predict_file(clf, table, tmp_path / "said.tsv")  # another suffix asks for another dialect
    assert (tmp_path / "said.tsv").read_text().splitlines()[0].count("\t") == 5


def test_types_are_kept_where_a_format_has_them(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(TEXT)
    convert_file(tmp_path / "rows.csv", tmp_path / "a.parquet")
    types = {field.name: field.type for field in open_table(tmp_path / "a.parquet").schema}
    assert types == {"n": pa.int64(), "x": pa.float64(), "word": pa.string(), "ok": pa.bool_()}


def test_several_files_of_different_types(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n2\n")
    (tmp_path / "b.csv").write_text("x\n0.5\n")
    convert_file([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "all.parquet")
    assert open_table(tmp_path / "all.parquet").read().to_pydict() == {"x": [1.0, 2.0, 0.5]}


def test_only_a_header(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n")
    assert convert_file(tmp_path / "a.csv", tmp_path / "b.csv") == 0
    assert (tmp_path / "b.csv").read_text() == "x,y\n"


def test_nothing_is_left_of_a_failure(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3\n")
    with pytest.raises(FileError):
        convert_file(tmp_path / "a.csv", tmp_path / "b.csv.zst")
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(SettingsError, match="use one of"):
        convert_file(tmp_path / "a.csv", tmp_path / "b.xls")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_to_a_stream(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x;y\n1,50;2\n")
    out = io.BytesIO()
    convert_file(tmp_path / "a.csv", out)
    assert out.getvalue() == b'x,y\n"1,50",2\n'
