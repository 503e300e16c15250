"""The document of a model file: what is written of a classifier, what is read of it, and what is no model."""

from __future__ import annotations

import os
import signal
import sys
from datetime import UTC, datetime
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from likely import BayesClassifier, Schema
from likely.errors import LikelyError, ModelFileError
from likely.store import (
    Counted,
    Found,
    FoundLearned,
    Provenance,
    Saved,
    files,
    packed_learned,
    parsed,
    read,
    refusal,
)
from likely.store.container import pack, unpack
from likely.version import __version__

Y = ["p", "q"] * 10
ROWS: dict[str, Any] = {"x": np.arange(20.0), "town": ["u", "v", "w", "w"] * 5, "z": np.arange(20) % 3 + 0.5}


def content_of(clf: Any, rows: Any, folder: Path) -> bytes:
    clf.fit(rows, Y).save(folder / "m.likely", sources=["/far/away/rows.csv"])
    return (folder / "m.likely").read_bytes()


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    families = {"z": "lognormal"}
    return content_of(BayesClassifier(families=families, n_jobs=1), ROWS, tmp_path_factory.mktemp("model"))


def changed(content: bytes, **changes: Any) -> bytes:
    document, arrays = unpack(content)
    return pack({**document, **changes}, arrays)


def test_what_is_written_of_every_classifier(content: bytes) -> None:
    document, _ = unpack(content)
    assert document["kind"] == "BayesClassifier" and document["likely"] == __version__
    assert document["rows"] == 20 and document["named"] is True and document["sources"] == ["rows.csv"]
    assert abs(datetime.fromisoformat(document["created"]) - datetime.now(UTC)).days == 0
    assert document["families"] == {"columns": ["x", "town", "z"], "of": ["gaussian", "categorical", "lognormal"]}
    assert [column["name"] for column in document["schema"]["columns"]] == ["x", "town", "z"]
    assert "weights" not in document and set(document["parameters"]) == {"prior", "beliefs"}


def test_a_counted_classifier_is_read_whole(content: bytes) -> None:
    told: list[str] = []
    found = parsed(content, told.append)
    assert isinstance(found, Found) and told == ["BayesClassifier"]
    saved = found.saved
    assert (saved.kind, saved.rows, saved.named, saved.weights) == ("BayesClassifier", 20, True, None)
    assert saved.families == {"x": "gaussian", "town": "categorical", "z": "lognormal"}
    assert saved.summary.n_rows == 20 and saved.schema.features == ("x", "town", "z")
    assert saved.settings["families"] == {"z": "lognormal"} and saved.settings["n_jobs"] == 1
    assert saved.provenance.sources == ("rows.csv",) and saved.provenance.version == __version__
    clf = BayesClassifier(families={"z": "lognormal"}, n_jobs=1).fit(ROWS, Y)
    found.check(clf.model_)
    with pytest.raises(ModelFileError, match=r"does not follow|do not belong"):
        found.check(BayesClassifier(smoothing=5.0, n_jobs=1).fit(ROWS, Y).model_)


def test_learned_weights_are_written_and_read(tmp_path: Path) -> None:
    found = parsed(content_of(BayesClassifier(weights="learned", n_jobs=1), ROWS, tmp_path))
    assert isinstance(found, Found) and found.saved.weights is not None


def test_one_family_for_all_columns_is_one_word(tmp_path: Path) -> None:
    rows = sparse.csr_array(np.eye(20))
    for wide, told in (
        (rows, {"columns": 20, "of": "multinomial"}),
        (rows[:, :1], {"columns": 1, "of": "multinomial"}),
    ):
        content = content_of(BayesClassifier(families="multinomial", n_jobs=1), wide, tmp_path)
        assert unpack(content)[0]["families"] == told
        found = parsed(content)
        assert isinstance(found, Found)
        assert found.saved.families == {f"x{k}": "multinomial" for k in range(wide.shape[1])}


