"""Mail from maildirs, mboxes, folders, single files and standard input."""

from __future__ import annotations

import io
import mailbox
from pathlib import Path

import pytest

from likely.errors import FileError, NoSuchFile
from likely.mail import boxes
from likely.mail.boxes import read_boxes

ONE = b"Subject: one\n\nfirst\nFrom here on\n"
TWO = b"Subject: two\n\nsecond\n"


def test_a_maildir(tmp_path: Path) -> None:
    box = mailbox.Maildir(tmp_path / "M")
    for raw in (ONE, TWO):
        box.add(raw)
    (tmp_path / "M" / "tmp" / "half").write_bytes(b"not there yet")
    (tmp_path / "M" / "cur" / "read:2,S").write_bytes(ONE)
    assert sorted(mail.raw for mail in read_boxes([str(tmp_path / "M")])) == sorted([ONE, ONE, TWO])


def test_an_mbox(tmp_path: Path) -> None:
    path = tmp_path / "box"
    box = mailbox.mbox(path)
    for raw in (ONE, TWO):
        box.add(mailbox.mboxMessage(raw))
    box.flush()
    box.close()
    found = list(read_boxes([str(path)]))
    assert [mail.raw for mail in found] == [ONE, TWO]  # a line that begins with From was quoted, and is as it was
    assert [mail.place for mail in found] == [f"{path}:1", f"{path}:2"]


def test_files_folders_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(ONE)
    (tmp_path / "b.eml").write_bytes(TWO)
    (tmp_path / ".hidden").write_bytes(b"x")
    assert [mail.raw for mail in read_boxes([str(tmp_path / "a.eml")])] == [ONE]
    assert [mail.raw for mail in read_boxes([str(tmp_path)])] == [ONE, TWO]
    assert [mail.raw for mail in read_boxes(["-"], io.BytesIO(TWO))] == [TWO]


def test_what_is_not_there_and_what_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoSuchFile, match="no mail"):
        list(read_boxes([str(tmp_path / "none")]))
    monkeypatch.setattr(boxes, "LONGEST", 10)
    with pytest.raises(FileError, match="more than 10 bytes"):
        list(read_boxes(["-"], io.BytesIO(TWO)))
