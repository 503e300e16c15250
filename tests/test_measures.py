"""Measures of a class × value table: the lecture's figures, laws, and formulas written out."""

from __future__ import annotations

from collections.abc import Callable
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from likely import LikelyError
from likely.measures import MEASURES, information_gain, measure_named, rate_correct
from likely.teaching import datasets

Table = list[list[int]]

SEX, AGE, PRESSURE = [[3, 3], [3, 3]], [[4, 2], [2, 4]], [[3, 3, 0], [0, 3, 3]]
"""Drugs A and B by sex, by age below 40 or above, by blood pressure high, normal, low."""


def test_the_tables_are_those_of_the_patients() -> None:
    rows = datasets.patients()
    old = [int(str(age)) > 40 for age in rows["age"]]
    for column, values, table in (
        (rows["sex"], ["male", "female"], SEX),
        (old, [False, True], AGE),
        (rows["blood_pressure"], ["high", "normal", "low"], PRESSURE),
    ):
        pairs = list(zip(rows["drug"], column, strict=True))
        assert [[pairs.count((drug, value)) for value in values] for drug in "AB"] == table


def test_rates_correct_of_the_patients() -> None:
    assert [rate_correct(table) for table in (SEX, AGE, PRESSURE)] == approx([6 / 12, 8 / 12, 9 / 12], rel=1e-12)


def test_information_gains_of_the_patients() -> None:
    assert information_gain(SEX) == 0.0
    assert information_gain(AGE) == approx(0.0817, abs=5e-5)
    assert information_gain(PRESSURE) == approx(0.5, rel=1e-12)
    # Below normal pressure: three and three, by sex and by age.
    assert information_gain([[2, 1], [1, 2]]) == approx(0.0817, abs=5e-5)
    assert information_gain([[3, 0], [0, 3]]) == approx(1.0, rel=1e-12)


def h(*weights: float) -> float:
    total = sum(weights)
    return -sum(w / total * log2(w / total) for w in weights if w > 0) if total else 0.0


def by_hand(name: str, table: Table) -> float:
    """Sums over cells, as the lecture writes them."""
    n = sum(map(sum, table))
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    cells = [cell for row in table for cell in row]
    gain = h(*rows) + h(*columns) - h(*cells)
    if name == "misclassification":
        return float((sum(max(column) for column in zip(*table, strict=True)) - max(rows)) / n)
    if name == "chi2":
        return sum(
            float(a * b / n - table[i][j]) ** 2 / (a * b / n) / n
            for i, a in enumerate(rows)
            for j, b in enumerate(columns)
            if a * b
        )
    if name == "gini":
        within = sum(sum(c * c for c in column) / sum(column) for column in zip(*table, strict=True) if sum(column))
        return float(within / n - sum(row * row for row in rows) / n**2)
    below = {
        "information_gain": 1.0,
        "gain_ratio": h(*columns),
        "symmetric_gain_ratio_1": h(*cells),
        "symmetric_gain_ratio_2": h(*rows) + h(*columns),
    }[name]
    return gain / below if gain > 1e-12 else 0.0


tables = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=1, max_size=4)
)


@pytest.mark.parametrize("name", MEASURES)
@given(table=tables.filter(lambda table: sum(map(sum, table)) > 0))
def test_every_measure_is_its_formula(name: str, table: Table) -> None:
    measure = MEASURES[name]
    value = measure(table)
    assert value == approx(by_hand(name, table), abs=2e-12)
    assert value >= 0.0
    assert measure([[*row, 0] for row in table]) == approx(value, abs=1e-12), "an empty value changed something"
    assert measure([[7 * cell for cell in row] for row in table]) == approx(value, abs=1e-12)
    many = measure.many(np.array([table, table], dtype=float))
    assert many.tolist() == [value, value]


@pytest.mark.parametrize("name", MEASURES)
def test_a_column_that_is_seldom_known_tells_less(name: str) -> None:
    measure = MEASURES[name]
    assert measure(PRESSURE, total=24) == approx(measure(PRESSURE) / 2, rel=1e-12)
    assert measure(PRESSURE, total=12) == measure(PRESSURE)
    with pytest.raises(LikelyError, match="12 are known"):
        measure(PRESSURE, total=11)


@pytest.mark.parametrize("name", MEASURES)
def test_independent_columns_tell_nothing(name: str) -> None:
    assert MEASURES[name]([[6, 3, 3], [2, 1, 1]]) == 0.0
    assert MEASURES[name]([[0, 0], [0, 0]]) == 0.0


def test_a_measure_that_does_not_exist_is_named() -> None:
    assert measure_named("chi2") is MEASURES["chi2"]
    with pytest.raises(LikelyError, match="Did you mean 'gain_ratio'"):
        measure_named("gainratio")


@pytest.mark.parametrize("measure", MEASURES.values(), ids=list(MEASURES))
def test_what_is_no_table_is_refused(measure: Callable[..., float]) -> None:
    for table in ([1, 2], [[1, -1]], [[np.nan, 1]]):
        with pytest.raises(LikelyError):
            measure(table)
