"""A process that learns and is killed by its own hand before the n-th step that touches the disk.

    python -m tests.serve.killed MODEL STEP

It prints a line for every change that was acknowledged. Steps are the calls of `os` through which bytes, names and
flushes get to the disk, so every state in which a crash could leave the files is met.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from likely.serve.catalogue import read_source
from likely.serve.changes import Change, read_change
from likely.serve.live_model import LiveModel, Outcome
from tests.serve.conftest import weather

TOUCHES = ("write", "fsync", "replace", "ftruncate", "unlink")
NEW = weather(12, seed=21)


def changes(live: LiveModel) -> list[list[Change]]:
    """Groups of changes: learned, two at once, a forgotten one, and more after the journal was folded."""
    schema = live.snapshot.schema

    def one(kind: Any, k: int) -> Change:
        return read_change(kind, {"rows": [NEW[k]]}, schema, f"{kind}{k}", 10, 100)

    return [
        [one("learn", 0)],
        [one("learn", 1), one("learn", 2)],
        [one("forget", 1)],
        [one("learn", 3)],
        [one("learn", 4)],
    ]


def kill_before(step: int) -> None:
    """Die as if the power had gone, before the n-th touch of the disk from now on."""
    done = [0]

    def dying(real: Any) -> Any:
        def call(*given: Any, **more: Any) -> Any:
            done[0] += 1
            if done[0] == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given, **more)

        return call

    for name in TOUCHES:
        setattr(os, name, dying(getattr(os, name)))


def main(path: Path, step: int) -> None:
    said = os.dup(1)
    tell = os.write
    kill_before(step)
    live = LiveModel(read_source(str(path)), compact_rows=3, most_classes=10)
    for group in changes(live):
        for change, outcome in zip(group, live.commit(group), strict=True):
            assert isinstance(outcome, Outcome), outcome
            tell(said, f"{change.key}\n".encode())
        if live.wants_compaction:
            live.compact()
    live.close()
    tell(said, b"end\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
