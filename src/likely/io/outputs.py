"""What may be written over: no file that is read, none that another output names, and none of another kind."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from likely.errors import FileError
from likely.io.atomic import is_stream, refuse_place

PathName = str | os.PathLike[str]

MODEL_MARK = b"likely\r\n"
PLACES_MARK = b'{"files": '
LEFT_OUT_COLUMNS = ("file", "line", "reason", "text")
PLACES_SUFFIX = ".place"

MODEL, CHECKPOINT, LEFT_OUT, PAGE = "a model", "a checkpoint", "lines that were left out", "a page"
PNG, SVG, PARQUET, ARROW = "a picture (PNG)", "a picture (SVG)", "a Parquet table", "an Arrow table"
JSON, SQL, GRAPH = "JSON", "an SQL query", "a graph (dot)"
GZIP, ZSTD, TEXT, OTHER = "something packed (gzip)", "something packed (zstd)", "text", "something else"

FORMATS = {
    **dict.fromkeys((".html", ".htm"), PAGE), ".png": PNG, ".svg": SVG,
    **dict.fromkeys((".parquet", ".pq"), PARQUET), **dict.fromkeys((".arrow", ".ipc", ".feather"), ARROW),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), JSON), ".sql": SQL, ".dot": GRAPH,
    ".gz": GZIP, **dict.fromkeys((".zst", ".zstd"), ZSTD),
}  # fmt: skip
"""What a suffix promises; any other is that of a text, such as a delimited table."""

LOOKED = 4096
_BINARY = (
    (MODEL_MARK, MODEL), (b"\x89PNG", PNG), (b"PAR1", PARQUET), (b"ARROW1", ARROW), (b"\xff\xff\xff\xff", ARROW),
    (b"\x1f\x8b", GZIP), (b"\x28\xb5\x2f\xfd", ZSTD),
)  # fmt: skip
_WRITTEN = (
    (re.compile(rb"<!doctype html|<html", re.IGNORECASE), PAGE), (re.compile(rb"<\?xml|<svg", re.IGNORECASE), SVG),
    (re.compile(rb"[{\[]"), JSON), (re.compile(rb"(SELECT|WITH)\s"), SQL), (re.compile(rb"digraph\b"), GRAPH),
    (re.compile(",".join(LEFT_OUT_COLUMNS).encode() + rb"\r?\n"), LEFT_OUT),
)  # fmt: skip


class Output(NamedTuple):
    """A file to be written, and its kind; without one, the suffix says it."""

    path: PathName
    kind: str | None = None

    @property
    def expected(self) -> str:
        """What may lie there already."""
        return self.kind or FORMATS.get(Path(self.path).suffix.lower(), TEXT)

    @property
    def paths(self) -> tuple[PathName, ...]:
        """All files that are written: a checkpoint has its places beside it."""
        return (self.path, f"{os.fspath(self.path)}{PLACES_SUFFIX}") if self.kind == CHECKPOINT else (self.path,)


def refuse(outputs: Sequence[Output], inputs: Iterable[PathName] = ()) -> None:
    """Refuse outputs by which something would be lost, or that cannot be written, before any work is done."""
    read = list(inputs)
    for output in outputs:
        for path in output.paths:
            refuse_place(path)
            if any(_is_same(path, other) for other in read):
                raise FileError(
                    f"{os.fspath(path)!r} is read, and would be written over by {_purpose(output)}; name another file."
                )
    for one, other in combinations(outputs, 2):
        if any(_is_same(a, b) for a in one.paths for b in other.paths):
            raise FileError(
                f"{os.fspath(one.path)!r} cannot be {_purpose(one)} and {_purpose(other)} at once; name two files."
            )
    for output in outputs:
        _refuse_kind(output)


def kind_of(path: PathName) -> str | None:
    """What a file seems to hold, by its first bytes; None if there is no such file, or nothing in it."""
    try:
        with open(path, "rb") as file:
            start = file.read(LOOKED)
    except FileNotFoundError:
        return None
    if not start:
        return None
    for mark, kind in _BINARY:
        if start.startswith(mark):
            return kind
    wide = start.startswith((b"\xff\xfe", b"\xfe\xff"))
    if b"\0" in start and not wide:
        return OTHER
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return next((kind for pattern, kind in _WRITTEN if pattern.match(text)), TEXT)


def _refuse_kind(output: Output) -> None:
    path, expected = output.path, output.expected
    if is_stream(path):
        if expected == CHECKPOINT:
            raise FileError(f"{os.fspath(path)!r} is no file that a checkpoint could be kept in; name another.")
        return
    found = kind_of(path)
    if expected == CHECKPOINT:
        places = f"{os.fspath(path)}{PLACES_SUFFIX}"
        if not _is_ours(places):
            raise FileError(f"{places!r} is there already, and is no part of a checkpoint; name another file.")
        found = CHECKPOINT if found == MODEL and os.path.exists(places) else found
    if found in (None, expected) or (found == LEFT_OUT and expected == TEXT):
        return
    raise FileError(
        f"{os.fspath(path)!r} is there already and holds {found}, so it is not replaced by {_purpose(output)}; "
        "name another file, or remove it."
    )


def _is_ours(places: PathName) -> bool:
    """Whether the places of a checkpoint may be written here."""
    if is_stream(places):  # to look into a pipe would be to wait for ever
        return False
    try:
        with open(places, "rb") as file:
            start = file.read(len(PLACES_MARK))
    except FileNotFoundError:
        return True
    return start in (b"", PLACES_MARK)


def _purpose(output: Output) -> str:
    return "a table in text" if output.expected == TEXT else output.expected


def _is_same(one: PathName, other: PathName) -> bool:
    """Whether two paths lead to one file, by whatever links; devices and pipes lose nothing."""
    try:
        regular = stat.S_ISREG(os.stat(one).st_mode)
        return os.path.samefile(one, other) and regular
    except OSError:
        return os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other))
