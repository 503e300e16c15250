"""Workbooks: what openpyxl writes is read with its types, what we write is read back the same."""

from __future__ import annotations

import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest

import likely
from likely.cli.run import run
from likely.errors import FileError, SchemaError, SettingsError
from likely.io.excel import MOST_TEXT
from likely.io.file_table import open_table
from likely.io.write import table_writer

LINES: list[list[Any]] = [
    ["name", "n", "x", "day", "moment", "flag", "mixed", "error", "empty"],
    ["a", 1, 0.5, date(2025, 1, 2), datetime(2025, 1, 2, 3, 4), True, 3, "=1/0", None],
    [None, 2, 2.5, date(2025, 1, 3), None, False, "x", None, None],
    ["c", None, 4, None, datetime(2025, 1, 4), None, 4.0, None, None],
]


def workbook(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, lines in sheets.items():
        sheet = made.create_sheet(name)
        for line in lines:
            sheet.append(line)
    made.save(path)
    return path


def test_columns_keep_the_types_of_their_cells(tmp_path: Path) -> None:
    table = open_table(workbook(tmp_path / "book.xlsx", {"one": LINES})).read()
    assert table.column("name").to_pylist() == ["a", None, "c"]
    assert table.schema.field("n").type == pa.int64() and table.column("n").to_pylist() == [1, 2, None]
    assert table.column("x").to_pylist() == [0.5, 2.5, 4.0]
    assert table.column("day").to_pylist() == [date(2025, 1, 2), date(2025, 1, 3), None]
    assert table.column("moment").to_pylist() == [datetime(2025, 1, 2, 3, 4), None, datetime(2025, 1, 4)]
    assert table.column("flag").to_pylist() == [True, False, None]
    assert table.column("mixed").to_pylist() == ["3", "x", "4"]
    assert table.column("error").to_pylist() == [None] * 3  # an error of the sheet is a gap
    assert table.column("empty").to_pylist() == [None] * 3


def test_one_of_several_sheets_has_to_be_named(tmp_path: Path) -> None:
    book = workbook(tmp_path / "book.xlsx", {"one": LINES, "two": [["p"], [7]], "none": []})
    assert open_table(book, sheet="two").read().to_pydict() == {"p": [7]}
    with pytest.raises(FileError, match=r"several sheets \('one', 'two', 'none'\).*sheet"):
        open_table(book)
    with pytest.raises(FileError, match=r"no sheet 'three'; it has 'one'"):
        open_table(book, sheet="three")
    with pytest.raises(FileError, match=r"Sheet 'none' of .*book.xlsx is empty"):
        open_table(book, sheet="none")


def test_lines_before_the_header_and_sheets_without_one(tmp_path: Path) -> None:
    titled = workbook(tmp_path / "titled.xlsx", {"s": [["A fine table", None], ["p", "q"], [1, 2]]})
    assert open_table(titled, skip=1).read().to_pydict() == {"p": [1], "q": [2]}
    bare = workbook(tmp_path / "bare.xlsx", {"s": [[1, 2], [3, 4]]})
    assert open_table(bare, header=False).read().to_pydict() == {"x0": [1, 3], "x1": [2, 4]}
    assert open_table(bare, names=["a", "b"]).read().to_pydict() == {"a": [1, 3], "b": [2, 4]}
    double = workbook(tmp_path / "double.xlsx", {"s": [["p", "p"], [1, 2]]})
    with pytest.raises(SchemaError, match=r"sheet 's', line 1: several columns are called 'p'"):
        open_table(double)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    table = pa.table(
        {
            "=1+1": ["=SUM(A1)", "+x", "plain", None],
            "n": [1, None, 3, 4],
            "x": [0.1, float("nan"), float("inf"), None],
            "when": pa.array([datetime(2025, 1, 2, 3, 4, 5), None, datetime(2025, 1, 1), None], pa.timestamp("us")),
            "flag": [True, False, None, True],
            "odd": ["a\x07b", "ü", "line\nbreak", "  spaces "],
        }
    )
    path = tmp_path / "out.xlsx"
    with table_writer(path) as write:
        write(table.slice(0, 2))
        write(table.slice(2))
    cells = openpyxl.load_workbook(path)["table"]
    assert [cells["A2"].value, cells["A2"].data_type, cells["A1"].data_type] == ["=SUM(A1)", "s", "s"]
    back = open_table(path).read()
    assert back.column("=1+1").to_pylist() == ["=SUM(A1)", "+x", "plain", None]
    assert back.column("n").to_pylist() == [1, None, 3, 4]
    assert back.column("x").to_pylist() == [0.1, None, None, None]
    assert back.column("when").to_pylist() == [datetime(2025, 1, 2, 3, 4, 5), None, datetime(2025, 1, 1), None]
    assert back.column("odd").to_pylist() == ["ab", "ü", "line\nbreak", "  spaces "]


def test_a_text_that_no_cell_can_hold_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    with (
        pytest.raises(SettingsError, match=r"Row 2 has 32,768 characters in column 'long'"),
        table_writer(path) as write,
    ):
        write(pa.table({"long": ["short", "x" * (MOST_TEXT + 1)]}))
    assert not path.exists()


def test_archives_and_damage_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        archive.writestr("a.csv", "x,y\n1,2\n")
    with pytest.raises(FileError, match="is a zip archive; unpack it"):
        open_table(tmp_path / "some.zip")
    whole = workbook(tmp_path / "book.xlsx", {"one": LINES}).read_bytes()
    for size in (30, len(whole) // 2, len(whole) - 10):
        (tmp_path / "cut.xlsx").write_bytes(whole[:size])
        with pytest.raises(FileError, match=r"cut\.xlsx"):
            open_table(tmp_path / "cut.xlsx").read()
    (tmp_path / "text.xlsx").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match="does not begin like a workbook"):
        open_table(tmp_path / "text.xlsx")
    (tmp_path / "old.xls").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))
    with pytest.raises(FileError, match=r"old\.xls cannot be read as a workbook"):
        open_table(tmp_path / "old.xls")


