"""The journal: what was acknowledged is there, what was cut off is not, and damage is never passed over."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from likely.serve import journal
from likely.serve.journal import Journal, JournalError, parsed, read_journal

ENTRIES: list[dict[str, Any]] = [{"kind": "learn", "rows": [{"a": k, "b": "ä\n"}], "labels": ["x"]} for k in range(4)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.likely.journal"


def reopened(path: Path) -> list[dict[str, Any]]:
    made = Journal(path, "other")
    made.close()
    return made.entries[1:]


def test_entries_come_back_in_order(path: Path) -> None:
    made = Journal(path, "base")
    made.append(ENTRIES[:1])
    made.append(ENTRIES[1:])
    assert made.size == path.stat().st_size
    made.close()
    assert reopened(path) == ENTRIES == read_journal(path)[1:]
    assert read_journal(path)[0]["base"] == "base"
    assert path.stat().st_mode & 0o777 == 0o600


def test_every_cut_at_the_end_is_mended(path: Path) -> None:
    """Whatever is cut off the last entry, those before it stay, and the next one can be written."""
    made = Journal(path, "base")
    made.append(ENTRIES[:2])
    before = path.stat().st_size
    made.append(ENTRIES[2:3])
    made.close()
    whole = path.read_bytes()
    for size in range(before, len(whole)):
        path.write_bytes(whole[:size])
        again = Journal(path, "base")
        assert again.entries[1:] == ENTRIES[:2]
        again.append(ENTRIES[3:])
        again.close()
        assert reopened(path) == [*ENTRIES[:2], ENTRIES[3]]


def test_a_head_that_was_cut_off_is_written_again(path: Path) -> None:
    Journal(path, "base").close()
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        Journal(path, "base").close()
        assert path.read_bytes() == whole


def test_damage_before_the_end_is_refused(path: Path) -> None:
    made = Journal(path, "base")
    made.append(ENTRIES)
    made.close()
    whole = path.read_bytes()
    for place in range(0, whole.rfind(b"\n", 0, -1), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(JournalError, match=r"damaged|no journal"):
            Journal(path, "base")


def test_a_second_writer_is_refused(path: Path) -> None:
    made = Journal(path, "base")
    with pytest.raises(JournalError, match="Another process"):
        Journal(path, "base")
    made.close()
    Journal(path, "base").close()


def test_a_disk_that_is_full_leaves_nothing_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Journal(path, "base")
    made.append(ENTRIES[:1])
    real, calls = os.write, [0]

    def half(file: int, content: Any) -> int:
        calls[0] += 1
        if calls[0] > 1:
            raise OSError(28, "No space left on device")
        return real(file, bytes(content)[:10])

    monkeypatch.setattr(journal.os, "write", half)
    with pytest.raises(JournalError, match="No space left"):
        made.append(ENTRIES[1:2])
    monkeypatch.undo()
    made.append(ENTRIES[2:3])
    made.close()
    assert reopened(path) == [ENTRIES[0], ENTRIES[2]]


def test_a_restart_begins_with_what_is_kept(path: Path) -> None:
    made = Journal(path, "base")
    made.append(ENTRIES)
    made.restart("next", [{"keys": []}])
    made.append(ENTRIES[:1])
    made.close()
    assert read_journal(path)[0]["base"] == "next"
    assert reopened(path) == [{"keys": []}, ENTRIES[0]]
    assert path.stat().st_mode & 0o777 == 0o600


def test_something_else_is_no_journal(path: Path) -> None:
    path.write_bytes(b"rows,and,columns\n1,2,3\n")
    with pytest.raises(JournalError):
        Journal(path, "base")
    assert path.read_bytes() == b"rows,and,columns\n1,2,3\n"
    assert parsed(b"", "x") == ([], 0)
    assert read_journal(path.with_name("none")) == []
