"""How docstrings become reStructuredText, and notebooks Markdown, for the site."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the extra docs is not installed")
sys.path.append(str(Path(__file__).resolve().parents[2] / "docs" / "site"))

from docstrings import as_rst
from notebooks import as_markdown


def test_code_is_kept_and_prose_escaped() -> None:
    assert list(as_rst(["Sets `a_b` of *rows*, see weights_."])) == ["Sets ``a_b`` of \\*rows\\*, see weights\\_."]


def test_entries_become_a_list_and_examples_stay() -> None:
    lines = ["Parameters", "----------", "cv, seed : folds", "    and more_", "", ">>> f(*a)", "1"]
    assert list(as_rst(lines)) == [
        "", ".. rubric:: Parameters", "", "", "- **cv, seed**: folds", "  and more\\_", "", "", ">>> f(*a)", "1",
    ]  # fmt: skip


def test_a_notebook_is_text_and_fences() -> None:
    cells = [{"cell_type": "markdown", "source": ["# T\n", "x"]}, {"cell_type": "code", "source": ["a = 1"]}]
    assert as_markdown(json.dumps({"cells": cells})) == "# T\nx\n\n```python\na = 1\n```\n"
