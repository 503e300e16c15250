"""The tables that a device adds up say what the family says: read here by a few lines of NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln

from likely import BayesClassifier, FullBayesClassifier
from likely.arrays import Array
from likely.families.on_device import (
    BellTerm,
    CountTerm,
    DeviceTerm,
    IntervalTerm,
    RateTerm,
    ScoresOnDevice,
    ValueTerm,
    WhitenedTerm,
)
from likely.families.tempered import Tempered
from likely.stats import feature_counts
from likely.table import as_table

rng = np.random.default_rng(17)
N, K = 60, 3
Y = np.arange(N) % K


def read(term: DeviceTerm, table: dict[str, Any]) -> Array:
    """What a term adds to each row (rows × classes), as its docstring has it."""
    out = np.zeros((len(next(iter(table.values()))), K))
    if isinstance(term, ValueTerm):
        places = {value: place for place, value in enumerate(term.values)}
        cells = table[term.columns[0]]
        return np.array(
            [term.gap if v is None else term.lines[places[v]] if v in places else term.other for v in cells]
        )
    X = np.column_stack([table[name] for name in term.columns]).astype(float)
    if isinstance(term, CountTerm):
        return np.asarray(np.nan_to_num(X) @ term.lines + term.bias)
    if isinstance(term, IntervalTerm):
        inside = term.lines[np.searchsorted(term.cuts, X[:, 0], side="right")]
        return np.where(np.isnan(X), term.gap, inside)
    if isinstance(term, WhitenedTerm):
        for c in range(K):
            turn = term.turn[c % len(term.turn)]
            out[:, c] = term.height[c] - 0.5 * np.square((X - term.mean[c]) * term.precision[c] @ turn).sum(axis=1)
        return out
    for j, x in enumerate(X.T):
        if isinstance(term, RateTerm):
            there = x >= 0.0
            told = x[there, None] * np.log(term.rate[:, j]) - term.rate[:, j] - gammaln(x[there, None] + 1.0)
            out[there] += term.weight * told
        else:
            assert isinstance(term, BellTerm)
            there = x > 0.0 if term.of_logs else ~np.isnan(x)
            z = np.log(x[there]) if term.of_logs else x[there]
            out[there] += term.height[:, j] - 0.5 * ((z[:, None] - term.mean[:, j]) * term.precision[:, j]) ** 2
            out[there] -= term.weight * z[:, None] if term.of_logs else 0.0
    return out


def told(terms: Sequence[DeviceTerm] | None, table: dict[str, Any]) -> Array:
    assert terms is not None
    return np.sum([read(term, table) for term in terms], axis=0)


NUMBERS = rng.normal(size=N) + Y
HOLED = np.where(rng.random(N) < 0.2, np.nan, NUMBERS)
COUNTS = rng.poisson(1.0 + Y).astype(float)
TOWNS = rng.choice(np.array(["u", "v", None], dtype=object), N)

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "gaussian": ({"x": NUMBERS, "y": HOLED, "z": np.full(N, 2.0)}, {},
                 {"x": [0.5, -9.0], "y": [np.nan, 2.0], "z": [2.0, 5.0]}),
    "lognormal": ({"x": np.exp(NUMBERS), "y": np.exp(HOLED)}, {}, {"x": [0.5, -1.0], "y": [np.nan, 2.0]}),
    "poisson": ({"x": COUNTS, "y": COUNTS[::-1]}, {}, {"x": [3.0, -1.0], "y": [0.0, np.nan]}),
    "bins": ({"x": HOLED}, {"missing": "value"}, {"x": [0.5, np.nan, -50.0, 50.0]}),
    "tree-bins": ({"x": NUMBERS}, {}, {"x": [0.5, np.nan, 50.0]}),
    "categorical": ({"x": TOWNS}, {"missing": "value", "unseen": "smooth"},
                    {"x": np.array(["u", "v", None, "new"], dtype=object)}),
    "bernoulli": ({"x": COUNTS, "y": COUNTS[::-1]}, {}, {"x": [0.0, 1.0, np.nan], "y": [2.0, 0.0, 0.0]}),
    "multinomial": ({"x": COUNTS, "y": COUNTS[::-1]}, {}, {"x": [3.0, 0.0, np.nan], "y": [2.0, 0.0, 1.0]}),
    "complement": ({"x": COUNTS, "y": COUNTS[::-1]}, {}, {"x": [3.0, 0.0, np.nan], "y": [2.0, 0.0, 1.0]}),
}  # fmt: skip


@pytest.mark.parametrize("weight", [None, 0.0, 1.0, 0.3])
@pytest.mark.parametrize("name", CASES)
def test_terms_say_what_the_family_says(name: str, weight: float | None) -> None:
    rows, settings, asked = CASES[name]
    clf = BayesClassifier(families=name, **settings).fit(rows, Y)
    for belief in clf.model_.beliefs:
        tempered = belief if weight is None else Tempered(belief, weight)
        assert isinstance(tempered, ScoresOnDevice)
        for table in (rows, asked):
            expected = np.zeros((len(next(iter(table.values()))), K))
            tempered.bind(as_table(table))(slice(0, len(expected)), expected)
            terms = tempered.device_terms()
            if weight == 0.0:
                assert terms == [] and not expected.any()
            else:
                np.testing.assert_allclose(told(terms, table), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("covariance", ["full", "pooled", "diagonal"])
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_turned_bells(covariance: Any, weight: float) -> None:
    X = rng.normal(size=(N, 3)) @ rng.normal(size=(3, 3)) + Y[:, None]
    table = dict(zip("xyz", X.T, strict=True))
    (belief,) = FullBayesClassifier(covariance=covariance).fit(table, Y).model_.beliefs
    tempered = Tempered(belief, weight)
    expected = np.zeros((N, K))
    tempered.bind(as_table(table))(slice(0, N), expected)
    np.testing.assert_allclose(told(tempered.device_terms(), table), expected, rtol=1e-9, atol=1e-9)


def test_a_bias_of_counts_has_the_weight_too() -> None:
    term = CountTerm(("x",), np.array([[1.0, 2.0, 4.0]]), np.array([3.0, 0.5, -2.0]))
    table = {"x": np.array([0.0, 2.0, np.nan])}
    np.testing.assert_allclose(read(term.times(0.25), table), 0.25 * read(term, table))
    assert read(term, table)[1].tolist() == [5.0, 4.5, 6.0]


def test_a_gap_that_speaks() -> None:
    clf = BayesClassifier(missing="value").fit({"x": HOLED, "y": NUMBERS}, Y)
    table = {"x": np.array([np.nan, 0.5]), "y": np.array([0.1, 0.2])}
    whole = np.zeros((2, K))
    for belief in clf.model_.beliefs:
        assert isinstance(belief, ScoresOnDevice)
        whole += told(belief.device_terms(), table)
    np.testing.assert_allclose(whole, clf.predict_joint_log_proba(table) - np.log(clf.model_.prior), rtol=1e-9)


def test_what_no_table_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """One column given the ones before it, and the weights of wide sparse rows, which are not kept one by one."""
    X = rng.normal(size=(N, 2))
    (belief,) = FullBayesClassifier().fit(X, Y).model_.beliefs
    last = belief.only("x1")
    assert isinstance(last, ScoresOnDevice) and last.device_terms() is None
    assert Tempered(last, 0.5).device_terms() is None
    monkeypatch.setattr(feature_counts, "DENSE_CELLS", 0)
    rows = sparse.csr_array(rng.poisson(0.01, (N, 60)).astype(float))
    for family in ("multinomial", "complement", "bernoulli"):
        (thin,) = BayesClassifier(families=family).fit(rows, Y).model_.beliefs
        assert isinstance(thin, ScoresOnDevice) and thin.device_terms() is None
