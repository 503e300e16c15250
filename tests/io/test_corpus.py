"""Every odd or bad file gives the exact table, or is refused by one of our errors that names the trouble."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from likely.errors import LikelyError
from likely.io import FileWarning, open_table
from tests.io.corpus import CASES, Case


def test_the_corpus_is_large() -> None:
    assert len(CASES) >= 150
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_right_table_or_refusal(case: Case, tmp_path: Path) -> None:
    path = tmp_path / case.file
    path.write_bytes(case.content)
    if case.refusal is not None:
        with pytest.raises(LikelyError, match=case.refusal) as caught:
            open_table(path, **case.options).read()
        assert isinstance(caught.value, ValueError)
        if case.line is not None:
            assert re.search(rf"\bline {case.line}\b", str(caught.value)), caught.value
            assert path.name in str(caught.value)
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        table = open_table(path, **case.options)
    assert any(issubclass(warning.category, FileWarning) for warning in told) == case.warns
    found = table.read()
    assert case.table is not None
    assert found.column_names == list(case.table)
    for name, cells in case.table.items():
        assert _alike(found.column(name).to_pylist(), cells), name
    assert len(table.rejected) == case.rejected
    assert table.read().equals(found), "a second reading gives the same"


def _alike(found: list[Any], expected: list[Any]) -> bool:
    """The same cells of the same types."""
    return len(found) == len(expected) and all(
        type(a) is type(b) and (a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b)))
        for a, b in zip(found, expected, strict=True)
    )
