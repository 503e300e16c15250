"""Training from files: the same model as in memory, clear words for bad rows, and a training that goes on."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.ipc
import pytest

import likely
from likely import BayesClassifier, DataError, FileError, SchemaError
from likely.engines import files
from likely.io import blocks, delimited, open_table
from likely.progress import Progress, Shown
from likely.streaming import fit_file, train, train_file
from tests.streaming.made import mixed

ROWS = 5_000


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return mixed(ROWS)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 1 << 14)


def same_model(found: BayesClassifier, expected: BayesClassifier, frame: pd.DataFrame) -> None:
    assert found.summary_.n_rows == expected.summary_.n_rows
    assert found.families_ == expected.families_
    assert found.classes_.tolist() == expected.classes_.tolist()
    np.testing.assert_allclose(found.predict_proba(frame), expected.predict_proba(frame), rtol=1e-9)


def test_a_file_gives_the_model_of_the_frame(frame: pd.DataFrame, tmp_path: Path, small_blocks: None) -> None:
    expected = BayesClassifier().fit(frame, "label")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    found = train_file(tmp_path / "rows.csv", "label")
    same_model(found, expected, frame)
    assert found.schema_["code"].kind == "ignored"
    assert found.schema_["town"].gaps == int(frame["town"].isna().sum())
    assert found.schema_["town"].levels == 4
    assert found.schema_["height"].gaps == int(frame["height"].isna().sum())


@pytest.mark.parametrize(
    "kind", ["tsv", "gz", "zst", "parquet", "arrow", "stream", "jsonl", "utf-16", "parts", "folder", "glob"]
)
def test_every_format_gives_the_same_model(frame: pd.DataFrame, tmp_path: Path, kind: str) -> None:
    expected = BayesClassifier().fit(frame, "label")
    table = pa.Table.from_pandas(frame, preserve_index=False)
    source: object = tmp_path / f"rows.{kind}"
    if kind == "tsv":
        frame.to_csv(tmp_path / "rows.tsv", index=False, sep="\t")
    elif kind == "gz":
        (tmp_path / "rows.gz").write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    elif kind == "zst":
        (tmp_path / "rows.zst").write_bytes(pa.Codec("zstd").compress(frame.to_csv(index=False).encode(), asbytes=True))
    elif kind == "parquet":
        frame.to_parquet(tmp_path / "rows.parquet", row_group_size=1000)
    elif kind == "arrow":
        with pa.ipc.new_file(tmp_path / "rows.arrow", table.schema) as writer:
            writer.write_table(table, max_chunksize=700)
    elif kind == "stream":
        with pa.ipc.new_stream(tmp_path / "rows.stream", table.schema) as writer:
            writer.write_table(table, max_chunksize=700)
    elif kind == "jsonl":
        frame.to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    elif kind == "utf-16":
        (tmp_path / "rows.utf-16").write_bytes(frame.to_csv(index=False).encode("utf-16"))
    else:
        for number, part in enumerate((frame[:2000], frame[2000:2100][frame.columns[::-1]], frame[2100:])):
            part.to_csv(tmp_path / f"part{number}.csv", index=False)
        paths = [tmp_path / f"part{number}.csv" for number in range(3)]
        source = {"parts": paths, "folder": tmp_path, "glob": str(tmp_path / "part*.csv")}[kind]
    found = likely.train(source, target="label", model="naive")
    same_model(found, expected, frame)


def test_threads_and_blocks_do_not_matter(frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame.to_csv(tmp_path / "rows.csv", index=False)
    whole = train_file(tmp_path / "rows.csv", "label", n_jobs=1)
    for size in (1 << 12, 1 << 15):
        monkeypatch.setattr(blocks, "BLOCK", size)
        one, two = (train_file(tmp_path / "rows.csv", "label", n_jobs=n) for n in (1, 2))
        assert one.predict_proba(frame).tolist() == two.predict_proba(frame).tolist()
        same_model(two, whole, frame)


def test_weights(frame: pd.DataFrame, tmp_path: Path) -> None:
    weighted = frame.assign(w=np.arange(ROWS) % 3)
    weighted.to_csv(tmp_path / "rows.csv", index=False)
    found = likely.train(tmp_path / "rows.csv", target="label", weight="w", model="naive")
    same_model(found, likely.train(weighted, target="label", weight="w", model="naive"), frame)
    given = {"town": "nominal"}
    clf = likely.BayesClassifier(schema=given)
    same_model(fit_file(clf, tmp_path / "rows.csv", "label", weight="w"), found, frame)
    assert (clf.schema, given, clf.schema_.weight) == ({"town": "nominal"}, {"town": "nominal"}, "w")


def late(tmp_path: Path, rows: int, where: list[int], cell: str) -> Path:
    lines = [f"{n % 90},{'yes' if n % 3 else 'no'}" for n in range(rows)]
    for place in where:
        lines[place] = f"{cell},yes"
    (tmp_path / "late.csv").write_text("zip,y\n" + "\n".join(lines) + "\n")
    return tmp_path / "late.csv"


def test_one_word_late_among_numbers_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "PROBES", 2)  # so that nobody looks there before the pass
    path = late(tmp_path, 400_000, [311_111], "AB1")
    with pytest.raises(FileError, match=r"line 311113: column 'zip' holds 'AB1'.*schema=\{'zip': 'nominal'\}"):
        train_file(path, "y")
    clf = train_file(path, "y", schema={"zip": "nominal"})
    assert clf.schema_["zip"].levels == 91
    assert clf.summary_.n_rows == 400_000


def test_a_column_that_turns_into_words_is_noticed_before_the_pass(tmp_path: Path) -> None:
    path = late(tmp_path, 400_000, list(range(250_000, 400_000)), "AB1")
    with pytest.raises(FileError, match=r"'zip' holds numbers, but .*line \d+ holds 'AB1'; call it nominal"):
        train_file(path, "y")
    assert train_file(path, "y", schema={"zip": "ignored"}).summary_.n_rows == 400_000


def test_one_word_among_a_few_numbers_is_a_question(tmp_path: Path) -> None:
    path = late(tmp_path, 200, [30], "AB1")
    with pytest.raises(FileError, match=r"late.csv, line 32 holds 'AB1'"):
        train_file(path, "y")
    with_gap = train_file(open_table(path, na=["AB1"]), "y")
    assert (with_gap.schema_["zip"].kind, with_gap.schema_["zip"].gaps) == ("numeric", 1)


def test_broken_numbers_after_whole_ones_are_fine(tmp_path: Path) -> None:
    path = late(tmp_path, 400_000, [311_111], "4.5")
    assert train_file(path, "y").schema_["zip"].kind == "numeric"


def test_the_target_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,label\n1,p\n2,\n3,q\n")
    with pytest.raises(DataError, match=r"rows.csv, line 3: The label is missing"):
        train_file(path, "label")
    with pytest.raises(SchemaError, match=r"lacks the column 'Label'.*Did you mean 'label'"):
        train_file(path, "Label")
    path.write_text("a,y\n1,p\n2,p\n")
    assert train_file(path, "y").predict({"a": [5]}).tolist() == ["p"]
    path.write_text("a,y\n1,\n2,NA\n")
    with pytest.raises(DataError, match="no row looked at has a label"):
        train_file(path, "y")
    path.write_text("a,y\n")
    with pytest.raises(DataError, match="a header but no rows"):
        train_file(path, "y")


def test_labels_keep_their_types(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    for cells, classes in ((("0", "1"), [0, 1]), (("True", "False"), [False, True]), (("b", "a"), ["a", "b"])):
        path.write_text("x,y\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate(cells)))
        assert train_file(path, "y").classes_.tolist() == classes


def test_what_a_statistic_refuses_is_told_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b,y\n" + "1.5,1,p\n" * 30 + "inf,1,q\n" + "1,2,q\n" * 5 + "-2.5,-1,p\n")
    with pytest.raises(DataError, match=r"line 32: Column 'a' holds inf"):
        train_file(path, "y")
    with pytest.raises(DataError, match=r"line 38: Column 'b' holds -1, but a Poisson"):
        train_file(path, "y", schema={"a": "ignored"}, families={"b": "poisson"})


def test_too_many_values_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_VALUES", 500)
    path = tmp_path / "rows.csv"
    path.write_text("user,y\n" + "".join(f"u{n // 2},{'pq'[n % 2]}\n" for n in range(2000)))
    with pytest.raises(DataError, match=r"'user' has more than .* distinct values .*'ignored'"):
        train_file(path, "y")


def test_bad_rows_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "1,p\n2,q\n" * 20 + "3\n4,p,z\nfive,q\n")
    table = open_table(path, rejects=tmp_path / "bad.csv", types={"a": "number"})
    assert train_file(table, "y").summary_.n_rows == 40
    assert table.rejected.count == 3
    written = pd.read_csv(tmp_path / "bad.csv")
    assert written["line"].tolist() == [42, 43, 44]
    assert "too short" in written["reason"][0]
    assert "3 lines left out" in str(table.rejected)


class Stop(BaseException):
    """Stands for Ctrl-C or a kill."""


def stop_after(share: float) -> Shown:
    def stop(progress: Progress) -> None:
        if progress.share > share:
            raise Stop

    return stop


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "two files"])
def test_a_broken_off_training_goes_on(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_blocks: None, kind: str
) -> None:
    monkeypatch.setattr(train, "SAVE_SECONDS", -1.0)
    source: object = tmp_path / f"rows.{kind}"
    if kind == "parquet":
        from likely.io import columnar

        monkeypatch.setattr(columnar, "GATHER", 500)
        monkeypatch.setattr(columnar, "ROWS", 300)
        frame.to_parquet(tmp_path / "rows.parquet", row_group_size=900)
    elif kind == "two files":
        frame[:3000].to_csv(tmp_path / "a.csv", index=False)
        frame[3000:].to_csv(tmp_path / "b.csv", index=False)
        source = [tmp_path / "a.csv", tmp_path / "b.csv"]
    else:
        frame.to_csv(tmp_path / f"rows.{kind}", index=False)
    saved = tmp_path / "half.likely"
    for share in (0.2, 0.7):
        with pytest.raises(Stop):
            train_file(source, "label", checkpoint=saved, progress=stop_after(share))
        assert 0 < likely.load(saved).summary_.n_rows < ROWS
    found = train_file(source, "label", checkpoint=saved)
    same_model(found, train_file(source, "label"), frame)
    assert not list(tmp_path.glob("half*"))


def test_a_checkpoint_of_something_else_is_refused(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_blocks: None
) -> None:
    monkeypatch.setattr(train, "SAVE_SECONDS", -1.0)
    path, saved = tmp_path / "rows.csv", tmp_path / "half.likely"
    frame.to_csv(path, index=False)
    with pytest.raises(Stop):
        train_file(path, "label", checkpoint=saved, progress=stop_after(0.5))
    with pytest.raises(FileError, match="other settings"):
        train_file(path, "label", checkpoint=saved, smoothing=2.0)
    with pytest.raises(FileError, match="other settings"):
        train_file(path, "label", checkpoint=saved, weight="visits")
    path.write_text(path.read_text() + "1,1,Ulm,true,x,low\n")
    with pytest.raises(FileError, match="have changed"):
        train_file(path, "label", checkpoint=saved)
    Path(f"{saved}.place").write_text('{"files": ' + "[" * 100_000 + "]" * 100_000 + "}")
    with pytest.raises(FileError, match="nested"):
        train_file(path, "label", checkpoint=saved)


def test_progress_reaches_the_end(frame: pd.DataFrame, tmp_path: Path, small_blocks: None) -> None:
    frame.to_csv(tmp_path / "rows.csv", index=False)
    seen: list[Progress] = []
    train_file(tmp_path / "rows.csv", "label", progress=seen.append)
    assert seen[-1] == Progress(ROWS, 1.0)
    assert [step.share for step in seen] == sorted(step.share for step in seen)


def test_identifiers_are_seen_as_such_in_long_files(tmp_path: Path) -> None:
    rows = 400_000
    (tmp_path / "rows.csv").write_text("id,n,y\n" + "".join(f"u{n},{n % 7},{'pq'[n % 2]}\n" for n in range(rows)))
    clf = train_file(tmp_path / "rows.csv", "y")
    assert clf.schema_["id"].kind == "ignored"
    assert "of 400,000 rows)" in clf.schema_["n"].why
