"""Lines that were left out because the user said so: counted, the first ones kept, all written to a file."""

from __future__ import annotations

import csv
import io
import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from likely.atomic import log_file
from likely.files.faults import Fault
from likely.files.guarding import guarded
from likely.outputs import LEFT_OUT, LEFT_OUT_COLUMNS, Output

KEPT = 100


class Rejects:
    """What was left out so far. Written to `path` (CSV) as it comes; begun anew with each pass over the table."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.count = 0
        self.first: list[Fault] = []
        self._lock = threading.Lock()

    @property
    def outputs(self) -> list[Output]:
        """The file that is written, if there is one."""
        return [] if self.path is None else [Output(self.path, LEFT_OUT)]

    def restart(self) -> None:
        """Forget what an earlier pass found."""
        self.count, self.first = 0, []
        self._write(LEFT_OUT_COLUMNS, anew=True)

    def add(self, fault: Fault) -> None:
        """Leave a line out; threads may do so at the same time."""
        with self._lock:
            self.count += 1
            if len(self.first) < KEPT:
                self.first.append(fault)
            self._write((fault.file, fault.line, fault.reason, guarded(fault.text.rstrip("\r\n"))))

    def extend(self, faults: Iterable[Fault]) -> None:
        """Leave several lines out."""
        for fault in faults:
            self.add(fault)

    def _write(self, cells: Sequence[object], *, anew: bool = False) -> None:
        # Opened for each line: bad lines are rare, and whatever ends the pass, those found so far are in the file.
        if self.path is not None:
            with log_file(self.path, anew=anew) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
                csv.writer(text).writerow(cells)

    def __len__(self) -> int:
        return self.count

    def __str__(self) -> str:
        lines = [f"{fault.file}, line {fault.line}: {fault.reason}" for fault in self.first[:5]]
        more = [f"… and {self.count - 5} more"] if self.count > 5 else []
        return "\n".join([f"{self.count} line{'s' * (self.count != 1)} left out", *lines, *more])
