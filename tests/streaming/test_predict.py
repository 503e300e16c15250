"""Predictions for files: beside the columns that came in, whole or not at all, harmless to spreadsheets."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from likely import BayesClassifier, FileError, SchemaError, SettingsError
from likely.io import blocks, open_table
from likely.io.dialect import guarded, guarded_column
from likely.progress import Progress
from likely.streaming import predict_file
from tests.streaming.made import mixed


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return mixed(3_000, seed=1)


@pytest.fixture(scope="module")
def clf(frame: pd.DataFrame) -> BayesClassifier:
    return BayesClassifier().fit(frame, "label")


@pytest.fixture
def rows(frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(blocks, "BLOCK", 1 << 14)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "parquet", "jsonl"])
def test_every_format(clf: BayesClassifier, frame: pd.DataFrame, rows: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out.{suffix}"
    assert predict_file(clf, rows, out) == len(frame)
    table = open_table(out).read()
    assert table.column_names == [*frame.columns, "prediction", "P(high)", "P(low)", "P(mid)"]
    assert table.column("prediction").to_pylist() == clf.predict(frame).tolist()
    shares = np.column_stack([table.column(f"P({label})") for label in clf.classes_])
    np.testing.assert_allclose(shares, clf.predict_proba(frame), rtol=1e-12)
    assert table.column("code").to_pylist() == frame["code"].tolist(), "leading zeros stay"
    assert table.column("town").null_count == frame["town"].isna().sum()
    assert table.column("height").to_pylist() == pa.array(frame["height"], from_pandas=True).to_pylist()


def test_parquet_in(clf: BayesClassifier, frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_parquet(tmp_path / "rows.parquet")
    predict_file(clf, tmp_path / "rows.parquet", tmp_path / "out.parquet", keep=["code"])
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["code", "prediction", "P(high)", "P(low)", "P(mid)"]
    assert table.column("prediction").to_pylist() == clf.predict(frame).tolist()


def test_cells_are_copied_as_they_are_written(tmp_path: Path) -> None:
    clf = BayesClassifier().fit({"a": [1.0, 2.0], "b": ["x", "y"]}, [0, 1])
    (tmp_path / "in.csv").write_text('a,b,c\n1.50,"x, ""q""",007\n+2,"NA",\n,x,1e3\n')
    predict_file(clf, tmp_path / "in.csv", tmp_path / "out.csv", probabilities=False)
    assert (tmp_path / "out.csv").read_text() == 'a,b,c,prediction\n1.50,"x, ""q""",007,0\n+2,"NA",,1\n,x,1e3,0\n'


def test_formulas_are_guarded(tmp_path: Path) -> None:
    clf = BayesClassifier().fit({"a": [1.0, 2.0]}, ["=cmd()", "@b"])
    (tmp_path / "in.csv").write_text('a,=b\n1,=1+1\n2,-3.5\n1,+x\n2,@y\n1,"\tz"\n2,-\n')
    predict_file(clf, tmp_path / "in.csv", tmp_path / "out.csv", probabilities=False)
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "a,'=b,prediction"
    assert lines[1:] == ["1,'=1+1,'=cmd()", "2,-3.5,'@b", "1,'+x,'=cmd()", "2,'@y,'@b", "1,'\tz,'=cmd()", "2,-,'@b"]
    predict_file(clf, tmp_path / "in.csv", tmp_path / "bare.csv", guard=False, probabilities=False)
    assert "1,=1+1,=cmd()" in (tmp_path / "bare.csv").read_text()


@pytest.mark.parametrize("text", ["=1", "+a", "-a", "@a", "\ta", "\ra", "--", "-1+2", "=", "+1x"])
def test_each_dangerous_beginning_is_guarded(text: str) -> None:
    assert guarded(text) == f"'{text}"
    assert guarded_column(pa.chunked_array([[text, None]])).to_pylist() == [f"'{text}", None]


@pytest.mark.parametrize("text", ["", "a", "1", "-1", "+1.5", "-1e-5", "-,5", "-", "+", "5%", "a=b", "'=1"])
def test_harmless_text_stays(text: str) -> None:
    assert guarded(text) == text
    assert guarded_column(pa.chunked_array([[text]])).to_pylist() == [text]


