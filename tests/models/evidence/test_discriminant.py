"""The quadratic discriminant beside the tables: what it computes, how it is explained, kept, exported and left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import multivariate_normal

from likely import EvidenceClassifier, load
from likely.errors import LikelyError, ModelFileError, SettingsError
from likely.models.evidence.codec import read_evidence
from likely.models.evidence.discriminant import DiscriminantSettings, QuadraticDiscriminant
from likely.models.evidence.discriminant_fit import (
    class_covariances,
    code_values,
    discriminant_columns,
    eigensystems,
    fit_discriminant,
    scores_of,
    shrunken,
)
from likely.models.evidence.encoding import N_CODES, BinnedNumber, Encoding
from likely.models.evidence.explain import WITH_OTHERS
from likely.models.evidence.row_source import RowsInMemory
from likely.parallel import WorkerPool
from likely.stats import Scatter
from likely.store.codec import Reader, Writer, write
from tests.models import test_export, test_onnx

N_COLUMNS = 8


def ellipses(n: int, n_classes: int = 2) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Classes that differ in how eight numbers move together, and in nothing that one number shows; with gaps."""
    rng = np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, n)
    turns = [np.linalg.qr(np.random.default_rng(k).normal(size=(N_COLUMNS, N_COLUMNS)))[0] for k in range(n_classes)]
    z = rng.normal(size=(n, N_COLUMNS)) * [2.0, 1.5, 1.2, 1.0, 0.8, 0.6, 0.4, 0.3]
    x = np.einsum("nij,nj->ni", np.array(turns)[y], z).round(3)
    table = pd.DataFrame(x, columns=[f"x{k}" for k in range(N_COLUMNS)])
    table["town"] = rng.choice(["Ulm", "Bonn"], n)
    table.loc[rng.random(n) < 0.03, "x1"] = np.nan
    return table, np.array([f"class {k}" for k in y])


def log_loss(clf: EvidenceClassifier, X: pd.DataFrame, y: NDArray[Any]) -> float:
    p = clf.predict_proba(X)
    return float(-np.log(p[np.arange(len(y)), np.searchsorted(clf.classes_, y)]).mean())


@pytest.fixture(scope="module")
def fitted() -> EvidenceClassifier:
    return EvidenceClassifier(n_jobs=1).fit(*ellipses(600))


@pytest.fixture(scope="module")
def of_three() -> EvidenceClassifier:
    return EvidenceClassifier(n_jobs=1).fit(*ellipses(700, 3))


def discriminant_of(clf: EvidenceClassifier) -> QuadraticDiscriminant:
    return clf.model_.evidence.discriminant


def encoded(n: int, n_classes: int) -> tuple[Encoding, RowsInMemory]:
    """Three numbers in five bins each."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, (n, 3)).astype(np.uint8)
    means, groups = np.array([-2.0, -1.0, 0.0, 1.0, 3.0]), np.arange(6, dtype=np.uint8)
    columns = tuple(
        BinnedNumber(f"x{k}", means[:-1] + 0.5, means, np.full(5, n / 5.0), groups, groups, gap=False) for k in range(3)
    )
    y = rng.integers(0, n_classes, n).astype(np.int32)
    rows = RowsInMemory(codes, y, rng.uniform(0.5, 2.0, n), n_classes, np.zeros((0, 0)), WorkerPool(1))
    return Encoding(columns, 2), rows


@pytest.mark.parametrize("by_rank", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_are_log_densities(n_classes: int, by_rank: bool) -> None:
    """Against SciPy's multivariate normal density, with covariances by their definition."""
    encoding, rows = encoded(200, n_classes)
    settings = DiscriminantSettings(by_rank, 7.0, 0.2)
    columns = discriminant_columns(encoding)
    found, intercept = fit_discriminant(encoding, rows, columns, settings)
    scores = np.tile(intercept, (len(rows), 1))
    found.add_scores(rows.codes, slice(0, len(rows)), scores)
    z = found.values[np.arange(3), rows.codes]
    weights = rows.class_weights()
    own = [np.cov(z[rows.y == c].T, aweights=rows.weight[rows.y == c], ddof=0) for c in range(n_classes)]
    within = np.average(own, axis=0, weights=weights)
    logs = []
    for c in range(n_classes):
        mine = rows.y == c
        covariance = (weights[c] * own[c] + 7.0 * within) / (weights[c] + 7.0)
        covariance = 0.8 * covariance + 0.2 * np.trace(covariance) / 3 * np.eye(3)
        mean = np.average(z[mine], axis=0, weights=rows.weight[mine])
        logs.append(np.log(weights[c] / weights.sum()) + multivariate_normal(mean, covariance).logpdf(z))
    wanted = np.stack(logs, axis=1)
    if n_classes == 2:
        assert np.abs(scores[:, 0] - (wanted[:, 1] - wanted[:, 0])).max() < 1e-9
    else:
        assert np.abs((scores - scores.mean(axis=1, keepdims=True)) - scores_of(wanted)).max() < 1e-9


