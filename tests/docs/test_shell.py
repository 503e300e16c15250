"""The shell examples of the page about the command line run, in a folder of their own."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.cli.preloaded import preloaded

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_runs(repo: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall((repo / "docs" / "command-line.md").read_text())
    assert len(blocks) >= 5
    work = tmp_path / "work"
    work.mkdir()
    with preloaded(tmp_path / "bin") as environment:
        script = "set -e\n" + "\n".join(blocks)
        done = subprocess.run(["bash", "-c", script], cwd=work, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    for made in ("mails.likely", "out.parquet", "report.html", "mails.html", "both.likely", "score.sql", "numbers.csv"):
        assert (work / made).stat().st_size > 0, made
