"""Warming up does every kind of work once, tells how far it is, and finds nothing to compile the second time."""

from __future__ import annotations

import io
import sys

import pytest

import likely
from likely.compilation import WATCHER, Watcher
from likely.progress import LINE, Progress
from likely.warmup import _steps


def test_every_step_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = dict.fromkeys(("one", "two"), lambda path: path.read_text())
    monkeypatch.setattr("likely.warmup._steps", lambda: steps)
    monkeypatch.setattr(WATCHER, "quiet", False)
    told: list[Progress] = []
    assert likely.warm_up(progress=told.append) == 0
    assert [step.what for step in told] == ["warming up: one,", "warming up: two,"]
    assert not WATCHER.quiet
    assert callable(likely.warm_up), "the function, not a module"


def test_all_classifiers_of_tables_are_warmed_up() -> None:
    assert {"naive", "evidence", "tree", "svm", "full", "aode", "files", "arrays", "texts"} <= {*_steps()}


def test_compiling_is_said_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    for stream, quiet, wanted in ((Terminal(), False, True), (Terminal(), True, False), (io.StringIO(), False, False)):
        monkeypatch.setattr(sys, "stderr", stream)
        watcher = Watcher()
        watcher.quiet = quiet
        watcher.begin()
        watcher.begin()  # a loop that the first one calls
        assert ("compiling, once on this machine: loop 1" in stream.getvalue()) == wanted
        watcher.end()
        watcher.end()
        LINE.clear()
        assert watcher.compiled == 1


def test_what_a_loop_calls_is_compiled_within_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class TwoSeconds:
        elapsed = 2.0

    monkeypatch.setattr("likely.compilation.Clock", TwoSeconds)
    watcher = Watcher()
    for _ in range(3):
        watcher.begin()
        watcher.begin()
        watcher.end()
        watcher.end()
    assert watcher.seconds == 6.0
