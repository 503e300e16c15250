"""Leave-one-out in closed form equals forgetting every row in turn and fitting again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import sparse

import likely
from likely import BayesClassifier, FullBayesClassifier, MEstimate
from likely.families import FAMILIES
from likely.families.gaussian import Gaussian
from likely.models.leave_one_out import LeaveOneOut
from likely.stats import feature_counts
from tests.evaluation.tables import (
    COUNTS,
    GAPPY,
    GAPPY_COUNTS,
    LABELS,
    NUMBERS,
    PRIORS,
    SMOOTHINGS,
    SPARSE,
    WEIGHTS,
    WORDS,
    N,
    refitted,
)

weighted = pytest.mark.parametrize("weights", WEIGHTS)


def assert_equals_refitting(
    clf: Any, X: Any, weights: str = "none", y: np.ndarray = LABELS, atol: float = 1e-9
) -> None:
    weight = WEIGHTS[weights]
    report = likely.evaluate(clf, X, y, cv="loo", sample_weight=weight)
    expected = refitted(clf, X, y, weight, np.arange(len(y)))
    np.testing.assert_allclose(report.predictions.posterior, expected, rtol=0, atol=atol)


@weighted
@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
@pytest.mark.parametrize("missing", ["ignore", "value"])
@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
def test_categorical(weights: str, smoothing: Any, missing: Any, unseen: Any) -> None:
    clf = BayesClassifier(smoothing=smoothing, missing=missing, unseen=unseen, families="categorical")
    assert_equals_refitting(clf, WORDS, weights)


@weighted
@pytest.mark.parametrize("priors", PRIORS, ids=str)
def test_priors_without_the_row(weights: str, priors: Any) -> None:
    assert_equals_refitting(BayesClassifier(priors=priors), WORDS, weights)


@weighted
@pytest.mark.parametrize("variance", ["unbiased", "ml"])
@pytest.mark.parametrize("floor", [1e-9, 0.3])
@pytest.mark.parametrize("missing", ["ignore", "value"])
@pytest.mark.parametrize("X", [NUMBERS, GAPPY], ids=["full", "gappy"])
def test_gaussian(weights: str, variance: Any, floor: float, missing: Any, X: np.ndarray) -> None:
    assert_equals_refitting(BayesClassifier(variance=variance, variance_floor=floor, missing=missing), X, weights)


def test_gaussian_far_from_zero() -> None:
    assert_equals_refitting(BayesClassifier(), 1e8 + NUMBERS, atol=1e-6)


@pytest.mark.parametrize("scale", [1e154, 1e-170])
def test_gaussian_at_the_edges_of_the_floats(scale: float) -> None:
    assert_equals_refitting(BayesClassifier(), scale * NUMBERS)


@weighted
def test_lognormal(weights: str) -> None:
    X = np.exp(NUMBERS[:, [0, 2]])
    X[4, 0] = np.nan
    assert_equals_refitting(BayesClassifier(families="lognormal"), X, weights)


@weighted
@pytest.mark.parametrize("smoothing", [0, 1, 0.3, MEstimate(2)], ids=str)
@pytest.mark.parametrize("X", [COUNTS, GAPPY_COUNTS], ids=["full", "gappy"])
@pytest.mark.parametrize("family", ["poisson", "multinomial", "complement", "bernoulli"])
def test_counts(family: str, weights: str, smoothing: Any, X: np.ndarray) -> None:
    assert_equals_refitting(BayesClassifier(families=family, smoothing=smoothing), X, weights)


@weighted
@pytest.mark.parametrize("smoothing", [0, 1, 0.3], ids=str)
@pytest.mark.parametrize("cells", [feature_counts.DENSE_CELLS, 0], ids=["dense table", "sparse table"])
@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
def test_sparse_counts(
    family: str, weights: str, smoothing: float, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_counts, "DENSE_CELLS", cells)
    # Without smoothing a complement is kept finite by 1e-10, which is lost in sums of counts: less can be asked for.
    atol = 1e-5 if family == "complement" and smoothing == 0 else 1e-9
    assert_equals_refitting(BayesClassifier(families=family, smoothing=smoothing), SPARSE, weights, atol=atol)


def test_a_mixed_table() -> None:
    X = {**WORDS, "size": GAPPY[:, 0], "calls": COUNTS[:, 0]}
    assert_equals_refitting(BayesClassifier(families={"calls": "poisson"}, missing="value"), X)


@weighted
@pytest.mark.parametrize("covariance", ["full", "pooled", "diagonal", "shrunk"])
@pytest.mark.parametrize("variance", ["unbiased", "ml"])
@pytest.mark.parametrize("missing", ["ignore", "value"])
def test_full_bayes(weights: str, covariance: Any, variance: Any, missing: Any) -> None:
    X = np.random.default_rng(1).normal(size=(N, 2))
    X[:, 1] += X[:, 0]
    clf = FullBayesClassifier(covariance=covariance, variance=variance, missing=missing)
    assert_equals_refitting(clf, X, weights, atol=1e-7)


@pytest.mark.parametrize("covariance", ["full", "pooled"])
@pytest.mark.parametrize("case", ["gaps", "outlier", "twins", "constant", "far", "floor"])
def test_full_bayes_where_the_closed_form_needs_care(covariance: Any, case: str) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, 3))
    floor = 0.3 if case == "floor" else 1e-9
    if case == "gaps":
        X[rng.random(X.shape) < 0.2] = np.nan
    elif case == "outlier":
        X[4] = 1e4
    elif case == "twins":
        X[:, 2] = X[:, 0] - X[:, 1]
    elif case == "constant":
        X[:, 2] = 7.0
    elif case == "far":
        X += 1e6
    clf = FullBayesClassifier(covariance=covariance, variance_floor=floor)
    assert_equals_refitting(clf, X, atol=1e-5 if case in ("twins", "far", "outlier") else 1e-7)


@weighted
@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
@pytest.mark.parametrize("smoothing", [1.0, 0.3, MEstimate(5)], ids=str)
@pytest.mark.parametrize("weighting", ["counts", "tf-idf"])
def test_texts(weights: str, family: str, smoothing: Any, weighting: Any) -> None:
    """Words that a single text holds leave the vocabulary with it."""
    rng = np.random.default_rng(4)
    words = np.array([f"w{k}" for k in range(40)])
    texts = [" ".join(rng.choice(words, size=size, p=np.arange(1, 41) / 820)) for size in rng.integers(0, 12, N)]
    clf = BayesClassifier(
        families=family, smoothing=smoothing, weighting=weighting, schema={"text": "text"}, priors="uniform"
    )
    assert_equals_refitting(clf, {"text": np.array(texts, dtype=object)}, weights)


def test_most_rows_of_full_bayes_are_not_settled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    settled = []
    plain = LeaveOneOut._settle_anew
    monkeypatch.setattr(LeaveOneOut, "_settle_anew", lambda *given: (settled.append(given[4]), plain(*given)))
    X = np.random.default_rng(3).normal(size=(300, 4))
    X[17] = 1e3
    likely.evaluate(FullBayesClassifier(), X, np.arange(300) % 3, cv="loo")
    assert settled == [17]


def test_families_registered_from_outside_are_settled_for_every_row() -> None:
    @dataclass(frozen=True, slots=True, eq=False)
    class Plain:
        """A Gaussian that offers no closed form."""

        name: ClassVar[str] = "plain"
        statistic: ClassVar[str] = "moments"
        reads: ClassVar[str] = "numeric"
        bell: Gaussian

        @property
        def columns(self) -> tuple[str, ...]:
            return self.bell.columns

        @classmethod
        def settle(cls, *what: Any) -> Plain:
            return cls(Gaussian.settle(*what))

        def bind(self, table: Any) -> Any:
            return self.bell.bind(table)

    FAMILIES["plain"] = Plain  # type: ignore[assignment]
    try:
        slow = likely.evaluate(BayesClassifier(families="plain"), NUMBERS[:, :3], LABELS, cv="loo")
    finally:
        del FAMILIES["plain"]
    fast = likely.evaluate(BayesClassifier(), NUMBERS[:, :3], LABELS, cv="loo")
    np.testing.assert_allclose(slow.predictions.posterior, fast.predictions.posterior, atol=1e-9)


def test_two_rows_are_the_least() -> None:
    with pytest.raises(likely.DataError, match="two rows"):
        likely.evaluate(BayesClassifier(), [[1.0]], ["a"], cv="loo")
    report = likely.evaluate(BayesClassifier(), [[1.0], [2.0]], ["a", "b"], cv="loo")
    assert report.accuracy == 0.0, "each row is judged by a model that knows the other class only"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_nothing(n_jobs: int) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(3000, 3)), rng.integers(0, 3, 3000)
    posterior = likely.evaluate(BayesClassifier(), X, y, cv="loo", n_jobs=n_jobs).predictions.posterior
    other = likely.evaluate(BayesClassifier(n_jobs=1), X, y, cv="loo").predictions.posterior
    np.testing.assert_array_equal(posterior, other)


def test_sparse_rows_may_be_wider_than_the_classes_are_many() -> None:
    X = sparse.random_array((40, 300), density=0.05, rng=np.random.default_rng(3), format="csr")
    X.data = np.ceil(4 * X.data)
    y = np.repeat([0, 1], 20)
    expected = refitted(BayesClassifier(), X, y, None, np.arange(40))
    report = likely.evaluate(BayesClassifier(), X, y, cv="loo")
    np.testing.assert_allclose(report.predictions.posterior, expected, atol=1e-9)
