"""`likely studio` as a process: it says where it is, answers, and ends on a signal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from likely import BayesClassifier
from tests.studio.test_rules import people

PATIENCE = 120


def test_it_starts_and_ends(tmp_path: Path) -> None:
    table, y = people(60, 2)
    BayesClassifier().fit({**table, "risk": y}, "risk").save(tmp_path / "m.likely")
    command = [sys.executable, "-m", "likely", "studio", "m.likely", "--port", "0", "--no-open"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=os.environ) as child:
        assert child.stderr is not None
        said = child.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/studio", said)
        assert address is not None, said
        with urllib.request.urlopen(address.group(), timeout=PATIENCE) as answer:
            page = answer.read().decode()
        child.send_signal(signal.SIGTERM)
        child.wait(PATIENCE)
    assert "m.likely" in page and 'data-served="yes"' in page


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "likely", "studio", "none.likely"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2 and "none.likely" in done.stderr
