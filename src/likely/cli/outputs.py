"""Which arguments and options of a command name files, and what is refused before the command begins."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from glob import has_magic
from typing import Any, get_args

from likely.errors import LikelyError
from likely.io.outputs import Output, refuse

STANDARD = "-"


@dataclass(frozen=True)
class Reads:
    """Marks what names files to be read; with `after`, only what follows that in a value."""

    after: str = ""


@dataclass(frozen=True)
class Writes:
    """Marks what names a file to be written.

    Its `kind` is one of `likely.io.outputs`, or shows in the suffix, or in the option named by `format`. `usual` gives
    the file that is written if none is named, and `onto` names the input that may be written over.
    """

    kind: str | None = None
    format: str | None = None
    usual: Callable[[Mapping[str, Any]], str | None] | None = None
    onto: str | None = None
    words: tuple[str, ...] = ()


def refuse_losses(annotations: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuse a command that would write over what it reads, write a file twice, or replace one of another kind."""
    marked = [(name, mark) for name, kind in annotations.items() for mark in get_args(kind)[1:]]
    writing = {name: mark for name, mark in marked if isinstance(mark, Writes)}
    reading = {name: mark for name, mark in marked if isinstance(mark, Reads)}
    outputs = {name: output for name, mark in writing.items() if (output := _output(given[name], mark, given))}
    if not outputs:
        return
    inputs = {name: list(_inputs(given[name], mark)) for name, mark in reading.items()}
    for name, output in outputs.items():
        spared = writing[name].onto
        refuse([output], [path for other, paths in inputs.items() if other != spared for path in paths])
    refuse(list(outputs.values()))


def _output(value: str | None, mark: Writes, given: Mapping[str, Any]) -> Output | None:
    path = value if value is not None or mark.usual is None else mark.usual(given)
    if path is None or path == STANDARD or path in mark.words:
        return None
    named = given[mark.format] if mark.format is not None else None
    return Output(path, mark.kind if named is None else Output(f"?.{named}").expected)


def _inputs(value: Any, mark: Reads) -> Iterator[str]:
    entries: Iterable[str] = [] if value is None else [value] if isinstance(value, str) else value
    for entry in entries:
        if entry.startswith(mark.after):
            yield from _files(entry.removeprefix(mark.after))


def _files(entry: str) -> Iterable[str]:
    """The files that an input means; what is wrong with it the command will say."""
    if entry == STANDARD:
        return ["/dev/stdin"]
    if not os.path.isdir(entry) and (os.path.exists(entry) or not has_magic(entry)):
        return [entry]
    from likely.io.sources import find_sources

    with suppress(LikelyError):
        return [os.fspath(source.path) for source in find_sources(entry)[0]]
    return []
