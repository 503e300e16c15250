"""The service without HTTP: models that answer, one writer for each that learns, and files that are watched."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

from likely.errors import LikelyError, SettingsError
from likely.serve.batcher import Batcher
from likely.serve.catalogue import Catalogue, ModelSource, Snapshot, Stamp, refuse_missing, stamp_of
from likely.serve.changes import Change
from likely.serve.journal import journal_of
from likely.serve.live_model import LiveModel, Outcome, with_journal
from likely.serve.metrics import Metrics
from likely.serve.options import ServiceOptions
from likely.serve.refusals import HTTPRefusal, busy

LOG = logging.getLogger("likely.serve")
GROUP_ROWS = 50_000
"""Rows of changes that are committed by one flush of the disk."""

Result = TypeVar("Result")
Stamps = tuple[Stamp | None, Stamp | None]
"""Those of a model file and of its journal; None for a file that is not there."""


class _WaitingChange(NamedTuple):
    change: Change
    done: asyncio.Future[Outcome]


@dataclass(eq=False)
class ModelWriter:
    """A model that learns, the thread that writes it, and the changes that wait for it."""

    live: LiveModel
    waiting: list[_WaitingChange] = field(default_factory=list)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "likely-writer"))
    closing: bool = False


class Service:
    """All that answers share; its methods are called in the event loop."""

    def __init__(self, sources: Sequence[ModelSource], options: ServiceOptions) -> None:
        self.options, self.metrics = options, Metrics()
        self.threads = ThreadPoolExecutor(4, "likely-rows")
        self.batcher = Batcher(self.threads, self.metrics)
        self.draining = False
        self._writers: dict[tuple[str, str], ModelWriter] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._stamps: dict[ModelSource, Stamps] = {}
        self._sources = list(sources)
        lives: list[LiveModel] = []
        try:
            models = [self._opened(source, lives) for source in sources]
            self.catalogue = Catalogue(models)
            if not models and not options.may_be_empty:
                raise SettingsError("Name at least one model to serve.")
        except BaseException:
            for live in lives:
                live.journal.close()
            raise
        if options.learn and not lives:
            raise SettingsError("No model here can learn on; serve without --learn, or train naive Bayes or evidence.")
        self._writers = {(live.source.name, live.source.version): ModelWriter(live) for live in lives}

    def _opened(self, source: ModelSource, lives: list[LiveModel]) -> Snapshot:
        refuse_missing(source.path)
        if self.options.learn:
            limits = self.options.limits
            try:
                live = LiveModel(source, compact_rows=self.options.compact_rows, most_classes=limits.classes)
            except SettingsError as error:
                LOG.warning("model %s does not learn: %s", source.name, error)
            else:
                lives.append(live)
                self.metrics.journal_bytes[source.name] = live.journal.size
                return live.snapshot
        self._stamps[source] = _stamps(source.path)
        return with_journal(source)

    async def start(self) -> None:
        """Begin to write and to watch."""
        self._tasks = [asyncio.create_task(self._write(writer)) for writer in self._writers.values()]
        if self.options.watch_seconds > 0.0:
            self._tasks.append(asyncio.create_task(self._watch()))

    async def stop(self) -> None:
        """Finish what was accepted, fold journals into their models, and let go of everything."""
        loop = asyncio.get_running_loop()
        for writer in self._writers.values():
            writer.closing = True
            writer.wake.set()
        writing = self._tasks[: len(self._writers)]
        await asyncio.gather(*writing)
        for task in self._tasks[len(self._writers) :]:
            task.cancel()
        for writer in self._writers.values():
            await loop.run_in_executor(writer.thread, writer.live.close)
            writer.thread.shutdown()
        self.threads.shutdown(wait=False, cancel_futures=True)

    async def in_thread(self, task: Callable[..., Result], *given: object) -> Result:
        """Longer work, beside the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, task, *given)

    # Learning.

    @property
    def learning(self) -> Collection[tuple[str, str]]:
        """Names and versions of the models that learn."""
        return self._writers.keys()

    def writer_of(self, model: Snapshot) -> ModelWriter:
        """Who writes a model."""
        writer = self._writers.get((model.name, model.version))
        if writer is None:
            why = "this model cannot" if self.options.learn else "the service was started without --learn"
            raise HTTPRefusal(403, f"Nothing is learned here: {why}.")
        return writer

    async def change(self, model: Snapshot, change: Change) -> Outcome:
        """Learn or forget rows; they are on the disk when this returns."""
        writer = self.writer_of(model)
        if writer.closing or len(writer.waiting) >= self.options.limits.learners:
            raise busy()
        done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        writer.waiting.append(_WaitingChange(change, done))
        writer.wake.set()
        return await done

    async def _write(self, writer: ModelWriter) -> None:
        loop, live = asyncio.get_running_loop(), writer.live
        while True:
            await writer.wake.wait()
            writer.wake.clear()
            while writer.waiting:
                group = _group(writer.waiting)
                changes = [entry.change for entry in group]
                try:
                    outcomes = await loop.run_in_executor(writer.thread, live.commit, changes)
                except Exception as error:  # noqa: BLE001 - the writer goes on; whoever asked is told
                    LOG.error("model %s: a change failed (%s)", live.source.name, type(error).__name__)
                    outcomes = [HTTPRefusal(500, "The service failed to learn; its log says why.")] * len(group)
                self.catalogue.publish(live.snapshot)
                self._deliver(live, group, outcomes)
                if live.wants_compaction:
                    await self._compact(writer)
            if writer.closing:
                return

    def _deliver(
        self, live: LiveModel, group: Sequence[_WaitingChange], outcomes: Sequence[Outcome | HTTPRefusal]
    ) -> None:
        for entry, outcome in zip(group, outcomes, strict=True):
            if isinstance(outcome, Outcome) and not outcome.repeated:
                self.metrics.changes[live.source.name, entry.change.kind] += outcome.rows
            if entry.done.done():
                continue
            if isinstance(outcome, HTTPRefusal):
                entry.done.set_exception(outcome)
            else:
                entry.done.set_result(outcome)
        self.metrics.journal_bytes[live.source.name] = live.journal.size

    async def _compact(self, writer: ModelWriter) -> None:
        live = writer.live
        try:
            await asyncio.get_running_loop().run_in_executor(writer.thread, live.compact)
        except (LikelyError, OSError) as error:
            LOG.error("model %s: the journal grows, since the model cannot be written: %s", live.source.name, error)
            live.postpone()
            return
        self.catalogue.publish(live.snapshot)
        self.metrics.journal_bytes[live.source.name] = live.journal.size

    # Reading files again.

    async def reload(self, *, even_unchanged: bool = False) -> None:
        """Read again what has changed; a file that cannot be read leaves the model as it was."""
        for source, known in list(self._stamps.items()):
            stamps = _stamps(source.path)
            if stamps == known and not even_unchanged:
                continue
            self._stamps[source] = stamps  # as it was before it is read: a change meanwhile is seen at the next look
            try:
                model = await self.in_thread(with_journal, source)
            except (LikelyError, OSError) as error:
                LOG.error("model %s: kept as it was, since its file cannot be read: %s", source.name, error)
                self.metrics.reloads["failed"] += 1
                continue
            self.catalogue.publish(model)
            self.metrics.reloads["done"] += 1
            LOG.warning("model %s: read again, now %s", source.name, model.revision)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self.options.watch_seconds)
            await self.reload()


def _stamps(path: Path) -> Stamps:
    return stamp_of(path), stamp_of(journal_of(path))


def _group(waiting: list[_WaitingChange]) -> list[_WaitingChange]:
    """The changes that are committed next, taken off the list."""
    rows = 0
    for place, entry in enumerate(waiting):
        rows += len(entry.change.rows)
        if rows >= GROUP_ROWS:
            group, waiting[:] = waiting[: place + 1], waiting[place + 1 :]
            return group
    group, waiting[:] = waiting[:], []
    return group