def test_a_schema_among_the_settings_comes_back(tmp_path: Path) -> None:
    schema = Schema.infer({name: cells for name, cells in ROWS.items()}, overrides={"z": "nominal"})
    found = parsed(content_of(BayesClassifier(schema=schema, n_jobs=1), ROWS, tmp_path))
    assert found.saved.settings["schema"] == schema and found.saved.settings["smoothing"] == BayesClassifier().smoothing


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"rows": 19}, "row count does not agree"),
        ({"rows": -1}, "row count is no number"),
        ({"rows": 20.0}, "row count is no number"),
        ({"rows": True}, "row count is no number"),
        ({"families": {"columns": ["x", "other"], "of": "gaussian"}}, "not in its schema"),
        ({"families": {"columns": ["x", "town", "z"], "of": ["gaussian"] * 2}}, "families do not fit"),
        ({"families": {"columns": ["x", "town", "z"], "of": ["gaussian"] * 4}}, "families do not fit"),
        ({"families": {"columns": ["x", "town", "z"], "of": ["gaussian", "gaussian", 3]}}, "families do not fit"),
        ({"families": {"columns": ["x", "x"], "of": "gaussian"}}, "column names"),
        ({"families": 3}, "not one of a model"),
        ({"summary": {}}, "not one of a model"),
        ({"settings": []}, "not one of a model"),
        ({"settings": {"bins": {"$": "nosuch", "of": []}}}, "nosuch"),
        ({"settings": {"schema": {"schema": 3}}}, "not one of a model"),
        ({"sources": 3}, "not one of a model"),
    ],
    ids=str,
)
def test_a_document_that_contradicts_itself_is_refused(content: bytes, changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ModelFileError, match=why):
        parsed(changed(content, **changes))


def test_families_of_some_columns_are_enough(content: bytes) -> None:
    """What a file does not say, the classifier that reads it decides."""
    found = parsed(changed(content, families={"columns": ["x"], "of": "gaussian"}))
    assert isinstance(found, Found) and found.saved.families == {"x": "gaussian"}


def test_what_a_document_lacks_is_refused(content: bytes) -> None:
    document, arrays = unpack(content)
    for key in document:
        fewer = {name: item for name, item in document.items() if name != key}
        if key == "parameters":  # is asked for when the model is there to compare
            assert isinstance(parsed(pack(fewer, arrays)), Found)
        else:
            with pytest.raises(ModelFileError):
                parsed(pack(fewer, arrays))


# Classifiers whose memory is no summary.


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_what_was_learned_comes_back_beside_its_labels(rows: int) -> None:
    schema = Schema.infer({"x": [1.0, 2.0]})
    when = Provenance(("/far/away/rows.csv", "more.csv"), "2024-02-29T00:00:00+00:00", "0.0.1")
    saved = Saved(kind="Oracle", settings={"eyes": (1, 2)}, schema=schema, named=False, rows=rows, provenance=when)
    content = packed_learned(saved, np.array([3, 5]), lambda writer: {"weights": writer.put(np.ones(2)), "n": 2})
    found = parsed(content)
    assert isinstance(found, FoundLearned) and not isinstance(found.saved, Counted)
    assert found.labels.tolist() == [3, 5] and found.learned["n"] == 2
    assert found.reader.get(found.learned["weights"], (2,)).tolist() == [1.0, 1.0]
    again = found.saved
    assert (again.kind, again.settings, again.schema) == ("Oracle", {"eyes": (1, 2)}, schema)
    assert (again.rows, again.named) == (rows, False)
    assert again.provenance == Provenance(("rows.csv", "more.csv"), "2024-02-29T00:00:00+00:00", "0.0.1")


def test_a_schema_of_more_columns_than_there_is_room_for_is_refused(content: bytes) -> None:
    wide = {"many": 10**9}
    for place in ({"schema": wide}, {"settings": {"schema": {"schema": wide}}}):
        with pytest.raises(ModelFileError, match="claims to have 1000000000 columns"):
            parsed(changed(content, **place))


# Files and their refusals.


def test_a_file_is_read_as_its_bytes_are(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.likely").write_bytes(content)
    found = read(tmp_path / "m.likely")
    assert isinstance(found, Found) and found.saved.rows == 20
    assert isinstance(read(os.fspath(tmp_path / "m.likely")), Found)


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no regular file"):
        read("/dev/null")
    with pytest.raises(ModelFileError, match="no regular file"):
        read(tmp_path)
    opened = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else None
    for _ in range(3):
        with pytest.raises(ModelFileError, match="no regular file"):
            read("/dev/null")
    assert opened is None or len(os.listdir("/proc/self/fd")) == opened


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    def give_up(*_: object) -> None:
        raise AssertionError("it waits for somebody to write")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(20)
    try:
        with pytest.raises(ModelFileError, match="no regular file"):
            read(tmp_path / "pipe")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_windows_has_no_flag_for_not_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = files.__spec__
    assert spec is not None and spec.loader is not None and files.NO_WAITING == os.O_NONBLOCK
    monkeypatch.setattr(sys, "platform", "win32")
    there: Any = module_from_spec(spec)
    spec.loader.exec_module(there)
    assert there.NO_WAITING == 0


def test_a_refusal_names_the_file_and_ends_with_one_full_stop(tmp_path: Path) -> None:
    for path in ("m.likely", Path("m.likely")):
        for text in ("it is damaged", "it is damaged."):
            told = refusal(path, LikelyError(text))
            assert type(told) is ModelFileError and str(told) == "'m.likely' cannot be loaded: it is damaged."
