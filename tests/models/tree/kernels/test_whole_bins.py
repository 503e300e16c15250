"""The best edge between bins, where every case weighs 1, against the measures of every cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from likely.measures import MEASURES
from likely.models.tree.data import GAP_BIN as GAP
from likely.models.tree.level import Level, LevelPartition
from likely.models.tree.numeric_column import FEW_CASES, BinnedColumn, SortedColumn, score_edges
from likely.models.tree.split_measures import IDS, TIE, WITHOUT_LOGARITHMS, logarithms

N_BINS = 255
SIZES = (1, 2, 7, 40, 300, FEW_CASES, FEW_CASES + 1, 1500)


def nodes(n_classes: int, gaps: float) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int64]]:
    rng = np.random.default_rng(n_classes)
    n = sum(SIZES)
    labels = rng.integers(0, n_classes, n).astype(np.int32)
    codes = np.clip(rng.normal(100 + 20 * labels, 40), 0, N_BINS - 1).astype(np.uint8)
    codes[rng.random(n) < gaps] = GAP
    return codes, labels, np.concatenate([[0], np.cumsum(SIZES)])


def best_cut(
    measure: str, codes: NDArray[np.uint8], labels: NDArray[np.int32], n_classes: int, least: int
) -> tuple[float, int]:
    """Every bin with a case may be the last below the cut; of equals the last wins."""
    known = codes != GAP
    best, edge = 0.0, -1
    for last in np.unique(codes[known]):
        low = np.bincount(labels[known & (codes <= last)], minlength=n_classes)
        high = np.bincount(labels[known & (codes > last)], minlength=n_classes)
        if min(low.sum(), high.sum()) < least:
            continue
        value = MEASURES[measure](np.column_stack([low, high]), total=len(codes))
        if value > 0.0 and value >= best * (1.0 - TIE):
            best, edge = max(best, value), int(last)
    return best, edge


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("n_classes", [2, 3, 11])
@pytest.mark.parametrize("measure", MEASURES)
def test_the_best_of_all_cuts(measure: str, n_classes: int, gaps: float) -> None:
    codes, labels, starts = nodes(n_classes, gaps)
    slices = [slice(a, b) for a, b in pairwise(starts)]
    counts = np.array([np.bincount(labels[part], minlength=n_classes) for part in slices], dtype=np.float64)
    sizes, logs = np.array(SIZES, dtype=np.float64), None
    if IDS[measure] not in WITHOUT_LOGARITHMS:
        logs = logarithms(len(labels))
    scores, edges = np.empty(len(SIZES)), np.empty(len(SIZES), dtype=np.int64)
    found = (scores, np.zeros((len(SIZES), 2)), edges)
    table, tally = np.zeros((GAP + 1, n_classes), dtype=np.int64), np.zeros((3, n_classes), dtype=np.int64)
    for least in (1, 2, 20):
        score_edges(codes, starts, labels, None, table, tally, counts, sizes, IDS[measure], logs, least, *found)
        assert not table.any()
        expected = [best_cut(measure, codes[part], labels[part], n_classes, least) for part in slices]
        assert edges.tolist() == [edge for _, edge in expected]
        assert scores == pytest.approx([value for value, _ in expected], abs=1e-12)


@pytest.mark.parametrize("weights", [None, np.ones(6)])
def test_a_surrogate_has_cases_on_both_sides_of_its_cut(weights: NDArray[np.float64] | None) -> None:
    """The number 3 is of a case whose branch is not known: nothing is known of what lies above 2."""
    numbers = np.array([1.0, 2.0, 3.0, np.nan, np.nan, np.nan])
    branches = np.array([1, 1, -1, 0, 0, 0], dtype=np.int32)
    rows, counts = np.arange(6, dtype=np.int32), np.array([[6.0]])
    used = np.zeros((1, 1), dtype=np.uint8)
    level = Level(rows, np.zeros(6, dtype=np.int32), weights, np.array([0, 6]), counts, counts[0], used)
    chosen = LevelPartition.of(np.array([2], dtype=np.int32), branches)
    for column in (SortedColumn(0, numbers), BinnedColumn(0, numbers, np.array([1.5, 2.5]))):
        found = column.score_surrogates(level, chosen, np.array([0], dtype=np.int32))
        assert (found.gains.tolist(), found.at(0)) == ([2.0], (1.5, 1, 1))
