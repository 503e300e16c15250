"""The default model, more rows, folds and other models, from tables in engines."""

from __future__ import annotations

import logging

import numpy as np
import pyarrow as pa
import pytest

import likely
from likely import BayesClassifier, EvidenceClassifier, Loss
from likely.api import evaluate
from likely.engines.connect import as_relation
from likely.engines.relational import RelationalRows, fold_of
from likely.streaming.evaluation_in_place import evaluate_in_place
from tests.engines import tables
from tests.engines.conftest import ENGINES, Load

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def test_evidence_is_the_same_where_all_rows_fit(load: Load) -> None:
    table = tables.plain(300)
    rows = table.drop_columns(["label"])
    here = likely.train(table, "label", max_pairs=0)
    there = likely.train(load(table), "label", max_pairs=0)
    assert isinstance(there, EvidenceClassifier)
    np.testing.assert_allclose(here.predict_proba(rows), there.predict_proba(rows), rtol=0, atol=1e-9)
    assert here.schema_ == there.schema_


def test_evidence_counts_all_rows_and_is_corrected_by_a_sample(
    load: Load, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("likely"), "disabled", False)  # import-linter silences those that are there
    table = tables.plain(2000)
    relation = likely.engine_table(load(table), sample=500)
    with caplog.at_level(logging.INFO, "likely"):
        clf = likely.train(relation, "label", max_pairs=0)
    assert "of 2,000 rows, drawn in" in caplog.text
    assert clf.summary_.n_rows == 2000 and not clf.stale_
    again = likely.train(relation, "label", max_pairs=0)
    rows = table.drop_columns(["label"])
    np.testing.assert_array_equal(clf.predict_proba(rows), again.predict_proba(rows))
    clf.partial_fit(relation, "label")
    assert clf.stale_ and clf.summary_.n_rows == 4000
    clf.refresh(relation, "label").forget(relation, "label")
    assert clf.summary_.n_rows == 2000


def test_folds_are_counted_where_the_rows_lie(load: Load) -> None:
    table = load(tables.plain(600))
    report = evaluate(BayesClassifier(), table, "label", cv=5)
    here = evaluate(BayesClassifier(), tables.plain(600), "label", cv=5)
    assert "hash of all columns" in str(report)
    assert report.accuracy == pytest.approx(here.accuracy, abs=0.06)
    assert evaluate(BayesClassifier(), table, "label", cv=5).accuracy == report.accuracy


def test_a_fold_is_left_out_by_adding_the_others(load: Load) -> None:
    """The model of the other folds is the one that their rows give."""
    table = tables.plain(400)
    relation = as_relation(load(table))
    rows = RelationalRows.of(relation, "label")
    fold = relation.run(relation.table.select(f=fold_of(relation, ["size", "town"], 4, 7))).column("f").to_numpy()
    assert set(fold) == {0, 1, 2, 3}
    from likely.stats import Part

    plan = [Part("values", ("town",)), Part("moments", ("size",)), Part("histogram", ("count",))]
    whole, parts = rows.summarise(plan), rows.summarise_folds(plan, ["size", "town"], 4, 7)
    assert [part.n_rows for part in parts] == np.bincount(fold).tolist()
    total = parts[0] + parts[1] + parts[2] + parts[3]
    for part in plan:
        if part.kind != "moments":
            np.testing.assert_array_equal(whole.parts[part].counts, total.parts[part].counts)
        else:
            np.testing.assert_allclose(whole.parts[part].mean, total.parts[part].mean, rtol=1e-12)


