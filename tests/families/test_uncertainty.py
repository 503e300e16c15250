"""How sure a family is of its parameters: mean and variance of a row's log-likelihood, against draws of parameters.

Given the counts, shares have a Dirichlet distribution, rates a gamma one, mean and variance of a bell curve a
normal-inverse-gamma one. Half a million draws are the oracle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse, stats

from likely.arrays import Array
from likely.engines.memory import Rows
from likely.families import FAMILIES, Settings, family_named
from likely.families.bernoulli import add_presence_uncertainty
from likely.families.categorical import add_lines
from likely.families.gaussian import add_bells
from likely.families.protocol import Uncertain
from likely.families.smoothing import Laplace, MEstimate, log_bias, trigamma
from likely.stats import Part
from likely.table import as_table

DRAWS = 500_000
rng = np.random.default_rng(5)


def close(found: Array, drawn: Array) -> None:
    """Shift and variance of one cell as its draws have them, within their own noise."""
    (shift, variance), mean, var = found, drawn.mean(), drawn.var()
    assert shift == pytest.approx(mean, abs=5.0 * np.sqrt(var / DRAWS) + 1e-9)
    assert variance == pytest.approx(var, rel=0.03, abs=1e-9)


@pytest.mark.parametrize(("n", "x"), [(9.0, 0.5), (9.0, 3.0), (40.0, 1.5), (6.0, -2.0)])
def test_bell_curves(n: float, x: float) -> None:
    mean, deviation = 0.7, 1.3
    shift, variance = np.zeros((2, 1, 1))
    one = np.ones((1, 1))
    add_bells(n * one, mean * one, deviation * one, x * one, shift, variance)
    sigma = deviation * np.sqrt((n - 1.0) / rng.chisquare(n - 1.0, DRAWS))
    drawn = stats.norm.logpdf(x, mean + sigma * rng.normal(size=DRAWS) / np.sqrt(n), sigma)
    close((shift[0, 0], variance[0, 0]), drawn - stats.norm.logpdf(x, mean, deviation))


def test_bells_that_say_nothing_are_sure_of_it() -> None:
    """A gap, and a constant column; a class of one row or less counts as one of one row."""
    cells = np.array([[np.nan, 1.0], [2.0, np.nan]])
    n, mean = np.array([[5.0, 5.0]]), np.zeros((1, 2))
    shift, variance = np.zeros((2, 2, 1))
    add_bells(n, mean, np.array([[1.0, np.inf]]), cells, shift, variance)
    assert shift[0, 0] == variance[0, 0] == 0.0 and variance[1, 0] > 0.0
    few = []
    for rows in (0.0, 0.5, 1.0):
        shift, variance = np.zeros((2, 1, 1))
        add_bells(np.array([[rows]]), np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1)), shift, variance)
        few.append((shift.item(), variance.item()))
    assert few[0] == few[1] == few[2]
    # trigamma(½) = π² / 2; one row has one degree of freedom at the least: π² / 8 − 1 + ½ + 1 + ½.
    assert few[2][1] == pytest.approx(np.pi**2 / 8.0 + 1.0)


def test_what_is_impossible_is_certain() -> None:
    assert trigamma(np.array([0.0, 1.0])).tolist() == [0.0, pytest.approx(np.pi**2 / 6.0)]
    assert log_bias(np.array([0.0, 1.0])).tolist() == [0.0, pytest.approx(-np.euler_gamma)]
    shift, variance = np.zeros((2, 3, 1))
    add_lines(np.array([[2.0], [0.0]]), np.array([0, 1, -1]), shift, variance)
    assert variance[0, 0] == 0.0 and shift[2, 0] == variance[2, 0] == 0.0


# Families as they are asked: what was seen of three classes, and rows.

Y = np.array([0] * 4 + [1] * 5 + [2] * 6, dtype=np.int32)
COUNTS = np.array([[k % 3, (k * k) % 4, k // 5] for k in range(15)], dtype=float)
ROW = np.array([[2.0, 0.0, 1.0]])


def asked(name: str, columns: dict[str, Any], row: dict[str, Any], **settings: Any) -> Array:
    """Shift and variance of the classes (2 × classes)."""
    family, names = family_named(name), tuple(columns)
    assert issubclass(family, Uncertain)
    part = Part(family.statistic, names)
    summary = Rows(as_table(columns), np.array(list("abc"), dtype=object), Y, None, 1).summarise([part])
    given = names, summary.parts[part], summary.classes.weights, Settings(**settings)
    out = np.zeros((2, 1, 3))
    family.uncertainty(*given, as_table(row))(slice(0, 1), out[0], out[1])
    return out[:, 0]


def of_counts(rows: Array) -> dict[str, Array]:
    return dict(zip("xyz", rows.T, strict=True))


@pytest.mark.parametrize("smoothing", [0.5, 2.0])
def test_rates(smoothing: float) -> None:
    same = dict.fromkeys("xyz", Laplace(smoothing))
    found = asked("poisson", of_counts(COUNTS), of_counts(ROW), smoothing=same)
    for c in range(3):
        rows, drawn = (c == Y).sum() + smoothing, np.zeros(DRAWS)
        for column, x in enumerate(ROW[0]):
            shape = COUNTS[c == Y, column].sum() + smoothing * COUNTS[:, column].mean()
            rate = rng.gamma(shape, 1.0 / rows, DRAWS)
            drawn += stats.poisson.logpmf(x, rate) - stats.poisson.logpmf(x, shape / rows)
        close(found[:, c], drawn)


def test_rates_of_what_lies_outside_or_never_happens() -> None:
    nothing = dict.fromkeys("xyz", Laplace(0.0))
    gaps = asked("poisson", of_counts(COUNTS), of_counts(np.array([[np.nan, -1.0, np.nan]])))
    assert not gaps.any()
    none = asked("poisson", {"x": np.zeros(15)}, {"x": [0.0]}, smoothing=nothing)
    assert not none.any()
    x = np.where(Y == 2, np.nan, COUNTS[:, 0])
    unknown = asked("poisson", {"x": x}, {"x": [3.0]}, smoothing=nothing)[:, 2]
    mean = np.array([np.nanmean(x)])  # a class of which nothing is known is believed to be one row of all classes' mean
    assert unknown[0] == pytest.approx(3.0 * log_bias(mean)[0])
    assert unknown[1] == pytest.approx(9.0 * trigamma(mean)[0] - 6.0 + mean[0])


@pytest.mark.parametrize("as_sparse", [False, True])
def test_shares_of_competing_columns(as_sparse: bool) -> None:
    same = dict.fromkeys(("x0", "x1", "x2"), Laplace(0.5))
    family = family_named("multinomial")
    assert issubclass(family, Uncertain)
    names, part = ("x0", "x1", "x2"), Part("counts", ("x0", "x1", "x2"))
    table, row = (as_table(sparse.csr_array(cells) if as_sparse else cells) for cells in (COUNTS, ROW))
    summary = Rows(table, np.array(list("abc"), dtype=object), Y, None, 1).summarise([part])
    given = names, summary.parts[part], summary.classes.weights, Settings(smoothing=same)
    out = np.zeros((2, 1, 3))
    family.uncertainty(*given, row)(slice(0, 1), out[0], out[1])
    for c in range(3):
        a = COUNTS[c == Y].sum(axis=0) + 0.5
        drawn = np.log(rng.dirichlet(a, DRAWS)) @ ROW[0]
        close(out[:, 0, c], drawn - np.log(a / a.sum()) @ ROW[0])


def test_presence_of_cells_that_are_all_known() -> None:
    yes, no = rng.uniform(0.5, 9.0, (2, 3, 4))
    present, every = (rng.random((5, 4)) < 0.5) * 1.0, np.ones((5, 4))
    found, expected = np.zeros((2, 2, 5, 3))
    add_presence_uncertainty(yes, no, present, None, *found)
    add_presence_uncertainty(yes, no, present, every, *expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (found[1] > 0.0).all()


def test_shares_of_presence() -> None:
    cells = np.where(COUNTS == 3.0, np.nan, COUNTS)
    uneven = dict.fromkeys("xyz", MEstimate(2.0, {True: 0.25, False: 0.75}))
    found = asked("bernoulli", of_counts(cells), of_counts(np.array([[2.0, 0.0, np.nan]])), smoothing=uneven)
    for c in range(3):
        drawn = np.zeros(DRAWS)
        for column, present in ((0, True), (1, False)):
            own = cells[c == Y, column]
            yes, no = (own > 0.0).sum() + 0.5, (own == 0.0).sum() + 1.5
            share = rng.beta(yes, no, DRAWS)
            mean = yes / (yes + no)
            drawn += np.log(share / mean) if present else np.log((1.0 - share) / (1.0 - mean))
        close(found[:, c], drawn)


@pytest.mark.parametrize(
    ("cell", "missing", "unseen"),
    [("u", "ignore", "ignore"), ("w", "value", "smooth"), (None, "value", "ignore"), ("new", "ignore", "smooth"),
     (None, "ignore", "smooth"), ("new", "value", "ignore")],
)  # fmt: skip
def test_shares_of_values(cell: str | None, missing: str, unseen: str) -> None:
    towns = np.array(["u", "v", "w", None, "u"] * 3, dtype=object)
    found = asked("categorical", {"x": towns}, {"x": np.array([cell], dtype=object)}, missing=missing, unseen=unseen)
    keys: list[object] = [
        "u",
        "v",
        "w",
        *([None] if missing == "value" else []),
        *(["new"] if unseen == "smooth" else []),
    ]
    for c in range(3):
        own = towns[c == Y].tolist()
        a = np.array([own.count(key) + 1.0 for key in keys])
        if cell in keys:
            place = keys.index(cell)
            drawn = np.log(rng.beta(a[place], a.sum() - a[place], DRAWS)) - np.log(a[place] / a.sum())
            close(found[:, c], drawn)
        else:
            assert found[:, c].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("missing", ["ignore", "value"])
def test_shares_of_bins(missing: str) -> None:
    numbers = np.array([0.0, 1.0, 2.0, 3.0, np.nan] * 3)
    for cell in (0.0, 2.5, np.nan):
        found = asked("bins", {"x": numbers}, {"x": [cell]}, missing=missing, bins=2)
        for c in range(3):
            own = numbers[c == Y]
            counts = [(own < 2.0).sum(), (own >= 2.0).sum(), *([np.isnan(own).sum()] if missing == "value" else [])]
            a, place = np.array(counts) + 1.0, 2 if np.isnan(cell) else int(cell >= 2.0)
            if place < len(a):
                drawn = np.log(rng.beta(a[place], a.sum() - a[place], DRAWS)) - np.log(a[place] / a.sum())
                close(found[:, c], drawn)
            else:
                assert found[:, c].tolist() == [0.0, 0.0]


def test_logarithms_are_as_sure_as_their_bells() -> None:
    numbers = np.exp(np.linspace(-1.0, 2.0, 15))
    found = asked("lognormal", {"x": numbers}, {"x": [2.0]})
    same = asked("gaussian", {"x": np.log(numbers)}, {"x": [np.log(2.0)]})
    np.testing.assert_allclose(found, same)
    assert not asked("lognormal", {"x": numbers}, {"x": [-2.0]}).any()


def test_every_family_that_is_uncertain_is_here() -> None:
    sure = {name for name, family in FAMILIES.items() if issubclass(family, Uncertain)}
    assert sure == {"gaussian", "lognormal", "poisson", "bins", "tree-bins", "categorical", "bernoulli", "multinomial"}
