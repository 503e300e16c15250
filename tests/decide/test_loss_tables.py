"""Files of costs: what is no table is refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from likely import Loss
from likely.errors import FileError


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"truth\\decision,a,b\na,0,\xe9\nb,1,0\n", "no text in UTF-8"),
        (b"truth\\decision,a,b\na,0," + b"1" * 200_000 + b"\nb,1,0\n", "field larger than"),
    ],
)
def test_files_that_are_no_text_are_refused_in_a_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "costs.csv"
    file.write_bytes(content)
    with pytest.raises(FileError, match=message):
        Loss.from_csv(file)


def test_a_folder_and_an_impossible_name_hold_no_costs(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="directory"):
        Loss.from_csv(tmp_path)
    with pytest.raises(FileError, match="null byte"):
        Loss.from_csv("costs\0.csv")
    with pytest.raises(FileNotFoundError, match=r"no table of costs at .*gone\.csv"):
        Loss.from_csv(tmp_path / "gone.csv")
