"""How long a thing takes beside another, and how much memory it asks for."""

from __future__ import annotations

import gc
import os
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Action = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """One piece of work, done by us and by a peer on the same arrays in the same process.

    `limit` says what the design asks for: at least so many times as fast (None: no figure was set). `memory` is
    False where a library's threads do not outlive a fork.
    """

    name: str
    ours: Action
    peer: Action | None
    peer_name: str = "scikit-learn"
    limit: float | None = None
    peer_repeats: int = 3
    memory: bool = True
    megabytes: float | None = None


@dataclass(frozen=True)
class Result:
    """Medians in seconds, peak memory in MiB beyond the data."""

    name: str
    peer_name: str
    ours_s: float
    peer_s: float | None
    ours_mib: float | None
    peer_mib: float | None
    limit: float | None
    megabytes: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the peer."""
        return None if self.peer_s is None else self.peer_s / self.ours_s


def measure(case: Case, repeats: int) -> Result:
    """Warm up (compile, load), then take turns so that a noisy machine is unfair to both."""
    case.ours()
    own, other = [], []
    for turn in range(repeats):
        own.append(_seconds(case.ours))
        if case.peer is not None and turn < case.peer_repeats:
            other.append(_seconds(case.peer))
    return Result(
        case.name,
        case.peer_name,
        statistics.median(own),
        statistics.median(other) if other else None,
        _peak_mib(case.ours) if case.memory else None,
        _peak_mib(case.peer) if case.peer is not None and case.memory else None,
        case.limit,
        case.megabytes,
    )


def _seconds(action: Action) -> float:
    gc.collect()
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _peak_mib(action: Action) -> float:
    """What a forked child that does nothing else adds to its peak memory."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        before = _resident_mib()
        action()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        os.write(write_end, f"{max(peak - before, 0.0)}".encode())
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return float(answer or "nan")


def _resident_mib() -> float:
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return pages * resource.getpagesize() / 2**20
