"""The notebooks run from top to bottom, without Jupyter: cell by cell, and what a cell ends with is shown."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((REPO / "docs" / "notebooks").glob("*.ipynb"))


def run(notebook: Path) -> list[object]:
    """Run the code cells in one namespace; the values that a notebook would show."""
    names: dict[str, object] = {}
    shown = []
    for number, cell in enumerate(json.loads(notebook.read_text())["cells"]):
        if cell["cell_type"] == "code":
            code = ast.parse("".join(cell["source"]))
            last = code.body[-1]
            if isinstance(last, ast.Expr):
                code.body[-1] = ast.copy_location(ast.Assign([ast.Name("_", ast.Store())], last.value), last)
            names["_"] = None
            exec(compile(ast.fix_missing_locations(code), f"{notebook.name}, cell {number}", "exec"), names)
            if names["_"] is not None:
                shown.append(names["_"])
    return shown


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = run(notebook)
    assert len(shown) >= 4
    for value in shown:
        html = getattr(value, "_repr_html_", None)
        assert (html() if html else repr(value)).strip()


def test_there_are_three_of_them_without_outputs() -> None:
    assert len(NOTEBOOKS) >= 3
    for notebook in NOTEBOOKS:
        for cell in json.loads(notebook.read_text())["cells"]:
            assert cell.get("outputs", []) == [] and cell.get("execution_count") is None, notebook.name


def test_a_failing_cell_is_found(tmp_path: Path) -> None:
    notebook = tmp_path / "bad.ipynb"
    notebook.write_text(json.dumps({"cells": [{"cell_type": "code", "source": ["a = 1\n", "a / 0"]}]}))
    with pytest.raises(ZeroDivisionError):
        run(notebook)
