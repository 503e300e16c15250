"""What a command says: data to standard output, everything else to standard error."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import IO, TYPE_CHECKING, Annotated, ClassVar, cast

import typer

from likely.errors import LikelyError, Message, NamedParameter, Part, PythonOnly, Setting, parts_of
from likely.io.outputs import is_stream
from likely.progress import LINE

if TYPE_CHECKING:
    import pandas as pd
    from _typeshed import ReadableBuffer

    from likely.io.file_table import FileTable
    from likely.table.infer import Note

GAP = 2
PIPE = "-"
"""Standard input or output, where a file could be named."""


ALL_OPTIONS = "likely.all"
"""Where the context of a command keeps that its help is to show all options."""


@dataclass(frozen=True)
class OptionGroup:
    """Options that several commands take, under a heading of their own in the help."""

    panel: ClassVar[str]
    rare: ClassVar[bool] = False
    """Whether the short help leaves these options out."""


@dataclass(frozen=True)
class OutputOptions(OptionGroup):
    """How a command talks."""

    panel = "Output options"

    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no messages and no progress bar.")] = False
    json: Annotated[bool, typer.Option("--json", help="Print data as JSON.")] = False

    @property
    def progress(self) -> bool | None:
        """Whether bars are shown: on a terminal, unless nothing is to be said."""
        return False if self.quiet else None

    def say(self, text: str) -> None:
        """A message for the person at the terminal."""
        if not self.quiet:
            LINE.clear()
            sys.stderr.write(f"{_folded(in_options(text))}\n")

    def show(self, text: str) -> None:
        """A table for the person at the terminal, as it is."""
        if not self.quiet:
            sys.stderr.write(f"{text}\n")

    def tell_rejected(self, table: FileTable) -> None:
        """Which lines of a table could not be read."""
        if len(table.rejected):
            self.say(str(table.rejected))

    def wrote(self, *paths: str | None) -> None:
        """The files that were written."""
        for path in paths:
            if path is not None:
                self.say(f"Wrote {path}")

    def tell_notes(self, notes: Iterable[str | Note]) -> None:
        """What was supposed about a table, or what there is to know of it; a command says each thing once."""
        for note in notes:
            if is_news(text := note if isinstance(note, str) else note.message):
                self.say(Message("note: ", text))


_SAID: set[str] = set()


def is_news(note: str) -> bool:
    """Whether the running command says this for the first time."""
    is_new = str(note) not in _SAID
    _SAID.add(str(note))
    return is_new


def forget_notes() -> None:
    """A new command begins: whatever was said may be said again."""
    _SAID.clear()


def write(text: str) -> None:
    """Data for standard output."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


class StandardOutput(io.RawIOBase):
    """Standard output for bytes. Where Python does not buffer it, a write may take only a part: the rest follows."""

    def write(self, content: ReadableBuffer) -> int:
        left = memoryview(content).cast("B")
        size = len(left)
        while len(left):
            left = left[sys.stdout.buffer.write(left) :]
        return size

    def writable(self) -> bool:
        return True


def is_pipe(out: str | None) -> bool:
    """Whether what a command makes goes to standard output."""
    return out is None or out == PIPE


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


def write_json(content: object) -> None:
    """Data as JSON; what JSON has no word for is written as text."""
    from likely.render.table import json_value

    write(json.dumps(content, ensure_ascii=False, indent=1, default=json_value))


def write_records(frame: pd.DataFrame) -> None:
    """Lines of a frame as JSON; what is missing or infinite is null."""
    from likely.render.table import records

    write_json(records(frame))


def write_page(path: str, title: str, shown: str) -> None:
    """What a notebook shows, as a page of its own."""
    from likely.io.outputs import write_text
    from likely.markup import Markup
    from likely.render.page import page

    write_text(path, page(title, Markup(shown)))


def write_table(title: str, head: Sequence[str], lines: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> None:
    """A table for people: fitted to the width of a terminal, and never cut when it goes elsewhere.

    `left` are the columns of words; all others are numbers, and stand to the right.
    """
    from likely.render.table import ColumnHead, Grid

    grid = Grid([ColumnHead(name, "left" if k in left else "right") for k, name in enumerate(head)], lines, title)
    if not sys.stdout.isatty():
        write(f"{grid.text()}\n\n")
        return
    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False)
    console.print(grid.rich())
    console.print()


def terminal_width() -> int | None:
    """How many characters fit into a line of the terminal; None if what is written goes elsewhere."""
    return get_terminal_size().columns if sys.stdout.isatty() else None


def _folded(sentence: str) -> str:
    """A sentence in lines between words, where somebody reads it on a terminal; one line elsewhere."""
    if not sys.stderr.isatty():
        return sentence
    width = get_terminal_size().columns
    return fill(sentence, width, break_long_words=False, break_on_hyphens=False) if len(sentence) > width else sentence


def columns_that_fit(head: Sequence[str], lines: Sequence[Sequence[str]]) -> int:
    """How many columns of a table the terminal has room for; all, if it is none."""
    room = terminal_width()
    if room is None:
        return len(head)
    width = 0
    for k in range(len(head)):
        width += max(len(line[k]) for line in (head, *lines)) + GAP
        if width - GAP > room:
            return max(k, 2)
    return len(head)


# Sentences of the package speak of parameters, as in Python; here they speak of options.

OPTIONS = {"schema": "kind", "types": "type", "families": "family"}
"""Options that are called otherwise than the parameters."""

SWITCHES = {
    "header": ("--no-header", "--header"), "multiline": ("", "--multiline"),
    "drop_unlabelled": ("", "--drop-unlabelled"),
}  # fmt: skip
MARKS = ("escape", "decimal", "delimiter", "quote")
"""Parameters that are single characters, which a shell needs in quotes."""


def in_options(text: str) -> str:
    """A sentence with `rejects=` as `--rejects`, `schema={'zip': 'nominal'}` as `--kind zip=nominal`."""
    return " ".join("".join(map(_in_options, parts_of(text))).split())


def _in_options(part: Part) -> str:
    match part:
        case Setting():
            return _option(part.name, part.value)
        case NamedParameter():
            return _option(part.name, None)
        case PythonOnly():
            return ""
        case _:
            return str(part)


def _option(name: str, value: object) -> str:
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


# Exit codes, and what a command refuses to do.

GOOD, NEGATIVE, REFUSED = 0, 1, 2
BROKEN = 70
INTERRUPTED, TERMINATED, PIPE_CLOSED = 128 + 2, 128 + 15, 128 + 13


@contextmanager
def told_in_words() -> Iterator[None]:
    """What a command refuses to do, in one sentence on standard error, and exit code 2."""
    try:
        yield
    except BrokenPipeError:
        raise typer.Exit(PIPE_CLOSED) from None
    except LikelyError as error:
        raise typer.Exit(refused(in_options(error.message))) from None
    except MemoryError:
        raise typer.Exit(refused("There is not enough memory for this; use fewer columns or classes.")) from None
    except UnicodeError as error:
        raise typer.Exit(refused(f"The text cannot be decoded: {error}.")) from None
    except OSError as error:
        raise typer.Exit(refused(_of_system(error))) from None


def refused(sentence: str) -> int:
    """Say on standard error what is refused; the exit code for it."""
    with suppress(BrokenPipeError):
        LINE.clear()
        sys.stderr.write(f"{_folded(f'likely: {sentence}')}\n")
    return REFUSED


def _of_system(error: OSError) -> str:
    """What the system refused, and where."""
    what = (error.strerror or str(error)).rstrip(".")
    return f"{error.filename!r}: {what}." if error.filename else f"{what}."
