"""Sums of count columns by class: dense or sparse, in one block or in many, and what is refused by name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from likely.errors import BadCell, DataError, TooLarge
from likely.measures import information_gain
from likely.stats import FeatureCounts, Presence, feature_counts
from likely.stats.feature_counts import sum_by_class

X = np.array([[1.0, 0.0, 2.0, 0.0, 5.0], [0.0, 3.0, 0.0, 0.0, 0.0], [4.0, 0.0, 0.0, 0.0, 1.0]])
Y = np.array([0, 1, 1], dtype=np.int32)
SUMS = np.array([[1.0, 0.0, 2.0, 0.0, 5.0], [4.0, 3.0, 0.0, 0.0, 1.0]])


def held(table: np.ndarray) -> FeatureCounts:
    """A table that was counted sparsely."""
    return FeatureCounts(sparse.csr_array(table))


@pytest.mark.parametrize(("cells", "widths"), [(1, [1] * 5), (8, [2, 2, 1]), (19, [4, 1]), (20, [5])])
def test_a_table_is_written_out_some_columns_at_a_time(
    cells: int, widths: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_counts, "CELLS_AT_ONCE", cells)
    for seen in (FeatureCounts(SUMS), held(SUMS)):
        blocks = list(seen.dense_blocks())
        assert [block.shape for block in blocks] == [(2, width) for width in widths]
        np.testing.assert_array_equal(np.concatenate(blocks, axis=1), SUMS)


def test_information_is_that_of_an_occurrence_whatever_is_looked_at_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    totals = SUMS.sum(axis=1)
    expected = [information_gain(np.column_stack([column, totals - column])) for column in SUMS.T]
    assert expected[0] > 0.0 and expected[3] == 0.0
    for cells in (1, 8, 1000):
        monkeypatch.setattr(feature_counts, "CELLS_AT_ONCE", cells)
        np.testing.assert_allclose(FeatureCounts(SUMS).information(totals), expected, atol=1e-12)
    assert FeatureCounts.empty(2, 0).information(np.ones(2)).tolist() == []


def test_information_of_presence_counts_known_rows_only() -> None:
    """Six rows; of column 0 one is a gap in either class, and the other four tell the classes apart."""
    rows = np.array([[1.0, 0.0], [1.0, 1.0], [np.nan, 1.0], [0.0, 0.0], [0.0, 0.0], [np.nan, 1.0]])
    seen = Presence.observe(rows, np.array([0, 0, 0, 1, 1, 1], dtype=np.int32))
    assert seen.present.dense().tolist() == [[2.0, 2.0], [0.0, 1.0]] and seen.gaps.dense().tolist() == [[1.0, 0.0]] * 2
    plain = information_gain(np.array([[2.0, 1.0], [1.0, 2.0]]))
    np.testing.assert_allclose(seen.information(np.array([3.0, 3.0])), [4 / 6, plain])
    assert Presence.empty(2, 2).information(np.zeros(2)).tolist() == [0.0, 0.0]


def test_presence_is_what_lies_above_a_threshold() -> None:
    rows = np.array([[1.0, 2.0, 0.0, np.nan]])
    for table in (rows, sparse.csr_array(rows)):
        seen = Presence.observe(table, np.zeros(1, dtype=np.int32), threshold=1.0)
        assert seen.present.dense().tolist() == [[0.0, 1.0, 0.0, 0.0]]
        assert seen.gaps.dense().tolist() == [[0.0, 0.0, 0.0, 1.0]]


@pytest.mark.parametrize(("most", "zeros", "stays"), [(11, 4, True), (11, 3, False), (12, 11, False)])
def test_a_sparse_table_is_kept_while_it_is_large_and_the_smaller_one(
    most: int, zeros: int, stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three classes and four columns; a cell that is held takes half as much again as one of a dense table."""
    monkeypatch.setattr(feature_counts, "DENSE_CELLS", most)
    table = np.arange(12.0)
    table[:zeros] = 0.0
    some = held(np.append(table.reshape(3, 4), np.zeros((3, 1)), axis=1)).select(np.arange(4))
    assert sparse.issparse(some.table) == stays
    np.testing.assert_array_equal(some.dense(), table.reshape(3, 4))


@pytest.mark.parametrize("as_sparse", [False, True])
def test_sums_of_either_kind(as_sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_counts, "DENSE_CELLS", 0)
    seen = held(SUMS) if as_sparse else FeatureCounts(SUMS)
    assert seen.shape == (2, 5)
    assert seen.class_sums().tolist() == [8.0, 8.0] and seen.column_sums().tolist() == [5.0, 3.0, 2.0, 0.0, 6.0]
    assert not seen.is_zero() and (held if as_sparse else FeatureCounts)(np.zeros((2, 5))).is_zero()
    moved = seen.take_classes(np.array([1, -1, 0]))
    np.testing.assert_array_equal(moved.dense(), np.stack([SUMS[1], np.zeros(5), SUMS[0]]))
    places = np.array([6, 0, 3, 1, 2])
    wide = np.zeros((2, 7))
    wide[:, places] = SUMS
    np.testing.assert_array_equal(seen.place_columns(places, 7).dense(), wide)
    np.testing.assert_array_equal(seen.select(np.array([4, 0])).dense(), SUMS[:, [4, 0]])


