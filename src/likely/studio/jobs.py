"""Longer work for the page: one thing at a time, beside the answers, with its progress."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from secrets import token_urlsafe
from typing import Literal

from likely.errors import DataError, FileError, LikelyError, SchemaError, SettingsError
from likely.serve.refusals import HTTPRefusal, refusal_of, worded

LOG = logging.getLogger("likely.serve")
MOST_KEPT = 20
MOST_WAITING = 4
CODES: tuple[tuple[type[LikelyError], str], ...] = (
    (FileError, "file"), (SchemaError, "schema"), (SettingsError, "settings"), (DataError, "data"),
)  # fmt: skip


def coded(error: LikelyError) -> HTTPRefusal:
    """What the library refuses, as a kind and facts, so that the page says it in the reader's language."""
    refusal, about, place = refusal_of(error), error.about, error.place
    if about is None:
        return replace(refusal, code=next((code for kind, code in CODES if isinstance(error, kind)), "failed"))
    facts = [list(fact) if isinstance(fact, tuple) else fact for fact in about.facts]
    where = {} if place is None else {"row" if place.unit == "row" else "line": place.line}
    return replace(refusal, status=422, sentence=worded(error.message), code=about.kind, facts=facts, place=where)


class Stopped(Exception):
    """Somebody has stopped the work."""


@dataclass(eq=False)
class Job:
    """Work, how far it has come, and what came out."""

    name: str = field(default_factory=lambda: token_urlsafe(12))
    state: Literal["waiting", "running", "done", "failed", "stopped"] = "waiting"
    share: float | None = None
    step: str = ""
    done: int | None = None
    total: int | None = None
    result: Mapping[str, object] | None = None
    refusal: HTTPRefusal | None = None
    is_unwanted: threading.Event = field(default_factory=threading.Event)

    def tell(self, step: str, share: float | None = None, done: int | None = None, total: int | None = None) -> None:
        """Say what is being done, how much of that is done, and which share of all work is behind.

        Work that is not wanted any more ends here.
        """
        if self.is_unwanted.is_set():
            raise Stopped
        self.step, self.done, self.total = step, done, total
        if share is not None:
            self.share = share if self.share is None else max(share, self.share)

    def told(self) -> dict[str, object]:
        """For the page."""
        known: dict[str, object] = {
            "state": self.state, "share": self.share, "step": self.step, "done": self.done, "total": self.total
        }  # fmt: skip
        if self.state == "done":
            return {**known, "result": self.result}
        return known if self.refusal is None else {**known, **self.refusal.told()}


Task = Callable[[Job], Mapping[str, object]]


class Jobs:
    """All work of one studio; a thread does it in turn."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "likely-studio")
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, task: Task) -> Job:
        """Begin work, or let it wait for its turn."""
        job = Job()
        with self._lock:
            if sum(each.state in ("waiting", "running") for each in self._jobs.values()) >= MOST_WAITING:
                raise HTTPRefusal(503, "The studio is busy; wait until what was begun is done.", code="busy")
            while len(self._jobs) >= MOST_KEPT:
                del self._jobs[next(iter(self._jobs))]
            self._jobs[job.name] = job
        self._thread.submit(self._run, job, task)
        return job

    def find(self, name: str) -> Job:
        """The work of a name."""
        job = self._jobs.get(name)
        if job is None:
            raise HTTPRefusal(404, "There is no such work.", code="no job")
        return job

    def stop(self, name: str) -> Job:
        """End work as soon as it says how far it has come."""
        job = self.find(name)
        job.is_unwanted.set()
        return job

    def close(self) -> None:
        """Begin nothing more, and end what is going on."""
        for job in list(self._jobs.values()):
            job.is_unwanted.set()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _run(self, job: Job, task: Task) -> None:
        if job.is_unwanted.is_set():
            job.state = "stopped"
            return
        job.state = "running"
        try:
            job.result = task(job)
            job.state = "done"
        except Stopped:
            job.state = "stopped"
        except LikelyError as error:
            job.refusal, job.state = coded(error), "failed"
        except HTTPRefusal as refusal:
            job.refusal, job.state = refusal, "failed"
        except Exception as error:  # noqa: BLE001 - the studio goes on; the page is told in one sentence
            LOG.error("the studio failed: %s", type(error).__name__)
            sentence = "The work failed; the log of the service says why."
            job.refusal, job.state = HTTPRefusal(500, sentence, code="failed"), "failed"
