"""Rows that a model has learned are judged in folds; others as they are."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa

from likely import BayesClassifier, evaluate
from likely.store import Provenance
from likely.studio.material import judged, learning_curve, material_of, read_rows
from tests.studio.test_rules import people


def rows_of(n: int = 200) -> pa.Table:
    table, y = people(n, 2)
    return pa.table({**table, "risk": y})


def test_learned_rows_are_held_out() -> None:
    rows = rows_of()
    clf = BayesClassifier().fit(rows, "risk")
    held_out, flattering = judged(clf, rows, learned=True), judged(clf, rows, learned=False)
    assert held_out is not None and flattering is not None
    assert held_out.log_loss == evaluate(clf, rows, "risk", cv=10).log_loss > flattering.log_loss


def test_rows_without_labels_judge_nothing() -> None:
    rows = rows_of()
    clf = BayesClassifier().fit(rows, "risk")
    assert judged(clf, rows.drop_columns(["risk"]), learned=False) is None
    assert judged(clf, rows.slice(0, 1), learned=False) is None


def test_a_file_by_its_name(tmp_path: Path) -> None:
    rows, path = rows_of(), tmp_path / "rows.csv"
    pd.DataFrame(rows.to_pandas()).to_csv(path, index=False)
    clf = BayesClassifier().fit(read_rows(path), "risk")
    known = material_of(clf, "m.likely", Provenance(("rows.csv",)), str(path))
    assert known.honest and known.report is not None and "fold" in known.report.how
    strange = material_of(clf, "m.likely", Provenance(()), str(path))
    assert not strange.honest and strange.report is not None and "fold" not in strange.report.how
    assert material_of(clf, "m.likely", None, None).report is None


def test_more_rows_teach_more() -> None:
    told: list[float] = []
    found = learning_curve(BayesClassifier().fit(rows_of(600), "risk"), rows_of(600), told.append)
    assert [each["rows"] for each in found] == sorted({each["rows"] for each in found}) and told[-1] == 1.0
    assert found[-1]["log_loss"] < found[0]["log_loss"]
