"""The compiled measures of a split are those of `likely.measures`, for any weights, and for whole cases."""

from __future__ import annotations

import numpy as np
import pytest

from likely.measures import MEASURES
from likely.models.tree.split_measures import (
    IDS,
    WITHOUT_LOGARITHMS,
    binary_split_value,
    branch_term,
    logarithms,
    parent_term,
    split_value,
    xlogx,
)

TABLE = logarithms(500)
LOGS = {name: None if IDS[name] in WITHOUT_LOGARITHMS else TABLE for name in MEASURES}


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
        logs = LOGS[name]
        cells = sum(branch_term(IDS[name], table[j], sizes[j], known, logs) for j in range(n_branches))
        of_sizes = sum(xlogx(float(size), logs) for size in sizes)
        whole = parent_term(IDS[name], known, n, logs)
        found = split_value(IDS[name], n, xlogx(n, logs), whole, cells, of_sizes, logs)
        assert found == pytest.approx(MEASURES[name](table.T), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("dtype", [float, int])
@pytest.mark.parametrize("name", MEASURES)
def test_two_branches(name: str, dtype: type) -> None:
    """Of fractions, and of whole cases."""
    rng, logs = np.random.default_rng(5), LOGS[name]
    for _ in range(20):
        table = rng.integers(1, 30, (2, 4)).astype(dtype)
        known, sizes, n = table.sum(axis=0), table.sum(axis=1), dtype(table.sum())
        whole = parent_term(IDS[name], known, n, logs)
        sides = table[0], dtype(sizes[0]), table[1], dtype(sizes[1])
        found = binary_split_value(IDS[name], *sides, known, n, xlogx(n, logs), whole, logs)
        assert found == pytest.approx(MEASURES[name](table.T), rel=1e-9, abs=1e-12)
