"""`likely demo`: from a table to decisions, by the commands that anybody would type."""

from __future__ import annotations

import csv
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from likely.errors import SettingsError

if TYPE_CHECKING:
    from rich.console import Console

TABLES, MODEL, PAGE = ("mails.csv", "new.csv"), "mails.likely", "mails.html"
DATABASE = "inbox.duckdb"
SQL_SHOWN = 300
WIDTHS = {"subject": 24, "risk": 5}
"""Characters that a column may take, so that a table fits into 80."""

COSTS = """decision,read,later,skip
show,0,1,1
archive,5,2,0
"""
"""What each decision costs for each kind of mail."""

Run = Callable[[str], None]


def demo(
    ctx: typer.Context,
    what: Annotated[
        Literal["inbox", "blackboard"],
        typer.Argument(help="inbox, or blackboard: twelve patients, with every number worked out.", metavar="EXAMPLE"),
    ] = "inbox",
    out: Annotated[
        str, typer.Option("--out", "-o", help="Folder for the files of the demo.", metavar="FOLDER")
    ] = "likely-demo",
) -> None:
    """Walk through an example: train, compare, explain, decide, write a page.

    \b
    likely demo
    likely demo blackboard

    Each step is a command as you would type it. Files go to a folder; nothing is downloaded.
    """
    if what == "blackboard":
        from likely.teaching.blackboard import main

        main()
        return
    from rich.console import Console

    console = Console(highlight=False)
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise SettingsError(f"{out} is a file; name a folder for the files of the demo.")
    folder.mkdir(parents=True, exist_ok=True)
    root = ctx.find_root().command

    def run(line: str) -> None:
        console.print(f"[bold green]$[/] [bold]{line}[/]", soft_wrap=True)
        sys.stdout.flush()
        code = root.main(args=shlex.split(line)[1:], prog_name="likely", standalone_mode=False)
        if code:
            raise typer.Exit(code)
        sys.stderr.flush()
        console.print()

    with chdir(folder):
        for heading, step in _steps(run, console):
            console.rule(f"[bold]{heading}", align="left", style="dim")
            step()
    _farewell(console, folder)


def _steps(run: Run, console: Console) -> Iterator[tuple[str, Callable[[], None]]]:
    """What is shown, one after the other."""

    def table() -> None:
        run(f"likely datasets mails -o {TABLES[0]}")
        run(f"likely datasets new-mails -o {TABLES[1]}")
        _show(console, TABLES[0], 5)

    def decide() -> None:
        Path("costs.csv").write_text(COSTS)
        console.print(
            "Archiving a mail that should be read costs 5, showing one needlessly costs 1, asking you costs 0.5."
        )
        run(f"likely predict {MODEL} {TABLES[1]} --loss costs.csv --refuse 0.5 -o decided.csv")
        _show(console, "decided.csv", 2, ("sender", "subject", "prediction", "decision", "risk"), of_each="decision")

    picture = " --plot why.svg" if find_spec("matplotlib") else ""
    yield "A table with dates, categories, numbers, text and missing values", table
    yield "Train: one command, whatever the columns hold", lambda: run(f"likely train {TABLES[0]} --target kind")
    yield (
        "How good is it, compared with other models and with guessing?",
        lambda: run(f"likely compare {TABLES[0]} --target kind --with naive,tree,evidence --cv 3"),
    )
    yield (
        "Why should the first new mail be read rather than skipped?",
        lambda: run(f"likely explain {MODEL} {TABLES[1]} --row 1 --contrast read,skip{picture}"),
    )
    yield "Decide by costs, or refuse to decide", decide
    yield "The model as a page to play with", lambda: run(f"likely show {MODEL} --data {TABLES[0]} -o {PAGE}")
    if find_spec("ibis") and find_spec("duckdb"):
        yield "The same model from a table in DuckDB, and the SQL that scores there", lambda: _in_duckdb(run, console)


def _show(
    console: Console, path: str, rows: int, columns: tuple[str, ...] | None = None, of_each: str | None = None
) -> None:
    """The first rows of a CSV file, or the first ones with each value of a column."""
    from rich import box
    from rich.table import Table

    with open(path, newline="") as file:
        lines = list(csv.DictReader(file))
    kinds = list(dict.fromkeys(line[of_each] if of_each else "" for line in lines))
    lines = [line for kind in kinds for line in islice((x for x in lines if not of_each or x[of_each] == kind), rows)]
    names = columns or tuple(lines[0])
    shown = Table(*names, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for line in lines:
        shown.add_row(*(_cropped(line[name], WIDTHS.get(name, 10)) for name in names))
    console.print(shown)
    console.print()


def _cropped(cell: str, width: int) -> str:
    return f"{cell[: width - 1]}…" if len(cell) > width and not cell[:1].isdigit() else cell[:width] or "—"


def _in_duckdb(run: Run, console: Console) -> None:
    import duckdb

    with duckdb.connect(DATABASE) as database:
        database.execute("create or replace table mails as from read_csv('mails.csv')")
    run(f"likely train {DATABASE} --table mails --target kind -o inside.likely")
    run("likely export inside.likely --to sql --table mails -o score.sql")
    query = Path("score.sql").read_text()
    console.print(query[:SQL_SHOWN], markup=False, style="dim")
    console.print(f"… {len(query):,} characters in all; P(class) of every mail, computed in the database\n")


def _farewell(console: Console, folder: Path) -> None:
    program = "python -m likely" if Path(sys.argv[0]).name == "__main__.py" else sys.argv[0]
    likely = "likely" if which("likely") else program  # made by `make`, it is not on the path
    console.rule("[bold]What next", align="left", style="dim")
    console.print(f"Open [bold]{folder / PAGE}[/] in a browser. The other files are beside it.")
    console.print(f"Your own table:  [bold]{likely} train TABLE.csv --target COLUMN[/]", soft_wrap=True)
    console.print(f"All commands:    [bold]{likely} --help[/]", soft_wrap=True)
    console.print(f"Every number:    [bold]{likely} demo blackboard[/]", soft_wrap=True)
    data = f"{folder / MODEL} --data {folder / TABLES[0]}"
    opened = f"{likely} studio {data}" if find_spec("fastapi") else (folder / PAGE).absolute().as_uri()
    console.print(f"See it, ask why: [bold]{opened}[/]", soft_wrap=True)
