"""Which questions a tree asks: the one that gains most, by sums that are those of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from likely.models.evidence.boosted_rows import LEAF_PRECISION
from likely.models.evidence.ensemble import MAX_QUESTIONS
from likely.models.evidence.questions import MIN_SHARED, Kinds, QuestionSearch
from likely.parallel import WorkerPool

SIZES = np.array([10, 6], dtype=np.int64)
NUMERIC = np.array([True, False])
Codes = NDArray[np.uint8]
Asked = list[tuple[int, list[int]]]


def kinds(gaps: tuple[bool, bool] = (False, False)) -> Kinds:
    return Kinds(SIZES, NUMERIC, np.array(gaps))


def questions(
    codes: Codes, gradient: NDArray[np.float64], known: Kinds, curvature: NDArray[np.float64] | None = None,
    n_given: int = 0, threads: int = 1,
) -> Asked:  # fmt: skip
    """The columns that a tree asks about, and the codes of side 1."""
    columns, sides = np.zeros(MAX_QUESTIONS, dtype=np.int32), np.zeros((MAX_QUESTIONS, 256), dtype=np.uint8)
    sides[:n_given, 5:] = 1
    curvature = np.full(codes.shape[1], 0.25) if curvature is None else curvature
    search = QuestionSearch(known, len(codes), gradient.shape[1], WorkerPool(threads))
    search.choose(codes, np.arange(len(codes)), (gradient, curvature), n_given, columns, sides)
    return [(int(c), np.flatnonzero(side).tolist()) for c, side in zip(columns, sides, strict=True) if side.any()]


def first(codes: Codes, wanted: NDArray[np.bool_], gaps: tuple[bool, bool] = (False, False)) -> tuple[int, list[int]]:
    """The first question where some rows want a higher score."""
    return questions(codes, np.where(wanted, -0.5, 0.5)[:, None], kinds(gaps))[0]


@pytest.fixture
def codes() -> Codes:
    rng = np.random.default_rng(0)
    return np.stack([rng.integers(1, size, 4000) for size in SIZES]).astype(np.uint8)


def test_a_number_is_cut_where_it_changes(codes: Codes) -> None:
    assert first(codes, codes[0] > 3) == (0, [4, 5, 6, 7, 8, 9])


def test_a_gap_may_go_with_either_side(codes: Codes) -> None:
    assert first(codes, (codes[0] > 3) & (codes[0] < 9), (True, False)) == (0, [4, 5, 6, 7, 8])
    assert first(codes, codes[0] > 3, (True, False)) == (0, [4, 5, 6, 7, 8, 9])


def test_categories_are_taken_out_together_or_alone(codes: Codes) -> None:
    column, apart = first(codes, np.isin(codes[1], [1, 4]))
    assert column == 1
    assert apart in ([1, 4], [2, 3, 5])
    column, apart = first(codes, codes[1] == 3)
    assert column == 1
    assert apart in ([3], [1, 2, 4, 5])


def test_nothing_is_asked_where_nothing_is_left(codes: Codes) -> None:
    assert questions(codes, np.zeros((4000, 1)), kinds()) == []
    assert questions(codes, np.zeros((4000, 1)), kinds(), np.zeros(4000)) == []


def gain(leaf: NDArray[np.intp], gradient: NDArray[np.float64], curvature: NDArray[np.float64]) -> float:
    """Σ G² / (H + λ) over leaves."""
    h = np.bincount(leaf, weights=curvature, minlength=64) + LEAF_PRECISION
    return float(sum((np.bincount(leaf, weights=g, minlength=64) ** 2 / h).sum() for g in gradient.T))


@pytest.mark.parametrize("n_mixtures", [1, 2, 3, 4])
@pytest.mark.parametrize("n_given", [0, 2])
def test_each_question_gains_most_of_all_cuts_of_numbers(n_mixtures: int, n_given: int) -> None:
    rng = np.random.default_rng(n_mixtures)
    sizes = np.array([7, 12, 40])
    codes = np.stack([rng.integers(1, size, 3000) for size in sizes]).astype(np.uint8)
    gradient = rng.normal(size=(3000, n_mixtures)) + 0.3 * rng.permutation(codes[1] // 4)[:, None]
    gradient[:, 0] += np.where((codes[0] > 3) & (codes[2] > 11), 1.0, -0.2)
    curvature = rng.random(3000)
    asked = questions(
        codes, gradient, Kinds(sizes, np.ones(3, dtype=bool), np.zeros(3, dtype=bool)), curvature, n_given
    )
    given = [(0, list(range(5, 256)))] * n_given
    assert asked[:n_given] == given
    assert len(asked) == MAX_QUESTIONS
    leaf = np.zeros(3000, dtype=np.intp)
    for k, (column, side) in enumerate(asked):
        found = 2 * leaf + np.isin(codes[column], side)
        if k >= n_given:
            every = [2 * leaf + (codes[c] > cut) for c in range(3) for cut in range(1, sizes[c] - 1)]
            assert gain(found, gradient, curvature) >= max(gain(one, gradient, curvature) for one in every) * (1 - 1e-6)
        leaf = found


def test_threads_ask_the_same() -> None:
    rng = np.random.default_rng(0)
    n = MIN_SHARED // 2
    codes = np.stack([rng.integers(1, size, n) for size in SIZES]).astype(np.uint8)
    gradient = rng.normal(size=(n, 1)) + (codes[0] > 4)[:, None] * (codes[1] == 2)[:, None]
    assert questions(codes, gradient, kinds()) == questions(codes, gradient, kinds(), threads=2)
