"""Whatever Python's csv module or DuckDB writes is read back as it was, and what is damaged is not misread."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import LikelyError
from likely.io import blocks, open_table
from likely.io.blocks import Blocks
from likely.io.dialect import Dialect
from likely.io.sources import Source

LETTERS = st.characters(codec="utf-8", exclude_characters="\x00\r\ufeff", exclude_categories=("Cs",))
CELLS = st.text(LETTERS, max_size=8)
MARKS = ",;\t|"


@given(
    rows=st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=8),
    mark=st.sampled_from(MARKS),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_what_csv_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], mark: str, end: str, quoting: int
) -> None:
    path = tmp_path_factory.mktemp("made") / "rows.csv"
    text = io.StringIO()
    csv.writer(text, delimiter=mark, lineterminator=end, quoting=quoting).writerows([["p", "q", "r"], *rows])  # type: ignore[arg-type]
    path.write_bytes(text.getvalue().encode())
    kept = dict.fromkeys("pqr", "text")
    table = open_table(path, delimiter=mark, types=kept, na=[], header=True, quote='"', escape="", multiline=True)
    found = [[cell or "" for cell in row] for row in zip(*table.read().to_pydict().values(), strict=True)]
    assert found == rows


WORDS = [
    "x",
    "Ulm",
    "a b",
    "don't",
    '5" pipe',
    'say "hi"',
    "x, y",
    "u;v",
    "l\nm",
    "NA",
    "",
    "-3.5",
    "12",
    "007",
    "é",
    "# k",
    "z|w",
]


def test_damaged_texts_are_refused_or_read_as_csv_does(tmp_path: Path) -> None:
    """Texts with a byte or two changed: what is accepted agrees with Python's strict reader, cell by cell."""
    chance = random.Random(7)
    path, accepted = tmp_path / "rows.csv", 0
    for _ in range(300):
        width, mark = chance.randint(2, 5), chance.choice(MARKS)
        rows = [[f"c{j}" for j in range(width)]]
        rows += [
            [chance.choice([*WORDS, f"{chance.random():.3f}"]) for _ in range(width)]
            for _ in range(chance.randint(1, 9))
        ]
        out = io.StringIO()
        csv.writer(out, delimiter=mark, lineterminator="\n", quoting=chance.choice([0, 1])).writerows(rows)  # type: ignore[arg-type]
        text = out.getvalue()
        for _ in range(chance.randint(0, 2)):
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice(["", *'",;\n\t|\\ ']) + text[at + chance.randint(0, 1) :]
        path.write_bytes(text.encode())
        try:
            table = open_table(path)
            table.read()
            table = open_table(path, types=dict.fromkeys(table.names, "text"), na=[])
            found = [[cell or "" for cell in row] for row in zip(*table.read().to_pydict().values(), strict=True)]
        except LikelyError:
            continue
        dialect = table.dialect
        assert dialect is not None
        body = text.split("\n", dialect.skip)[-1]
        reader = csv.reader(
            io.StringIO(body, newline=""), delimiter=dialect.delimiter, quotechar=dialect.quote,
            escapechar=dialect.escape or None, skipinitialspace=dialect.trim, strict=True,
        )  # fmt: skip
        expected = [row for row in reader if row]
        assert found == expected[1:], text
        accepted += 1
    assert 100 < accepted < 300


@pytest.mark.parametrize(
    "options",
    [
        "header, delimiter ','",
        "header, delimiter ';'",
        "header, delimiter '\t', force_quote *",
        "header, delimiter '|'",
    ],
)
def test_what_duckdb_writes_is_read_back(tmp_path: Path, options: str) -> None:
    rows = duckdb.sql(
        "select i, i / 7 as f, chr(65 + (i % 26)::int) || ', \"' || i as t, i % 3 = 0 as b from range(2000) r(i)"
    )
    expected = rows.to_arrow_table()
    options = options.replace("*", "(t)")
    duckdb.sql(f"copy ({rows.sql_query()}) to '{tmp_path / 'rows.csv'}' ({options})")
    duckdb.sql(f"copy ({rows.sql_query()}) to '{tmp_path / 'rows.parquet'}'")
    duckdb.sql(f"copy ({rows.sql_query()}) to '{tmp_path / 'rows.jsonl'}' (format json)")
    for name in ("rows.csv", "rows.parquet", "rows.jsonl"):
        assert open_table(tmp_path / name).read().to_pydict() == expected.to_pydict(), name


def test_blocks_of_any_size_hold_the_same_records(tmp_path: Path) -> None:
    lines = [f'{n},"a\n{n}""",b{n}' if n % 5 == 0 else f"{n},x,y" for n in range(400)]
    for end in ("\n", "\r\n", "\r"):
        path = tmp_path / "rows.csv"
        path.write_bytes(("a,b,c\n" + end.join(lines)).encode())
        source = Source(path, "rows.csv")
        for size in (64, 101, 1000, 1 << 20):
            found = list(Blocks(source, Dialect(), 3, 6, 1, None, size))
            assert sum(block.records for block in found) == 400
            assert b"".join(block.data for block in found) == path.read_bytes()[6:]
            assert [block.offset for block in found[1:]] == [block.end for block in found[:-1]]
            assert [block.line for block in found[1:]] == [block.last_line for block in found[:-1]]


def test_lines_are_right_far_into_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 1 << 12)
    lines = [f'{n},"x\ny",z' if n % 7 == 0 else f"{n},x,z" for n in range(5000)]
    lines[4321] = "4321,x"
    text = "a,b,c\n" + "\n".join(lines) + "\n"
    (tmp_path / "rows.csv").write_text(text)
    line = text[: text.index("\n4321,")].count("\n") + 2
    with pytest.raises(LikelyError, match=f"line {line}: 2 cells"):
        open_table(tmp_path / "rows.csv").read()
    table = open_table(tmp_path / "rows.csv", rejects="skip")
    assert table.read().num_rows == 4999
    piece = list(table.pieces({"a": ""}))[-1]
    assert piece.where(piece.n_rows - 1) == f"{tmp_path / 'rows.csv'}, line {text.count(chr(10))}"
