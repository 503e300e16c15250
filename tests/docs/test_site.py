"""The site builds without a warning: every page has its place in it, and every docstring of the reference is read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import likely


def test_the_site_builds(repo: Path, tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    # The dummy builder reads and resolves everything, and writes nothing.
    build = [sys.executable, "-m", "sphinx", "-b", "dummy", "-qW", "--keep-going", "-c", "docs", ".", str(tmp_path)]
    done = subprocess.run(build, cwd=repo, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_is_in_the_reference(repo: Path) -> None:
    shown = "".join(page.read_text() for page in (repo / "docs" / "reference").glob("*.md"))
    for name in likely.__all__:
        if name != "__version__":
            assert f"likely.{name}\n" in shown or f"`{name}`" in shown, name
