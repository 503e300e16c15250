"""JSON lines that would kill the reader are refused with their line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from likely.errors import FileError
from likely.io import json_lines, open_table
from likely.io.scan import MOST_DEEP
from likely.streaming import train_file

GOOD = [json.dumps({"x": number, "y": "ab"[number % 2]}) for number in range(50)]
DEEP = 100_000
NESTED = {
    "lists": '{"x": ' + "[" * DEEP + "]" * DEEP + ', "y": "a"}',
    "objects": '{"x": ' + '{"a":' * DEEP + "1" + "}" * DEEP + ', "y": "a"}',
    "never closed": '{"x": ' + "[" * DEEP,
    "brackets in texts": '{"x": ' + '["]",' * DEEP,
    "in a key that nobody asked for": '{"x": 1, "y": "a", "z": ' + "[" * DEEP + "]" * DEEP + "}",
}


@pytest.mark.parametrize("nested", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("late", [False, True], ids=["in the head", "further on"])
def test_deep_lines_are_refused_with_their_number(
    nested: str, late: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if late:
        monkeypatch.setattr(json_lines, "HEAD", 100)
    path, left = tmp_path / "rows.jsonl", tmp_path / "left.csv"
    path.write_text("\n".join([*GOOD[:30], nested, *GOOD[30:]]) + "\n")
    with pytest.raises(FileError, match=rf"line 31: .*nested more than {MOST_DEEP} deep"):
        open_table(path).read()
    table = open_table(path, rejects=left)
    assert table.read().column("x").to_pylist() == list(range(50))
    assert [fault.line for fault in table.rejected.first] == [31]
    assert f"nested more than {MOST_DEEP} deep" in left.read_text()
    with pytest.raises(FileError, match="line 31"):
        train_file(path, "y")


def test_lines_that_never_close_do_not_add_up(tmp_path: Path) -> None:
    """Each line is shallow, but a parser that reads on over line ends goes ever deeper."""
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join([*GOOD, *(['{"x": ' + "[" * (MOST_DEEP // 2)] * DEEP)]))
    with pytest.raises(FileError, match=r"line 5[12]"):
        open_table(path).read()


def test_what_is_nested_a_little_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"x": ' + "[" * (MOST_DEEP - 1) + "]" * (MOST_DEEP - 1) + "}\n")
    assert open_table(path).read().num_rows == 1
