"""Cuts where the classes change, found from counts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from likely import EvidenceClassifier
from likely.models.evidence.edges import MAX_CLASSES, MAX_LEAVES, MIN_LEAF_ROWS, informative_cuts
from likely.stats import Histogram


def cut_numbers(x: NDArray[np.float64], y: NDArray[np.int32], weight: float = 1.0) -> list[float]:
    """The least number beyond each cut."""
    seen = Histogram.observe(x, y, np.full(len(x), weight), int(y.max()) + 1)
    return [float(seen.lows()[place]) for place in informative_cuts(seen.counts, 1.0 / weight)]


@pytest.fixture
def tail() -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """A limit that two of a hundred rows exceed, and that decides."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 1000, 3000) / 10.0
    return x, (x >= 98.3).astype(np.int32)


def test_a_limit_in_the_tail_is_found_where_it_lies(tail: tuple[NDArray[np.float64], NDArray[np.int32]]) -> None:
    assert cut_numbers(*tail) == [98.3]


def test_weights_do_not_make_cuts_surer(tail: tuple[NDArray[np.float64], NDArray[np.int32]]) -> None:
    x, y = tail
    noisy = np.where(np.random.default_rng(1).random(len(y)) < 0.45, 1 - y, y).astype(np.int32)
    assert cut_numbers(x, noisy) == cut_numbers(x, noisy, weight=1000.0)


def test_parts_that_are_added_have_the_cuts_of_the_whole(
    tail: tuple[NDArray[np.float64], NDArray[np.int32]],
) -> None:
    x, y = tail
    parts = [Histogram.observe(x[k::3], y[k::3], None, 2) for k in range(3)]
    whole = Histogram.observe(x, y, None, 2)
    together = parts[2] + parts[0] + parts[1]
    assert informative_cuts(together.counts, 1.0).tolist() == informative_cuts(whole.counts, 1.0).tolist()


def test_noise_is_hardly_ever_cut() -> None:
    rng = np.random.default_rng(2)
    tables = ((rng.normal(size=1000), rng.integers(0, 3, 1000).astype(np.int32)) for _ in range(100))
    assert sum(len(cut_numbers(x, y)) > 0 for x, y in tables) <= 5


def test_many_steps_give_eight_leaves_of_five_rows_at_least() -> None:
    x = np.arange(4000.0)
    y = (np.arange(4000) // 100 % 2).astype(np.int32)
    y[:3] = 1
    seen = Histogram.observe(x, y, None, 2)
    cuts = informative_cuts(seen.counts, 1.0)
    assert len(cuts) == MAX_LEAVES - 1
    rows = np.add.reduceat(seen.counts.sum(axis=0), [0, *cuts.tolist()])
    assert rows.min() >= MIN_LEAF_ROWS


@pytest.mark.parametrize("counts", [np.zeros((2, 0)), np.ones((2, 1)), np.ones((1, 9)), np.ones((MAX_CLASSES + 1, 9))])
def test_nothing_is_looked_for_where_nothing_can_be_found(counts: NDArray[np.float64]) -> None:
    assert len(informative_cuts(counts, 1.0)) == 0


def test_a_classifier_learns_a_sharp_limit(tail: tuple[NDArray[np.float64], NDArray[np.int32]]) -> None:
    rng = np.random.default_rng(3)
    x, y = tail
    table = {"limit": x, "noise": rng.normal(size=len(x))}
    clf = EvidenceClassifier(n_jobs=1).fit(table, y)
    below, above = clf.predict_proba({"limit": [98.2, 98.4], "noise": [0.0, 0.0]})[:, 1]
    assert below < 0.02
    assert above > 0.9


def test_a_merged_classifier_has_the_cuts_of_the_whole(tail: tuple[NDArray[np.float64], NDArray[np.int32]]) -> None:
    x, y = tail
    north, south = (EvidenceClassifier(max_pairs=0, n_jobs=1).fit({"x": x[k::2]}, y[k::2]) for k in range(2))
    whole = EvidenceClassifier(max_pairs=0, n_jobs=1).fit({"x": x}, y)
    merged = (north + south).table_of("x")
    assert merged["x"].tolist() == whole.table_of("x")["x"].tolist()
    assert any("98.25" in cell for cell in merged["x"])
