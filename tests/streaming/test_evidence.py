"""Evidence from files: the model of the same rows in memory, whether codes are kept in memory or on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely import DataError, EvidenceClassifier, SettingsError, open_table
from likely.errors import FileError
from likely.io import blocks
from likely.models.evidence import prepare, spill
from likely.models.evidence import row_source as in_memory
from likely.progress import Progress
from likely.streaming import fit_file, train_evidence_file

WORDS = np.array(["red", "green", "blue", "cold", "warm", "wet", "dry", "big", "small", "old", "new", "fast", "slow"])
KINDS = {"height": "numeric", "visits": "numeric", "town": "nominal", "side": "nominal", "other": "nominal"}
EVERYTHING = 1 << 30


def rows(n: int) -> pd.DataFrame:
    """Numbers and categories with gaps, a text, weights of which some are zero, and three classes."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, n)
    side, other = rng.choice(["left", "right"], (2, n))
    y = np.where((side == other) & (rng.random(n) < 0.5), 2, y)
    special = np.where((y == 1) & (rng.random(n) < 0.4), " special", "")
    return pd.DataFrame(
        {
            "height": np.where(rng.random(n) < 0.1, np.nan, np.round(rng.normal(size=n) + y, 2)),
            "visits": rng.poisson(2 + y),
            "town": rng.choice(["Ulm", "Bonn", "Köln", None], n),
            "side": side,
            "other": other,
            "note": [" ".join(rng.choice(WORDS, 9)) + more for more in special],
            "w": rng.integers(0, 4, n),
            "label": np.array(["a", "b", "c"])[y],
        }
    )