def test_values_are_standard_scores() -> None:
    encoding, _ = encoded(100, 2)
    for by_rank in (False, True):
        values = code_values(encoding, np.arange(3, dtype=np.int32), by_rank=by_rank)
        assert values.shape == (3, N_CODES)
        assert (values[:, 0] == 0.0).all()
        assert (values[:, 6:] == 0.0).all()
        assert np.allclose(values[:, 1:6].mean(axis=1), 0.0)
        assert np.allclose((values[:, 1:6] ** 2).mean(axis=1), 1.0)
        assert (np.diff(values[:, 1:6]) > 0.0).all()


def test_a_class_without_rows_borrows_from_all() -> None:
    rng = np.random.default_rng(1)
    seen = Scatter.observe(rng.normal(size=(50, 3)), np.zeros(50, dtype=np.int32), np.ones(50), 2)
    covariances = class_covariances(seen, 10.0)
    assert np.allclose(covariances[0], covariances[1])
    eigenvalues, _ = eigensystems(np.zeros((2, 3, 3)))
    assert (shrunken(eigenvalues, 0.1) > 0.0).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_covariances_need_a_discriminant(n_classes: int) -> None:
    X, y = ellipses(1000, n_classes)
    train, test = slice(0, 500), slice(500, None)
    whole = EvidenceClassifier(n_jobs=1).fit(X[train], y[train])
    tables = EvidenceClassifier(depth="triples", n_jobs=1).fit(X[train], y[train])
    assert len(discriminant_of(whole)) == N_COLUMNS
    assert len(discriminant_of(tables)) == 0
    assert log_loss(whole, X[test], y[test]) < 0.8 * log_loss(tables, X[test], y[test])


def test_additive_rows_have_none() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 4))
    y = rng.random(600) < 1.0 / (1.0 + np.exp(-3.0 * (x[:, 0] > 0.5) - (x[:, 1] > 0)))
    assert len(discriminant_of(EvidenceClassifier(n_jobs=1).fit(x, y))) == 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_add_up(n_classes: int, fitted: EvidenceClassifier, of_three: EvidenceClassifier) -> None:
    clf = fitted if n_classes == 2 else of_three
    X, _ = ellipses(50, n_classes)
    X.loc[0, "town"] = "Rom"  # never seen
    why = clf.explain(X)
    assert np.abs(why.joint - clf.predict_joint_log_proba(X)).max() < 1e-9
    assert f"x0{WITH_OTHERS}" in why.columns
    assert len(set(why.columns)) == len(why.columns)


def test_a_column_adds_nothing_in_the_mean(of_three: EvidenceClassifier) -> None:
    X, _ = ellipses(700, 3)
    _, found = discriminant_of(of_three).contributions(of_three.model_.codes(of_three._read(X)))
    assert np.abs(found.mean(axis=0)).max() < 1e-9


def test_the_same_model_with_any_number_of_threads(fitted: EvidenceClassifier) -> None:
    X, y = ellipses(600)
    assert (EvidenceClassifier(n_jobs=2).fit(X, y).predict_proba(X) == fitted.predict_proba(X)).all()


def test_it_comes_back_with_refresh(fitted: EvidenceClassifier, tmp_path: Path) -> None:
    fitted.save(tmp_path / "m.likely")
    clf = load(tmp_path / "m.likely", EvidenceClassifier)
    X, y = ellipses(600)
    before = clf.predict_proba(X)
    clf.partial_fit(X[:10], y[:10])
    assert clf.stale_
    assert len(discriminant_of(clf)) == 0
    clf.forget(X[:10], y[:10]).refresh(X, y)
    assert not clf.stale_
    assert len(discriminant_of(clf)) == N_COLUMNS
    assert np.abs(clf.predict_proba(X) - before).max() < 0.05


