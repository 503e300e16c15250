"""Arrays, sparse tables, column names and widths of a file: each is had as it is asked for, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from likely.arrays import AnyArray
from likely.errors import ModelFileError
from likely.stats.protocol import HEAVIEST_COUNT
from likely.store.codec import Reader, Writer, expect, read_matrix, read_names, read_width, write_matrix, write_names

LARGEST = float(np.finfo(np.float64).max)
FREE = 131_072
"""So many columns a file may claim without arrays to show for them."""


def reader_of(**arrays: Any) -> Reader:
    return Reader({name: np.asarray(array) for name, array in arrays.items()})


def test_arrays_are_put_away_under_names_of_their_own() -> None:
    writer = Writer()
    names = [writer.put(np.full(2, float(k))) for k in range(3)]
    assert len(set(names)) == 3
    assert [Reader(writer.arrays).get(name, (2,))[0] for name in names] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("shape", [None, (2, 3), (None, 3), (2, None), (None, None)])
def test_an_array_of_the_wanted_shape_is_handed_out(shape: Any) -> None:
    table = np.arange(6.0).reshape(2, 3)
    assert reader_of(a=table).get("a", shape) is not None
    assert np.array_equal(reader_of(a=table).get("a", shape), table)


@pytest.mark.parametrize(
    ("name", "shape", "dtype"),
    [
        ("b", (2, 3), np.float64),
        (3, (2, 3), np.float64),
        (None, None, np.float64),
        (["a"], (2, 3), np.float64),
        ("a", (2, 3), np.float32),
        ("a", None, np.int64),
        ("a", (6,), np.float64),
        ("a", (2, 3, 1), np.float64),
        ("a", (), np.float64),
        ("a", (3, 3), np.float64),
        ("a", (2, 2), np.float64),
        ("a", (None, 2), np.float64),
        ("a", (3, None), np.float64),
    ],
    ids=str,
)
def test_an_array_of_another_form_is_refused(name: Any, shape: Any, dtype: Any) -> None:
    with pytest.raises(ModelFileError, match="array"):
        reader_of(a=np.zeros((2, 3))).get(name, shape, dtype)


def test_counts_are_from_zero_up_to_the_heaviest() -> None:
    assert reader_of(a=[0.0, 0.5, HEAVIEST_COUNT]).counts("a", (3,)).tolist() == [0.0, 0.5, HEAVIEST_COUNT]
    assert reader_of(a=[0.0, 7.0]).counts("a", (None,), most=7.0).tolist() == [0.0, 7.0]
    assert reader_of(a=np.zeros(0)).counts("a", (0,)).tolist() == []
    for wrong in (-1e-9, -1.0, np.nextafter(HEAVIEST_COUNT, np.inf), np.inf, -np.inf, np.nan):
        with pytest.raises(ModelFileError, match="count"):
            reader_of(a=[1.0, wrong]).counts("a", (2,))
    with pytest.raises(ModelFileError, match="count"):
        reader_of(a=[7.5]).counts("a", (1,), most=7.0)
    with pytest.raises(ModelFileError, match="shape"):
        reader_of(a=[1.0]).counts("a", (2,))


def test_numbers_without_limits_of_their_own_are_all_that_are_finite() -> None:
    expect("cells", np.array([-LARGEST, 0.0, LARGEST]), 3)
    expect("cells", np.array([[1, 2]]), None, 2, least=1, most=2)
    expect("cells", np.zeros((0, 2)), 0, 2)
    expect("cells", np.array([np.inf]), 1, most=np.inf)
    for wrong in (np.inf, -np.inf, np.nan):
        with pytest.raises(ModelFileError, match="cells do not fit"):
            expect("cells", np.array([0.0, wrong]), 2)
    wrong_limits: list[tuple[tuple[int | None, ...], float, float]] = [
        ((1, 2), 1.5, 2.0), ((1, 2), 1.0, 1.5), ((2, 1), 1.0, 2.0), ((None, 1), 1.0, 2.0), ((2,), 1.0, 2.0),
        ((1, 2, 1), 1.0, 2.0), ((2, None), 1.0, 2.0),
    ]  # fmt: skip
    for shape, least, most in wrong_limits:
        with pytest.raises(ModelFileError, match="cells do not fit"):
            expect("cells", np.array([[1.0, 2.0]]), *shape, least=least, most=most)


# Sparse tables.


@pytest.mark.parametrize(
    "cells",
    [
        [[0.0, 1.0, 2.0]],
        [[0.0, 0.0], [3.0, 0.0], [0.0, 0.0], [0.0, 4.0], [0.0, 0.0]],
        [[0.0, 0.0]],
        np.zeros((0, 3)),
        [[5.0]],
    ],
    ids=str,
)
@pytest.mark.parametrize("dense", [True, False])
def test_a_table_comes_back_dense_or_sparse_with_its_empty_rows(cells: Any, dense: bool) -> None:
    table, writer = np.array(cells, dtype=float), Writer()
    document = write_matrix(table if dense else sparse.csr_array(table), writer, "table")
    assert set(document) == ({"table"} if dense else {"cells", "places", "starts"})
    found = read_matrix(document, Reader(writer.arrays), "table", table.shape[1])
    assert isinstance(found, np.ndarray) is dense and found.shape == table.shape
    assert (found if dense else found.toarray()).tolist() == table.tolist()


def sparse_table(starts: list[int], places: list[int], cells: list[float], width: int = 3) -> Any:
    arrays: dict[str, AnyArray] = {
        "s": np.array(starts, np.int64), "p": np.array(places, np.int32), "c": np.array(cells, float),
    }  # fmt: skip
    document = {"starts": "s", "places": "p", "cells": "c"}
    return read_matrix(document, Reader(arrays), "table", width).toarray().tolist()


def test_sparse_tables_use_every_column_and_no_other() -> None:
    assert sparse_table([0, 2, 3], [0, 2, 1], [1.0, 2.0, 3.0]) == [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]
    assert sparse_table([0, 0, 1], [2], [1.0]) == [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert sparse_table([0], [], []) == []


@pytest.mark.parametrize(
    ("starts", "places", "why"),
    [
        ([], [0, 2, 1], "fit together"),
        ([1, 2, 3], [0, 2, 1], "fit together"),
        ([-1, 2, 3], [0, 2, 1], "fit together"),
        ([0, 1, 2], [0, 2, 1], "fit together"),
        ([0, 1, 4], [0, 2, 1], "fit together"),
        ([0, 2, 1, 3], [0, 2, 1], "fit together"),
        ([0, 4, 3], [0, 2, 1], "fit together"),
        ([0, 2, 3], [0, 3, 1], "does not exist"),
        ([0, 2, 3], [-1, 2, 1], "does not exist"),
        ([0, 2, 3], [2, 0, 1], "not in order"),
        ([0, 2, 3], [1, 1, 1], "not in order"),
        ([0, 2, 3], [0, 2], "shape"),
    ],
    ids=str,
)
def test_a_sparse_table_that_is_none_is_refused(starts: list[int], places: list[int], why: str) -> None:
    with pytest.raises(ModelFileError, match=why):
        sparse_table(starts, places, [1.0, 2.0, 3.0])


# Names of columns.


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ((), 0), (("x0",), 1), (("x0", "x1", "x2"), 3), (("a", "b"), ["a", "b"]), (("x1", "x0"), ["x1", "x0"]),
        (("x0", "x2"), ["x0", "x2"]), (("",), [""]),
    ],
    ids=str,
)  # fmt: skip
def test_names_of_an_array_are_a_number(names: tuple[str, ...], told: Any) -> None:
    assert write_names(names) == told
    assert read_names(told, Reader({})) == names


@pytest.mark.parametrize(
    "told", [["a", "a"], ["a", 1], [["a"]], ["a", None], -1, 1.0, True, False, None, "a", {}], ids=str
)
def test_names_that_are_none_are_refused(told: Any) -> None:
    with pytest.raises(ModelFileError, match="column"):
        read_names(told, Reader({}))


def test_columns_beyond_a_hundred_thousand_must_be_backed_by_arrays() -> None:
    assert [read_width(n, Reader({})) for n in (0, 1, FREE)] == [0, 1, FREE]
    backed = reader_of(a=np.zeros((2, FREE // 2)), b=np.zeros(5))
    assert read_width(FREE + 5, backed) == FREE + 5
    for n, reader in ((FREE + 1, Reader({})), (FREE + 6, backed), (10**18, backed)):
        with pytest.raises(ModelFileError, match="claims to have"):
            read_width(n, reader)
