"""The compiled measures of a split are those of `likely.measures`, for any weights, and for whole cases."""

from __future__ import annotations

import numpy as np
import pytest

from likely.measures import MEASURES
from likely.models.tree.split_measures import (
    GAIN,
    IDS,
    WITHOUT_LOGARITHMS,
    binary_split_value,
    branch_term,
    logarithms,
    parent_term,
    split_value,
    xlogx,
)
from likely.models.tree.unit_weights import parent_term_by_counts, ratio, value_by_counts

LOGS = logarithms(500)


def test_every_measure_is_compiled() -> None:
    assert list(IDS) == list(MEASURES)
    assert list(IDS.values()) == list(range(len(MEASURES)))


@pytest.mark.parametrize("step", [1.0, 0.25, 1.0 / 3.0])
@pytest.mark.parametrize("name", MEASURES)
def test_any_number_of_branches(name: str, step: float) -> None:
    rng = np.random.default_rng(4)
    for n_branches in (2, 3, 5):
        table = rng.integers(1, 20, (n_branches, 3)) * step
        known, sizes, n = table.sum(axis=0), table.sum(axis=1), float(table.sum())
        cells = sum(branch_term(IDS[name], table[j], sizes[j], known, LOGS) for j in range(n_branches))
        of_sizes = sum(xlogx(float(size), LOGS) for size in sizes)
        whole = parent_term(IDS[name], known, n, LOGS)
        found = split_value(IDS[name], n, xlogx(n, LOGS), whole, cells, of_sizes)
        assert found == pytest.approx(MEASURES[name](table.T), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_two_branches(name: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        table = rng.integers(1, 30, (2, 4)).astype(float)
        known, n = table.sum(axis=0), float(table.sum())
        whole = parent_term(IDS[name], known, n, LOGS)
        found = binary_split_value(
            IDS[name], table[0], float(table[0].sum()), np.empty(4), known, n, xlogx(n, LOGS), whole, LOGS
        )
        assert found == pytest.approx(MEASURES[name](table.T), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_two_branches_of_whole_cases(name: str) -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        table = rng.integers(1, 30, (2, 4))
        known, n, n_left = table.sum(axis=0), int(table.sum()), int(table[0].sum())
        if IDS[name] in WITHOUT_LOGARITHMS:
            found = value_by_counts(IDS[name], table[0], known, n_left, n, parent_term_by_counts(IDS[name], known, n))
        else:
            whole, cells = float(LOGS[known].sum()), float(LOGS[table].sum())
            sizes = float(LOGS[n_left] + LOGS[n - n_left])
            gain = LOGS[n] - whole - sizes + cells
            found = gain / n if IDS[name] == GAIN else ratio(IDS[name], gain, LOGS[n], whole, cells, sizes)
        assert found == pytest.approx(MEASURES[name](table.T), rel=1e-9, abs=1e-12)
