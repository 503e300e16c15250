"""Files of every format that was ever released load for ever, and predict what they predicted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import likely
from tests.store.golden.make import labels, rows

GOLDEN = sorted((Path(__file__).resolve().parent / "golden").glob("*.likely"))


def test_there_are_golden_files() -> None:
    assert len(GOLDEN) >= 2


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_an_old_file_predicts_as_it_did(path: Path) -> None:
    clf = likely.load(path)
    expected = json.loads(path.with_suffix(".json").read_text())
    np.testing.assert_allclose(clf.predict_log_proba(rows()), expected, rtol=1e-10, atol=1e-12)
    before = clf.predict_log_proba(rows())
    clf.partial_fit(rows(), labels()).forget(rows(), labels())
    np.testing.assert_allclose(clf.predict_log_proba(rows()), before, rtol=1e-6, atol=1e-8)