def test_a_merged_model_knows_its_settings(fitted: EvidenceClassifier) -> None:
    merged = fitted + EvidenceClassifier(n_jobs=1).fit(*ellipses(100))
    assert merged.stale_
    merged.refresh(*ellipses(600))
    assert len(discriminant_of(merged)) == N_COLUMNS
    settings = fitted.model_.evidence.hyperparameters.discriminant
    assert merged.model_.evidence.hyperparameters.discriminant == settings


def test_files_are_the_same_to_the_last_bit(of_three: EvidenceClassifier, tmp_path: Path) -> None:
    of_three.save(tmp_path / "m.likely")
    X, _ = ellipses(100, 3)
    again = load(tmp_path / "m.likely", EvidenceClassifier)
    assert (again.predict_proba(X) == of_three.predict_proba(X)).all()
    assert (again.explain(X).contributions == of_three.explain(X).contributions).all()


def read_back(clf: EvidenceClassifier, change: Any) -> Any:
    """The model as a file would have it, after a change of what was written."""
    writer = Writer()
    told = write(clf.model_.evidence, writer)
    change(told, writer.arrays)
    return read_evidence(told, Reader(writer.arrays), len(clf.classes_), 0)


def test_a_model_that_was_written_without_one_is_read(fitted: EvidenceClassifier) -> None:
    def without(told: Any, arrays: Any) -> None:
        del told["discriminant"], told["ways"]["discriminant_weight"], told["ways"]["discriminant"]

    model = read_back(fitted, without)
    assert len(model.discriminant) == 0
    assert model.discriminant.linear.shape[1] == 1


CHANGES: dict[str, Any] = {
    "a column that is not there": ("columns", lambda a: a + 99),
    "a negative column": ("columns", lambda a: a - 99),
    "a column twice": ("columns", np.zeros_like),
    "more columns": ("columns", lambda a: np.arange(1000, dtype=np.int32)),
    "fewer codes": ("values", lambda a: np.ascontiguousarray(a[:, : N_CODES - 1])),
    "a value that is no number": ("values", lambda a: np.full_like(a, np.nan)),
    "endless slopes": ("linear", lambda a: np.full_like(a, np.inf)),
    "fewer products": ("products", lambda a: np.ascontiguousarray(a[:-1])),
    "products that are no numbers": ("products", lambda a: np.full_like(a, np.nan)),
    "means of other columns": ("base", lambda a: np.ascontiguousarray(a[:-1])),
}


@pytest.mark.parametrize("what", CHANGES)
def test_hostile_ones_are_refused(fitted: EvidenceClassifier, what: str) -> None:
    field, changed = CHANGES[what]

    def change(told: Any, arrays: Any) -> None:
        arrays[told["discriminant"][field]] = changed(arrays[told["discriminant"][field]])

    with pytest.raises(ModelFileError):
        read_back(fitted, change)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_hostile_weights_are_refused(fitted: EvidenceClassifier, weight: float) -> None:
    with pytest.raises(LikelyError):
        read_back(fitted, lambda told, arrays: told["ways"].__setitem__("discriminant_weight", weight))


@pytest.mark.parametrize(("field", "value"), [("pooling", 0.0), ("pooling", np.inf), ("shrinkage", 2.0)])
def test_hostile_settings_are_refused(fitted: EvidenceClassifier, field: str, value: float) -> None:
    with pytest.raises(LikelyError):
        read_back(fitted, lambda told, arrays: told["ways"]["discriminant"].__setitem__(field, value))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_exports_score_it(n_classes: int, fitted: EvidenceClassifier, of_three: EvidenceClassifier) -> None:
    clf = fitted if n_classes == 2 else of_three
    X, _ = ellipses(60, n_classes)
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


def test_a_nomogram_is_refused(fitted: EvidenceClassifier) -> None:
    with pytest.raises(SettingsError, match="discriminant"):
        fitted.nomogram()
