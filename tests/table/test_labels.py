"""Labels of any hashable type come back as they went in."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from likely.errors import DataError, LikelyError, SchemaError
from likely.naive_bayes import GaussianNB
from likely.stats import ClassWeights
from likely.table import as_table, encode_labels, labels_of, merge_classes
from likely.table.labels import row_weights

label = st.one_of(
    st.integers(-3, 3), st.booleans(), st.text(max_size=3), st.integers(), st.binary(max_size=2),
    st.tuples(st.integers(0, 2), st.text(max_size=1)), st.frozensets(st.integers(0, 2)), st.dates(),
)  # fmt: skip


@given(
    st.one_of(
        st.lists(label, min_size=1),
        st.lists(st.integers(), min_size=1),
        st.lists(st.text(max_size=3), min_size=1),
        st.lists(st.booleans(), min_size=1),
        st.lists(st.integers(-5, 5).map(float), min_size=1),
    )
)
def test_round_trip(y: list[Any]) -> None:
    labels = encode_labels(y)
    assert labels.codes.dtype == np.int32
    back = [labels.classes[code] for code in labels.codes]
    assert back == y
    assert [isinstance(value, (bool, np.bool_)) for value in back] == [isinstance(value, bool) for value in y]
    assert set(labels.codes.tolist()) == set(range(len(labels.classes)))


@given(st.lists(label, min_size=1), st.lists(label, min_size=1))
def test_merging_keeps_every_label(a: list[Any], b: list[Any]) -> None:
    one, two = encode_labels(a).classes, encode_labels(b).classes
    classes, of_one, of_two = merge_classes(one, two)
    for side, places in ((one, of_one), (two, of_two)):
        for value, place in zip(side, places, strict=True):
            assert classes[place] == value
            assert isinstance(classes[place], (bool, np.bool_)) == isinstance(value, (bool, np.bool_))
    assert set(of_one.tolist()) | set(of_two.tolist()) == set(range(len(classes)))


ARRAYS = {
    "int64": np.array([3, 1, 2, 3]),
    "int8": np.array([3, -1, 2, 3], dtype=np.int8),
    "uint8": np.array([3, 1, 2, 3], dtype=np.uint8),
    "float": np.array([3.0, 1.0, 2.0]),
    "float32": np.array([3.0, 1.0], dtype=np.float32),
    "bool": np.array([True, False, True]),
    "one bool": np.array([True, True]),
    "str": np.array(["b", "abc", "b"]),
    "object str": np.array(["b", "abc", "b"], dtype=object),
    "object int": np.array([3, 1, 3], dtype=object),
    "bytes": np.array([b"b", b"a"]),
    "dates": np.array(["2020-02-01", "2020-01-01"], dtype="M8[D]"),
    "big endian": np.array([3, 1], dtype=">i8"),
}


@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
@pytest.mark.parametrize("y", ARRAYS.values(), ids=ARRAYS.keys())
def test_arrays_give_what_unique_gives(y: Any, long: bool) -> None:
    y = np.tile(y, 10_001) if long else y
    labels = encode_labels(y)
    classes, codes = np.unique(y, return_inverse=True)
    assert labels.classes.dtype.kind == classes.dtype.kind
    if y.dtype.kind in "iufb":
        assert labels.classes.dtype == y.dtype
    np.testing.assert_array_equal(labels.classes, classes)
    np.testing.assert_array_equal(labels.codes, codes)


def test_long_labels_far_apart() -> None:
    rng = np.random.default_rng(0)
    for pool in (rng.integers(-(2**62), 2**62, 50), rng.integers(0, 2**62, 3000), np.arange(3000) * 1e9):
        y = rng.choice(pool, 30_000)
        labels = encode_labels(y)
        np.testing.assert_array_equal(labels.classes, np.unique(y))
        np.testing.assert_array_equal(labels.classes[labels.codes], y)
    words = np.array([f"w{i}" for i in range(3000)])
    y = rng.choice(words, 30_000)
    np.testing.assert_array_equal(encode_labels(y).codes, np.unique(y, return_inverse=True)[1])


SERIES = {
    "list": (["b", "a", "b"], "U"),
    "tuple": (("b", "a", "b"), "U"),
    "pandas str": (pd.Series(["b", "a", "b"]), "O"),
    "pandas object": (pd.Series(["b", "a", "b"], dtype=object), "O"),
    "pandas category": (pd.Series(["b", "a", "b"], dtype=pd.CategoricalDtype(["z", "b", "a"])), "O"),
    "pandas arrow": (pd.Series(["b", "a", "b"], dtype="string[pyarrow]"), "O"),
    "categorical": (pd.Categorical(["b", "a", "b"]), "O"),
    "index": (pd.Index(["b", "a", "b"]), "O"),
    "polars": (pl.Series(["b", "a", "b"]), "O"),
    "polars category": (pl.Series(["b", "a", "b"], dtype=pl.Categorical), "O"),
    "arrow": (pa.array(["b", "a", "b"]), "O"),
    "arrow chunks": (pa.chunked_array([["b"], ["a", "b"]]), "O"),
    "arrow dictionary": (pa.array(["b", "a", "b"]).dictionary_encode(), "O"),
}
NUMBERS = {
    "range": range(2),
    "nullable": pd.Series([0, 1], dtype="Int64"),
    "arrow dtype": pd.Series([0, 1], dtype="int64[pyarrow]"),
    "category": pd.Series(pd.Categorical([0, 1])),
    "polars": pl.Series([0, 1]),
    "arrow": pa.array([0, 1]),
    "chunks": pa.chunked_array([[0], [1]]),
}


@pytest.mark.parametrize(("y", "kind"), SERIES.values(), ids=SERIES.keys())
def test_strings_of_every_library(y: Any, kind: str) -> None:
    labels = encode_labels(y)
    assert labels.classes.dtype.kind == kind
    assert labels.classes.tolist() == ["a", "b"]
    assert labels.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize("y", NUMBERS.values(), ids=NUMBERS.keys())
def test_numbers_of_every_library(y: Any) -> None:
    labels = encode_labels(y)
    assert labels.classes.dtype == np.int64
    assert labels.classes.tolist() == [0, 1]
    assert labels.codes.tolist() == [0, 1]


def test_booleans_of_every_library() -> None:
    for y in (pd.Series([True, False], dtype="boolean"), pl.Series([True, False]), pa.array([True, False])):
        assert encode_labels(y).classes.dtype == bool
        assert encode_labels(y).codes.tolist() == [1, 0]


def test_dates_stay_dates() -> None:
    days = pd.Series(pd.to_datetime(["2020-01-02", "2020-01-01"]))
    assert encode_labels(days).classes.dtype.kind == "M"
    assert encode_labels(days).codes.tolist() == [1, 0]
    assert encode_labels(pl.Series([dt.date(2020, 1, 1)])).classes.tolist() == [dt.date(2020, 1, 1)]


def test_mixed_labels_keep_their_types() -> None:
    labels = encode_labels([1, "a", (1, 2), "a", dt.date(2020, 1, 1)])
    assert labels.classes.dtype == object
    assert set(labels.classes.tolist()) == {1, "a", (1, 2), dt.date(2020, 1, 1)}
    assert encode_labels([(1, 2), (0, 1)]).classes.tolist() == [(0, 1), (1, 2)]
    assert encode_labels([True, 1, 0]).classes.tolist() == [0, True, 1]
    assert encode_labels([1, True, 0]).classes.tolist() == [0, True, 1]
    assert encode_labels([2**70, 1]).classes.tolist() == [1, 2**70]
    assert encode_labels(["a\0", "a"]).classes.tolist() == ["a", "a\0"]
    assert encode_labels([pd.Timestamp("2020-01-02"), pd.Timestamp("2020-01-01")]).codes.tolist() == [1, 0]


GAPS = {
    "list": ["a", "b", "c", None],
    "nan among strings": ["a", "b", "c", float("nan")],
    "ints": [1, 2, 3, None],
    "object": np.array(["a", 1, "c", None], dtype=object),
    "object ints": np.array([1, 1, 1, None], dtype=object),
    "float": np.array([1.0, 2.0, 3.0, np.nan]),
    "pandas": pd.Series(["a", "b", "c", None]),
    "category": pd.Series(["a", "b", "c", None], dtype="category"),
    "nullable": pd.Series([1, 2, 3, None], dtype="Int64"),
    "polars": pl.Series([1, 2, 3, None]),
    "arrow": pa.array(["a", "b", "c", None]),
    "arrow nan": pa.array([1.0, 2.0, 3.0, float("nan")]),
    "date": np.array(["2020", "2020", "2020", "NaT"], dtype="M8[D]"),
    "masked": np.ma.MaskedArray([1, 2, 3, 4], mask=[False, False, False, True]),
}


@pytest.mark.parametrize("y", GAPS.values(), ids=GAPS.keys())
def test_missing_label_names_its_row(y: Any) -> None:
    with pytest.raises(DataError, match="The label in row 3 is missing"):
        encode_labels(y)


def test_labels_that_are_no_classes() -> None:
    with pytest.raises(ValueError, match=r"Input y contains NaN\."):
        encode_labels(np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match=r"Input y contains infinity or a value too large for dtype\('float64'\)."):
        encode_labels(np.array([1.0, np.inf]))
    for y in ([1.0, 2.5], np.array([1, 2.5], dtype=object), pa.array([1.0, 2.5]), pd.Series([1, 2.5])):
        with pytest.raises(ValueError, match=r"Unknown label type: continuous.*row 1 is 2.5"):
            encode_labels(y)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        encode_labels(None)
    with pytest.raises(DataError, match=r"Unknown label type.*row 1"):
        encode_labels(["a", {"b": 1}])
    with pytest.raises(ValueError, match="Complex data not supported"):
        encode_labels(np.array([1j]))
    for y in (np.ones((3, 2)), [[1, 2], [3, 4]], 5, "abc", np.array(1), pd.DataFrame({"a": [1], "b": [2]})):
        with pytest.raises(ValueError, match="y should be a 1d array") as caught:
            encode_labels(y)
        assert isinstance(caught.value, LikelyError)
    with pytest.raises(DataError, match="sparse"):
        encode_labels(sp.csr_array([[1]]))


@pytest.mark.parametrize(
    "y", [np.array([[1], [0]]), [[1], [0]], pd.DataFrame({"y": [1, 0]}), pl.DataFrame({"y": [1, 0]})]
)
def test_one_column_is_flattened_with_a_warning(y: Any) -> None:
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        labels = encode_labels(y)
    assert labels.codes.tolist() == [1, 0]


def test_no_labels() -> None:
    nothing: list[Any] = [[], np.array([]), np.array([], dtype=object), np.array([], dtype=str)]
    for y in [*nothing, pd.Series([], dtype=object), pl.Series([], dtype=pl.String)]:
        labels = encode_labels(y)
        assert len(labels) == 0
        assert len(labels.classes) == 0


@pytest.mark.parametrize(
    ("a", "b", "classes", "kind"),
    [
        ([1, 3], [2, 3], [1, 2, 3], "i"),
        ([1, 3], [1, 3], [1, 3], "i"),
        (["a"], ["bcd"], ["a", "bcd"], "U"),
        ([1], ["a"], [1, "a"], "O"),
        ([1], [2.0], [1.0, 2.0], "f"),
        ([2**60 + 1], [2.0], [2.0, 2**60 + 1], "O"),
        ([True], [0, 1], [0, True, 1], "O"),
        ([True], [False], [False, True], "b"),
        ([], ["a"], ["a"], "U"),
        (["a"], [], ["a"], "U"),
        ([(1, 2)], [(0, 1)], [(0, 1), (1, 2)], "O"),
    ],
)
def test_merge_classes(a: list[Any], b: list[Any], classes: list[Any], kind: str) -> None:
    one, two = encode_labels(a).classes, encode_labels(b).classes
    merged, of_one, of_two = merge_classes(one, two)
    assert merged.dtype.kind == kind
    assert merged.tolist() == classes
    assert [merged[i] for i in of_one] == list(one)
    assert [merged[i] for i in of_two] == list(two)


def test_merging_signed_and_unsigned() -> None:
    merged, _, _ = merge_classes(np.array([2**63], dtype=np.uint64), np.array([-1]))
    assert merged.tolist() == [-1, 2**63]
    days = np.array(["2020-01-02"], dtype="M8[D]")
    assert merge_classes(days, days - np.timedelta64(1, "D"))[0].tolist() == [dt.date(2020, 1, 1), dt.date(2020, 1, 2)]


def test_a_target_that_is_no_column_is_named() -> None:
    with pytest.raises(SchemaError, match=r"lacks the column 'plaay'.*Did you mean 'play'"):
        labels_of("plaay", as_table({"play": ["yes", "no"]}))
    with pytest.raises(DataError, match="y should be a 1d array"):
        labels_of("play", as_table(np.ones((2, 1))))


@pytest.mark.parametrize("threads", ["1", "5"])
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float64])
def test_labels_of_many_rows_are_encoded_by_several_threads(
    dtype: type, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIKELY_THREADS", threads)
    y = np.random.default_rng(0).integers(-7, 9, 150_001).astype(dtype)
    labels = encode_labels(y)
    classes, codes = np.unique(y, return_inverse=True)
    assert labels.classes.tolist() == classes.tolist() and np.array_equal(labels.codes, codes)
    counted = ClassWeights.observe(labels.classes, labels.codes)
    assert counted.rows.tolist() == np.bincount(codes).tolist() == counted.weights.tolist()


@pytest.mark.parametrize("late", [[9, -3], [2**62, -(2**62)], [2**63 - 1, -(2**63)]])
def test_labels_that_come_late_are_found(late: list[int]) -> None:
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.integers(0, 5, 200_000), np.array(late)])
    labels = encode_labels(y)
    assert labels.classes.tolist() == sorted({0, 1, 2, 3, 4, *late})
    assert (labels.classes[labels.codes] == y).all()


@pytest.mark.parametrize(
    "given",
    [
        {"a": 1}, ["heavy"] * 3, "heavy", object(), [[1.0], [1.0, 2.0], [1.0]], 10**400, {1.0, 2.0},
        np.ones(3, dtype=complex), np.array(["2024-01-01"] * 3, dtype="M8[D]"), pd.Series(pd.to_timedelta([1, 2, 3])),
    ],
    ids=lambda given: str(given)[:20],
)  # fmt: skip
def test_weights_that_are_no_numbers_are_refused(given: Any) -> None:
    with pytest.raises(DataError, match="Sample weights are numbers"):
        row_weights(given, as_table({"x": [1.0, 2.0, 3.0]}))
    with pytest.raises(DataError):
        GaussianNB().fit([[1.0], [2.0], [3.0]], [0, 1, 1], sample_weight={"a": 1})


def test_a_masked_weight_is_none() -> None:
    given = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
    with pytest.raises(DataError, match="weight of row 1 is nan"):
        row_weights(given, as_table({"x": [1.0, 2.0, 3.0]}))
