"""A bar with rate and time left, for whoever watches; nothing where nobody does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likely.files.training import Progress

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