def test_a_fitted_classifier_is_judged(load: Load) -> None:
    clf = BayesClassifier().fit(tables.plain(400), "label")
    here, there = tables.plain(300, seed=4), load(tables.plain(300, seed=4))
    assert evaluate(clf, there, cv=None).accuracy == evaluate(clf, here, "label", cv=None).accuracy


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_judged_where_they_lie(weighted: bool, load: Load) -> None:
    """Figures of all rows are those of fetching all of them; only curves come from some."""
    table = load(tables.weighted(900) if weighted else tables.plain(900))
    clf = BayesClassifier(schema={"mass": "weight"} if weighted else None)
    costs = {"stop": {"red": 0, "green": 3, "blue": 2}, "go": {"red": 9, "green": 0, "blue": 1.5}}
    for loss in (None, Loss(costs, refuse=1.2), Loss.zero_one(["blue", "green", "red"])):
        fetched = evaluate_in_place(clf, table, "label", cv=3, loss=loss)
        there = evaluate_in_place(clf, table, "label", cv=3, loss=loss, most=300)
        assert fetched.counted is None and 0 < len(there.predictions) < 900
        assert "judged where they are" in str(there) and there.n_rows == fetched.n_rows
        assert there.confusion.equals(fetched.confusion)
        for name, value in fetched.figures.items():
            if name not in ("roc_auc", "average_precision"):
                assert there.figures[name] == pytest.approx(value, abs=1e-9), name
        assert list(there.figures) == list(fetched.figures)
        assert there.roc_auc == pytest.approx(fetched.roc_auc, abs=0.08)
        np.testing.assert_allclose(there.folds, fetched.folds, rtol=0, atol=1e-9)
        np.testing.assert_allclose(there.calibration(), fetched.calibration(), rtol=0, atol=1e-9)
        got, want = there.intervals["accuracy"], fetched.intervals["accuracy"]
        assert (got.low, got.high) == pytest.approx((want.low, want.high), abs=0.01)
        assert there.to_json() and there.to_html()
        if weighted:
            break


def test_a_fitted_classifier_is_judged_where_the_rows_lie(load: Load) -> None:
    clf, rows = EvidenceClassifier(max_pairs=0).fit(tables.plain(400), "label"), tables.plain(500, seed=4)
    strange = [("violet" if k < 5 else v) for k, v in enumerate(rows.column("label").to_pylist())]
    table = load(rows.set_column(4, "label", pa.array(strange)))
    there, here = (evaluate_in_place(clf, table, cv=None, most=most) for most in (100, 1000))
    assert there.counted is not None and here.counted is None
    assert there.confusion.equals(here.confusion)
    assert there.log_loss == pytest.approx(here.log_loss, abs=1e-9)


def test_a_model_that_needs_rows_fetches_them(load: Load) -> None:
    clf = likely.train(load(tables.plain(200)), "label", model="tree")
    assert clf.predict(tables.plain(5)).shape == (5,)
    with pytest.raises(likely.DataError, match="needs all in memory, where about 100 fit"):
        likely.train(likely.engine_table(load(tables.plain(200)), sample=100), "label", model="tree")


def test_what_is_wrong_is_one_sentence(load: Load) -> None:
    rows = tables.plain(50)
    labels = pa.array([None if k == 3 else v for k, v in enumerate(rows.column("label").to_pylist())])
    with pytest.raises(likely.DataError, match="column 'label': 1 row has no label; leave them out"):
        BayesClassifier().fit(load(rows.set_column(4, "label", labels)), "label")
    infinite = pa.array([float("inf") if k == 7 else 1.0 * k for k in range(50)])
    with pytest.raises(likely.DataError, match="column 'size' holds an infinite number"):
        BayesClassifier().fit(load(rows.set_column(0, "size", infinite)), "label")
    with pytest.raises(likely.DataError, match=r"column 'size' holds -.*counts from zero up"):
        BayesClassifier(families={"size": "multinomial"}).fit(load(rows), "label")
    with pytest.raises(likely.SchemaError, match=r"Column 'town' of .* cannot be read as numbers there"):
        BayesClassifier(schema={"town": "numeric"}).fit(load(rows.set_column(3, "town", pa.array(["1"] * 50))), "label")
