"""One column: how it is stored, its numbers, its levels."""

from __future__ import annotations

import datetime as dt
import os
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from likely.errors import LikelyError, SchemaError
from likely.table import as_table
from likely.table.cells import ArrowCells, roomy, spelled_out
from likely.table.levels import in_order
from likely.text.documents import as_arrow
from tests.table.read_back import values


@pytest.mark.parametrize(
    ("column", "storage"),
    [
        (pd.to_datetime(["2020-01-01", None]), "date"),
        (pd.to_datetime(["2020-01-01", None], utc=True), "date"),
        (pd.to_timedelta([1, None], unit="D"), "date"),
        (pd.period_range("2020", periods=2, freq="M"), "date"),
        ([dt.date(2020, 1, 1), None], "date"),
        ([dt.datetime(2020, 1, 1), dt.date(2020, 1, 2)], "date"),
        (np.array(["2020-01-01", "NaT"], dtype="M8[D]"), "date"),
        (np.array(["2020-01", "NaT"], dtype="M8[M]"), "date"),
        (pa.array([[1], [2, 3]]), "nested"),
        (pa.array([{"a": 1}, None]), "nested"),
        ([[1], [2]], "nested"),
        ([(1, 2), (3, 4)], "nested"),
        ([{"a": 1}, 1.5], "nested"),
        ([None, float("nan")], "empty"),
        (np.array([np.nan, np.nan]), "empty"),
        (pa.nulls(2), "empty"),
        (pa.array([None, None], pa.string()), "empty"),
        (pa.array([float("nan"), None]), "empty"),
        (pl.Series([None, None]), "empty"),
        (["a", 1], "mixed"),
        ([True, 1], "mixed"),
        ([True, 1.5], "mixed"),
        ([dt.date(2020, 1, 1), "soon"], "mixed"),
        ([1, 2.5], "float"),
        ([Decimal("1.5"), Decimal("2")], "float"),
        (pa.array([Decimal("1.5"), None]), "float"),
        ([2**70, 1], "integer"),
        ([np.float32(1.5), 2], "float"),
        ([b"a", b"b"], "string"),
        (["\ud800", "b"], "string"),
        (pl.Series([object, "a"], dtype=pl.Object), "mixed"),
        (pd.arrays.SparseArray([0.0, 1.5]), "float"),
        (pd.interval_range(0, 2), "mixed"),
        (pa.array(np.array([1.5, 2], np.float16)), "float"),
        (pa.RunEndEncodedArray.from_arrays([1, 2], [3, 4]), "integer"),
    ],
)
def test_storage(column: Any, storage: str) -> None:
    table = as_table({"c": column})
    assert table.storage("c") == storage
    assert table.n_rows == 2
    assert table.gaps("c") in (0, 1, 2)
    if storage not in ("nested",):
        assert [value is None for value in values(table, "c")].count(True) == table.gaps("c")
        assert len(table.strings("c")) == 2


def test_any_hashable_is_a_level() -> None:
    day = dt.date(2020, 1, 1)
    cells = [1, "1", True, (1, 2), day, 1.0, np.int8(1), None, float("nan"), pd.NA, pd.NaT, np.str_("1"), 2.5]
    coded = as_table({"c": cells}).codes("c")
    assert coded.levels == (1, "1", True, (1, 2), day, 2.5)
    assert coded.codes.tolist() == [0, 1, 2, 3, 4, 0, 0, -1, -1, -1, -1, 1, 5]
    assert [type(level) for level in coded.levels[:3]] == [int, str, bool]


def test_unhashable_names_column_and_row() -> None:
    with pytest.raises(SchemaError, match=r"'c', row 1: list \[2\]"):
        as_table({"c": ["a", [2]]}).codes("c")


def test_integral_floats_and_big_integers_are_exact_levels() -> None:
    assert as_table({"c": np.array([1.0, 2.0, np.nan])}).codes("c").levels == (1, 2)
    huge = 2**60 + 1
    coded = as_table(pd.DataFrame({"c": pd.array([huge, None, huge + 1], dtype="Int64")})).codes("c")
    assert coded.levels == (huge, huge + 1)
    assert coded.codes.tolist() == [0, -1, 1]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint64, np.float32, np.float64, bool])
@pytest.mark.parametrize("span", ["narrow", "wide"])
def test_long_number_columns_round_trip(dtype: Any, span: str) -> None:
    rng = np.random.default_rng(0)
    column = rng.integers(0, 100, 30_000).astype(dtype)
    if span == "wide" and np.dtype(dtype).itemsize >= 4:
        column = (column * dtype(2.0**24)).astype(dtype) if np.dtype(dtype).kind != "f" else column / 7
    if np.dtype(dtype).kind == "f":
        column[::7] = np.nan
    X = np.column_stack([column, column])
    coded = as_table(X).codes("x1")
    assert coded.levels == in_order(coded.levels)
    back = np.array([*coded.levels, np.nan], dtype=object)[coded.codes]
    np.testing.assert_array_equal(back.astype(dtype), column)


def test_long_integers_at_the_ends_of_their_range() -> None:
    column = np.tile(np.array([np.iinfo(np.int64).min, 0, np.iinfo(np.int64).max]), 10_000)
    coded = as_table(column[:, None]).codes("x0")
    assert coded.levels == (np.iinfo(np.int64).min, 0, np.iinfo(np.int64).max)
    unsigned = np.tile(np.array([2**64 - 1, 5], dtype=np.uint64), 15_000)
    assert as_table(unsigned[:, None]).codes("x0").levels == (5, 2**64 - 1)
    special = np.tile(np.array([np.inf, -0.0, 0.0, -np.inf, np.nan, 1e300]), 5_000)
    assert as_table(special[:, None]).codes("x0").levels == (-np.inf, 0, 1e300, np.inf)
    assert as_table(np.full((30_000, 1), np.nan)).codes("x0").levels == ()


