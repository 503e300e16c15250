"""The shell examples of README, tutorials and the page about the command line run, each page in a folder of its own."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.cli.preloaded import preloaded

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TUTORIALS = ("first-model", "why", "costs", "updating", "large-files")
"""They go on from one another, so they share a folder."""


def run(pages: list[Path], folder: Path) -> Path:
    """Run the blocks of these pages one after the other; the folder they ran in."""
    blocks = [block for page in pages for block in BLOCK.findall(page.read_text())]
    assert len(blocks) >= len(pages)
    work = folder / "work"
    work.mkdir()
    with preloaded(folder / "bin") as environment:
        script = "set -e\n" + "\n".join(blocks)
        done = subprocess.run(["bash", "-c", script], cwd=work, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return work


def test_the_page_about_the_command_line_runs(repo: Path, tmp_path: Path) -> None:
    work = run([repo / "docs" / "command-line.md"], tmp_path)
    for made in ("mails.likely", "out.parquet", "report.html", "mails.html", "both.likely", "score.sql", "numbers.csv"):
        assert (work / made).stat().st_size > 0, made


def test_readme_runs(repo: Path, tmp_path: Path) -> None:
    work = run([repo / "README.md"], tmp_path)
    assert (work / "mails.likely").stat().st_size > 0


def test_tutorials_run(repo: Path, tmp_path: Path) -> None:
    work = run([repo / "docs" / "tutorials" / f"{name}.md" for name in TUTORIALS], tmp_path)
    assert len((work / "predicted.csv").read_text().splitlines()) == 21
