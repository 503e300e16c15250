"""Whatever happens while a model is saved: the old file or the new one, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from likely import BayesClassifier
from likely.store import atomic

ROUNDS = 300 if os.environ.get("LIKELY_TORTURE") == "full" else 30

KILLER = """
import os, random, signal, sys, time
import numpy as np
import likely

path, rounds = sys.argv[1], int(sys.argv[2])
dice = random.Random(0)
small = likely.BayesClassifier().fit([[0.0], [9.0]], [0, 1])
large = likely.BayesClassifier().fit(np.random.default_rng(0).normal(size=(3000, 300)), np.arange(3000) % 1000)
small.save(path)
left_behind = 0
for done in range(20 * rounds):
    if done >= rounds and left_behind:  # a busy machine may not let a child come to saving in its time
        break
    child = os.fork()
    if child == 0:
        while True:
            large.save(path)
            small.save(path)
    time.sleep(dice.random() * 0.15)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert likely.load(path).n_features_in_ in (1, 300)
    left_behind += len(os.listdir(os.path.dirname(path))) > 1
small.save(path)
print(left_behind, os.listdir(os.path.dirname(path)), likely.load(path).n_features_in_)
"""


def test_kill_in_the_middle_of_saving(tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    command = [sys.executable, "-c", KILLER, str(path), str(ROUNDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    left_behind, rest = done.stdout.split(maxsplit=1)
    assert int(left_behind) > 0  # else no kill has hit a save
    assert rest.strip() == "['m.likely'] 1"


def test_a_full_disk_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.likely"
    clf = BayesClassifier().fit([[0.0], [9.0]], [0, 1])
    clf.save(path)
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        clf.partial_fit([[1.0]], [0]).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.likely"]


FULL_DISK = """
import resource, signal, sys, numpy as np, likely
clf = likely.BayesClassifier().fit(np.random.default_rng(0).normal(size=(50, 500)), np.arange(50) % 2)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    clf.save(sys.argv[1])
except OSError as error:
    print("refused", error.errno)
"""


def test_a_write_that_really_stops_halfway(tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    BayesClassifier().fit([[0.0], [9.0]], [0, 1]).save(path)
    before = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("refused")
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.likely"]


def test_two_savers_do_not_sweep_each_other(tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    file, name = atomic._own_file(path)
    with file:
        atomic.write_whole(path, b"other")
        assert os.path.exists(name)
    atomic.write_whole(path, b"again")
    assert not os.path.exists(name)
