"""Rows give the same sums wherever they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.models.evidence import row_source as kept_in_memory
from likely.models.evidence import spill as kept_on_disk
from likely.models.evidence.row_source import FEW_CODES, MAX_SEARCH_ROWS, RowsInMemory, max_search_rows, text_offset
from likely.models.evidence.spill import DiskRows, RowBuffer, SpillDirectory
from likely.models.evidence.text_scores import N_FOLDS, assign_folds
from likely.parallel import WorkerPool

STARTS = np.array([0, 5, 10], dtype=np.int32)
N_CELLS = 15


def arrays(n: int, n_classes: int, n_texts: int, kinds: int = 5) -> tuple[Any, ...]:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, kinds, (n, 3)).astype(np.uint8)
    said = rng.normal(size=(n, n_texts * (1 if n_classes == 2 else n_classes)))
    return codes, rng.integers(0, n_classes, n).astype(np.int32), rng.random(n), said


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SpillDirectory]:
    """A shelf, and blocks that are so small that there are many."""
    monkeypatch.setattr(kept_in_memory, "BLOCK_CODES", 300)
    monkeypatch.setattr(kept_in_memory, "MIN_BLOCK_ROWS", 64)
    for module in (kept_in_memory, kept_on_disk):
        monkeypatch.setattr(module, "DEDUPLICATED_ROWS", 400)
    with SpillDirectory(tmp_path) as shelf:
        yield shelf


def both(shelf: SpillDirectory, given: tuple[Any, ...], n_classes: int) -> tuple[RowsInMemory, DiskRows]:
    """The same rows in memory and on disk, which came in two pieces."""
    found = []
    for where in (None, shelf):
        keeping = RowBuffer(given[0].shape[1], given[3].shape[1], where)
        for part in (slice(0, 333), slice(333, None)):
            keeping.append(*(array[part] for array in given))
        found.append(keeping.rows(n_classes, WorkerPool(2)))
    memory, disk = found
    assert isinstance(memory, RowsInMemory)
    assert isinstance(disk, DiskRows)
    return memory, disk


@pytest.mark.parametrize(("n_classes", "n_texts"), [(2, 0), (3, 0), (2, 1), (3, 2)])
def test_every_sum_is_the_same_on_disk_bit_by_bit(shelf: SpillDirectory, n_classes: int, n_texts: int) -> None:
    memory, disk = both(shelf, arrays(1000, n_classes, n_texts), n_classes)
    rng = np.random.default_rng(0)
    tables, base = rng.normal(size=(N_CELLS, memory.n_scores)), rng.normal(size=memory.n_scores)
    if n_texts:
        trust = rng.random(n_texts)
        memory, disk = memory.with_offset(trust), disk.with_offset(trust)
        np.testing.assert_array_equal(memory.offset, text_offset(memory.text_scores, trust))
    for a, b in [(memory, disk), (memory.without_offset(), disk.without_offset())]:
        assert len(a) == len(b) == 1000
        for mine, theirs in zip(
            a.loss_and_gradient(STARTS, tables, base), b.loss_and_gradient(STARTS, tables, base), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(a.class_weights(), b.class_weights())
        np.testing.assert_array_equal(a.cell_weights(STARTS, N_CELLS), b.cell_weights(STARTS, N_CELLS))
        np.testing.assert_array_equal(a.class_counts(STARTS, N_CELLS), b.class_counts(STARTS, N_CELLS))
    some = np.array([0, 1, 332, 333, 334, 700, 999])
    for a, b in [(memory.take(some), disk.take(some)), (memory.in_memory(), disk.in_memory())]:
        for name in ("codes", "y", "weight", "offset", "text_scores"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert len(disk.take(some[:0])) == 0


def test_blocks_add_up_to_one_pass_over_all_rows(shelf: SpillDirectory) -> None:
    memory, disk = both(shelf, arrays(1000, 3, 0), 3)
    tables, base = np.random.default_rng(0).normal(size=(N_CELLS, 3)), np.zeros(3)
    assert len(disk.block_slices(slice(0, 1000))) == 10
    assert disk.block_slices(slice(0, 0)) == [slice(0, 0)]
    scores = memory.scores(STARTS, tables, base)
    share = np.exp(scores) / np.exp(scores).sum(axis=1)[:, None]
    wrong = memory.weight[:, None] * (share - np.eye(3)[memory.y])
    loss, slope, base_slope = disk.loss_and_gradient(STARTS, tables, base)
    assert loss == pytest.approx(-(memory.weight * np.log(share[np.arange(1000), memory.y])).sum())
    np.testing.assert_allclose(base_slope, wrong.sum(axis=0), atol=1e-10)
    for place in range(3):
        for code in range(5):
            np.testing.assert_allclose(
                slope[STARTS[place] + code], wrong[memory.codes[:, place] == code].sum(axis=0), atol=1e-10
            )


def test_rows_are_seen_by_other_codes_when_they_are_read(shelf: SpillDirectory) -> None:
    memory, disk = both(shelf, arrays(1000, 2, 0), 2)

    def doubled(codes: Any) -> Any:
        return np.concatenate([codes, codes], axis=1).astype(np.uint16)

    a, b = memory.recode(doubled, 6), disk.recode(doubled, 6)
    assert a.n_codes == b.n_codes == 6
    np.testing.assert_array_equal(a.codes, b.in_memory().codes)
    assert b.in_memory().codes.dtype == np.uint16


def test_few_codes_take_two_bytes_and_many_are_left_as_they_are() -> None:
    for n, wanted in ((100, np.uint16), (FEW_CODES, np.uint8)):
        rows = RowBuffer(3, 0, None)
        rows.append(*arrays(n, 2, 0))
        memory = rows.rows(2, WorkerPool(1)).in_memory()
        same, halved = memory.recode(lambda codes: codes, 3), memory.recode(lambda codes: codes // 2, 3)
        assert same.codes.dtype == halved.codes.dtype == wanted
        np.testing.assert_array_equal(same.codes, memory.codes)
        np.testing.assert_array_equal(halved.codes, memory.codes // 2)


@pytest.mark.parametrize("kinds", [2, 5])
def test_rows_that_are_alike_are_taken_together(shelf: SpillDirectory, kinds: int) -> None:
    memory, disk = both(shelf, arrays(1000, 2, 0, kinds), 2)
    a, b = memory.deduplicate(), disk.deduplicate()
    assert len(a) == len(b) < (60 if kinds == 2 else 600)
    for name in ("codes", "y", "weight"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b.in_memory(), name))
    np.testing.assert_allclose(a.cell_weights(STARTS, N_CELLS), memory.cell_weights(STARTS, N_CELLS))
    wide = np.random.default_rng(0).integers(0, 200, (1000, 3)).astype(np.uint8)
    for rows in both(shelf, (wide, *arrays(1000, 2, 0)[1:]), 2):
        assert rows.deduplicate() is rows
    told = both(shelf, arrays(1000, 2, 1, 2), 2)
    for rows in told:
        assert rows.with_offset(np.ones(1)).deduplicate().in_memory().offset.shape == (1000, 1)


@given(st.integers(0, 40), st.integers(0, 60), st.integers(0, 5))
def test_rows_are_dealt_out_by_their_numbers(first: int, n_rows: int, seed: int) -> None:
    whole = assign_folds(0, 100, seed)
    np.testing.assert_array_equal(assign_folds(first, n_rows, seed), whole[first : first + n_rows])
    for five in whole.reshape(-1, N_FOLDS):
        assert sorted(five.tolist()) == list(range(N_FOLDS))


def test_rows_are_dealt_out_by_chance() -> None:
    part = assign_folds(0, 50_000, 0)
    for k in range(N_FOLDS):
        assert np.bincount(part[k::N_FOLDS], minlength=N_FOLDS).min() > 1800
    assert (part != assign_folds(0, 50_000, 1)).mean() > 0.5


@pytest.mark.parametrize("n_scores", [1, 3, 83, 100, 1000, 4096, 20_000])
def test_scores_of_the_rows_that_choose_are_bounded_unless_classes_were_lost(n_scores: int) -> None:
    n_rows = max_search_rows(n_scores)
    assert n_rows <= MAX_SEARCH_ROWS
    assert n_rows * n_scores <= max(1 << 24, 5 * n_scores**2)
    assert n_rows >= min(5 * n_scores, MAX_SEARCH_ROWS)
    assert n_scores > 83 or n_rows == MAX_SEARCH_ROWS, "usual tables lose nothing"
