"""Tables that are dropped onto a served studio: whatever they are called, and however many there are."""

from __future__ import annotations

import gc
from pathlib import Path

import pyarrow as pa
import pytest

from likely.errors import LikelyError
from likely.serve.refusals import HTTPRefusal
from likely.studio import workbench
from likely.studio.jobs import Job
from likely.studio.workbench import Workbench

CSV = b"size,kind\n" + b"1,small\n2,large\n" * 20
MOST = 2_000


def dropped(bench: Workbench) -> list[Path]:
    return sorted(Path(bench._folder.name).glob("dropped*"))


@pytest.fixture
def bench():
    made = Workbench()
    yield made
    made.close()


@pytest.mark.parametrize(
    "name",
    [
        "a.\0csv",
        "a.csv\0",
        "\0",
        "a.\ud800csv",
        "x.*",
        "x.[a]",
        "..",
        ".",
        "../../x.csv",
        "..\\x.csv",
        "x." + "é" * 300,
    ],
)
def test_a_table_may_have_any_name(bench: Workbench, name: str) -> None:
    assert bench.take_table(name, CSV, MOST)["rows"] == 40
    assert [path.parent for path in dropped(bench)] == [Path(bench._folder.name)]


def test_a_table_that_is_refused_leaves_the_last_one_as_it_was(bench: Workbench) -> None:
    bench.take_table("good.csv", CSV, MOST)
    with pytest.raises((LikelyError, HTTPRefusal)):
        bench.take_table("bad.csv", b"a,a\n1,2\n", MOST)
    assert [path.read_bytes() for path in dropped(bench)] == [CSV]
    assert bench.train(Job("1"), "kind", "naive", {})["model"] == "BayesClassifier"
    assert bench.material.name == "good.likely"


def test_a_file_stays_while_it_is_learned_and_goes_when_another_is_there(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An Arrow file is mapped into memory: writing over it would end the process that reads it."""
    sink = pa.BufferOutputStream()
    table = pa.table({"a": [1, 2, 3, 4] * 10, "y": ["p", "q"] * 20})
    with pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table)
    bench.take_table("first.arrow", sink.getvalue().to_pybytes(), MOST)
    (first,) = dropped(bench)
    read = workbench.read_rows

    def meanwhile(path: Path) -> pa.Table:
        bench.take_table("second.arrow", sink.getvalue().to_pybytes(), MOST)
        assert len(dropped(bench)) == 2
        return read(path)

    monkeypatch.setattr(workbench, "read_rows", meanwhile)
    bench.train(Job("1"), "y", "naive", {})
    assert bench.material.name == "first.likely"
    gc.collect()
    assert len(dropped(bench)) == 1
    assert not first.exists()


def test_without_a_table_nothing_is_learned(bench: Workbench) -> None:
    with pytest.raises(HTTPRefusal, match="Drop a table first"):
        bench.train(Job("1"), "y", "naive", {})