def test_an_error_leaves_nothing_behind(clf: BayesClassifier, rows: Path, tmp_path: Path) -> None:
    rows.write_text(rows.read_text() + "1,2\n")
    out = tmp_path / "out.csv"
    with pytest.raises(FileError, match="line 3002: 2 cells"):
        predict_file(clf, rows, out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv"]
    out.write_text("before")
    with pytest.raises(FileError):
        predict_file(clf, rows, out)
    assert out.read_text() == "before"

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    rows.write_text(rows.read_text().removesuffix("1,2\n"))

    with pytest.raises(KeyboardInterrupt):
        predict_file(clf, rows, out, progress=stop)
    assert out.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "rows.csv"]


def test_a_kill_leaves_the_old_file(clf: BayesClassifier, rows: Path, tmp_path: Path) -> None:
    clf.save(tmp_path / "m.likely")
    out = tmp_path / "out.csv"
    out.write_text("before")
    code = (
        "import os, signal, sys, likely\nfrom likely.io import blocks\nfrom likely.streaming import predict_file\n"
        "blocks.BLOCK = 1 << 12\n"
        "def kill(progress):\n    assert progress.share < 1.0\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "predict_file(likely.load(sys.argv[1]), sys.argv[2], sys.argv[3], progress=kill)\n"
    )
    arguments = [sys.executable, "-c", code, str(tmp_path / "m.likely"), str(rows), str(out)]
    assert subprocess.run(arguments, check=False).returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".out.csv.unfinished-*"))) == 1
    assert out.read_text() == "before"
    predict_file(clf, rows, out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.likely", "out.csv", "rows.csv"]


def test_streams(clf: BayesClassifier, frame: pd.DataFrame, rows: Path) -> None:
    out = io.BytesIO()
    predict_file(clf, io.BytesIO(rows.read_bytes()), out, kind=".jsonl", keep=[])
    first = json.loads(out.getvalue().splitlines()[0])
    assert first["prediction"] == clf.predict(frame[:1])[0]


def test_further_columns(clf: BayesClassifier, rows: Path, tmp_path: Path) -> None:
    def more(classifier: BayesClassifier, seen: pa.Table) -> dict[str, object]:
        return {"sure": classifier.predict_proba(seen).max(axis=1) > 0.9}

    predict_file(clf, rows, tmp_path / "out.parquet", more=more, keep=[])
    assert pq.read_schema(tmp_path / "out.parquet").names[-1] == "sure"


def test_bad_rows_can_be_left_out(clf: BayesClassifier, rows: Path, tmp_path: Path) -> None:
    rows.write_text(rows.read_text() + "x,2,Ulm,true,5,low\n1,2\n")
    for suffix in ("csv", "parquet"):
        table = open_table(rows, rejects="skip", types={"height": "number"})
        assert predict_file(clf, table, tmp_path / f"out.{suffix}") == 3_000
        assert [fault.line for fault in table.rejected.first] in ([3002, 3003], [3003, 3002])


def test_what_does_not_fit_is_refused_before_anything_is_written(
    clf: BayesClassifier, frame: pd.DataFrame, rows: Path, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="does not say how to write it"):
        predict_file(clf, rows, tmp_path / "out.doc")
    with pytest.raises(SchemaError, match="lacks the column 'nothing'"):
        predict_file(clf, rows, tmp_path / "out.csv", keep=["nothing"])
    frame.drop(columns="town").to_csv(rows, index=False)
    with pytest.raises(SchemaError, match="lacks the column 'town'"):
        predict_file(clf, rows, tmp_path / "out.csv")
    frame.assign(prediction=1).to_csv(rows, index=False)
    with pytest.raises(FileError, match="'prediction' already"):
        predict_file(clf, rows, tmp_path / "out.csv")
    rows.write_text("height,visits,town,paid\n")
    assert predict_file(clf, rows, tmp_path / "out.csv") == 0
    assert (tmp_path / "out.csv").read_text() == "height,visits,town,paid,prediction,P(high),P(low),P(mid)\n"
