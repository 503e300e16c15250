"""Intervals on P(class | row): coverage by simulation, agreement with posterior draws, drop-ins, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from likely import AODEClassifier, BayesClassifier, SettingsError
from likely.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

LEVEL = 0.9
TURNS, ROWS = 200, 60


def normalised(joint: np.ndarray) -> np.ndarray:
    shares = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def enough(inside: list[float]) -> bool:
    """Within four standard errors of the level, and 3 % for the normal form; each turn has an interval of its own."""
    error = 4.0 * np.sqrt(LEVEL * (1 - LEVEL) / len(inside)) + 0.03
    return bool(abs(np.mean(inside) - LEVEL) < error)


def test_coverage_of_categories() -> None:
    """Shares are drawn from the prior that smoothing stands for, rows from the shares, and the truth is known."""
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(TURNS):
        share = rng.dirichlet(np.ones(3), size=(2, 4))  # class, column, value
        y = np.arange(ROWS) % 2
        codes = np.array([[rng.choice(3, p=share[c, j]) for j in range(4)] for c in y])
        codes[:3] = np.arange(3)[:, None]  # every value is there
        clf = BayesClassifier(priors="uniform").fit({f"c{j}": codes[:, j].astype(str) for j in range(4)}, y)
        query = rng.integers(0, 3, 4)
        low, high = clf.predict_interval({f"c{j}": [str(query[j])] for j in range(4)}, LEVEL)
        truth = normalised(np.log(share[:, np.arange(4), query]).sum(axis=1)[None])
        inside.append(float(low[0, 0] <= truth[0, 0] <= high[0, 0]))
    assert enough(inside)


@pytest.mark.parametrize("make", [lambda: BayesClassifier(priors="uniform"), lambda: GaussianNB(priors=[0.5, 0.5])])
def test_coverage_of_numbers(make: Any) -> None:
    rng = np.random.default_rng(2)
    inside = []
    for _ in range(TURNS):
        mean, deviation = rng.normal(size=(2, 3)), np.exp(0.3 * rng.normal(size=(2, 3)))
        y = np.arange(ROWS) % 2
        clf = make().fit(mean[y] + deviation[y] * rng.normal(size=(ROWS, 3)), y)
        query = mean[0] + deviation[0] * rng.normal(size=3)
        low, high = clf.predict_interval(query[None], LEVEL)
        truth = normalised(stats.norm(mean, deviation).logpdf(query).sum(axis=1)[None])
        inside.append(float(low[0, 1] <= truth[0, 1] <= high[0, 1]))
    assert enough(inside)


def test_against_draws_from_the_posterior() -> None:
    """Counts, rates, shares and presence in one table; a hundred thousand draws are the oracle."""
    rng = np.random.default_rng(3)
    n = 200
    y = rng.integers(0, 2, n)
    table = {
        "town": rng.choice(["a", "b", "c"], n),
        "visits": rng.poisson(2 + y).astype(float),
        "size": rng.normal(size=n) + y,
        "seen": (rng.random(n) < 0.3 + 0.2 * y) * 1.0,
    }
    clf = BayesClassifier(families={"visits": "poisson", "seen": "bernoulli"}).fit(table, y)
    query = {"town": ["b"], "visits": [4.0], "size": [1.5], "seen": [0.0]}
    joint = np.zeros((100_000, 2))
    overall = table["visits"].mean()
    for c in range(2):
        own = {name: cells[y == c] for name, cells in table.items()}
        count = int((y == c).sum())
        joint[:, c] += np.log(rng.gamma(count, size=len(joint)))
        shares = rng.dirichlet([np.sum(own["town"] == v) + 1 for v in "abc"], len(joint))
        joint[:, c] += np.log(shares[:, 1])
        rate = rng.gamma(own["visits"].sum() + overall, size=len(joint)) / (count + 1)
        joint[:, c] += stats.poisson(rate).logpmf(4)
        variance = own["size"].var(ddof=1) * (count - 1) / rng.chisquare(count - 1, len(joint))
        centre = own["size"].mean() + np.sqrt(variance / count) * rng.normal(size=len(joint))
        joint[:, c] += stats.norm(centre, np.sqrt(variance)).logpdf(1.5)
        joint[:, c] += np.log(rng.beta(own["seen"].size - own["seen"].sum() + 1, own["seen"].sum() + 1, len(joint)))
    drawn = normalised(joint)[:, 1]
    low, high = clf.predict_interval(query, LEVEL)
    np.testing.assert_allclose([low[0, 1], high[0, 1]], np.quantile(drawn, [0.05, 0.95]), atol=0.01)


def test_gaps_bins_and_multinomial_against_draws() -> None:
    rng = np.random.default_rng(4)
    X = rng.poisson([3, 2, 1], size=(80, 3)).astype(float)
    y = np.arange(80) % 2
    clf = BayesClassifier(families="multinomial", priors="uniform").fit(X, y)
    joint = np.zeros((100_000, 2))
    for c in range(2):
        joint[:, c] = np.log(rng.dirichlet(X[y == c].sum(axis=0) + 1, len(joint))) @ [4.0, 0.0, 1.0]
    expected = np.quantile(normalised(joint)[:, 0], [0.05, 0.95])
    low, high = clf.predict_interval([[4.0, 0.0, 1.0]], LEVEL)
    np.testing.assert_allclose([low[0, 0], high[0, 0]], expected, atol=0.01)
    binned = BayesClassifier(families="bins", missing="value").fit(np.where(X > 4, np.nan, X), y)
    low, high = binned.predict_interval([[np.nan, 1.0, 0.0], [1.0, 1.0, 1.0]])
    assert (low < binned.predict_proba([[np.nan, 1.0, 0.0], [1.0, 1.0, 1.0]])).all() and (high > low).all()


@pytest.mark.parametrize("clf", [BernoulliNB(), CategoricalNB(), MultinomialNB(), GaussianNB()], ids=str)
def test_drop_ins_agree_with_the_classifier_of_tables(clf: Any) -> None:
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 3, size=(50, 4)), rng.integers(0, 3, 50)
    families = {
        BernoulliNB: "bernoulli",
        CategoricalNB: "categorical",
        MultinomialNB: "multinomial",
        GaussianNB: "gaussian",
    }
    settings: dict[str, Any] = {"variance": "ml", "variance_floor": 0.0} if isinstance(clf, GaussianNB) else {}
    twin = BayesClassifier(families=families[type(clf)], **settings).fit(X.astype(float), y)
    if isinstance(clf, GaussianNB):
        clf.set_params(var_smoothing=0.0)
    expected = twin.predict_interval(X.astype(float))
    np.testing.assert_allclose(clf.fit(X, y).predict_interval(X), expected, rtol=1e-6, atol=1e-9)


def test_more_rows_and_lower_levels_are_narrower() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(2000, 2)), rng.integers(0, 2, 2000)
    few, many = BayesClassifier().fit(X[:50], y[:50]), BayesClassifier().fit(X, y)
    widths = [
        np.ptp(np.stack(clf.predict_interval(X[:9], level)), axis=0).mean()
        for clf, level in ((few, 0.9), (few, 0.5), (many, 0.9))
    ]
    assert widths[0] > widths[1] > widths[2] > 0.0
    low, high = few.predict_interval([[1e6, -1e6]])
    assert np.isfinite(low).all() and np.isfinite(high).all()


def test_refusals() -> None:
    X, y = np.array([[1.0], [2.0], [3.0], [5.0]]), ["a", "a", "b", "b"]
    with pytest.raises(SettingsError, match="level is 1"):
        BayesClassifier().fit(X, y).predict_interval(X, 1.5)
    with pytest.raises(SettingsError, match="aode"):
        AODEClassifier().fit(X, y).predict_interval(X)
    with pytest.raises(SettingsError, match="ComplementNB"):
        ComplementNB().fit(X, y).predict_interval(X)
    one = BayesClassifier().fit(X, ["a"] * 4)
    assert [bound.tolist() for bound in one.predict_interval(X[:1])] == [[[1.0]], [[1.0]]]


@pytest.mark.parametrize("families", [None, "bins"])
def test_next_to_no_weight_leaves_everything_open(families: Any) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 1)), np.where(rng.random(60) < 0.4, "a", "b")
    low, high = BayesClassifier(families=families).fit(X, y, np.full(60, 1e-300)).predict_interval(X)
    assert (low < 0.01).all()
    assert (high > 0.99).all()
