"""Running a command: what goes wrong becomes one sentence and an exit code, in one place."""

from __future__ import annotations

import io
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any, NoReturn

import typer
from typer.main import get_command

from likely.cli.output import (
    BROKEN,
    GOOD,
    INTERRUPTED,
    PIPE_CLOSED,
    TERMINATED,
    forget_notes,
    in_options,
    is_news,
    refused,
)

USAGE: type[Exception] = typer.BadParameter.__mro__[2]
"""Whatever Typer complains about: the class has another home in every second version."""


def main() -> NoReturn:
    """Run the command line of this process."""
    signal.signal(signal.SIGTERM, _terminate)
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a letter gets its number
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if not os.environ.get("LIKELY_TRACEBACK"):
        sys.excepthook = _broken
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = PIPE_CLOSED
    if code == PIPE_CLOSED:  # what is left in the buffer has nowhere to go, and nobody wants to hear of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command with these arguments; its exit code."""
    try:
        from likely.cli.app import app

        with _notes():
            result = get_command(app).main(args=list(arguments), prog_name="likely", standalone_mode=False)
    except KeyboardInterrupt:
        return _stopped()
    except SystemExit as end:  # help, version and completion end so
        return end.code if isinstance(end.code, int) else GOOD
    except (typer.Abort, EOFError):
        return refused("Cancelled.")
    except USAGE as error:
        return refused(_usage(error, arguments))
    code = result if isinstance(result, int) else GOOD
    return _stopped() if code == INTERRUPTED else code


def _stopped() -> int:
    with suppress(BrokenPipeError):
        sys.stderr.write("likely: stopped; nothing half-written is left.\n")
    return INTERRUPTED


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """End as if by Ctrl-C: unfinished files are removed on the way out."""
    sys.exit(TERMINATED)


def _broken(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A fault of ours: one sentence all the same, and an exit code that means nothing else."""
    sys.stderr.write(
        f"likely: This should not have happened ({kind.__name__}: {' '.join(str(error).split())}); please report it "
        "with what LIKELY_TRACEBACK=1 shows.\n"
    )
    sys.stderr.flush()
    os._exit(BROKEN)


def _command_of(arguments: Sequence[str]) -> str:
    """The command that is meant, as far as it is there."""
    from likely.cli.app import app

    known = arguments and arguments[0] in {command.name for command in app.registered_commands}
    return f"likely {arguments[0]}" if known else "likely"


def _usage(error: Any, arguments: Sequence[str]) -> str:
    """A complaint of Typer in our words, on one line."""
    from likely.errors import did_you_mean

    option, near, context = (vars(error).get(name) for name in ("option_name", "possibilities", "ctx"))
    command = context.command_path if context is not None else _command_of(arguments)
    said = " ".join(error.format_message().split())
    if option and said.startswith("No such option"):
        said = f"There is no option {option!r}."
        said += did_you_mean(str(option), list(near)) if near else ""
    said = said if said.endswith((".", "?")) else f"{said}."
    return said if "Did you mean" in said else f"{said} See {command} --help"


@contextmanager
def _notes() -> Iterator[None]:
    """Warnings of the library as notes, each once; those of other libraries are no matter for a user."""
    forget_notes()

    def show(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
        if category.__module__.startswith("likely"):
            first = message.args[0] if isinstance(message, Warning) and message.args else message
            said = first if isinstance(first, str) else str(message)
            if is_news(said):
                sys.stderr.write(f"note: {in_options(said)}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show
        yield
