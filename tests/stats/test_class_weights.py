"""Rows and weights of the classes: counted in blocks, joined by label, and taken out again."""

from __future__ import annotations

import numpy as np
import pytest

from likely.errors import DataError, NotMergeable
from likely.stats import ClassWeights, class_weights


def of(labels: list[str], weights: list[float], rows: list[int]) -> ClassWeights:
    return ClassWeights(np.array(labels, dtype=object), np.array(weights, dtype=float), np.array(rows, dtype=np.int64))


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 7, 200_003])
def test_labels_are_counted_whatever_blocks_and_fours_they_make(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.random.default_rng(n).integers(0, 3, n).astype(np.int32)
    labels = np.array(["a", "b", "c", "never"], dtype=object)
    for block_rows in (class_weights.BLOCK_ROWS, 1):
        monkeypatch.setattr(class_weights, "BLOCK_ROWS", block_rows)
        for n_jobs in (1, 2):
            seen = ClassWeights.observe(labels, y, n_jobs=n_jobs)
            assert seen.rows.tolist() == np.bincount(y, minlength=4).tolist() == seen.weights.tolist()
            assert seen.rows.dtype == np.int64 and seen.weights.dtype == np.float64
    weighted = ClassWeights.observe(labels, y, np.full(n, 0.5))
    assert weighted.rows.tolist() == seen.rows.tolist()
    assert weighted.weights.tolist() == (0.5 * seen.rows).tolist()


def test_classes_are_joined_by_their_labels() -> None:
    a, b = of(["x", "y"], [1.5, 2.0], [1, 2]), of(["y", "z"], [0.5, 4.0], [3, 1])
    both = a + b
    assert both.labels.tolist() == ["x", "y", "z"]
    assert both.weights.tolist() == [1.5, 2.5, 4.0] and both.rows.tolist() == [1, 5, 1]
    labels, mine, theirs = a.union(b)
    assert labels.tolist() == ["x", "y", "z"] and mine.tolist() == [0, 1, -1] and theirs.tolist() == [-1, 0, 1]
    assert both.where(b).tolist() == [-1, 0, 1]
    assert len(both) == 3 and len(ClassWeights.empty()) == 0


def test_a_class_leaves_with_its_last_row() -> None:
    left = of(["x", "y"], [1.5, 2.0], [1, 2]) - of(["x", "y"], [1.5, 0.5], [1, 1])
    assert left.labels.tolist() == ["y"] and left.weights.tolist() == [1.5] and left.rows.tolist() == [1]
    assert len(of(["x"], [1.0], [1]) - of(["x"], [1.0], [1])) == 0


def test_what_was_never_learned_cannot_leave() -> None:
    seen = of(["x", "y"], [1.5, 2.0], [1, 2])
    with pytest.raises(NotMergeable, match="class 'z' was never learned"):
        seen - of(["z"], [1.0], [1])
    for weights, rows in (([1.0], [2]), ([3.0], [1])):
        with pytest.raises(NotMergeable, match="than ever came in"):
            seen - of(["x"], weights, rows)


def test_together_they_may_weigh_no_more_than_can_be_counted() -> None:
    heavy = of(["x", "y"], [6e99, 0.0], [1, 0])
    assert (heavy + of(["y"], [4e99], [1])).weights.tolist() == [6e99, 4e99]
    with pytest.raises(NotMergeable, match="most that can be counted"):
        heavy + of(["y"], [5e99], [1])


@pytest.mark.parametrize(
    ("weights", "rows"), [([1.0], [1, 1]), ([1.0, 1.0], [1]), ([1.0, 1.0], [1, -1]), ([1.0, -1.0], [1, 1])]
)
def test_unsound_classes(weights: list[float], rows: list[int]) -> None:
    of(["x", "y"], [0.0, 1.0], [0, 1]).validate()
    with pytest.raises(DataError):
        of(["x", "y"], weights, rows).validate()
