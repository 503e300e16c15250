"""What the shell is offered: commands, options, and columns of the table that was named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from likely import train
from likely.cli.options import complete_compared
from likely.comparison.candidates import by_name
from tests.cli.conftest import MAILS


def offered(words: str, folder: Path) -> list[str]:
    """What bash would show after these words."""
    environment = {
        **os.environ,
        "_LIKELY_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    program = "from likely.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout.split()


def test_commands_options_and_columns(tmp_path: Path) -> None:
    (tmp_path / "mails.csv").write_text(MAILS)
    assert offered("likely pre", tmp_path) == ["predict"]
    assert offered("likely ref", tmp_path) == ["refresh"]
    assert "--target" in offered("likely train mails.csv --tar", tmp_path)
    assert offered("likely train mails.csv --target k", tmp_path) == ["kind"]
    assert offered("likely train nothing.csv --target k", tmp_path) == []


def test_models_formats_and_classes(tmp_path: Path) -> None:
    train({"sky": ["grey", "blue"] * 5, "day": ["wet", "dry"] * 5}, "day", model="naive").save(tmp_path / "d.likely")
    assert offered("likely train mails.csv --model na", tmp_path) == ["naive"]
    assert offered("likely compare mails.csv --with naive,tr", tmp_path) == ["naive,tree"]
    assert offered("likely export d.likely --to on", tmp_path) == ["onnx"]
    assert offered("likely explain d.likely --contrast w", tmp_path) == ["wet"]
    assert offered("likely explain d.likely --contrast wet,d", tmp_path) == ["wet,dry"]


def test_model_files_and_listed_values(tmp_path: Path) -> None:
    train({"sky": ["grey", "blue"] * 5, "day": ["wet", "dry"] * 5}, "day", model="naive").save(tmp_path / "d.likely")
    (tmp_path / "days.csv").write_text("sky,day\n")
    assert offered("likely show d", tmp_path) == ["d.likely"]
    assert offered("likely predict d", tmp_path) == ["d.likely"]
    assert offered("likely train days.csv --onto d", tmp_path) == ["d.likely"]
    assert offered("likely train days.csv --format p", tmp_path) == ["parquet"]
    assert offered("likely train days.csv --missing v", tmp_path) == ["value"]
    assert offered("likely compare days.csv --by l", tmp_path) == ["log_loss"]
    assert offered("likely mail d.likely --learn w", tmp_path) == ["wet"]


def test_everything_that_can_be_compared_is_offered() -> None:
    named = {entry.name for entry in by_name().values() if entry.reads_tables and entry.name != "majority"}
    assert {*complete_compared("")} == named
    assert complete_compared("tree,log") == ["tree,logistic"]
