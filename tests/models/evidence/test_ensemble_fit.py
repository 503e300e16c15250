"""How trees grow, and when growing ends."""

from __future__ import annotations

import numpy as np
import pytest

from likely.models.evidence.encoding import BinnedNumber, CodedCategories, Encoding
from likely.models.evidence.ensemble_fit import (
    MAX_MIXTURES,
    MAX_QUESTION_ROWS,
    PATIENCE,
    ensemble_scores,
    grow,
    max_rounds,
    settle,
)
from likely.models.evidence.row_source import RowsInMemory, log_prior
from likely.parallel import WorkerPool

SIZES = np.array([10, 6], dtype=np.int64)


def encoded(n: int, n_classes: int, seed: int, told: bool = True) -> tuple[Encoding, RowsInMemory]:
    """Rows of two columns whose codes together tell the class, or nothing."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(1, size, n) for size in SIZES], axis=1).astype(np.uint8)
    y = (codes[:, 0].astype(np.int32) // 3 + codes[:, 1] // 2) % n_classes if told else rng.integers(0, n_classes, n)
    groups, ones = np.arange(10, dtype=np.uint8), np.ones(9)
    number = BinnedNumber("number", np.arange(8.0), np.arange(9.0), ones, groups, groups, False)
    word = CodedCategories("word", tuple("abcde"), (), np.ones(5), groups[:6], groups[:6], False)
    offset = np.zeros((0, 1 if n_classes == 2 else n_classes))
    return Encoding((number, word), 5), RowsInMemory(
        codes, y.astype(np.int32), np.ones(n), n_classes, offset, WorkerPool(1)
    )


@pytest.mark.parametrize("n_classes", [2, 3, MAX_MIXTURES + 2])
def test_trees_learn_what_columns_say_together(n_classes: int) -> None:
    encoding, train = encoded(2000, n_classes, 1)
    _, test = encoded(500, n_classes, 2)
    trees, losses = grow(encoding, train, 60, test)
    assert losses[-1] < 0.2 * losses[0]
    assert len(losses) == len(trees) + 1
    scores = ensemble_scores(trees, test, log_prior(train.class_weights()))
    found = (scores[:, 0] > 0.0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
    assert (found == test.y).mean() > 0.95


def test_noise_ends_growing() -> None:
    encoding, train = encoded(2000, 2, 3, told=False)
    _, test = encoded(500, 2, 4, told=False)
    trees, losses = grow(encoding, train, 100, test)
    assert len(trees) <= 2 * PATIENCE
    assert int(np.argmin(losses)) <= PATIENCE


def test_without_held_out_rows_it_is_so_many_rounds_and_time_may_end_it() -> None:
    encoding, train = encoded(500, 3, 5)
    trees, losses = grow(encoding, train, 7)
    assert (len(trees), losses) == (7, [])
    trees, _ = grow(encoding, train, 50, train, lambda: False)
    assert len(trees) == 1


def test_an_offset_is_where_trees_begin() -> None:
    encoding, train = encoded(1000, 2, 6)
    known = RowsInMemory(
        train.codes, train.y, train.weight, 2, np.where(train.y == 1, 20.0, -20.0)[:, None], WorkerPool(1)
    )
    trees, _ = grow(encoding, known, 5)
    assert np.abs(trees.leaves).max() < 1e-6


def test_many_rows_choose_questions_in_turn_and_leaves_have_all() -> None:
    encoding, train = encoded(2 * MAX_QUESTION_ROWS + 7, 3, 7)
    _, test = encoded(500, 3, 8)
    trees, losses = grow(encoding, train, 30, test)
    assert losses[-1] < 0.2 * losses[0]
    assert np.allclose(trees.covers.sum(axis=1), len(train))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_leaves_are_settled_as_they_grow(n_classes: int) -> None:
    encoding, rows = encoded(3000, n_classes, 0)
    trees, _ = grow(encoding, rows, 6)
    again = settle([trees], rows)
    np.testing.assert_array_equal(again.leaves, trees.leaves)
    np.testing.assert_array_equal(again.covers, trees.covers)
    other, _ = grow(encoding, encoded(3000, n_classes, 1)[1], 4)
    both = settle([trees, other], rows)
    assert len(both) == 4
    for t in range(4):
        asked = (trees, other)[t % 2]
        assert (both.sides[t] == asked.sides[t]).all()
    assert both.covers.sum(axis=1) == pytest.approx(3000.0)


def test_many_classes_have_fewer_trees() -> None:
    assert [max_rounds(n) for n in (1, 10, 60)] == [600, 600, 100]