def with_sheet(path: Path, book: Path, before: bytes, after: bytes) -> Path:
    """A workbook whose sheet is changed in one place."""
    with zipfile.ZipFile(book) as whole, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name in whole.namelist():
            content = whole.read(name)
            made.writestr(name, content.replace(before, after) if name.endswith("sheet1.xml") else content)
    return path


@pytest.mark.parametrize("place", ["XFD1048576", "ZZ1000000", "A4294967295", "ZZZZZZZ40"])
def test_cells_that_lie_terabytes_apart_are_refused_in_a_sentence(tmp_path: Path, place: str) -> None:
    """The library would end the process: so it is not this one."""
    book = workbook(tmp_path / "book.xlsx", {"one": LINES})
    row = f'<row r="{place.lstrip("XFDZA")}"><c r="{place}"><v>1</v></c></row></sheetData>'.encode()
    far = with_sheet(tmp_path / "far.xlsx", book, b"</sheetData>", row)
    with pytest.raises(FileError, match=r"far\.xlsx cannot be read as a workbook: .* memory.* CSV"):
        open_table(far)


@pytest.mark.parametrize(
    "wrong",
    [
        b'<row r="0"><c r="A0"><v>1</v></c></row></sheetData>',
        b'<row r="5"><c r="ZZZZ5"><v>1</v></c></row></sheetData>',
        b'<row r="40"><c r="A40" t="s"><v>99999999</v></c></row></sheetData>',
        b'<row r="40"><c r="A40" t="n"><v>one</v></c></row></sheetData>',
        b'<row r="40"><c r="A40" t="str"><v>&a;</v></c></row></sheetData>',
        b'<row r="40"><c r="A40"><v>\xff</v></c></row></sheetData>',
    ],
)
def test_a_sheet_that_is_damaged_is_refused_in_a_sentence(tmp_path: Path, wrong: bytes) -> None:
    book = workbook(tmp_path / "book.xlsx", {"one": LINES})
    with pytest.raises(FileError, match=r"wrong\.xlsx cannot be read as a workbook"):
        open_table(with_sheet(tmp_path / "wrong.xlsx", book, b"</sheetData>", wrong))


def test_the_reader_finds_no_module_where_it_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of workbooks may come from anyone."""
    (tmp_path / "python_calamine.py").write_text("raise SystemExit(3)")
    (tmp_path / "pyarrow.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    book = workbook(tmp_path / "book.xlsx", {"one": [["p"], [7]]})
    monkeypatch.syspath_prepend("")
    assert open_table(book).read().to_pydict() == {"p": [7]}


def test_a_workbook_is_learned_and_predictions_are_written_to_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [[sky, wet, "rain" if wet > 4 else "dry"] for sky, wet in zip(["grey", "blue"] * 20, range(40), strict=True)]
    book = workbook(tmp_path / "days.xlsx", {"days": [["sky", "wet", "day"], *rows], "notes": [["nothing"]]})
    assert run(["train", book.name, "--sheet", "days", "--target", "day", "--model", "naive"]) == 0
    assert run(["predict", "days.likely", book.name, "--sheet", "days", "-o", "said.xlsx"]) == 0
    said = open_table("said.xlsx").read()
    table = open_table(book, sheet="days").read()
    assert said.column("prediction").to_pylist() == likely.load("days.likely").predict(table).tolist()
    assert run(["train", book.name, "--target", "day"]) == 2