def test_sums_class_by_class_whatever_the_ranges() -> None:
    """Twenty classes, some without rows, in eight ranges; few and many columns that occur; gaps."""
    rng = np.random.default_rng(0)
    rows = sparse.random_array((200, 300), density=0.02, rng=rng, format="csr")
    rows.data = np.where(rng.random(rows.nnz) < 0.1, np.nan, np.ceil(4 * rows.data))
    y, weight = rng.choice([0, 2, 3, 3, 3, 3, 9, 19], 200).astype(np.int32), rng.choice([0.5, 1.0, 2.0], 200)
    dense = np.zeros((20, 300))
    np.add.at(dense, y, weight[:, None] * np.nan_to_num(rows.toarray()))
    for n_jobs in (1, 2):
        found = sum_by_class(rows, y, weight, 20, n_jobs)
        assert found.indices.dtype == found.indptr.dtype == np.int32
        assert found.has_sorted_indices
        np.testing.assert_allclose(found.toarray(), dense, rtol=1e-12)
    assert sum_by_class(rows[:0], y[:0], weight[:0], 3, 1).toarray().tolist() == np.zeros((3, 300)).tolist()


@pytest.mark.parametrize("cell", [-1.0, np.inf])
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("dense_cells", [0, 1 << 22])
def test_a_cell_that_is_no_count_is_named(
    cell: float, as_sparse: bool, dense_cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_counts, "DENSE_CELLS", dense_cells)
    rows = np.tile([1.0, 0.0, np.nan], (20_000, 1))
    rows[19_998, 1] = rows[19_999, 0] = cell
    with pytest.raises(BadCell) as told:
        FeatureCounts.observe(sparse.csr_array(rows) if as_sparse else rows, np.zeros(20_000, dtype=np.int32))
    assert (told.value.row, told.value.column, told.value.cell) == (19_998, 1, cell)


def test_columns_too_large_to_add_up_are_named() -> None:
    y, large = np.zeros(3, dtype=np.int32), np.array([[1.0, 6e304, 5e304], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    for rows in (large, sparse.csr_array(large)):
        with pytest.raises(TooLarge, match="Column 1 "):
            FeatureCounts.observe(rows, y)
    heavy = np.array([[0.0, 0.0, 1e308]])
    for rows in (heavy, sparse.csr_array(heavy)):
        with pytest.raises(TooLarge, match="Column 2 "):
            FeatureCounts.observe(rows, y[:1], np.array([1e10]))
    half = FeatureCounts(np.array([[3e304, 4e304, 0.0]]))
    assert (half + FeatureCounts(np.array([[0.0, 0.0, 3e304]]))).dense().sum() == 1e305
    with pytest.raises(TooLarge, match="Column 1 "):
        half + half


@pytest.mark.parametrize(
    "bad",
    [
        np.ones(3), np.array([[-1.0, 2.0]]), np.array([[np.nan, 1.0]]), np.array([[1e305, 1e305]]),
        sparse.csr_array(np.array([[0.0, -1.0]])), sparse.csr_array(np.array([[1e305, 1e305]])),
    ],
)  # fmt: skip
def test_unsound_tables(bad: np.ndarray) -> None:
    with pytest.raises(DataError):
        FeatureCounts(bad).validate()
    FeatureCounts(np.array([[0.0, 1e305]])).validate()


def test_presence_and_gaps_have_one_shape() -> None:
    fair, wide, bad = FeatureCounts(np.ones((2, 1))), FeatureCounts(np.ones((2, 2))), FeatureCounts(-np.ones((2, 1)))
    Presence(fair, fair).validate()
    for wrong in (Presence(fair, wide), Presence(fair, bad), Presence(bad, fair)):
        with pytest.raises(DataError):
            wrong.validate()


@pytest.mark.parametrize("as_sparse", [False, True])
def test_columns_and_classes_of_presence_are_chosen_with_their_gaps(as_sparse: bool) -> None:
    cells, y = (
        np.array([[1.0, 0.0, np.nan], [2.0, np.nan, np.nan], [0.0, 3.0, 1.0]]),
        np.array([0, 0, 1], dtype=np.int32),
    )
    seen = Presence.observe(sparse.csr_array(cells) if as_sparse else cells, y)
    some = seen.select(np.array([2, 0]))
    assert some.present.dense().tolist() == [[0.0, 2.0], [1.0, 0.0]] and some.gaps.dense().tolist() == [
        [2.0, 0.0],
        [0.0, 0.0],
    ]
    moved = seen.take_classes(np.array([1, -1, 0]))
    assert moved.present.dense().tolist() == [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    assert moved.gaps.dense().tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 2.0]]
    assert seen.shape == (2, 3) and seen.known_weights is None and Presence.empty(2, 3).shape == (2, 3)
    assert Presence.empty().shape == (0, 0)
