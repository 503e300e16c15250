"""Whatever holds texts is read, gaps are empty, and what cannot be read is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from likely.errors import DataError
from likely.text import TextCounter, count_rows

TEXTS = ["To be", None, "or nöt", "", "to bé"]
WORDS = ["be", "bé", "nöt", "or", "to"]
ROWS = [[1, 0, 0, 0, 1], [0] * 5, [0, 0, 1, 1, 0], [0] * 5, [0, 1, 0, 0, 1]]

SHAPES: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "object array": lambda texts: np.array(texts, dtype=object),
    "list with NaN": lambda texts: [float("nan") if text is None else text for text in texts],
    "list with NA": lambda texts: [pd.NA if text is None else text for text in texts],
    "bytes": lambda texts: [text if text is None else text.encode() for text in texts],
    "bytes and strings": lambda texts: [texts[0].encode(), *texts[1:]],
    "pandas str": lambda texts: pd.Series(texts, dtype="str"),
    "pandas object": lambda texts: pd.Series(texts, dtype=object),
    "pandas string": lambda texts: pd.Series(texts, dtype="string"),
    "pandas category": lambda texts: pd.Series(texts, dtype="category"),
    "pandas with an index": lambda texts: pd.Series(texts, index=[5, 4, 3, 2, 1]),
    "pandas index": pd.Index,
    "polars": lambda texts: pl.Series(texts),
    "polars category": lambda texts: pl.Series(texts, dtype=pl.Categorical),
    "arrow string": lambda texts: pa.array(texts, pa.string()),
    "arrow large string": lambda texts: pa.array(texts, pa.large_string()),
    "arrow view": lambda texts: pa.array(texts, pa.string_view()),
    "arrow dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "arrow binary": lambda texts: pa.array([t if t is None else t.encode() for t in texts], pa.binary()),
    "arrow chunks": lambda texts: pa.chunked_array([texts[:1], texts[1:4], [], texts[4:]], pa.string()),
    "arrow slice": lambda texts: pa.array(["no", *texts, "never"]).slice(1, len(texts)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_any_shape(shape: str) -> None:
    rows = count_rows(SHAPES[shape](TEXTS))
    assert rows.words.to_list() == WORDS
    assert rows.to_csr().toarray().tolist() == ROWS


def test_string_arrays() -> None:
    for texts in (np.array(["to be", "to"]), np.array([b"to be", b"to"])):
        assert count_rows(texts).to_csr().toarray().tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("texts", [[], pa.array([], pa.string()), pd.Series([], dtype="str"), [None, None], [np.nan]])
def test_nothing_to_read(texts: Any) -> None:
    rows = count_rows(texts)
    assert rows.to_csr().shape == (len(texts), 0)
    with pytest.raises(DataError, match="empty vocabulary"):
        TextCounter().fit(texts)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", "single one"),
        (b"one text", "single one"),
        (3, "a int"),
        ([["a"], ["b"]], r"Row 0 holds \['a'\]"),
        (["fine", 7], "Row 1 holds 7"),
        (np.array([["a"]]), "2 dimensions"),
        (pd.DataFrame({"a": ["b"]}), "table"),
        ({"a": ["b"]}, "table"),
        (pa.array([1, 2]), "int64"),
        (np.array([1.0, 2.0]), "double"),
    ],
)
def test_no_texts(texts: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        count_rows(texts)


@pytest.mark.parametrize(
    "shape", [list, np.array, lambda b: pa.array(b, pa.binary()), lambda b: pd.Series(b, dtype=object)]
)
def test_malformed_bytes(shape: Callable[[list[bytes]], Any]) -> None:
    texts = shape([b"fine text", b"caf\xe9 au lait", b"\xff\xfe"])
    with pytest.raises(DataError, match=r"Row 1 is no UTF-8 text: byte 3 is 0xe9.*decode_error"):
        count_rows(texts)
    assert count_rows(texts, decode_error="replace").words.to_list() == ["au", "caf", "fine", "lait", "text"]
    assert TextCounter(decode_error="ignore").fit(texts).vocabulary_.keys() == {"au", "caf", "fine", "lait", "text"}


def test_malformed_strings_in_arrow_are_separators() -> None:
    """Arrow does not check the strings that others hand it; a broken byte parts words and breaks nothing."""
    data = b"ab\xe2\x82cd \xf0\x9f ef\xc3"
    offsets = np.array([0, len(data)], dtype=np.int64)
    texts = pa.Array.from_buffers(pa.large_string(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    assert count_rows(texts).words.to_list() == ["ab", "cd", "ef"]


def test_lone_surrogates_part_words() -> None:
    assert count_rows(["ab\ud800cd", "ef"]).words.to_list() == ["ab", "cd", "ef"]
