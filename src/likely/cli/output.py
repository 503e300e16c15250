"""What a command says: data to standard output, everything else to standard error."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import IO, TYPE_CHECKING, Annotated, Any, cast

import typer

from likely.io.atomic import is_stream

if TYPE_CHECKING:
    from likely.streaming.train import Progress

PANEL = "Manner"
GAP = 2


@dataclass(frozen=True)
class OutputOptions:
    """How a command talks."""

    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No messages and no progress bar.", rich_help_panel=PANEL)
    ] = False
    json: Annotated[bool, typer.Option("--json", help="Data as JSON, for programs.", rich_help_panel=PANEL)] = False

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
            self.say(f"note: {note}")


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


def written_as(out: str | None, manner: OutputOptions) -> str | None:
    """How a table is written where no suffix says it: to standard output, or to a device."""
    if is_pipe(out) or (out is not None and is_stream(out) and not Path(out).suffix):
        return ".jsonl" if manner.json else ".csv"
    return None


def many(n: int, one: str, several: str | None = None) -> str:
    """A number with its noun."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def write_json(content: Any) -> None:
    """Data as JSON; what JSON has no word for is written as text."""
    from likely.render.table import json_value

    write(json.dumps(content, ensure_ascii=False, indent=1, default=json_value))


def records(frame: Any) -> list[dict[str, Any]]:
    """Lines of a frame for JSON; what is missing or infinite is null."""
    from likely.render.table import records

    return records(frame)


def write_table(title: str, head: Sequence[str], lines: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> None:
    """A table for people: fitted to the width of a terminal, and never cut when it goes elsewhere.

    `left` are the columns of words; all others are numbers, and stand to the right.
    """
    from likely.render.table import Column, Grid

    grid = Grid([Column(name, "left" if k in left else "right") for k, name in enumerate(head)], lines, title)
    if not sys.stdout.isatty():
        write(f"{grid.text()}\n\n")
        return
    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False)
    console.print(grid.rich())
    console.print()


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


# A bar with rate and time left, for whoever watches; nothing where nobody does.

STEPS = 1000.0


@contextmanager
def progress_bar(what: str, *, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """What to tell about the progress, or None if standard error is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[rows]}"),
        TimeRemainingColumn(compact=True),
    )  # fmt: skip
    with Bar(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=STEPS, rows="")

        def tell(done: Progress) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f", {done.rows / elapsed:,.0f}/s" if elapsed > 0.5 else ""
            bar.update(task, completed=STEPS * done.share, rows=f"{done.rows:,} rows{rate}")

        yield tell


# Errors speak of parameters, as in Python; here they speak of options.

_PAIR = re.compile(r"\b(schema|types)=\{(['\"])(.*?)\2: '(\w+)'\}")
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\bheader=False\b"), "--no-header"),
    (re.compile(r"\bheader=True\b"), "--header"),
    (re.compile(r"\bmultiline=True\b"), "--multiline"),
    (re.compile(r"\bquote=''"), "--quote none"),
    (re.compile(r"\b(names|columns|keep)=\[…\]"), r"--\1 a,b,c"),
    (re.compile(r"\b(encoding|truth)='([\w-]+)'"), r"--\1 \2"),
    (re.compile(r"\b(escape|decimal|delimiter|quote)='(.*?)'"), r"--\1 '\2'"),
    (
        re.compile(r"\b(rejects|na|skip|encoding|delimiter|quote|decimal|columns|names|keep|target)=(?=[\s.,;:)]|$)"),
        r"--\1",
    ),
    (re.compile(r" \(--type \S+ in open_table\)"), ""),
    (re.compile(r"\bfolder=, or (?=the variable TMPDIR)"), ""),
)


def in_options(message: str) -> str:
    """The message with `rejects=` as `--rejects`, `schema={'zip': 'nominal'}` as `--kind zip=nominal`."""

    def pair(found: re.Match[str]) -> str:
        option = "--kind" if found[1] == "schema" else "--type"
        text = f"{found[3]}={found[4]}"
        return f"{option} {text}" if re.fullmatch(r"[\w=.-]+", text) else f"{option} '{text}'"

    message = _PAIR.sub(pair, message)
    for pattern, words in _RULES:
        message = pattern.sub(words, message)
    return " ".join(message.split())