TABLE = rows(2400)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of many pieces; blocks are small, so that codes are read in many parts."""
    TABLE.to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.setattr(in_memory, "BLOCK_CODES", 2000)
    monkeypatch.setattr(in_memory, "MIN_BLOCK_ROWS", 100)
    for module in (in_memory, spill):
        monkeypatch.setattr(module, "DEDUPLICATED_ROWS", 700)
    return tmp_path / "rows.csv"


def same(a: EvidenceClassifier, b: EvidenceClassifier) -> None:
    """Two models that are equal to the last bit."""
    assert a.pairs_ == b.pairs_
    for name in ("tables", "intercept", "text_weights"):
        np.testing.assert_array_equal(getattr(a.model_.evidence, name), getattr(b.model_.evidence, name))
    np.testing.assert_array_equal(a.predict_proba(TABLE), b.predict_proba(TABLE))
    np.testing.assert_array_equal(a.summary_.classes.weights, b.summary_.classes.weights)
    assert a.classes_.tolist() == b.classes_.tolist()
    assert a.schema_.kinds == b.schema_.kinds
    for name in a.schema_.numeric + a.schema_.nominal:
        assert a.schema_[name].gaps == b.schema_[name].gaps


@pytest.mark.parametrize("bound", [200_000, 900])
@pytest.mark.parametrize(
    "kinds",
    [
        {**KINDS, "note": "ignored", "w": "ignored"},
        {**KINDS, "note": "text", "w": "ignored"},
        {"note": "text", "height": "ignored", "visits": "ignored", "town": "ignored", "side": "ignored"},
        {"side": "nominal", "other": "nominal", "town": "nominal", "height": "ignored", "visits": "ignored"},
    ],
    ids=["columns", "text", "text alone", "alike"],
)
def test_a_file_gives_the_model_of_its_rows(
    kinds: dict[str, str], bound: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_memory, "MAX_SEARCH_ROWS", bound)
    monkeypatch.setattr(prepare, "MAX_TOKENS", 9 * bound)
    settings: dict[str, Any] = {"schema": {"note": "ignored", "w": "ignored", "other": "ignored", **kinds}}
    expected = EvidenceClassifier(**settings).fit(TABLE, "label")
    monkeypatch.setattr(blocks, "BLOCK", 20_000)
    shares: list[float] = []
    for memory in (EVERYTHING, 0):
        found = train_evidence_file(
            path,
            "label",
            classifier=EvidenceClassifier(**settings),
            memory=memory,
            progress=lambda p: shares.append(p.share),
        )
        same(found, expected)
        assert found.summary_.n_rows == len(TABLE)
        assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    assert len(shares) > 20
    assert shares[-1] == 1.0
    assert sorted(shares[len(shares) // 2 :]) == shares[len(shares) // 2 :]
    monkeypatch.setattr(in_memory, "MAX_SEARCH_ROWS", 100)
    monkeypatch.setattr(prepare, "MAX_TOKENS", 900)
    few = EvidenceClassifier(**settings).fit(TABLE, "label")
    assert np.abs(few.predict_proba(TABLE) - expected.predict_proba(TABLE)).max() > 1e-6, "the bound says something"


def test_weights_count_and_rows_without_any_are_not_there(path: Path) -> None:
    settings: dict[str, Any] = {"schema": {**KINDS, "note": "ignored", "w": "weight"}}
    expected = EvidenceClassifier(**settings).fit(TABLE, "label")
    for named in (None, "w"):
        kinds = {**settings["schema"], "w": "weight" if named is None else "numeric"}
        clf = EvidenceClassifier(schema=kinds)
        found = train_evidence_file(path, "label", classifier=clf, weight=named, memory=0)
        np.testing.assert_array_equal(found.predict_proba(TABLE), expected.predict_proba(TABLE))
        assert found.summary_.n_rows == (TABLE["w"] > 0).sum()
        assert found.schema_.weight == "w"


def test_several_files_and_formats_are_one_table(path: Path, tmp_path: Path) -> None:
    whole = train_evidence_file(path, "label", memory=0)
    assert "note" in whole.schema_.text
    halves = [tmp_path / "part0.parquet", tmp_path / "part1.parquet"]
    TABLE[:1000].to_parquet(halves[0])
    TABLE[1000:].to_parquet(halves[1])
    for n_jobs in (1, 2):
        found = fit_file(EvidenceClassifier(n_jobs=n_jobs), [str(half) for half in halves], "label")
        same(found, whole)


def test_temporary_files_are_gone_whatever_happens(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "codes"
    folder.mkdir()
    opened: list[Any] = []
    new = spill.SpillDirectory.new

    def noted(self: spill.SpillDirectory, *how: Any) -> Any:
        stored = new(self, *how)
        opened.append(stored._file)
        return stored

    monkeypatch.setattr(spill.SpillDirectory, "new", noted)
    train_evidence_file(path, "label", memory=0, folder=folder)
    assert len(opened) >= 3

    def broken_off(step: Progress) -> None:
        if step.what == "fitting all rows":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_evidence_file(path, "label", classifier=EvidenceClassifier(progress=broken_off), memory=0, folder=folder)
    assert len(opened) >= 6
    assert all(file.closed for file in opened)
    assert not list(folder.iterdir())


def test_what_is_wrong_is_told_with_its_place(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "bad.csv"
    text = path.read_text().splitlines()
    bad.write_text("\n".join([*text[:1500], text[1500].rsplit(",", 1)[0] + ",", *text[1501:]]))
    with pytest.raises(DataError, match=r"bad\.csv, line 1501"):
        train_evidence_file(bad, "label")
    with pytest.raises(SettingsError, match="memory is -1"):
        train_evidence_file(path, "label", memory=-1)
    with pytest.raises(SettingsError, match="evidence reads the files twice"):
        fit_file(EvidenceClassifier(), path, "label", checkpoint=tmp_path / "half.likely")
    with pytest.raises(FileError, match="Nothing can be written to the folder"):
        train_evidence_file(path, "label", memory=0, folder=tmp_path / "nowhere")
    pd.DataFrame({"a": [1.0, 2.0], "w": [0, 0], "label": ["x", "y"]}).to_csv(tmp_path / "none.csv", index=False)
    with pytest.raises(DataError, match="All rows have weight zero"):
        train_evidence_file(tmp_path / "none.csv", "label", weight="w")


@pytest.mark.parametrize("when", [1.0 / 3.0, 2.0 / 3.0])
def test_a_file_that_changes_while_it_is_read_is_refused(when: float, path: Path, tmp_path: Path) -> None:
    table = open_table(path)
    lines = path.read_text()

    def grow(progress: Any) -> None:
        if progress.share == when:
            path.write_text(lines + lines.splitlines()[-1] + "\n")

    with pytest.raises(FileError, match="has changed while it was read"):
        train_evidence_file(table, "label", progress=grow)


def test_time_counts_from_the_first_row_read(path: Path) -> None:
    steps: list[Progress] = []
    clf = EvidenceClassifier(time_limit=1e-9, progress=steps.append, schema={"note": "ignored"})
    train_evidence_file(path, "label", classifier=clf, memory=0)
    assert clf.pairs_ == []
    assert steps[-1].what == "fitting all rows"
