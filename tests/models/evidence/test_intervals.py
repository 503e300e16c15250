"""Intervals of evidence: the dense formula on small tables, and as often right as they say in a simulation."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import polygamma
from sklearn.datasets import load_iris

import likely
from likely import EvidenceClassifier, SettingsError
from likely.errors import DataError
from likely.models.evidence.encoding import Terms
from likely.models.evidence.laplace import MAX_LAPLACE_ROWS, LaplaceApproximation, cholesky_factor
from likely.table import as_table
from tests.models.evidence.test_classifier import mixed

NEW = 200


def simulated(seed: int, n: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Two numbers and two categories that add up to log-odds; labels, and their true probability."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n + NEW))
    c, d = rng.integers(0, 4, n + NEW), rng.integers(0, 2, n + NEW)
    slope, wave, step = rng.normal(size=3)
    score = slope * a + 0.7 * wave * np.sin(2.0 * b) + 0.8 * rng.normal(size=4)[c] + 0.6 * step * (2.0 * d - 1.0)
    share = 1.0 / (1.0 + np.exp(-score))
    table = pd.DataFrame({"a": a, "b": b, "c": np.array(list("uvwx"))[c], "d": np.array(list("pq"))[d]})
    return table, (rng.random(n + NEW) < share).astype(int), share


@pytest.mark.parametrize(("n", "worst"), [(50, 0.75), (200, 0.85)])
def test_intervals_hold_the_truth_in_small_tables_too(n: int, worst: float) -> None:
    """The variance that predicts best is cautious: under it, 38 % were inside in one of these tables of 50 rows."""
    right, half = [], []
    for seed in range(6):
        table, y, truth = simulated(seed, n)
        clf = EvidenceClassifier(max_pairs=4, max_triples=0).fit(table[:n], y[:n])
        for level, found in ((0.9, right), (0.5, half)):
            low, high = clf.predict_interval(table[n:], level)
            found.append(((low[:, 1] <= truth[n:]) & (truth[n:] <= high[:, 1])).mean())
    assert np.mean(right) > 0.9
    assert min(right) > worst
    assert 0.5 < np.mean(half) < 0.85  # bounds that always hold would say nothing


@pytest.mark.parametrize("max_pairs", [0, 3])
def test_it_is_the_dense_formula(max_pairs: int) -> None:
    """φᵀ (I + Φᵀ W Φ)⁻¹ φ with every coefficient written out: columns, all pairs, and once more those chosen."""
    table, y = mixed(240)
    clf = EvidenceClassifier(max_pairs=max_pairs).fit(table, y)
    evidence = clf.model_.evidence
    ways, frame, certainty = evidence.hyperparameters, evidence.encoding, LaplaceApproximation(evidence)
    codes, n_columns = clf.model_.codes(as_table(table)), len(frame.columns)

    def written_out(terms: Terms, scales: np.ndarray) -> np.ndarray:
        design = frame.design(terms)
        cells = design.tables(np.eye(design.n_coefficients), np.sqrt(scales))
        return cells[frame.codes(codes, terms).astype(np.int64) + design.starts].sum(axis=1)

    pairs = np.array(list(combinations(range(n_columns), 2)), dtype=np.int32)
    every = Terms(pairs, Terms.none().triples)
    phi = written_out(every, np.repeat([1.0, 2.0 / (n_columns - 1)], [n_columns, len(pairs)]))
    assert bool(ways.stacking_weights[2] > 0.0) == bool(max_pairs)
    if max_pairs:
        beside = ways.variances[1] / ways.variances[1, 0] * [0.0, 1.0, 1.0]
        more = written_out(ways.terms, np.repeat(beside, [n_columns, len(ways.terms.pairs), len(ways.terms.triples)]))
        phi = np.concatenate([phi, more], axis=1)
    phi *= np.sqrt(certainty.variance)
    p = clf.predict_proba(table)[:, 1]
    inverse = np.linalg.inv(np.eye(phi.shape[1]) + phi.T @ ((p * (1.0 - p))[:, None] * phi))
    expected = (1.0 + 50.0 / 240 - 0.1) * np.einsum("ij,jk,ik->i", phi, inverse, phi)
    np.testing.assert_allclose(certainty.variances(codes)[:, 0], expected, rtol=1e-6)
    low, high = clf.predict_interval(table, level=0.6826894921370859)  # one standard deviation
    odds = np.log(p / (1.0 - p))
    deviation = np.sqrt(expected + polygamma(1, clf.summary_.classes.weights).sum())
    np.testing.assert_allclose(np.log(high[:, 1] / (1.0 - high[:, 1])), odds + deviation, atol=1e-6)
    np.testing.assert_allclose(np.log(low[:, 1] / (1.0 - low[:, 1])), odds - deviation, atol=1e-6)
    np.testing.assert_allclose(low[:, 0], 1.0 - high[:, 1], atol=1e-9)


def test_more_rows_and_lower_levels_are_narrower() -> None:
    table, y, _ = simulated(1, 3000)
    widths = []
    for n in (100, 1000, 3000):
        clf = EvidenceClassifier(max_pairs=0).fit(table[:n], y[:n])
        low, high = clf.predict_interval(table[3000:])
        shares = clf.predict_proba(table[3000:])
        assert ((low <= shares) & (shares <= high)).all()
        assert ((low >= 0.0) & (high <= 1.0)).all()
        widths.append((high - low).mean())
        assert len(clf.model_.evidence.hyperparameters.laplace_rows.codes) == min(n, MAX_LAPLACE_ROWS)
        narrow = clf.predict_interval(table[3000:], level=0.5)
        assert (narrow[1] - narrow[0]).mean() < (high - low).mean()
    assert widths[0] > widths[1] > widths[2]


def test_many_classes_one_class_few_rows_and_files(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = EvidenceClassifier(max_triples=2).fit(X, y)
    low, high = clf.predict_interval(X)
    assert low.shape == (150, 3)
    clf.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely").predict_interval(X)
    np.testing.assert_array_equal(again[0], low)
    np.testing.assert_array_equal(again[1], high)
    every = np.ones(len(X))
    one_thread = EvidenceClassifier(max_triples=2, n_jobs=1).fit(X, y, sample_weight=every).predict_interval(X)
    np.testing.assert_array_equal(one_thread[0], low)
    only = EvidenceClassifier().fit({"a": [1.0, 2.0, 3.0]}, ["only"] * 3).predict_interval({"a": [2.0]})
    assert [bound.tolist() for bound in only] == [[[1.0]], [[1.0]]]
    few = EvidenceClassifier().fit({"a": [1.0, 2.0, 3.0, 4.0]}, [0, 1, 0, 1]).predict_interval({"a": [2.0, None]})
    assert np.isfinite(few).all()
    texts = EvidenceClassifier().fit(["cheap pills", "see you soon"] * 10, ["spam", "ham"] * 10)
    assert np.isfinite(texts.predict_interval(["cheap and soon"])).all()


def test_what_cannot_be_said_is_refused() -> None:
    table, y = mixed(60)
    clf = EvidenceClassifier(max_pairs=0).fit(table, y)
    with pytest.raises(SettingsError, match="level"):
        clf.predict_interval(table, level=1.0)
    clf.partial_fit(table[:5], y[:5])
    with pytest.raises(SettingsError, match="refresh"):
        clf.predict_interval(table)
    low, high = clf.refresh(table, y).predict_interval(table)
    assert (low < high).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight", [1e17, 1e50, 1e97])
def test_rows_of_huge_weight_have_intervals(weight: float) -> None:
    """Rounding makes I + W^½ K W^½ indefinite there; what it says hardly changes with the weight any more."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80) > 0.0
    clf = EvidenceClassifier(n_jobs=1).fit(X, y, sample_weight=np.full(80, weight))
    shares, (low, high) = clf.predict_proba(X[:5]), clf.predict_interval(X[:5])
    assert (low <= shares + 1e-9).all() and (shares <= high + 1e-9).all()


def test_the_factor_of_a_definite_matrix_is_cholesky_s() -> None:
    root = np.array([[2.0, 0.0], [1.0, 3.0]])
    np.testing.assert_allclose(cholesky_factor(root @ root.T), root, rtol=1e-15)


def test_a_matrix_that_is_far_from_definite_is_refused() -> None:
    with pytest.raises(DataError, match="no interval"):
        cholesky_factor(np.array([[1.0, 2.0], [2.0, 1.0]]))
