"""Every kind of table says the same about the same rows."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from likely.arrays import is_on_device
from likely.errors import SchemaError
from likely.table import as_table
from tests.table.read_back import values

AGE = [31.5, None, 40.0, 22.25]
TOWN = ["Ulm", "Bonn", None, "Ulm"]
SICK = [True, False, None, True]
VISITS = [3, 1, 2, None]
COLUMNS: dict[str, list[Any]] = {"age": AGE, "town": TOWN, "sick": SICK, "visits": VISITS}


class Capsule:
    """Something that speaks Arrow and nothing else."""

    def __init__(self, inner: Any, way: str) -> None:
        setattr(self, way, getattr(inner, way))


def arrow() -> pa.Table:
    return pa.table(COLUMNS)


MAKERS = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas object": lambda: pd.DataFrame(COLUMNS, dtype=object),
    "pandas arrow": lambda: arrow().to_pandas(types_mapper=pd.ArrowDtype),
    "pandas nullable": lambda: pd.DataFrame(
        {
            "age": pd.array(AGE, dtype="Float64"),
            "town": pd.array(TOWN, dtype="string[python]"),
            "sick": pd.array(SICK, dtype="boolean"),
            "visits": pd.array(VISITS, dtype="Int64"),
        }
    ),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars lazy": lambda: pl.LazyFrame(COLUMNS),
    "arrow": arrow,
    "arrow chunks": lambda: pa.concat_tables([arrow().slice(0, 1), arrow().slice(1, 0), arrow().slice(1)]),
    "batch": lambda: arrow().to_batches()[0],
    "reader": lambda: arrow().to_reader(),
    "stream capsule": lambda: Capsule(arrow(), "__arrow_c_stream__"),
    "array capsule": lambda: Capsule(arrow().to_batches()[0], "__arrow_c_array__"),
    "dict": lambda: COLUMNS,
    "dict of arrays": lambda: {
        "age": np.array([31.5, np.nan, 40, 22.25]),
        "town": pl.Series(TOWN),
        "sick": pa.array(SICK),
        "visits": pd.Series(VISITS),
    },
    "list of dicts": lambda: [
        {key: column[i] for key, column in COLUMNS.items() if column[i] is not None} for i in range(4)
    ],
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_frames_of_every_library_read_alike(make: Any) -> None:
    table = as_table(make())
    assert tuple(table.names) == tuple(COLUMNS)
    assert table.n_rows == 4
    assert table.named
    np.testing.assert_array_equal(table.numbers("age"), [31.5, np.nan, 40, 22.25])
    np.testing.assert_array_equal(table.numbers("visits"), [3, 1, 2, np.nan])
    np.testing.assert_array_equal(table.numbers("sick"), [1, 0, np.nan, 1])
    assert [table.gaps(name) for name in table.names] == [1, 1, 1, 1]
    assert values(table, "town") == TOWN
    assert values(table, "sick") == SICK
    assert {type(level) for level in table.codes("sick").levels} == {bool}
    assert values(table, "visits") == VISITS
    assert values(table, "age") == AGE
    assert table.strings("town").to_pylist() == TOWN
    assert table.storage("town") == "string"
    assert table.storage("sick") == "boolean"
    assert table.storage("age") == "float"
    assert table.codes("town") is table.codes("town")


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_parts_of_every_frame(make: Any) -> None:
    table = as_table(make())
    table.codes("town")
    for part in (table.slice(1, 3), table.take([1, 2]), table.take(np.array([False, True, True, False]))):
        assert part.n_rows == 2
        assert values(part, "town") == ["Bonn", None]
        assert part.codes("town").levels == ("Bonn",)
        np.testing.assert_array_equal(part.numbers("age"), [np.nan, 40])
        assert values(part, "sick") == [False, None]
        assert part.gaps("town") == 1
    assert table.slice(4, 9).n_rows == 0
    assert table.slice(3, 1).n_rows == 0
    assert values(table.take([-1]), "town") == ["Ulm"]


ARRAYS = {
    "float": np.array([[1.0, 2.5], [3.0, np.nan]]),
    "float32": np.array([[1.0, 2.5], [3.0, np.nan]], dtype=np.float32),
    "fortran": np.asfortranarray([[1.0, 2.5], [3.0, np.nan]]),
    "object": np.array([[1, 2.5], [3.0, None]], dtype=object),
    "lists": [[1, 2.5], [3.0, float("nan")]],
    "lists with None": [[1, 2.5], [3.0, None]],
    "tuples": [(1, 2.5), (3, None)],
    "rows": [np.array([1, 2.5]), np.array([3, np.nan])],
    "masked": np.ma.MaskedArray([[1.0, 2.5], [3.0, 9.0]], mask=[[False, False], [False, True]]),
    "masked ints": np.ma.MaskedArray([[1, 2], [3, 9]], mask=[[False, False], [False, True]]),
    "csr": sp.csr_array([[1.0, 2.5], [3.0, np.nan]]),
    "csr matrix": sp.csr_matrix([[1.0, 2.5], [3.0, np.nan]]),
    "csc": sp.csc_array([[1.0, 2.5], [3.0, np.nan]]),
    "coo": sp.coo_matrix([[1.0, 2.5], [3.0, np.nan]]),
    "dok": sp.dok_array([[1.0, 2.5], [3.0, np.nan]]),
    "strings": np.array([["1", "2.5"], ["3", "nan"]]),
    "bytes-free objects": np.array([["1", "2.5"], ["3", None]], dtype=object),
}


@pytest.mark.parametrize("X", ARRAYS.values(), ids=ARRAYS.keys())
def test_arrays_read_alike(X: Any) -> None:
    table = as_table(X)
    assert list(table.names) == ["x0", "x1"]
    assert not table.named
    np.testing.assert_array_equal(table.numbers("x0"), [1, 3])
    second = table.numbers("x1")
    assert second.dtype == np.float64
    assert np.isnan(second[1])
    assert table.position("x1") == 1


def test_numbers_are_not_copied() -> None:
    X = np.arange(6.0).reshape(3, 2)
    table = as_table(X)
    assert table.matrix is X or np.shares_memory(table.matrix, X)
    assert np.shares_memory(table.numbers("x1"), X)
    frame = pd.DataFrame({"a": np.arange(3.0)})
    assert np.shares_memory(as_table(frame).numbers("a"), frame["a"].to_numpy())
    column = pa.array([1.0, 2.0])
    assert np.shares_memory(as_table(pa.table({"a": column})).numbers("a"), column.to_numpy())


def test_sparse_keeps_its_memory_and_is_left_alone() -> None:
    X = sp.csr_matrix([[0, 1.0], [2.0, 0]])
    table = as_table(X)
    assert isinstance(table.sparse, sp.csr_array)
    assert np.shares_memory(table.sparse.data, X.data)
    messy = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    table = as_table(messy)
    assert table.sparse is not None
    assert table.sparse.has_canonical_format
    assert table.sparse.toarray().tolist() == [[4.0, 3.0]]
    assert messy.data.tolist() == [1.0, 2.0, 4.0]
    part = table.slice(0, 1).sparse
    assert part is not None
    assert part.toarray().tolist() == [[4.0, 3.0]]
    assert values(as_table(X), "x0") == [0, 2]


def test_plain_matrix_needs_no_frame_library() -> None:
    code = (
        "import sys, numpy as np; from likely.table import as_table, encode_labels;"
        "from likely.table.schema import Schema;"
        "X = np.ones((30, 3)); t = as_table(X); t.numbers('x0'); t.codes('x1'); Schema.infer(X);"
        "encode_labels(np.arange(30)); print('pandas' in sys.modules, 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_structured_array() -> None:
    X = np.array([(1, 2.5, "a"), (2, np.nan, "b")], dtype=[("n", "i4"), ("f", "f8"), ("s", "U3")])
    table = as_table(X)
    assert tuple(table.names) == ("n", "f", "s")
    assert table.named
    assert values(table, "s") == ["a", "b"]
    assert table.gaps("f") == 1


def test_categories_of_every_library() -> None:
    categorical = pd.Categorical(["b", None, "a"], categories=["unused", "a", "b"])
    for frame in (
        pd.DataFrame({"c": categorical}),
        pl.DataFrame({"c": pl.Series(["b", None, "a"], dtype=pl.Categorical)}),
        pl.DataFrame({"c": pl.Series(["b", None, "a"], dtype=pl.Enum(["unused", "a", "b"]))}),
        pa.table({"c": pa.array(["b", None, "a"]).dictionary_encode()}),
        pa.table({"c": pa.DictionaryArray.from_arrays([0, 1, 2], ["b", None, "a"])}),
    ):
        table = as_table(frame)
        assert table.storage("c") == "category"
        assert values(table, "c") == ["b", None, "a"]
        assert set(table.codes("c").levels) == {"a", "b"}
        assert table.gaps("c") == 1
        assert table.strings("c").to_pylist() == ["b", None, "a"]
        assert values(table.slice(0, 1), "c") == ["b"]
    numbered = as_table(pd.DataFrame({"c": pd.Categorical([2, 1, 2])}))
    assert numbered.numbers("c").tolist() == [2, 1, 2]


def test_names() -> None:
    with pytest.raises(SchemaError, match="'a'"):
        as_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(SchemaError, match="'a'"):
        as_table(pa.table([[1], [2]], names=["a", "a"]))
    with pytest.raises(SchemaError, match="'1'"):
        as_table(pd.DataFrame([[1, 2]], columns=[1, "1"]))
    with pytest.raises(SchemaError, match=r"'a\\ud800' is no Unicode"):
        as_table({"a\ud800": [1, 2]})
    assert tuple(as_table({"😀": [1]}).names) == ("😀",)
    assert tuple(as_table(pd.DataFrame([[1, 2]])).names) == ("0", "1")
    assert tuple(as_table(pd.DataFrame([[1, 2]], columns=["a", 7])).names) == ("a", "7")
    assert as_table({1: [5]}).numbers("1").tolist() == [5]
    with pytest.raises(SchemaError, match="Did you mean 'town'"):
        as_table({"town": ["a"]}).codes("twn")
    for name in ("x2", "x01", "y0", "x", "", "x-1", "x²"):
        with pytest.raises(SchemaError):
            as_table(np.ones((1, 2))).numbers(name)
        assert name not in as_table(np.ones((1, 2)))


def test_table_goes_through_as_it_is() -> None:
    table = as_table({"a": [1]})
    assert as_table(table) is table
    other = table.renamed(("b",))
    assert other.numbers("b").tolist() == [1]
    assert repr(table) == "Table(1 rows × 1 columns)"


class Liar:
    """Says of itself where it lies, in a way that is none, and has no cells."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __dlpack_device__(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


ANSWERS = [(), None, "ab", (10**400, 0), (float("inf"), 0), AttributeError("no"), KeyError("no"), OSError("no")]


@pytest.mark.parametrize("answer", ANSWERS, ids=repr)
def test_who_does_not_know_where_it_lies_is_no_table(answer: Any) -> None:
    for rows in (Liar(answer), {"a": Liar(answer)}):
        assert not is_on_device(rows)
        with pytest.raises(SchemaError, match=r"A table is needed|Column 'a' is a single Liar"):
            as_table(rows)  # type: ignore[arg-type]


def test_a_column_without_an_order_of_rows_is_refused() -> None:
    table: dict[str, object] = {}
    table["a"] = table
    for rows in (table, {"a": {"Ulm", "Bonn"}}, {"a": {"Ulm": 1, "Bonn": 2}}):
        with pytest.raises(SchemaError, match=r"Column 'a' is a single (dict|set), not a sequence of cells"):
            as_table(rows)