def test_strings_are_read_as_numbers_on_demand() -> None:
    np.testing.assert_array_equal(as_table({"c": ["1.5", " 2 ", None, "-3e2"]}).numbers("c"), [1.5, 2, np.nan, -300])
    for cells in (
        ["1"] * 17 + ["many"],
        np.array(["1"] * 17 + ["many"]),
        pd.Categorical(["1"] * 17 + ["many"]),
    ):
        with pytest.raises(SchemaError, match=r"'c', row 17: could not convert 'many'"):
            as_table({"c": cells}).numbers("c")
    with pytest.raises(SchemaError, match=r"row 1.*…"):
        as_table({"c": ["1", "x" * 500]}).numbers("c")
    with pytest.raises(SchemaError, match=r"row 1.*'1_000'"):
        as_table({"c": ["1", "1_000"]}).numbers("c")
    assert as_table({"c": [1, "2"]}).numbers("c").tolist() == [1, 2]


def test_numbers_of_odd_types() -> None:
    assert as_table({"c": [Decimal("1.5"), 2]}).numbers("c").tolist() == [1.5, 2]
    assert as_table({"c": pa.array([Decimal("1.5"), None])}).numbers("c")[0] == 1.5
    assert as_table({"c": [10**20, 1]}).numbers("c").tolist() == [1e20, 1]
    assert np.isinf(as_table({"c": [float("inf"), 1]}).numbers("c")[0])
    with pytest.raises(SchemaError, match=r"row 1: a whole number of \d+ bits"):
        as_table({"c": [1, 10**400]}).numbers("c")
    with pytest.raises(SchemaError, match="'c' holds timestamp"):
        as_table(pd.DataFrame({"c": pd.to_datetime(["2020"])})).numbers("c")


def test_container_among_numbers_is_a_type_error() -> None:
    X = np.ones((3, 2), dtype=object)
    X[0, 0] = {"foo": "bar"}
    with pytest.raises(TypeError, match=r"argument must be .* string.* number") as caught:
        as_table(X).numbers("x0")
    assert isinstance(caught.value, LikelyError)
    assert isinstance(caught.value, ValueError)


def test_polars_objects_are_not_pointers() -> None:
    frame = pl.DataFrame({"c": pl.Series([(1, 2), "a"], dtype=pl.Object)})
    assert set(as_table(frame).codes("c").levels) == {(1, 2), "a"}


def test_masked_strings_and_wide_floats() -> None:
    masked = np.ma.MaskedArray(np.array([["a", "b"]]), mask=[[False, True]])
    assert values(as_table(masked), "x0") == ["a"]
    assert values(as_table(masked), "x1") == [None]
    assert type(as_table(np.ones((2, 1), np.longdouble)).codes("x0").levels[0]) is int
    assert as_table({"a": [b"u", b"v"]}).strings("a").to_pylist() == ["u", "v"]


def test_read_only_memory_is_fine() -> None:
    column = np.arange(30_000) % 5
    column.setflags(write=False)
    assert as_table(column[:, None]).codes("x0").levels == (0, 1, 2, 3, 4)


@pytest.mark.parametrize(("narrow", "n_values"), [(pa.int8(), 128), (pa.uint8(), 256), (pa.int16(), 1 << 15)])
@pytest.mark.parametrize("ordered", [False, True])
def test_dictionaries_with_more_values_than_their_indices_tell_apart(
    narrow: pa.DataType, n_values: int, ordered: bool
) -> None:
    """Each of two chunks has a dictionary that just fits; together they have twice as many values, less one."""
    spelled = [[f"{value:06}" for value in range(start, start + n_values)] for start in (0, n_values - 1)]
    places = pa.array(np.arange(n_values), narrow)
    chunks = [pa.DictionaryArray.from_arrays(places, pa.array(some), ordered=ordered) for some in spelled]
    column = as_table(pa.table({"c": pa.chunked_array(chunks)})).codes("c")
    assert len(column.levels) == 2 * n_values - 1
    assert [column.levels[code] for code in column.codes] == spelled[0] + spelled[1]


def test_texts_of_more_than_two_gigabytes_have_room() -> None:
    """Offsets of 32 bits end at 2 GiB of letters, whether all rows are chosen, spelled out, or their values listed."""
    texts = pa.chunked_array([pa.array(["to be", None]), pa.array(["or not"])])
    cells = ArrowCells(texts).at(np.array([2, 0]))
    assert cells.column.type == pa.large_string() and cells.column.to_pylist() == ["or not", "to be"]
    spelled = spelled_out(texts.dictionary_encode())
    assert spelled.type == pa.large_string() and spelled.to_pylist() == texts.to_pylist()
    assert spelled_out(pa.chunked_array([], pa.dictionary(pa.int8(), pa.string()))).to_pylist() == []
    assert roomy(pa.chunked_array([[b"be"]])).type == pa.large_binary()
    assert roomy(pa.chunked_array([[1]])).type == pa.int64()


@pytest.mark.skipif(os.environ.get("LIKELY_TORTURE") != "full", reason="takes 3 GB of memory: part of make torture")
def test_texts_of_more_than_two_gigabytes() -> None:
    long = "to be or not to be " * 50_000
    column = pa.chunked_array([pa.array([long] * 1200), pa.array([long] * 1200)])
    assert len(ArrowCells(column).at(np.arange(2400))) == 2400
    assert len(ArrowCells(column.dictionary_encode()).strings("text")) == 2400
    assert as_arrow(column.dictionary_encode()).type == pa.large_string()
