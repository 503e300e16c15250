"""Trees beside the tables: what they learn, how they are explained, kept, exported and left out."""

from __future__ import annotations

from copy import copy
from itertools import permutations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from likely import EvidenceClassifier, load
from likely.errors import LikelyError, ModelFileError, SettingsError
from likely.models.evidence.codec import read_evidence
from likely.models.evidence.encoding import N_CODES
from likely.models.evidence.ensemble import MAX_QUESTIONS, N_LEAVES, TreeEnsemble
from likely.models.evidence.explain import TOGETHER, WITH_OTHERS
from likely.models.evidence.fit import EvidenceFit, TermSelection
from likely.models.evidence.search import InnerCV
from likely.store.codec import Reader, Writer, write
from tests.models import test_export, test_onnx


def parity(n: int, n_classes: int = 2) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Four columns that say something only together, numbers and categories, with gaps."""
    rng = np.random.default_rng(n_classes)
    size, age = rng.normal(size=(2, n)).round(2)
    town, kind = rng.choice(["Ulm", "Bonn", "Köln"], n), rng.choice(["a", "b"], n)
    odd = (size > 0.3).astype(int) + (age > -0.2) + (town == "Ulm") + (kind == "a")
    y = np.where(rng.random(n) < 0.05, rng.integers(0, n_classes, n), odd % n_classes)
    table = pd.DataFrame({"size": size, "age": age, "town": town, "kind": kind, "noise": rng.normal(size=n).round(1)})
    table.loc[rng.random(n) < 0.05, "age"] = np.nan
    table.loc[rng.random(n) < 0.05, "kind"] = None
    return table, np.array([f"class {k}" for k in y])


def log_loss(clf: EvidenceClassifier, X: pd.DataFrame, y: NDArray[Any]) -> float:
    p = clf.predict_proba(X)
    return float(-np.log(p[np.arange(len(y)), np.searchsorted(clf.classes_, y)]).mean())


@pytest.fixture(scope="module")
def fitted() -> EvidenceClassifier:
    return EvidenceClassifier(n_jobs=1).fit(*parity(3000))


@pytest.fixture(scope="module")
def of_three() -> EvidenceClassifier:
    return EvidenceClassifier(n_jobs=1).fit(*parity(2500, 3))


def trees_of(clf: EvidenceClassifier) -> TreeEnsemble:
    return clf.model_.evidence.trees


def test_four_columns_together_need_trees(fitted: EvidenceClassifier) -> None:
    X, y = parity(4000)
    X, y = X[3000:].reset_index(drop=True), y[3000:]
    tables = EvidenceClassifier(depth="triples", n_jobs=1).fit(*parity(3000))
    assert len(trees_of(fitted)) > 0
    assert len(trees_of(tables)) == 0
    assert log_loss(fitted, X, y) < 0.6 * log_loss(tables, X, y)


def test_additive_rows_and_few_rows_have_no_trees() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2500, 4))
    y = rng.random(2500) < 1.0 / (1.0 + np.exp(-x[:, 0] - 0.5 * x[:, 1]))
    assert len(trees_of(EvidenceClassifier(n_jobs=1).fit(x, y))) == 0
    assert len(trees_of(EvidenceClassifier(n_jobs=1).fit(*parity(1500)))) == 0


@pytest.mark.parametrize(("depth", "longest"), [("columns", 1), ("pairs", 2), ("triples", 3)])
def test_depth_bounds_how_many_columns_speak_together(depth: Any, longest: int) -> None:
    clf = EvidenceClassifier(depth=depth, n_jobs=1).fit(*parity(2500, 3))
    assert max((len(names) for names in clf.pairs_), default=1) <= longest
    assert len(trees_of(clf)) == 0


def test_triples_are_looked_for_where_there_are_no_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside trees they are not, however much pairs gain, unless a number of them is wished."""
    orders: list[int] = []
    look = EvidenceFit._interactions

    def noted(self: EvidenceFit, before: TermSelection, order: int, count: int, start: int) -> TermSelection:
        orders.append(order)
        return look(self, before, order, count, start)

    monkeypatch.setattr(EvidenceFit, "_interactions", noted)
    monkeypatch.setattr(InnerCV, "paired_gain", lambda *_: (1.0, 0.0))
    X, y = parity(2500)
    for n, given, expected in (
        (2500, {}, [2]),
        (2500, {"max_triples": 1}, [2, 3]),
        (2500, {"depth": "triples"}, [2, 3]),
        (1500, {}, [2, 3]),
    ):
        orders.clear()
        EvidenceClassifier(n_jobs=1, max_pairs=3, **given).fit(X[:n], y[:n])
        assert orders == expected


def test_another_depth_is_refused() -> None:
    with pytest.raises(SettingsError, match="depth"):
        EvidenceClassifier(depth="quadruples").fit({"a": [1.0, 2.0]}, [0, 1])  # type: ignore[arg-type]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_add_up(n_classes: int, fitted: EvidenceClassifier, of_three: EvidenceClassifier) -> None:
    clf = fitted if n_classes == 2 else of_three
    X, _ = parity(50, n_classes)
    X.loc[0, "town"] = "Rom"  # never seen
    why = clf.explain(X)
    assert np.abs(why.joint - clf.predict_joint_log_proba(X)).max() < 1e-9
    assert f"size{WITH_OTHERS}" in why.columns
    assert len(set(why.columns)) == len(why.columns)


