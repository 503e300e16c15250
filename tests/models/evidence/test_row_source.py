"""Rows give the same sums wherever they are kept, and a sample of them is fair."""

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
from likely.models.evidence.folds import FEWEST_OF_A_CLASS, fair_sample
from likely.models.evidence.row_source import Rows, known_by_texts
from likely.models.evidence.spill import Keeping, SpillDirectory, Spilled
from likely.models.evidence.text_scores import N_PARTS, dealt
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
    monkeypatch.setattr(kept_in_memory, "READ_CODES", 300)
    monkeypatch.setattr(kept_in_memory, "FEWEST_READ", 64)
    for module in (kept_in_memory, kept_on_disk):
        monkeypatch.setattr(module, "MERGED_ROWS", 400)
    with SpillDirectory(tmp_path) as shelf:
        yield shelf


def both(shelf: SpillDirectory, given: tuple[Any, ...], n_classes: int) -> tuple[Rows, Spilled]:
    """The same rows in memory and on disk, which came in two pieces."""
    found = []
    for where in (None, shelf):
        keeping = Keeping(given[0].shape[1], given[3].shape[1], where)
        for part in (slice(0, 333), slice(333, None)):
            keeping.append(*(array[part] for array in given))
        found.append(keeping.rows(n_classes, WorkerPool(2)))
    memory, disk = found
    assert isinstance(memory, Rows)
    assert isinstance(disk, Spilled)
    return memory, disk


@pytest.mark.parametrize(("n_classes", "n_texts"), [(2, 0), (3, 0), (2, 1), (3, 2)])
def test_every_sum_is_the_same_on_disk_bit_by_bit(shelf: SpillDirectory, n_classes: int, n_texts: int) -> None:
    memory, disk = both(shelf, arrays(1000, n_classes, n_texts), n_classes)
    rng = np.random.default_rng(0)
    tables, base = rng.normal(size=(N_CELLS, memory.n_scores)), rng.normal(size=memory.n_scores)
    if n_texts:
        trust = rng.random(n_texts)
        memory, disk = memory.trusting(trust), disk.trusting(trust)
        np.testing.assert_array_equal(memory.offset, known_by_texts(memory.texts, trust))
    for a, b in [(memory, disk), (memory.without_offset(), disk.without_offset())]:
        assert len(a) == len(b) == 1000
        for mine, theirs in zip(a.slope(STARTS, tables, base), b.slope(STARTS, tables, base), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(a.class_weights(), b.class_weights())
        np.testing.assert_array_equal(a.cell_weights(STARTS, N_CELLS), b.cell_weights(STARTS, N_CELLS))
        np.testing.assert_array_equal(a.class_counts(STARTS, N_CELLS), b.class_counts(STARTS, N_CELLS))
    some = np.array([0, 1, 332, 333, 334, 700, 999])
    for a, b in [(memory.take(some), disk.take(some)), (memory.held(), disk.held())]:
        for name in ("codes", "y", "weight", "offset", "texts"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert len(disk.take(some[:0])) == 0


def test_blocks_add_up_to_one_pass_over_all_rows(shelf: SpillDirectory) -> None:
    memory, disk = both(shelf, arrays(1000, 3, 0), 3)
    tables, base = np.random.default_rng(0).normal(size=(N_CELLS, 3)), np.zeros(3)
    assert len(disk.blocks(slice(0, 1000))) == 10
    assert disk.blocks(slice(0, 0)) == [slice(0, 0)]
    scores = memory.scores(STARTS, tables, base)
    share = np.exp(scores) / np.exp(scores).sum(axis=1)[:, None]
    wrong = memory.weight[:, None] * (share - np.eye(3)[memory.y])
    loss, slope, base_slope = disk.slope(STARTS, tables, base)
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

    a, b = memory.viewed(doubled, 6), disk.viewed(doubled, 6)
    assert a.n_codes == b.n_codes == 6
    np.testing.assert_array_equal(a.codes, b.held().codes)
    assert b.held().codes.dtype == np.uint16


@pytest.mark.parametrize("kinds", [2, 5])
def test_rows_that_are_alike_are_taken_together(shelf: SpillDirectory, kinds: int) -> None:
    memory, disk = both(shelf, arrays(1000, 2, 0, kinds), 2)
    a, b = memory.merged(), disk.merged()
    assert len(a) == len(b) < (60 if kinds == 2 else 600)
    for name in ("codes", "y", "weight"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b.held(), name))
    np.testing.assert_allclose(a.cell_weights(STARTS, N_CELLS), memory.cell_weights(STARTS, N_CELLS))
    wide = np.random.default_rng(0).integers(0, 200, (1000, 3)).astype(np.uint8)
    for rows in both(shelf, (wide, *arrays(1000, 2, 0)[1:]), 2):
        assert rows.merged() is rows
    told = both(shelf, arrays(1000, 2, 1, 2), 2)
    for rows in told:
        assert rows.trusting(np.ones(1)).merged().held().offset.shape == (1000, 1)


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=600), st.integers(1, 300), st.integers(0, 3),
    st.lists(st.integers(0, 600), max_size=5),
)  # fmt: skip
def test_a_fair_sample(labels: list[int], most: int, seed: int, cuts: list[int]) -> None:
    y = np.array(labels, dtype=np.int32)
    found = fair_sample(lambda: [y], most, seed)
    assert (np.diff(found) > 0).all()
    counts, drawn = np.bincount(y, minlength=5), np.bincount(y[found], minlength=5)
    for have, got in zip(counts.tolist(), drawn.tolist(), strict=True):
        assert got == min(max(round(most * have / len(y)), FEWEST_OF_A_CLASS), have)
    parts = np.split(y, sorted(min(cut, len(y)) for cut in cuts))
    np.testing.assert_array_equal(found, fair_sample(lambda: parts, most, seed))


def test_a_sample_comes_from_everywhere_and_follows_no_rhythm() -> None:
    y = np.zeros(10_000, dtype=np.int32)
    found = fair_sample(lambda: [y], 1000, 0)
    np.testing.assert_array_equal(found // 10, np.arange(1000))
    assert np.bincount(found % 10, minlength=10).min() > 50
    assert not np.array_equal(found, fair_sample(lambda: [y], 1000, 1))


@given(st.integers(0, 40), st.integers(0, 60), st.integers(0, 5))
def test_rows_are_dealt_out_by_their_numbers(first: int, n_rows: int, seed: int) -> None:
    whole = dealt(0, 100, seed)
    np.testing.assert_array_equal(dealt(first, n_rows, seed), whole[first : first + n_rows])
    for five in whole.reshape(-1, N_PARTS):
        assert sorted(five.tolist()) == list(range(N_PARTS))


def test_rows_are_dealt_out_by_chance() -> None:
    part = dealt(0, 50_000, 0)
    for k in range(N_PARTS):
        assert np.bincount(part[k::N_PARTS], minlength=N_PARTS).min() > 1800
    assert (part != dealt(0, 50_000, 1)).mean() > 0.5
