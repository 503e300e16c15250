"""What is no table is refused, in words that say what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from likely.errors import LikelyError, SchemaError
from likely.table import as_table


@pytest.mark.parametrize(
    "X",
    [np.arange(3), [1, 2, 3], pd.Series([1, 2]), pd.Index([1]), pl.Series([1]), pa.array([1]), [],
     pa.chunked_array([[1, 2]])],
)  # fmt: skip
def test_one_dimension_is_refused(X: Any) -> None:
    with pytest.raises(ValueError, match=r"(?s)Expected 2D array, got 1D array instead.*Reshape your data") as caught:
        as_table(X)
    assert isinstance(caught.value, LikelyError)


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"(?s)Expected 2D array, got scalar array instead.*Reshape your data"):
        as_table(5)
    for cube in (np.ones((2, 2, 2)), [[[1.0]], [[2.0]]]):
        with pytest.raises(ValueError, match="Found array with dim 3"):
            as_table(cube)
    for odd in (None, "rows.csv", object()):
        with pytest.raises(SchemaError, match="A table is needed"):
            as_table(odd)
    with pytest.raises(SchemaError, match="Row 1 has 1 cells, but row 0 has 2"):
        as_table([[1, 2], [3]])
    with pytest.raises(SchemaError, match=r"Row 1 is a list"):
        as_table([{"a": 1}, [1]])
    with pytest.raises(SchemaError, match="'b' has 1 rows"):
        as_table({"a": [1, 2], "b": [1]})
    with pytest.raises(SchemaError, match="'a' is a single int"):
        as_table({"a": 1})


@pytest.mark.parametrize(
    "X",
    [
        np.empty((0, 3)),
        sp.csr_array((0, 3)),
        pd.DataFrame({"a": [], "b": [], "c": []}),
        np.empty((0, 3), object),
    ],
)
def test_no_rows_are_refused_only_on_demand(X: Any) -> None:
    assert as_table(X).n_rows == 0
    expected = r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required."
    with pytest.raises(ValueError, match=expected):
        as_table(X, allow_empty=False)
    table = as_table(X)
    for name in table.names:
        assert len(table.numbers(name)) == 0
        assert table.codes(name).levels == ()
        assert table.gaps(name) == 0


@pytest.mark.parametrize("X", [np.empty((12, 0)), pd.DataFrame(index=range(12)), sp.csr_array((12, 0))])
def test_no_columns_are_refused(X: Any) -> None:
    expected = r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required."
    with pytest.raises(ValueError, match=expected):
        as_table(X)


@pytest.mark.parametrize(
    "X",
    [
        np.ones((2, 2), complex),
        [[1j], [2j]],
        sp.csr_array(np.ones((2, 2), complex)),
        {"a": np.ones(2, complex)},
    ],
)
def test_complex_numbers_are_refused(X: Any) -> None:
    with pytest.raises(ValueError, match="Complex data not supported"):
        as_table(X)
    with pytest.raises(ValueError, match="Complex data not supported"):
        as_table({"a": [1j, 2]}).storage("a")


@pytest.mark.parametrize(
    "X", [["a", "b"], ["a", None], np.array(["a", "b"]), pd.Series(["a", "b"]), pa.array(["a", None])]
)
def test_one_dimension_of_strings_is_a_text_column(X: Any) -> None:
    table = as_table(X)
    assert table.is_text
    assert list(table.names) == ["text"]
    assert table.n_rows == 2