def test_contributions_are_shapley_values(of_three: EvidenceClassifier) -> None:
    """Against the definition: the mean over all orders in which the columns of a tree can become known."""
    codes = of_three.model_.codes(of_three._read(parity(20, 3)[0]))
    whole = trees_of(of_three)
    one = TreeEnsemble(whole.columns[3:4], whole.sides[3:4], whole.leaves[3:4], whole.covers[3:4])
    base, found = one.contributions(codes)
    used = one.used_columns()
    bits = np.array([one.sides[0, k, codes[:, one.columns[0, k]]] for k in range(MAX_QUESTIONS)]).T
    answers = (np.arange(N_LEAVES)[:, None] >> np.arange(MAX_QUESTIONS)[::-1]) & 1
    asked = one.sides[0].any(axis=1)

    def worth(row: int, known: set[int]) -> NDArray[np.float64]:
        fits = np.ones(N_LEAVES, dtype=bool)
        for k in range(MAX_QUESTIONS):
            if not asked[k] or int(one.columns[0, k]) in known:
                fits &= answers[:, k] == bits[row, k]
        weight = one.covers[0][fits]
        weight = weight if weight.sum() > 0.0 and len(known) < len(used) else np.ones(fits.sum())
        return np.asarray(np.average(one.leaves[0][fits], axis=0, weights=weight))

    assert np.allclose(base, worth(0, set()))
    for row in range(20):
        wanted = np.zeros((len(used), 3))
        orders = list(permutations(used.tolist()))
        for order in orders:
            for place, column in enumerate(order):
                step = worth(row, set(order[: place + 1])) - worth(row, set(order[:place]))
                wanted[used.tolist().index(column)] += step / len(orders)
        assert np.abs(found[row] - wanted).max() < 1e-12


def test_the_same_model_with_any_number_of_threads(fitted: EvidenceClassifier) -> None:
    X, y = parity(3000)
    assert (EvidenceClassifier(n_jobs=2).fit(X, y).predict_proba(X) == fitted.predict_proba(X)).all()


def test_weights_are_rows(fitted: EvidenceClassifier) -> None:
    X, y = parity(3000)
    heavy = EvidenceClassifier(n_jobs=1).fit(X, y, sample_weight=np.full(len(y), 2.0))
    covers = trees_of(heavy).covers.sum(axis=1)
    assert np.allclose(covers, 6000.0)
    assert np.allclose(trees_of(fitted).covers.sum(axis=1), 3000.0)


def test_counts_go_on_and_trees_come_back_with_refresh(fitted: EvidenceClassifier, tmp_path: Path) -> None:
    fitted.save(tmp_path / "m.likely")
    clf = load(tmp_path / "m.likely", EvidenceClassifier)
    X, y = parity(3000)
    before = clf.predict_proba(X)
    clf.partial_fit(X[:10], y[:10])
    assert clf.stale_
    assert len(trees_of(clf)) == 0
    clf.forget(X[:10], y[:10]).refresh(X, y)
    assert not clf.stale_
    for mine, theirs in (
        (trees_of(clf).columns, trees_of(fitted).columns),
        (trees_of(clf).sides, trees_of(fitted).sides),
    ):
        assert (mine == theirs).all(), "they ask the same"
    assert np.abs(clf.predict_proba(X) - before).max() < 0.01


def test_trees_ask_the_same_of_other_bins(fitted: EvidenceClassifier) -> None:
    """More rows move the bins: a question goes to the codes that stand where the old ones stood."""
    X, y = parity(3000)
    clf = copy(fitted).partial_fit(*parity(500)).refresh(X, y)
    assert len(trees_of(clf)) == len(trees_of(fitted))
    assert (trees_of(clf).columns == trees_of(fitted).columns).all()
    before, now = (one.model_.codes(one._read(X)) for one in (fitted, clf))
    assert (before != now).any(), "bins have moved"
    answers = [
        np.take_along_axis(trees_of(one).sides[0], codes[:, trees_of(one).columns[0]].T.astype(np.intp), axis=1)
        for one, codes in ((fitted, before), (clf, now))
    ]
    assert (answers[0] == answers[1]).mean() > 0.97
    assert clf.score(X, y) > 0.9 * fitted.score(X, y)


def test_a_merged_model_knows_how_many_trees_to_grow(fitted: EvidenceClassifier) -> None:
    merged = fitted + EvidenceClassifier(n_jobs=1).fit(*parity(200))
    assert merged.stale_
    assert len(trees_of(merged.refresh(*parity(3000)))) == len(trees_of(fitted))


