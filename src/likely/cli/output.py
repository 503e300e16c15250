"""What a command says: data to standard output, everything else to standard error."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import IO, Annotated, Any, cast

import typer

from likely.errors import Message, Parameter, Part, PythonOnly, Setting, parts_of
from likely.io.outputs import is_stream

PANEL = "Manner"
GAP = 2


@dataclass(frozen=True)
class OutputOptions:
    """How a command talks."""

    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No messages and no progress bar.", rich_help_panel=PANEL)
    ] = False
    json: Annotated[bool, typer.Option("--json", help="Data as JSON, for programs.", rich_help_panel=PANEL)] = False

    @property
    def progress(self) -> bool | None:
        """Whether bars are shown: on a terminal, unless nothing is to be said."""
        return False if self.quiet else None

    def say(self, text: str) -> None:
        """A message for the person at the terminal."""
        if not self.quiet:
            sys.stderr.write(f"{in_options(text)}\n")

    def show(self, text: str) -> None:
        """A table for the person at the terminal, as it is."""
        if not self.quiet:
            sys.stderr.write(f"{text}\n")

    def tell_notes(self, notes: Sequence[str]) -> None:
        """What was supposed about a table."""
        for note in notes:
            self.say(Message("note: ", note))


def write(text: str) -> None:
    """Data for standard output."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


class StandardOutput(io.RawIOBase):
    """Standard output for bytes. Where Python does not buffer it, a write may take only a part: the rest follows."""

    def write(self, content: Any) -> int:
        left = memoryview(content).cast("B")
        size = len(left)
        while len(left):
            left = left[sys.stdout.buffer.write(left) :]
        return size

    def writable(self) -> bool:
        return True


def is_pipe(out: str | None) -> bool:
    """Whether what a command makes goes to standard output."""
    return out is None or out == "-"


def destination(out: str | None) -> str | IO[bytes]:
    """Where what a command makes goes."""
    return cast("IO[bytes]", StandardOutput()) if out is None or is_pipe(out) else out


def written_as(out: str | None, output: OutputOptions) -> str | None:
    """How a table is written where no suffix says it: to standard output, or to a device."""
    if is_pipe(out) or (out is not None and is_stream(out) and not Path(out).suffix):
        return ".jsonl" if output.json else ".csv"
    return None


def many(n: int, one: str, several: str | None = None) -> str:
    """A number with its noun."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def write_json(content: Any) -> None:
    """Data as JSON; what JSON has no word for is written as text."""
    write(json.dumps(content, ensure_ascii=False, indent=1, default=_plain))


def records(frame: Any) -> list[dict[str, Any]]:
    """Lines of a frame for JSON; what is missing or infinite is null."""
    from math import isfinite

    def cell(value: Any) -> Any:
        plain = value.item() if hasattr(value, "item") else value
        return None if plain is None or (isinstance(plain, float) and not isfinite(plain)) or plain != plain else plain

    return [{str(name): cell(value) for name, value in line.items()} for line in frame.to_dict("records")]


def write_table(title: str, head: Sequence[str], lines: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> None:
    """A table for people: fitted to the width of a terminal, and never cut when it goes elsewhere.

    `left` are the columns of words; all others are numbers, and stand to the right.
    """
    if sys.stdout.isatty():
        _write_rich(title, head, lines, left)
        return
    widths = [max(len(line[k]) for line in (head, *lines)) for k in range(len(head))]
    text = [title] if title else []
    for line in (head, *lines):
        cells = [c.ljust(w) if k in left else c.rjust(w) for k, (c, w) in enumerate(zip(line, widths, strict=True))]
        text.append("  ".join(cells).rstrip())
    write("\n".join(text) + "\n\n")


def columns_that_fit(head: Sequence[str], lines: Sequence[Sequence[str]]) -> int:
    """How many columns of a table the terminal has room for; all, if it is none."""
    if not sys.stdout.isatty():
        return len(head)
    width = 0
    for k in range(len(head)):
        width += max(len(line[k]) for line in (head, *lines)) + GAP
        if width - GAP > get_terminal_size().columns:
            return max(k, 2)
    return len(head)


def _write_rich(title: str, head: Sequence[str], lines: Sequence[Sequence[str]], left: Sequence[int]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=None, title=Text(title, style="bold") if title else None, title_justify="left", pad_edge=False,
        padding=(0, GAP, 0, 0), header_style="bold cyan",
    )  # fmt: skip
    for k, name in enumerate(head):
        # The last column of words may be long: it folds where all others would be cut.
        folds = k in left and k == len(head) - 1
        justify = "left" if k in left else "right"
        table.add_column(Text(name), justify=justify, no_wrap=not folds, overflow="fold" if folds else "ellipsis")  # type: ignore[arg-type]
    for line in lines:
        table.add_row(*(Text(cell) for cell in line))
    console = Console(file=sys.stdout, highlight=False)
    console.print(table)
    console.print()


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


# Sentences of the package speak of parameters, as in Python; here they speak of options.

OPTIONS = {"schema": "kind", "types": "type", "families": "family"}
"""Options that are called otherwise than the parameters."""

SWITCHES = {"header": ("--no-header", "--header"), "multiline": ("", "--multiline")}
MARKS = ("escape", "decimal", "delimiter", "quote")
"""Parameters that are single characters, which a shell needs in quotes."""


def in_options(text: str) -> str:
    """A sentence with `rejects=` as `--rejects`, `schema={'zip': 'nominal'}` as `--kind zip=nominal`."""
    return " ".join("".join(map(_in_options, parts_of(text))).split())


def _in_options(part: Part) -> str:
    match part:
        case Setting():
            return _option(part.name, part.value)
        case Parameter():
            return _option(part.name, None)
        case PythonOnly():
            return ""
        case _:
            return str(part)


def _option(name: str, value: Any) -> str:
    option = f"--{OPTIONS.get(name, name).replace('_', '-')}"
    if isinstance(value, bool):
        return SWITCHES[name][value]
    if value is None:
        return option
    if value is ...:
        return f"{option} a,b,c"
    if isinstance(value, Mapping):
        text = ",".join(f"{key}={entry}" for key, entry in value.items())
        return f"{option} {text}" if all(sign.isalnum() or sign in "_=.-" for sign in text) else f"{option} '{text}'"
    if name in MARKS:
        return f"{option} '{value}'" if value else f"{option} none"
    return f"{option} {value}"
