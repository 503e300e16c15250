"""Longer work for the page: one thing at a time, beside the answers, with its progress."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import Any, Literal

from likely.errors import LikelyError
from likely.serve.refusals import Refusal, refusal_of

LOG = logging.getLogger("likely.serve")
MOST_KEPT = 20
MOST_WAITING = 4


@dataclass(eq=False)
class Job:
    """Work, how far it has come, and what came out."""

    name: str = field(default_factory=lambda: token_urlsafe(12))
    state: Literal["waiting", "running", "done", "failed"] = "waiting"
    share: float | None = None
    step: str = ""
    result: Any = None
    error: str = ""

    def tell(self, step: str, share: float | None = None) -> None:
        """Say what is being done, and which share of all of it is behind."""
        self.step, self.share = step, share

    def told(self) -> dict[str, Any]:
        """For the page."""
        known = {"state": self.state, "share": self.share, "step": self.step}
        if self.state == "done":
            return {**known, "result": self.result}
        return {**known, "error": self.error} if self.state == "failed" else known


class Jobs:
    """All work of one studio; a thread does it in turn."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "likely-studio")
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, task: Callable[[Job], Any]) -> Job:
        """Begin work, or let it wait for its turn."""
        job = Job()
        with self._lock:
            if sum(each.state in ("waiting", "running") for each in self._jobs.values()) >= MOST_WAITING:
                raise Refusal(503, "The studio is busy; wait until what was begun is done.")
            while len(self._jobs) >= MOST_KEPT:
                del self._jobs[next(iter(self._jobs))]
            self._jobs[job.name] = job
        self._thread.submit(self._run, job, task)
        return job

    def find(self, name: str) -> Job:
        """The work of a name."""
        job = self._jobs.get(name)
        if job is None:
            raise Refusal(404, "There is no such work.")
        return job

    def close(self) -> None:
        """Begin nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _run(self, job: Job, task: Callable[[Job], Any]) -> None:
        job.state = "running"
        try:
            job.result = task(job)
            job.state = "done"
        except LikelyError as error:
            job.error, job.state = refusal_of(error).sentence, "failed"
        except Refusal as refusal:
            job.error, job.state = refusal.sentence, "failed"
        except Exception as error:  # noqa: BLE001 - the studio goes on; the page is told in one sentence
            LOG.error("the studio failed: %s", type(error).__name__)
            job.error, job.state = "The work failed; the log of the service says why.", "failed"
