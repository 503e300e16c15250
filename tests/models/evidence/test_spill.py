"""Arrays in files that nobody sees, and what is said when there is no room for them."""

from __future__ import annotations

import errno
import os
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likely import LikelyError
from likely.errors import FileError
from likely.models.evidence.spill import SpillDirectory

Usage = namedtuple("Usage", "total used free")


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    whole = np.random.default_rng(0).normal(size=(100, 3))
    with SpillDirectory(tmp_path) as shelf:
        wide, narrow, empty = shelf.new(np.float64, 3), shelf.new(np.int32), shelf.new(np.uint8, 0)
        for part in (slice(0, 40), slice(40, 40), slice(40, 100)):
            wide.append(whole[part])
            narrow.append(np.arange(100, dtype=np.int32)[part])
            empty.append(np.zeros((100, 0), dtype=np.uint8)[part])
        assert len(wide) == len(narrow) == len(empty) == 100
        np.testing.assert_array_equal(wide.read(slice(10, 90)), whole[10:90])
        np.testing.assert_array_equal(narrow.read(slice(99, 100)), [99])
        assert empty.read(slice(3, 9)).shape == (6, 0)
        assert wide.read(slice(5, 5)).shape == (0, 3)
        assert wide.read(slice(0, 9)).flags.writeable
        if os.name == "posix":
            assert not list(tmp_path.iterdir()), "a file without a name needs nobody to remove it"
        with pytest.raises(FileError, match="has been cut short"):
            wide.read(slice(90, 101))
    assert not list(tmp_path.iterdir())


def test_the_folder_is_that_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert SpillDirectory().folder == str(tmp_path)


def test_a_disk_without_room_is_told_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SpillDirectory(tmp_path).require_space(1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(0, 0, 100 << 20))
    SpillDirectory(tmp_path).require_space(20 << 20)
    with pytest.raises(FileError, match=r"need 50 MiB in .*, where 100 MiB are free; name another folder"):
        SpillDirectory(tmp_path).require_space(50 << 20)


def test_a_disk_that_fills_up_and_a_folder_that_is_none(tmp_path: Path) -> None:
    class Full:
        def seek(self, place: int) -> None: ...
        def close(self) -> None: ...
        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    with SpillDirectory(tmp_path) as shelf:
        stored = shelf.new(np.uint8)
        stored._file.close()
        stored._file = Full()  # type: ignore[assignment]
        with pytest.raises(FileError, match="is full; make room"):
            stored.append(np.zeros(3, dtype=np.uint8))
    nowhere = tmp_path / "nowhere"
    for task in (lambda: SpillDirectory(nowhere).new(np.uint8), lambda: SpillDirectory(nowhere).require_space(1)):
        with pytest.raises(LikelyError, match=r"Nothing can be written to the folder .*nowhere: No such file"):
            task()
