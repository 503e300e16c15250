"""Rows of many requests predicted at once, without making anybody wait for company.

Requests that arrive while the event loop is busy are judged together as soon as it has read them all; a quick model
does so in the loop itself, since handing a few rows to a thread takes longer than judging them. While a slow model, or
a large batch, is at work in a thread, the next batch gathers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np

from likely.errors import LikelyError
from likely.serve.catalogue import Judged, Snapshot
from likely.serve.metrics import Metrics
from likely.serve.refusals import failed
from likely.serve.rows import Columns

AT_ONCE = 4_096
"""Rows of a batch."""
IN_THE_LOOP = 512
"""Rows that a quick model judges without a thread."""


class _WaitingRows(NamedTuple):
    columns: Columns
    judged: asyncio.Future[Judged]


class Batcher:
    """Gathers rows by snapshot, so that no batch mixes two contents of a model."""

    def __init__(self, threads: Executor, metrics: Metrics) -> None:
        self._threads, self._metrics = threads, metrics
        self._waiting: dict[Snapshot, list[_WaitingRows]] = {}
        self._working: set[Snapshot] = set()

    async def judge(self, model: Snapshot, columns: Columns) -> Judged:
        """What a model says about the rows of one request."""
        loop = asyncio.get_running_loop()
        if not columns.plain or columns.n_rows > IN_THE_LOOP:
            self._metrics.batch(1, columns.n_rows)
            return await loop.run_in_executor(self._threads, model.judge_columns, [columns])
        judged: asyncio.Future[Judged] = loop.create_future()
        waiting = self._waiting.get(model)
        if waiting is None:
            waiting = self._waiting[model] = []
            if model not in self._working:
                loop.call_soon(self._start, model)
        waiting.append(_WaitingRows(columns, judged))
        return await judged

    def _start(self, model: Snapshot) -> None:
        batch, n_rows = self._next(model)
        if not batch:
            return
        self._metrics.batch(len(batch), n_rows)
        if model.quick and n_rows <= IN_THE_LOOP:
            _deliver(batch, judged_together(model, [entry.columns for entry in batch]))
            if model in self._waiting:
                asyncio.get_running_loop().call_soon(self._start, model)
            return
        self._working.add(model)
        loop = asyncio.get_running_loop()
        done = loop.run_in_executor(self._threads, judged_together, model, [entry.columns for entry in batch])
        done.add_done_callback(lambda result: self._finish(model, batch, result))

    def _finish(
        self, model: Snapshot, batch: Sequence[_WaitingRows], result: asyncio.Future[list[Judged | Exception]]
    ) -> None:
        self._working.discard(model)
        wrong = result.exception() is not None
        _deliver(batch, [failed()] * len(batch) if wrong else result.result())
        self._start(model)

    def _next(self, model: Snapshot) -> tuple[list[_WaitingRows], int]:
        waiting = self._waiting.pop(model, [])
        n_rows = 0
        for place, entry in enumerate(waiting):
            n_rows += entry.columns.n_rows
            if n_rows >= AT_ONCE and place + 1 < len(waiting):
                self._waiting[model] = waiting[place + 1 :]
                return waiting[: place + 1], n_rows
        return waiting, n_rows


def judged_together(model: Snapshot, parts: Sequence[Columns]) -> list[Judged | Exception]:
    """What is said of each part; if something is wrong with one of them, each is asked about by itself."""
    try:
        judged = model.judge_columns(parts)
    except LikelyError as error:
        return [error] if len(parts) == 1 else [judged_together(model, [part])[0] for part in parts]
    except Exception as error:  # noqa: BLE001 - whoever asked is told, each by himself
        return [error] * len(parts)
    if len(parts) == 1:
        return [judged]
    ends = np.cumsum([part.n_rows for part in parts])[:-1]
    shares = zip(np.split(judged.posterior, ends), np.split(judged.chosen, ends), strict=True)
    return [Judged(posterior, chosen) for posterior, chosen in shares]


def _deliver(batch: Sequence[_WaitingRows], results: Sequence[Judged | Exception]) -> None:
    for entry, result in zip(batch, results, strict=True):
        if entry.judged.done():  # whoever asked is gone
            continue
        if isinstance(result, Exception):
            entry.judged.set_exception(result)
        else:
            entry.judged.set_result(result)
