"""Tables that are dropped onto a served studio: whatever they are called, and however many there are."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from likely.errors import LikelyError
from likely.io.file_table import FileTable
from likely.models.evidence.fit import STEPS
from likely.serve.refusals import HTTPRefusal
from likely.studio import workbench
from likely.studio.jobs import Job, Stopped
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
    read = workbench.first_rows

    def meanwhile(source: FileTable) -> pa.Table:
        if len(dropped(bench)) == 2:
            return read(source)
        bench.take_table("second.arrow", sink.getvalue().to_pybytes(), MOST)
        assert len(dropped(bench)) == 2
        return read(source)

    monkeypatch.setattr(workbench, "first_rows", meanwhile)
    bench.train(Job("1"), "y", "naive", {})
    assert bench.material.name == "first.likely"
    gc.collect()
    assert len(dropped(bench)) == 1
    assert not first.exists()


class Watched(Job):
    """Work that remembers what it told, and may be stopped at a step."""

    def __init__(self, last: str = "") -> None:
        super().__init__()
        self.steps: list[str] = []
        self.last = last

    def tell(self, step: str, share: float | None = None, done: int | None = None, total: int | None = None) -> None:
        super().tell(step, share, done, total)
        if step not in self.steps:
            self.steps.append(step)
        if step == self.last:
            self.is_unwanted.set()


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        ("naive", ["reading", "learning", "judging", "fold", "drawing"]),
        ("evidence", ["reading", "fitting", *STEPS, "judging", "fold", "drawing"]),
        ("tree", ["reading", "fitting", "judging", "fold", "drawing"]),
    ],
)
def test_training_tells_what_it_does(bench: Workbench, model: str, wanted: list[str]) -> None:
    size = np.arange(400) % 7 + np.arange(400) / 400
    rows = "size,shape,kind\n" + "".join(f"{x},s{k % 3},k{int(x) % 2}\n" for k, x in enumerate(size))
    bench.take_table("good.csv", rows.encode(), MOST)
    job = Watched()
    bench.train(job, "kind", model, {})
    assert [step for step in wanted if step in job.steps] == job.steps
    assert {"reading", "judging", "fold", "drawing"} <= {*job.steps}
    assert model != "evidence" or {*STEPS} <= {*job.steps}
    assert job.share == pytest.approx(0.95)


@pytest.mark.parametrize("last", ["reading", STEPS[1], "fold"])
def test_training_that_is_stopped_leaves_the_model_as_it_was(bench: Workbench, last: str) -> None:
    rows = "size,kind\n" + "1,small\n2,large\n" * 150
    bench.take_table("good.csv", rows.encode(), MOST)
    bench.train(Job("1"), "kind", "naive", {})
    before = bench.material
    with pytest.raises(Stopped):
        bench.train(Watched(last), "kind", "evidence", {})
    assert bench.material is before


def test_lists_in_cells_are_shown_and_left_alone(bench: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": [[1, 2], None, [3]], "b": [{"x": 1}, {"x": 2}, None], "y": ["p", "q", "p"]}), path)
    told = bench.take_table(path.name, path.read_bytes(), MOST)
    assert [column["kind"] for column in told["columns"]] == ["ignored", "ignored", "nominal"]
    assert told["columns"][0]["examples"] == ["[1, 2]"]


def test_without_a_table_nothing_is_learned(bench: Workbench) -> None:
    with pytest.raises(HTTPRefusal, match="Drop a table first"):
        bench.train(Job("1"), "y", "naive", {})
