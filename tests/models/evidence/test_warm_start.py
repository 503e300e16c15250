"""Beginning where an older model ended: the same tables under the same bins, near ones under others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from likely.engines.memory import Rows
from likely.models.evidence.encoding import Encoding, Terms
from likely.models.evidence.fit import fit_experts
from likely.models.evidence.fitter import Expert
from likely.models.evidence.predictor import AdditiveModel, Hyperparameters
from likely.models.evidence.prepare import FitContext, encode_rows, fit_encoding
from likely.models.evidence.updates import warm_start
from likely.parallel import WorkerPool
from likely.table import Table, as_table, labels_of
from tests.models.evidence.counting import counted

KINDS = {"n": "numeric", "m": "numeric", "c": "nominal", "k": "nominal"}
TERMS = Terms(np.array([[0, 1], [1, 2]], dtype=np.int32), np.array([[0, 1, 3]], dtype=np.int32))


def table(n_rows: int, seed: int = 0) -> dict[str, NDArray[np.object_] | NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    gaps = rng.random(n_rows) < 0.1
    return {
        "n": np.where(gaps, np.nan, rng.normal(size=n_rows)),
        "m": rng.exponential(size=n_rows),
        "c": rng.choice(["x", "y", "z"], n_rows).astype(object),
        "k": np.where(gaps, None, rng.choice(["u", "v"], n_rows).astype(object)),
    }


def framed(rows: Table) -> Encoding:
    return fit_encoding(*counted(rows, kinds=KINDS))


def learned(frame: Encoding, n_scores: int) -> tuple[AdditiveModel, Expert]:
    """A model of one expert with some coefficients."""
    design = frame.design(TERMS)
    u = np.random.default_rng(1).normal(size=(design.n_coefficients, n_scores))
    expert = Expert(TERMS, design, u, np.ones(len(design.layout)), np.zeros(n_scores))
    ways = Hyperparameters.default(len(frame.columns), 0, np.ones(2 if n_scores == 1 else n_scores), 0.3)
    return AdditiveModel.empty(frame, TERMS, n_scores, 0, ways).plus(expert, 1.0), expert


@pytest.mark.parametrize("n_scores", [1, 3])
def test_under_the_same_bins_it_begins_exactly_there(n_scores: int) -> None:
    frame = framed(as_table(table(400)))
    model, expert = learned(frame, n_scores)
    np.testing.assert_allclose(warm_start(model, frame, TERMS).coefficients, expert.coefficients, atol=1e-9)


def test_columns_in_another_order_are_found_by_name() -> None:
    rows = as_table(table(400))
    frame = framed(rows)
    model, _ = learned(frame, 1)
    places = [3, 0, 2, 1]  # k, n, c, m
    turned = Encoding(tuple(frame.columns[k] for k in places), frame.rank)
    terms = Terms(np.array([[1, 3], [2, 3]], dtype=np.int32), np.array([[0, 1, 3]], dtype=np.int32))
    begun = warm_start(model, turned, terms)
    back = warm_start(AdditiveModel.empty(turned, terms, 1, 0, model.hyperparameters).plus(begun, 1.0), frame, TERMS)
    np.testing.assert_allclose(back.tables(), model.tables, atol=1e-9)


def test_under_other_bins_it_begins_near() -> None:
    """What a model says of rows by their old bins and by their new ones is about the same, but for pairs it lacks."""
    some, more = as_table(table(300)), as_table(table(330))
    before, after = framed(some), framed(more)
    ways = Hyperparameters.default(4, 0, np.ones(2), 0.3)
    y = np.random.default_rng(2).random(300) < np.where(np.nan_to_num(table(300)["n"].astype(float)) > 0, 0.9, 0.2)
    how = FitContext(counted(some, kinds=KINDS)[1], 0, WorkerPool(1))
    labels = labels_of(y, some)
    data, _ = encode_rows(before, Rows(some, labels.classes, labels.codes, None, 1), how)
    model, passes = fit_experts(data, ways)
    begun = warm_start(model, after, Terms.none())
    mine, theirs = (np.array([one.columns[0].codes(more)]).ravel() for one in (before, after))
    old, new = model.tables[: before.columns[0].size][mine], begun.tables()[: after.columns[0].size][theirs]
    assert np.corrcoef(old[:, 0], new[:, 0])[0, 1] > 0.98
    warm = warm_start(model, before, Terms.none())
    again, fewer = fit_experts(data, ways, ([warm], []))
    assert fewer < passes
    np.testing.assert_allclose(again.tables, model.tables, atol=0.05)


def test_a_term_that_was_not_there_begins_with_nothing() -> None:
    frame = framed(as_table(table(300)))
    model, _ = learned(frame, 1)
    pair = Terms(np.array([[2, 3]], dtype=np.int32), TERMS.triples[:0])
    begun = warm_start(model, frame, pair)
    columns = int(begun.design.starts[4])
    np.testing.assert_allclose(begun.tables()[:columns], model.tables[:columns], atol=1e-9)
    assert not begun.tables()[columns:].any()
