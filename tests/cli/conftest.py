"""Commands run inside of the test process, which is quick; tests/cli/test_processes.py starts real ones."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from likely.cli.run import run

MAILS = """sender,links,hour,kind
friend,0,18.5,read
shop,4,9,read
shop,6,,skip
friend,1,20.1,read
stranger,9,6.2,skip
stranger,3,16.4,skip
bank,2,11,read
shop,7,5,skip
"""
NEW = "sender,links,hour\nbank,8,5\nfriend,,19\n"


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Likely = Callable[..., Said]


@pytest.fixture
def likely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Likely:
    """Runs a command in a folder of its own, where mails.csv and new.csv lie; `given` is standard input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mails.csv").write_text(MAILS)
    (tmp_path / "new.csv").write_text(NEW)

    def command(*arguments: object, given: bytes | None = None) -> Said:
        if given is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        capsysbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        sys.stdout.flush()
        out, err = capsysbinary.readouterr()
        return Said(code, out.decode(), err.decode())

    return command


@pytest.fixture
def model(likely: Likely) -> str:
    """A model of the mails that counts."""
    assert likely("train", "mails.csv", "--target", "kind", "--model", "naive").code == 0
    return "mails.likely"