def test_files_are_the_same_to_the_last_bit(of_three: EvidenceClassifier, tmp_path: Path) -> None:
    of_three.save(tmp_path / "m.likely")
    X, _ = parity(100, 3)
    again = load(tmp_path / "m.likely", EvidenceClassifier)
    assert (again.predict_proba(X) == of_three.predict_proba(X)).all()
    assert (again.explain(X).contributions == of_three.explain(X).contributions).all()


def read_back(clf: EvidenceClassifier, change: Any) -> Any:
    """The model as a file would have it, after a change of what was written."""
    writer = Writer()
    told = write(clf.model_.evidence, writer)
    change(told, writer.arrays)
    return read_evidence(told, Reader(writer.arrays), len(clf.classes_), 0)


def test_a_model_that_was_written_without_trees_is_read(fitted: EvidenceClassifier) -> None:
    def without(told: Any, arrays: Any) -> None:
        del told["trees"], told["ways"]["tree_weight"], told["ways"]["n_rounds"]

    model = read_back(fitted, without)
    assert len(model.trees) == 0
    assert model.trees.leaves.shape[2] == 1


CHANGES: dict[str, Any] = {
    "a column that is not there": ("columns", lambda a: np.full_like(a, 99)),
    "a negative column": ("columns", lambda a: np.full_like(a, -1)),
    "a third side": ("sides", lambda a: np.full_like(a, 2)),
    "fewer codes": ("sides", lambda a: np.ascontiguousarray(a[:, :, : N_CODES - 1])),
    "a leaf beyond all numbers": ("leaves", lambda a: np.full_like(a, np.nan)),
    "an endless leaf": ("leaves", lambda a: np.full_like(a, np.inf)),
    "fewer leaves": ("leaves", lambda a: np.ascontiguousarray(a[:, :-1])),
    "negative covers": ("covers", lambda a: np.full_like(a, -1.0)),
    "fewer trees": ("covers", lambda a: np.ascontiguousarray(a[:-1])),
}


@pytest.mark.parametrize("what", CHANGES)
def test_hostile_trees_are_refused(fitted: EvidenceClassifier, what: str) -> None:
    field, changed = CHANGES[what]

    def change(told: Any, arrays: Any) -> None:
        arrays[told["trees"][field]] = changed(arrays[told["trees"][field]])

    with pytest.raises(ModelFileError):
        read_back(fitted, change)


@pytest.mark.parametrize(("field", "value"), [("tree_weight", -1.0), ("tree_weight", np.nan), ("n_rounds", 10**9)])
def test_hostile_numbers_of_trees_are_refused(fitted: EvidenceClassifier, field: str, value: float) -> None:
    with pytest.raises(LikelyError):
        read_back(fitted, lambda told, arrays: told["ways"].__setitem__(field, value))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_exports_score_trees(n_classes: int, fitted: EvidenceClassifier, of_three: EvidenceClassifier) -> None:
    clf = fitted if n_classes == 2 else of_three
    X, _ = parity(60, n_classes)
    X.loc[0, "town"] = "Rom"
    wanted = clf.predict_proba(X)
    test_onnx.agree(clf, X)
    model = test_export.written(clf)
    told = [test_export.posterior(model, row) for row in test_export.records(X)]
    assert np.abs(np.array(told) - wanted).max() < 1e-9
    con = duckdb.connect()
    con.register("data", X)
    shares = con.sql(clf.to_sql("duckdb", "data")).df()[[f"P({label})" for label in clf.classes_]]
    assert np.abs(shares.to_numpy() - wanted).max() < 1e-9


def test_a_query_tells_trees_as_one(fitted: EvidenceClassifier) -> None:
    X, _ = parity(20)
    con = duckdb.connect()
    con.register("data", X)
    told = con.sql(fitted.to_sql("duckdb", "data", "explanation")).df()
    together = [name for name in told.columns if name.startswith(TOGETHER)]
    why = fitted.explain(X)
    of_trees = [k for k, name in enumerate(why.columns) if name.endswith(WITH_OTHERS)]
    lines = why.contributions[:, of_trees].sum(axis=1)
    shares = told[together].to_numpy().reshape(20, -1)
    assert np.allclose(shares - shares[:1], lines - lines[:1])  # the mean of trees is part of the intercept there


def test_a_nomogram_says_how_to_get_one(fitted: EvidenceClassifier) -> None:
    with pytest.raises(SettingsError, match='depth="triples"'):
        fitted.nomogram()


def test_what_a_missing_value_could_tell_counts_trees(fitted: EvidenceClassifier) -> None:
    X, _ = parity(5)
    told = fitted.next_measurement(X.drop(columns=["size"])[:1])
    assert told["column"][0] == "size"
    assert told["information"][0] > 0.2


def test_an_ensemble_without_trees_says_nothing() -> None:
    none = TreeEnsemble.empty(3)
    scores = np.ones((4, 3))
    none.add_scores(np.zeros((4, 2), dtype=np.uint8), slice(0, 4), scores)
    base, lines = none.contributions(np.zeros((4, 2), dtype=np.uint8))
    assert (scores == 1.0).all()
    assert not base.any()
    assert lines.shape == (4, 0, 3)
