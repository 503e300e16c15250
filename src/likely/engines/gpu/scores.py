"""Log joints and posteriors of rows on a device, added up step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from likely.arrays import AnyArray, Array
from likely.engines.gpu.device import DeviceArray, c_type
from likely.engines.gpu.table import DeviceTable, host_numbers

MOST_CLASSES = 16
"""Classes whose scores one thread keeps at once."""

FETCHED_ROWS = 1 << 20

Finish = Literal["proba", "log_proba", "choice"]
FINISH: dict[Finish, int] = {"proba": 1, "log_proba": 2, "choice": 3}


@dataclass(frozen=True, eq=False)
class DeviceLogJoint:
    """log P(class, row) of rows on a device; what comes out lies there, too, in the library of the rows."""

    table: DeviceTable
    prior: Array
    start: Array
    steps: Sequence[Step]
    dtype: np.dtype[np.floating] | None = None
    gaps: bool = True

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    def array(self) -> Any:
        """All of it, rows × classes."""
        return self._given_back(self._joint())

    def posterior(self, *, in_logs: bool = False) -> Any:
        """P(class | row), or its logarithm."""
        return self._given_back(self._finished("log_proba" if in_logs else "proba"))

    def choose(self) -> DeviceArray:
        """Position of the most probable class of every row."""
        return self._finished("choice")

    def labels(self, classes: AnyArray) -> Any:
        """The most probable class of every row: on the device for numbers, on the host for other labels."""
        chosen = self.choose()
        if classes.dtype.kind in "iufb":
            return self._given_back(self.table.device.xp.asarray(classes)[chosen])
        return np.asarray(classes[self.table.device.fetch(chosen)])

    def each_block(self, use: Callable[[slice, Array], None]) -> None:
        """Hand the log joint of every block of rows to `use`, on the host."""
        joint = self._joint()
        for first in range(0, self.n_rows, FETCHED_ROWS):
            block = slice(first, min(first + FETCHED_ROWS, self.n_rows))
            use(block, host_numbers(self.table.device, joint[block]))

    def _given_back(self, array: DeviceArray) -> Any:
        return self.table.device.give_back(array, self.table.given)

    def _joint(self) -> DeviceArray:
        scoring = Scoring(self.table, self.start, self.prior, gaps=self.gaps)
        for step in self.steps:
            step.add(scoring, None)
        return scoring.joint

    def _finished(self, finish: Finish) -> DeviceArray:
        """Add up and finish; the last step finishes in one go if all classes fit into a thread."""
        scoring = Scoring(self.table, self.start, self.prior, self.dtype, self.gaps)
        for place, step in enumerate(self.steps):
            if place == len(self.steps) - 1 and len(self.start) <= MOST_CLASSES and step.finishes:
                return step.add(scoring, finish)
            step.add(scoring, None)
        return scoring.finished(finish)


class Scoring:
    """The log joint while it is added up; it has no memory before somebody writes to it."""

    def __init__(self, table: DeviceTable, start: Array, prior: Array, dtype: Any = None, gaps: bool = True) -> None:
        xp = table.device.xp
        self.table, self.device, self.n_classes = table, table.device, len(start)
        self.start, self.prior = xp.asarray(start), xp.asarray(prior)
        self.dtype, self.gaps = np.dtype(np.float64 if dtype is None else dtype), gaps
        self._joint: DeviceArray | None = None

    @property
    def joint(self) -> DeviceArray:
        """Rows × classes; those of the prior if nothing was added yet."""
        if self._joint is None:
            xp = self.device.xp
            self._joint = xp.empty((self.table.n_rows, self.n_classes), dtype=np.float64)
            self._joint[:] = self.start
        return self._joint

    def out(self, finish: Finish) -> DeviceArray:
        """Room for what comes out."""
        xp, n_rows = self.device.xp, self.table.n_rows
        if finish == "choice":
            return xp.empty(n_rows, dtype=np.int32)
        return xp.empty((n_rows, self.n_classes), dtype=self.dtype)

    def finished(self, finish: Finish) -> DeviceArray:
        """The joint, finished by itself."""
        out = self.out(finish)
        told = (
            self.joint,
            np.int64(self.table.n_rows),
            np.int32(self.n_classes),
            self.prior,
            out,
            np.int32(FINISH[finish]),
        )
        self.device.launch("finish_scores", (c_type(out),), (self.device.n_blocks,), 0, told)
        return out

    def add(
        self, kernel: str, types: Sequence[str], rows: Callable[[slice], Sequence[object]], tables: Sequence[object],
        finish: Finish | None, *, blocks: int, threads: int = 0, shared: int = 0, tail: Sequence[object] = (),
        size: int = 0, last_types: Sequence[str] = (),
    ) -> DeviceArray:  # fmt: skip
        """Start a kernel that adds terms, for some classes and `size` rows at a time; `rows` are what it reads."""
        n_rows, n, fresh = self.table.n_rows, self.n_classes, self._joint is None
        out = None if finish is None else self.out(finish)
        if finish is None and fresh:
            self._joint = self.device.xp.empty((n_rows, n), dtype=np.float64)
        some = min(n, MOST_CLASSES)
        of_out = "double" if out is None else c_type(out)
        for begin in range(0, n_rows, size or max(n_rows, 1)):
            block = slice(begin, min(begin + size, n_rows) if size else n_rows)
            read = rows(block)
            written = [None if array is None else array[block] for array in (self._joint, out)]
            for first in range(0, n, some):
                told = (
                    *read, np.int32(n), np.int32(first), *tables, self.start, self.prior, *written,
                    np.int32(fresh), np.int32(0 if finish is None else FINISH[finish]), *tail,
                )  # fmt: skip
                names = (*types, str(some), of_out, *last_types)
                self.device.launch(kernel, names, (blocks,), shared, told, threads=threads)
        return out


@dataclass(frozen=True)
class Step:
    """What is added to a log joint at once; `finishes` if posteriors may be made in the same go."""

    add: Callable[[Scoring, Finish | None], DeviceArray]
    finishes: bool
