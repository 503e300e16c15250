"""Rows that are alike, folds, and the search for columns that speak together."""

from __future__ import annotations

import numpy as np
import pytest

from likely import EvidenceClassifier
from likely.models.evidence import fit
from likely.models.evidence.encoding import Encoding, Terms, encode_table
from likely.models.evidence.fitter import EncodedData, Fitter
from likely.models.evidence.prepare import fit_encoding
from likely.models.evidence.row_source import RowsInMemory
from likely.models.evidence.search import candidate_terms, inner_folds, n_inner_folds, screening_scores
from likely.parallel import WorkerPool
from likely.table import as_table
from tests.models.evidence.counting import counted

rng = np.random.default_rng(0)


def test_rows_that_are_alike_weigh_what_they_weighed_apart() -> None:
    n = 500
    codes = rng.integers(1, 3, (n, 4)).astype(np.uint8)
    rows = RowsInMemory(
        codes, rng.integers(0, 3, n).astype(np.int32), rng.random(n), 3, np.zeros((0, 3)), WorkerPool(1)
    )
    merged = rows.deduplicate()
    assert len(merged) <= 16 * 3
    starts = np.array([0, 3, 6, 9], dtype=np.int32)
    tables, base = rng.normal(size=(12, 3)), rng.normal(size=3)
    apart, together = rows.loss_and_gradient(starts, tables, base), merged.loss_and_gradient(starts, tables, base)
    assert together[0] == pytest.approx(apart[0])
    np.testing.assert_allclose(together[1], apart[1], atol=1e-9)
    np.testing.assert_allclose(together[2], apart[2], atol=1e-9)


def test_rows_that_differ_or_have_scores_beforehand_stay() -> None:
    codes = rng.integers(1, 200, (100, 6)).astype(np.uint8)
    y, weight = np.zeros(100, dtype=np.int32), np.ones(100)
    apart = RowsInMemory(codes, y, weight, 2, np.zeros((0, 1)), WorkerPool(1))
    assert apart.deduplicate() is apart
    before = RowsInMemory(np.ones((100, 6), dtype=np.uint8), y, weight, 2, rng.normal(size=(100, 1)), WorkerPool(1))
    assert before.deduplicate() is before


@pytest.mark.parametrize("n", [10, 400, 1500, 4000])
def test_folds_are_stratified_and_cover(n: int) -> None:
    y = (np.arange(n) % 10 < 3).astype(np.int32)
    folds = inner_folds(y, 0)
    assert len(folds) == n_inner_folds(n)
    for fold in folds:
        assert sorted([*fold.train, *fold.test]) == list(range(n))
        assert abs(y[fold.test].sum() - 0.3 * len(fold.test)) <= 1.0
    if len(folds) > 1:
        assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(n))


def parity(order: int) -> tuple[EncodedData[RowsInMemory], Encoding]:
    """Five columns of two values; the class is the parity of the last two or three of them."""
    cells = rng.integers(0, 2, (600, 5))
    y = cells[:, 5 - order :].sum(axis=1) % 2
    table = as_table({f"c{k}": [str(value) for value in cells[:, k]] for k in range(5)})
    frame = fit_encoding(*counted(table, y))
    codes = encode_table(frame.columns, table)
    rows = RowsInMemory(codes, y.astype(np.int32), np.ones(600), 2, np.zeros((0, 1)), WorkerPool(1))
    return EncodedData(frame, rows, np.zeros(0)), frame


@pytest.mark.parametrize("order", [2, 3])
def test_what_speaks_only_together_is_found_and_fitted(order: int) -> None:
    data, frame = parity(order)
    bench = Fitter(data)
    alone = bench.expert(Terms.none(), (1.0, 0.0, 0.0), [])
    grain = frame.coarse if order == 2 else frame.tiny
    options = candidate_terms(grain, alone.importance(5), order, 600)
    promise = screening_scores(data.rows, grain, options, alone.scores(frame, data.rows))
    assert options[promise.argmax()].tolist() == list(range(5 - order, 5))
    best = options[[int(promise.argmax())]]
    none = Terms.none()
    terms = Terms(best, none.triples) if order == 2 else Terms(none.pairs, best)
    both = bench.expert(terms, (1.0, 3.0, 3.0), [alone])
    right = (both.scores(frame, data.rows)[:, 0] > 0) == data.rows.y
    assert right.all()
    assert ((alone.scores(frame, data.rows)[:, 0] > 0) == data.rows.y).mean() < 0.65


def test_of_a_wide_table_the_columns_that_say_most_are_combined() -> None:
    _, frame = parity(2)
    options = candidate_terms(frame.coarse, np.array([0.0, 3.0, 1.0, 2.0, 0.0]), 2, 1 << 27)
    assert options.tolist() == [[1, 3]]


def test_with_many_classes_pairs_are_looked_for_only_if_wished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "MAX_SCORES_WITH_PAIRS", 2)
    a, b = np.random.default_rng(0).integers(0, 3, (2, 300))
    rows = {"a": a.astype(str), "b": b.astype(str)}
    assert EvidenceClassifier(depth="pairs").fit(rows, (a + b) % 3).pairs_ == []
    assert EvidenceClassifier(depth="pairs", max_pairs=1).fit(rows, (a + b) % 3).pairs_ == [("a", "b")]
