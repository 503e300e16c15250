"""Where tables come from: paths, globs, folders, lists, streams; and files that do not belong together."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from likely.errors import FileError, NoSuchFile, SchemaError, SettingsError
from likely.io import looks_like_files, open_table
from likely.io.delimited import PROBE, PROBES, Probes
from likely.io.dialect import Dialect
from likely.io.parse import Layout
from likely.io.sources import Source


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in (1, 2, 3):
        (tmp_path / f"part{number}.csv").write_text(f"a,y\n{number},x\n")
    (tmp_path / "README").write_text("hello")
    return tmp_path


def test_paths_globs_folders_and_lists(folder: Path) -> None:
    for source in (
        folder,
        str(folder / "*.csv"),
        sorted(folder.glob("*.csv")),
        [folder / "part1.csv", str(folder / "part[23].csv")],
    ):
        assert open_table(source).read().to_pydict() == {"a": [1, 2, 3], "y": ["x", "x", "x"]}


def test_streams_and_standard_input(folder: Path) -> None:
    table = open_table(io.BytesIO(b"a,y\n1,x\n"))
    assert table.read() == table.read()
    table.close()
    code = "from likely import open_table; print(open_table('-').read().to_pydict())"
    with (folder / "part2.csv").open("rb") as file:
        done = subprocess.run([sys.executable, "-c", code], stdin=file, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{'a': [2], 'y': ['x']}"
    with pytest.raises(FileError, match="mode 'rb'"):
        open_table(io.StringIO("a,y\n"))


def test_columns_that_a_file_calls_not_null(tmp_path: Path) -> None:
    fields = [pa.field("a", pa.float64(), nullable=False), pa.field("y", pa.string(), nullable=False)]
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": ["x", "z"]}, schema=pa.schema(fields)), tmp_path / "strict.parquet")
    assert open_table(tmp_path / "strict.parquet").read().to_pydict() == {"a": [1.0, 2.0], "y": ["x", "z"]}


def test_files_that_are_not_there(folder: Path) -> None:
    with pytest.raises(NoSuchFile, match=r"There is no file .*Did you mean 'part1.csv'"):
        open_table(folder / "part1.cvs")
    with pytest.raises(FileNotFoundError):
        open_table(folder / "*.parquet")
    (folder / "sub").mkdir()
    with pytest.raises(NoSuchFile, match="holds no table"):
        open_table(folder / "sub")
    with pytest.raises(FileError, match="empty"):
        open_table([])
    with pytest.raises(FileError, match="twice"):
        open_table([folder / "part1.csv", folder / "part1.csv"])
    with pytest.raises(SchemaError, match="named by a path"):
        open_table([1])


def test_files_that_do_not_belong_together(folder: Path) -> None:
    (folder / "part4.csv").write_text("a,z\n1,x\n")
    with pytest.raises(SchemaError, match=r"part4.csv lacks 'y', unlike .*part1.csv"):
        open_table(folder)
    (folder / "part4.csv").write_text("a,y,z\n1,x,2\n")
    with pytest.raises(SchemaError, match="also has 'z'"):
        open_table(folder)
    assert open_table(folder, columns=["a"]).read().num_rows == 4
    (folder / "part4.csv").unlink()
    pq.write_table(pa.table({"a": [1], "y": ["x"]}), folder / "rows.parquet")
    with pytest.raises(FileError, match="several formats"):
        open_table(folder)


def test_files_with_other_dialects_and_orders(folder: Path) -> None:
    (folder / "part4.csv").write_text("y;a\nx;4,5\n")
    table = open_table(folder)
    assert table.types == {"a": "number", "y": "text"}
    assert table.read().to_pydict() == {"a": [1.0, 2.0, 3.0, 4.5], "y": ["x"] * 4}
    (folder / "part5.csv").write_text("a,y\nword,x\n")
    assert open_table(folder).read().column("a").to_pylist() == ["1", "2", "3", "4,5", "word"]


def test_batches_are_bounded(folder: Path) -> None:
    (folder / "long.csv").write_text("a,y\n" + "1,x\n" * 1000)
    sizes = [batch.num_rows for batch in open_table(folder / "long.csv").batches(rows=300)]
    assert max(sizes) <= 300
    assert sum(sizes) == 1000


def test_what_is_said_is_checked(folder: Path) -> None:
    path = folder / "part1.csv"
    for options in (
        {"delimiter": ",,"},
        {"quote": "ab"},
        {"decimal": ";"},
        {"skip": -1},
        {"format": "xls"},
        {"delimiter": '"', "quote": '"'},
    ):
        with pytest.raises(SettingsError):
            open_table(path, **options)  # type: ignore[arg-type]


def test_a_table_shows_what_it_knows(folder: Path) -> None:
    (folder / "odd.csv").write_text("a,b\n007,x\n008,None\n")
    table = open_table(folder / "odd.csv")
    assert repr(table).endswith("odd.csv, 2 columns)")
    assert "a: text" in str(table)
    assert any("leading zeros" in note for note in table.notes)
    assert any("'None' is a category" in note for note in table.notes)
    assert (
        table.dialect is not None
        and table.dialect.describe() == "utf-8, with a header, ',' between cells, decimal point '.'"
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a.csv", True),
        (Path("a"), True),
        (["a", "b"], True),
        ([{"a": 1}], False),
        ([], False),
        (3, False),
        (io.BytesIO(), True),
    ],
)
def test_what_means_files(source: object, expected: bool) -> None:
    assert looks_like_files(source) is expected


def test_damaged_parquet(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": list(range(5000)), "y": ["x"] * 5000}), path, write_page_checksum=True)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=r"rows.parquet cannot be read"):
        open_table(path).read()
    flipped = bytearray(whole)
    flipped[500] ^= 1
    path.write_bytes(flipped)
    with pytest.raises(FileError, match=r"rows.parquet cannot be read"):
        open_table(path).read()


def test_a_fraction_late_among_whole_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "1,x\n" * 1_000_000 + "2.5,x\n" + "1,x\n" * 100)
    table = open_table(path, types={"a": "integer"})
    with pytest.raises(FileError, match=r"line 1000002: .*types=\{'a': 'number'\}"):
        table.read()
    assert open_table(path, types={"a": "number"}).read().column("a")[1_000_000].as_py() == 2.5


def test_one_of_many_files_is_glanced_at_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "1,2\n" * 100_000)
    probes = Probes.of(Source(path, "long.csv"), 1 << 10, n_files=PROBES)
    assert [len(piece) for _, piece in probes.pieces] == [PROBE]
    (block,) = probes.blocks(Layout(("a", "b"), Dialect()), 2)
    assert block.data == b"1,2\n" * block.records and block.records > PROBE // 5


def test_points_and_commas_side_by_side_are_odd_cells(tmp_path: Path) -> None:
    """A column that mixes decimal points and commas, none of them between thousands, is text and says why."""
    path = tmp_path / "mixed.csv"
    path.write_text("x,y\n" + "".join(f'"{k}.5",a\n' for k in range(30)) + '"2,75",b\n')
    table = open_table(path)
    assert table.types["x"] == "text"
    assert any("2,75" in str(note) for note in table.notes)


def test_a_header_may_be_longer_than_what_is_looked_at_first(tmp_path: Path) -> None:
    names = [f"{'a long name ' * 900}{place}" for place in range(30)]
    file = tmp_path / "wide.csv"
    file.write_text(
        "\n".join([",".join(names), *(",".join(f"{row + place}" for place in range(30)) for row in range(9))])
    )
    table = open_table(file)
    assert list(table.names) == names
    assert table.read().column(names[-1]).to_pylist() == list(range(29, 38))
    single = tmp_path / "single.csv"
    single.write_text("x" * 1_000_000 + ",y\n" + "1,a\n2,b\n" * 5)
    assert open_table(single).read().column("y").to_pylist() == ["a", "b"] * 5
