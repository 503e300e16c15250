"""Many columns of strings, with gaps and near-identifiers: every classifier ends, finite and better than chance.

A thousand rows in the usual run; LIKELY_TORTURE=full takes more than are solved or counted in the same way.
"""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

import likely
from likely.models.registry import entries

N_COLUMNS, N_NEW = 60, 200
N_ROWS = 12_500 if os.environ.get("LIKELY_TORTURE") == "full" else 1000
MODELS = [entry for entry in entries() if entry.reads_tables]


def wide(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Columns of 2 to n_rows / 5 values, every tenth with as many values as rows; every third has gaps. `y` shows in
    the first twelve."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    columns: dict[str, np.ndarray] = {}
    for k in range(N_COLUMNS):
        n_values = (2, 3, 5, 12, 40, 100, 300, n_rows // 5)[k % 8]
        values = rng.permutation(n_rows) if k % 10 == 9 else rng.integers(0, n_values, n_rows)
        if k < 12:
            values = np.where(rng.random(n_rows) < 0.6, y % n_values, values)
        cells = np.array([f"v{value}" for value in values], dtype=object)
        if k % 3 == 0:
            cells[rng.random(n_rows) < 0.05] = None
        columns[f"c{k}"] = cells
    return pd.DataFrame({**columns, "y": np.array(["a", "b", "c"])[y]})


@pytest.mark.parametrize("kinds", ["as they look", "nominal"])
@pytest.mark.parametrize("entry", MODELS, ids=lambda entry: entry.name)
def test_wide_tables_of_strings(entry: likely.models.registry.Entry, kinds: str) -> None:
    rows = wide(N_ROWS + N_NEW)
    new = rows[N_ROWS:].reset_index(drop=True)
    new.loc[0, "c0":"c59"] = "never seen"
    new.loc[1, "c0":"c59"] = None
    schema = None if kinds == "as they look" else {f"c{k}": "nominal" for k in range(N_COLUMNS)}
    clf = entry.make(schema=schema).fit(rows[:N_ROWS], "y")
    shares = clf.predict_proba(new)
    assert shares.shape == (N_NEW, 3)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-9)
    assert (clf.predict(new) == new["y"]).mean() > 0.5
