"""kill -9 before every step that touches the disk: what was acknowledged is there, once."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

import likely
from likely.serve.catalogue import read_source
from likely.serve.live_model import LiveModel, Outcome
from tests.serve import killed
from tests.serve.conftest import fitted, weather, without_label

BASE = weather(200)
ASKED = without_label(weather(30, seed=13))
MOST_STEPS = 80


def run_and_die(path: Path, step: int) -> list[str]:
    """What a process acknowledged before its end; forked, for importing takes longer than all the rest."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # later Pythons warn of forks where threads are
        child = os.fork()
    if child == 0:
        os.dup2(writing, 1)
        os.close(reading)
        try:
            killed.main(path, step)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        lines = said.read().split()
    os.waitpid(child, 0)
    return lines


@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked here")
def test_no_step_loses_or_doubles_a_row(trained: Path, tmp_path: Path) -> None:
    wanted = fitted([*BASE, killed.NEW[0], *killed.NEW[2:5]]).predict_proba(ASKED)
    met = 0
    for step in range(1, MOST_STEPS):
        path = tmp_path / str(step) / "weather.likely"
        path.parent.mkdir()
        path.write_bytes(trained.read_bytes())
        acknowledged = run_and_die(path, step)
        met += acknowledged[-1:] != ["end"]

        live = LiveModel(read_source(str(path)), compact_rows=10**9, most_classes=10)
        groups = killed.changes(live)
        for group in groups:
            for change, outcome in zip(group, live.commit(group), strict=True):
                assert isinstance(outcome, Outcome), (step, outcome)
                if change.key in acknowledged:
                    assert outcome.repeated, f"{change.key} was acknowledged before step {step}, and is lost"
        assert_allclose(live.snapshot.classifier.predict_proba(ASKED), wanted, rtol=1e-9, atol=1e-12)
        live.close()
        assert_allclose(likely.load(path).predict_proba(ASKED), wanted, rtol=1e-9, atol=1e-12)
        if acknowledged[-1:] == ["end"]:
            break
    assert 20 <= met < MOST_STEPS - 1, "every touch of the disk is met, and the last run meets none"
