"""What is on the table of a served studio: a model with its data, or a table that is to become one."""

from __future__ import annotations

import re
import threading
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

import pyarrow as pa

from likely.api import compare, train
from likely.arrays import Json
from likely.errors import LikelyError, missing_columns
from likely.progress import Progress
from likely.serve.refusals import HTTPRefusal
from likely.store import Provenance
from likely.studio.columns import parts_for_page, reason
from likely.studio.document import packed_document
from likely.studio.evaluation import comparison
from likely.studio.jobs import Job, coded
from likely.studio.material import Material, first_rows, judged, learning_curve
from likely.studio.page import page
from likely.studio.payload import plain_value
from likely.studio.read_settings import ReadSettings
from likely.table.infer import KINDS
from likely.table.schema import Schema

SHOWN_COLUMNS = 2_000
EXAMPLES = 4
LONGEST_NAME = 200
LEARNED, READ, JUDGED = 0.6, 0.2, 0.95
"""Share of the work of training that is learning, share of that which is reading, and where judging ends."""

AS_IT_IS = ReadSettings()


class Workbench:
    """Holds one model, its rows, and the table that was dropped last; may be asked from several threads."""

    def __init__(self, material: Material | None = None, rows: pa.Table | None = None) -> None:
        self._folder = TemporaryDirectory(prefix="likely-studio-")
        self._lock = threading.Lock()
        self._material, self._rows, self._page = material, rows, ""
        self._table: tuple[str, Path, ReadSettings] | None = None
        self._n_dropped, self._in_use = 0, Counter[Path]()

    def close(self) -> None:
        """Remove what was dropped."""
        self._folder.cleanup()

    @property
    def material(self) -> Material:
        """The model that is shown."""
        if self._material is None:
            raise HTTPRefusal(404, "There is no model here yet: drop a table and train one.", code="no model")
        return self._material

    def html(self) -> str:
        """The page as it is now."""
        with self._lock:
            if not self._page:
                content = None if self._material is None else packed_document(self._material)
                title = "likely studio" if self._material is None else f"{self._material.name} · likely"
                self._page = page(title, content, served=True)
            return self._page

    def show(self, material: Material, rows: pa.Table | None) -> None:
        """Show another model from now on."""
        with self._lock:
            self._material, self._rows, self._page = material, rows, ""

    # A table that was dropped.

    def take_table(
        self, name: str, content: bytes, most_columns: int, reading: ReadSettings = AS_IT_IS
    ) -> dict[str, object]:
        """Keep a table, and say what its columns are taken for, and why."""
        plain = Path(name.replace("\\", "/")).name[:LONGEST_NAME] or "table.csv"
        suffix = re.sub("[^A-Za-z0-9.]", "", "".join(Path(plain).suffixes[-2:]))[:20]
        with self._lock:
            self._n_dropped += 1
            path = Path(self._folder.name, f"dropped-{self._n_dropped}{suffix}")
        with self._used(path):
            path.write_bytes(content)
            # What is to be noted stands in the notes.
            with warnings.catch_warnings(action="ignore"), _named(path, plain), reading.open(path) as source:
                rows = first_rows(source)
                if not rows.num_rows:
                    raise HTTPRefusal(422, "The table has no rows.", code="no rows")
                if len(rows.column_names) > most_columns:
                    raise HTTPRefusal(
                        413, f"The table has more than {most_columns:,} columns.", code="columns", facts=[most_columns]
                    )
                notes = [[_renamed(part, path, plain) for part in parts_for_page(note)] for note in source.notes]
                dialect, left_out = source.dialect, len(source.rejected)
            self._table = plain, path, reading
        schema = Schema.infer(rows)
        columns = [_described(rows, schema, name) for name in list(rows.column_names)[:SHOWN_COLUMNS]]
        return {
            "name": plain, "rows": rows.num_rows, "bytes": len(content), "notes": notes, "left_out": left_out,
            "format": path.suffix.removeprefix("."), "encoding": None if dialect is None else dialect.encoding,
            "delimiter": None if dialect is None else dialect.delimiter,
            "columns": columns, "more": max(len(rows.column_names) - SHOWN_COLUMNS, 0),
            "target": _likely_target(columns),
        }  # fmt: skip

    @contextmanager
    def _used(self, path: Path | None = None) -> Iterator[tuple[str, Path, ReadSettings]]:
        """A file that was dropped, the table that was taken last unless one is named; it stays while it is used.

        No file is ever written anew: it may be mapped into memory elsewhere.
        """
        with self._lock:
            used = self._table if path is None else ("", path, AS_IT_IS)
            if used is None:
                raise HTTPRefusal(422, "Drop a table first.", code="no table")
            name, path, reading = used
            self._in_use[path] += 1
        try:
            yield name, path, reading
        finally:
            with self._lock:
                self._in_use[path] -= 1
                kept = {*+self._in_use, *([] if self._table is None else [self._table[1]])}
                for dropped in {*Path(self._folder.name).glob("dropped-*")} - kept:
                    with suppress(OSError):  # where an open file cannot be removed, closing removes it
                        dropped.unlink()

    def train(
        self, job: Job, target: str, model: str, kinds: Mapping[str, str], *, drop_unlabelled: bool = False
    ) -> dict[str, object]:
        """Learn the table, judge the model on rows that were held out, and show it."""
        strange = [kind for kind in kinds.values() if kind not in KINDS]
        if strange:
            raise HTTPRefusal(422, f"{strange[0]!r} is no kind of a column.", code="kind", facts=[strange[0]])

        def learning(far: Progress) -> None:
            if far.what == "row":
                fits = far.work == "reading" and far.share >= 1.0
                job.tell("fitting" if fits else far.work, LEARNED * READ * far.share, None if fits else far.done)
            else:
                job.tell(far.work or "fitting", LEARNED * (READ + (1.0 - READ) * far.share), far.done, far.total)

        def judging(far: Progress) -> None:
            job.tell(far.what, LEARNED + (JUDGED - LEARNED) * far.share, far.done, far.total)

        with self._used() as (name, path, reading):
            job.tell("reading", 0.0)
            with warnings.catch_warnings(), _named(path, name):
                warnings.simplefilter("ignore")
                with reading.open(path) as source:
                    if target not in source.names:
                        sentence = str(missing_columns([target], source.names))
                        raise HTTPRefusal(422, sentence, code="no column", facts=[target])
                    classifier = train(
                        source, target, model=model, schema=dict(kinds) or None, progress=learning,
                        drop_unlabelled=drop_unlabelled,
                    )  # fmt: skip
                with reading.open(path) as source:
                    rows = first_rows(source)
                job.tell("judging", LEARNED)
                report = judged(classifier, rows, learned=True, progress=judging)
        job.tell("drawing", JUDGED)
        origin = Provenance((name,))
        stem = name.partition(".")[0] or "model"
        self.show(
            Material(
                classifier=classifier, name=f"{stem}.likely", origin=origin, rows=rows, report=report, data_name=name
            ),
            rows,
        )  # fmt: skip
        return {"model": type(classifier).__name__}

    # What a model is asked for.

    def saved(self) -> tuple[str, bytes]:
        """The model as a file."""
        material, path = self.material, Path(self._folder.name, "saved.likely")
        material.classifier.save(path, material.origin.sources if material.origin is not None else ())
        return material.name, path.read_bytes()

    def score(self, cells: Mapping[str, Json]) -> dict[str, object]:
        """P(class) of one row, where the page cannot reckon it itself."""
        classifier = self.material.classifier
        row = {name: [cells.get(name)] for name in classifier.schema_.features}
        return {"posterior": classifier.predict_proba(row)[0].tolist()}

    def compare(self, job: Job) -> dict[str, object]:
        """Every kind of model on the same folds."""
        rows, target = self._labelled()

        def listen(done: Progress) -> None:
            job.tell("comparing", done.share, done.done, done.total)

        job.tell("comparing", 0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = compare(rows, target, progress=listen)
        self.show(replace(self.material, comparison=found), self._rows)
        return {"comparison": comparison(found)}

    def curve(self, job: Job) -> dict[str, object]:
        """What fewer rows would have taught."""
        rows, _ = self._labelled()
        job.tell("curve", 0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = learning_curve(self.material.classifier, rows, lambda share: job.tell("curve", share))
        self.show(replace(self.material, curve=found), self._rows)
        return {"curve": found}

    def _labelled(self) -> tuple[pa.Table, str]:
        target = self.material.classifier.schema_.target
        if self._rows is None or target is None or target not in self._rows.column_names:
            raise HTTPRefusal(
                422, "There are no rows with labels here: start the studio with --data.", code="no labels"
            )
        return self._rows.filter(self._rows.column(target).is_valid()), target


@contextmanager
def _named(path: Path, name: str) -> Iterator[None]:
    """What is refused is told under the name that the user knows."""
    try:
        yield
    except LikelyError as error:
        refusal = coded(error)
        sentence = refusal.sentence.replace(str(path), name).replace(path.name, name)
        raise replace(refusal, sentence=sentence) from None


def _renamed(text: str, path: Path, name: str) -> str:
    """A text that calls the file by the name that it had when it was dropped."""
    return text.replace(str(path), name).replace(path.name, name)


class DescribedTable(TypedDict):
    """A column of a dropped table: what it is taken for, and why."""

    name: str
    kind: str
    why: list[str]
    levels: int | None
    gaps: int | None
    examples: list[Json]


def _described(rows: pa.Table, schema: Schema, name: str) -> DescribedTable:
    column = schema[name]
    cells = rows.column(name).slice(0, 200).drop_null()
    whole = pa.types.is_nested(cells.type)
    head = list(map(str, cells.slice(0, 1).to_pylist())) if whole else cells.unique().slice(0, EXAMPLES).to_pylist()
    examples = [cell[:80] if isinstance(cell, str) else plain_value(cell) for cell in head]
    return {
        "name": name, "kind": column.kind, "why": reason(column),
        "levels": None if column.levels is None else int(column.levels),
        "gaps": None if column.gaps is None else int(column.gaps), "examples": examples,
    }  # fmt: skip


def _likely_target(columns: list[DescribedTable]) -> int:
    """The last column of few categories; the last one if there is none."""
    few = [2 <= (each["levels"] or 0) <= 30 and each["kind"] == "nominal" for each in columns]
    fitting = [place for place, fits in enumerate(few) if fits]
    return fitting[-1] if fitting else len(columns) - 1
