"""What is noise: intervals that hold what they promise, and the simplest of those that are good, by an oracle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin

from likely import compare
from likely.comparison import Comparison
from likely.comparison.comparison import difference, variance_inflation
from likely.teaching import datasets

FOLDS = 5


class Reader(ClassifierMixin, BaseEstimator):
    """Says what one column says; learns nothing, so its mistakes are known beforehand."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(X[:, self.column]).astype(int)


def opinions(seed: int, n: int = 240) -> tuple[NDArray[Any], NDArray[Any]]:
    """Columns that are wrong in some of the rows, partly in the same ones, and the truth."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    hard = rng.random(n) < 0.5
    columns = [np.where(rng.random(n) < rate * np.where(hard, 1.6, 0.4), 1 - y, y) for rate in (0.08, 0.1, 0.14, 0.22)]
    return np.column_stack(columns).astype(float), y


@pytest.mark.parametrize("seed", range(12))
def test_the_simplest_that_is_not_worse_by_an_oracle(seed: int) -> None:
    """Paired t intervals of scipy, widened by hand; the least simplicity among those that reach zero."""
    X, y = opinions(seed)
    wrong = (y[:, None] != X).astype(float)
    order = np.random.default_rng(seed).permutation(4)
    best = min(range(4), key=lambda k: (wrong[:, k].sum(), order[k]))
    factor = np.sqrt(1.0 + FOLDS / (FOLDS - 1.0))
    low = {}
    for k in range(4):
        if (wrong[:, k] == wrong[:, best]).all():
            low[k] = 0.0
            continue
        interval = stats.ttest_rel(wrong[:, k], wrong[:, best]).confidence_interval(0.95)
        mean = float((wrong[:, k] - wrong[:, best]).mean())
        low[k] = mean - factor * (mean - interval.low)
    simplest = min((k for k in range(4) if low[k] <= 0.0), key=lambda k: order[k])

    judged = compare(X, y, {str(k): Reader(k) for k in range(4)}, cv=FOLDS)
    entries = [
        replace(entry, simplicity=int(order[int(entry.name)])) for entry in judged.entries if not entry.is_majority
    ]
    board = Comparison(entries, [], "error", variance_inflation(FOLDS, len(y)))
    frame = board.to_frame()
    assert board.best == str(best)
    assert board.simplest == str(simplest)
    assert frame.index[frame["simplest"]].tolist() == [str(simplest)]
    for k in range(4):
        assert frame.loc[str(k), "error"] == pytest.approx(wrong[:, k].mean())
        assert frame.loc[str(k), "low"] == pytest.approx(low[k], abs=1e-12)
        assert frame.loc[str(k), "within_noise"] == (low[k] <= 0.0)


def test_the_oracle_sees_all_answers() -> None:
    """The columns above are such that sometimes the best, and sometimes a simpler and worse one, is marked."""
    marks = set()
    for seed in range(12):
        X, y = opinions(seed)
        judged = compare(X, y, {str(k): Reader(k) for k in range(4)}, cv=FOLDS)
        marks |= {bool(line) for line in judged.to_frame().drop(index=judged.majority)["within_noise"]}
    assert marks == {False, True}


@pytest.mark.parametrize(("size", "covered"), [(1, 0.95), (6, 0.95)])
def test_intervals_cover_what_they_promise(size: int, covered: float) -> None:
    """Rows that come in groups of equals count as one each; taken for single rows they would promise too much."""
    rng, n_groups, truth, hits, alone = np.random.default_rng(3), 40, 0.1, 0, 0
    unit = np.repeat(np.arange(n_groups), size)
    for _ in range(1500):
        gap = rng.choice([-1.0, 0.0, 1.0], n_groups, p=[0.15, 0.6, 0.25])[unit]
        found = difference(gap, np.ones(len(gap)), unit, 1.0)
        single = difference(gap, np.ones(len(gap)), np.arange(len(gap)), 1.0)
        hits += found.low <= truth <= found.high
        alone += single.low <= truth <= single.high
    assert hits / 1500 == pytest.approx(covered, abs=0.02)
    assert (alone / 1500 < 0.7) == (size > 1)


def test_a_weight_of_two_is_two_rows_of_one_unit() -> None:
    gap, weight = np.random.default_rng(0).normal(size=20), np.arange(1, 21) % 3 + 1
    unit = np.arange(20)
    once = difference(gap, weight.astype(float), unit, 1.0)
    repeated = difference(gap.repeat(weight), np.ones(weight.sum()), unit.repeat(weight), 1.0)
    assert (once.mean, once.low, once.high) == pytest.approx((repeated.mean, repeated.low, repeated.high))


def test_a_narrow_terminal_has_no_line_that_is_too_long_in_the_table() -> None:
    board = compare(datasets.golf(), "play", ["naive Bayes", "tree"], cv=7)
    table = board.text(80).split("\n\n")[1].splitlines()
    assert max(map(len, table)) <= 80
    assert "log loss" in table[0] and "size" not in table[0]
    assert board.text() == str(board) == board.text(80)
    assert "size" in board.text(200)
    assert max(map(len, str(board).splitlines())) <= 80
