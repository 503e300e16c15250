"""One table, rendered as text, HTML, Rich and JSON; one page around it."""

from __future__ import annotations

import io
import json
from datetime import date

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from likely.render.page import fragment, page
from likely.render.table import (
    Cell,
    ColumnHead,
    Grid,
    count,
    figure,
    json_value,
    number,
    records,
    seconds,
    shortened,
    signed,
    size,
)
from tests.test_markup import Reader

EVIL = "<script>alert('&')</script>"


@pytest.fixture
def grid() -> Grid:
    columns = [
        ColumnHead("name", "left"),
        ColumnHead("share", form=figure),
        ColumnHead("kind", "left"),
        ColumnHead("", drawn=True),
    ]
    rows = [["a", 0.5, "x", Cell(None, bar=-0.5)], [EVIL, Cell(2.0, bar=1.0, shade=0.5), None, Cell(None, bar=0.25)]]
    return Grid(columns, rows, "Title", ["a note"], marks={1: "total"}, left_out=1234)


def test_text_is_aligned_and_leaves_out_what_is_drawn(grid: Grid) -> None:
    assert grid.text().splitlines() == [
        "Title",
        "name                          share  kind",
        "a                            0.5000  x",
        f"{EVIL}  2.0000",
        "… and 1,234 more rows",
        "a note",
    ]


def test_html_says_the_same_and_escapes_it(grid: Grid) -> None:
    read = Reader(page(EVIL, fragment(grid.html())))
    for words in ("Title", "2.0000", "1,234 more rows", "a note", EVIL):
        assert words in read.words
    names = [name for name, _ in read.elements]
    assert "script" not in names
    assert names.count("tr") == 3
    assert ("tr", {"class": "total"}) in read.elements
    bars = [style["style"] for name, style in read.elements if style.get("class") == "bar"]
    assert bars == ["width:3.00em", "width:6.00em", "width:1.50em"]
    assert ("td", {"style": "background:rgba(0,114,178,0.30)"}) in read.elements


def test_a_page_is_whole_and_knows_the_dark() -> None:
    text = page("a < b", fragment("x"))
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert text.count("<!DOCTYPE") == text.count("<title>") == 1
    assert "prefers-color-scheme:dark" in text
    assert "a &lt; b" in text


def test_rich_shows_all_and_takes_no_name_for_its_own_marks() -> None:
    out = io.StringIO()
    grid = Grid([ColumnHead("name", "left"), ColumnHead("n", form=count)], [["[bold]x[/bold]", 3]], "Title")
    Console(file=out, width=60).print(grid.rich())
    assert "[bold]x[/bold]" in out.getvalue()
    assert "3" in out.getvalue()


def test_programs_get_the_values(grid: Grid) -> None:
    assert grid.records()[1] == {"name": EVIL, "share": 2.0, "kind": None}
    assert json.loads(grid.json()) == {"title": "Title", "rows": grid.records(), "notes": ["a note"]}


def test_an_empty_table_has_its_heads() -> None:
    assert Grid([ColumnHead("a", "left"), ColumnHead("b")], []).text() == "a  b"


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (figure(None), ""), (figure(0.5), "0.5000"), (figure(1234.5), "1,234.5"), (count(3.0), "3"),
        (count(1234), "1,234"), (count(0.5), "0.50"), (signed(-1.0), "-1.0000"), (signed(np.inf), "+∞"),
        (signed(-np.inf, 2), "−∞"), (seconds(0.25), "250 ms"), (seconds(2.5), "2.5 s"), (size(999), "999 B"),
        (size(123_456), "123 kB"), (size(12_345_678), "12 MB"), (number(1 / 3), "0.333333"),
        (number(1234567.5), "1234567.5"), (number("x"), "x"), (shortened("a  b\nc", 4), "a b…"),
        (shortened(" ", 9), "' '"),
    ],
)  # fmt: skip
def test_numbers_and_names_as_they_are_written(written: str, wanted: str) -> None:
    assert written == wanted


def test_json_has_plain_values_only() -> None:
    values = [np.int32(3), np.float64(0.5), np.nan, np.inf, pd.NA, pd.NaT, None, True, "x", (1, np.int8(2))]
    assert [json_value(value) for value in values] == [3, 0.5, None, None, None, None, None, True, "x", [1, 2]]
    assert json_value({1: np.bool_(True)}) == {"1": True}
    assert json_value(np.array([1.0, np.nan])) == [1.0, None]
    assert json_value(date(2024, 2, 29)) == "2024-02-29"
    frame = pd.DataFrame({"a": [1.5, np.nan], 2: ["x", None]})
    assert records(frame) == [{"a": 1.5, "2": "x"}, {"a": None, "2": None}]


def test_columns_are_left_out_until_a_table_fits() -> None:
    grid = Grid(
        [ColumnHead("name", "left"), ColumnHead("size"), ColumnHead("time"), ColumnHead("")],
        [["a", "10 kB", "3 ms", "◀"]],
    )
    assert grid.narrowed(80, "size", "time").text() == grid.text()
    assert grid.narrowed(16, "size", "time").lines() == [["name", "time", ""], ["a", "3 ms", "◀"]]
    assert grid.narrowed(3, "size", "time").lines() == [["name", ""], ["a", "◀"]]
