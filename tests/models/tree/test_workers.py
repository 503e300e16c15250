"""Threads change how long a tree takes, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely import TreeClassifier
from likely.models.tree import level
from likely.models.tree.level import TreeWorkers

SETTINGS: list[dict[str, Any]] = [
    {},
    {"binned": True, "measure": "information_gain"},
    {"binned": True, "measure": "gini"},
    {"missing": "surrogates"},
    {"missing": "surrogates", "binned": True},
    {"subsets": True},
    {"binary": True},
    {"restrained": True},
    {"prune": "cost_complexity", "max_depth": 5},
]


def table(gaps: float) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 600)
    numbers = {f"n{j}": np.where(rng.random(600) < gaps, np.nan, rng.normal(size=600) + y * (j < 2)) for j in range(4)}
    words = {f"w{j}": rng.choice(list("abcde"), 600) for j in range(2)}
    return pd.DataFrame(numbers | words), np.array(["low", "middle", "top"])[y]


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_same_tree_by_any_number_of_threads(
    settings: dict[str, Any], gaps: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = table(gaps)
    alone = TreeClassifier(n_jobs=1, **settings).fit(X, y).to_json()
    monkeypatch.setattr(level, "MIN_PARALLEL_CASES", 1)
    monkeypatch.setattr(level, "CHUNK_CASES", 50)
    alone_in_chunks = TreeClassifier(n_jobs=1, **settings).fit(X, y).to_json()
    assert gaps or alone_in_chunks == alone
    alone = alone_in_chunks
    for n_jobs in (2, 7):
        assert TreeClassifier(n_jobs=n_jobs, **settings).fit(X, y).to_json() == alone


def test_what_goes_wrong_in_a_thread_is_said_outside() -> None:
    with pytest.raises(ZeroDivisionError):
        list(TreeWorkers(2).each(lambda k: 1 // k, [1, 0, 1], level.MIN_PARALLEL_CASES))
