"""Levels of a new table among the learned ones."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.table import as_table, index_levels, level_map
from likely.table.levels import is_gap, plain

cell = st.one_of(
    st.none(), st.integers(-3, 3), st.booleans(), st.text(max_size=3), st.floats(-2, 2),
    st.just(float("nan")), st.tuples(st.integers(0, 1)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("levels", "known", "expected"),
    [
        (["b", "z"], ("a", "b"), [1, -1]),
        ([1.0, np.int8(2), 3], (1, 2), [0, 1, -1]),
        ([True, False], (True, False), [0, 1]),
        ([1, 0], (True, False), [0, 1]),
        ([1.0, 0.0], (False, True), [1, 0]),
        ([True], (1, 0), [0]),
        ([True, 1], (1, True), [1, 0]),
        ([2], (True, False), [-1]),
        (["3", "4.0", "x"], (3, 4), [0, 1, -1]),
        ([3, 4.0, 2.5, 9], ("3", "4", "2.5"), [0, 1, 2, -1]),
        ([3.0], ("3.0",), [-1]),
        (["true", "False"], (True, False), [0, 1]),
        ([True, False], ("true", "false"), [0, 1]),
        ([True], ("True",), [0]),
        (["a"], (1, 2), [-1]),
        ([dt.date(2020, 1, 1)], ("a", 1), [-1]),
        ([pd.Timestamp("2020-01-01")], (dt.datetime(2020, 1, 1),), [0]),
        ([(1, 2)], ((1.0, 2),), [0]),
        ([np.str_("a")], ("a",), [0]),
        ([Decimal("1")], (1,), [0]),
        (["3", "a"], ("3", 3), [0, -1]),
        ([None], ("a",), [-1]),
        ([], ("a",), []),
        (["a"], (), [-1]),
    ],
)
def test_index_levels(levels: list[Any], known: tuple[Any, ...], expected: list[int]) -> None:
    found = index_levels(levels, known)
    assert found.dtype == np.int64
    assert found.tolist() == expected
    assert index_levels(levels, level_map(known)).tolist() == expected


def test_a_plain_mapping_will_do() -> None:
    assert index_levels(["a", True, 2], {"a": 0, True: 1, 2: 5}).tolist() == [0, 1, 5]


@pytest.mark.parametrize("gap", [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT, Decimal("NaN"),
                                 Decimal("sNaN"), np.datetime64("NaT", "s"), np.timedelta64("NaT", "s")])  # fmt: skip
def test_gaps(gap: Any) -> None:
    assert is_gap(gap)
    assert plain(gap) is None


@pytest.mark.parametrize("value", [0, "", "nan", False, (), np.inf, Decimal(0)])
def test_not_gaps(value: Any) -> None:
    assert not is_gap(value)


@given(st.lists(cell, max_size=30))
def test_codes_give_the_cells_back(cells: list[Any]) -> None:
    table = as_table({"c": cells})
    coded = table.codes("c")
    assert table.gaps("c") == sum(map(is_gap, cells))
    for value, code in zip(cells, coded.codes, strict=True):
        if is_gap(value):
            assert code == -1
        else:
            assert coded.levels[code] == value
            assert isinstance(coded.levels[code], bool) == isinstance(value, bool)
    assert index_levels(coded.levels, coded.levels).tolist() == list(range(len(coded.levels)))
    assert set(coded.codes.tolist()) - {-1} == set(range(len(coded.levels)))


@given(st.lists(cell, min_size=1, max_size=30), st.data())
def test_parts_have_only_their_own_levels(cells: list[Any], data: Any) -> None:
    table = as_table({"c": cells})
    table.codes("c")
    rows = data.draw(st.lists(st.integers(0, len(cells) - 1), max_size=10))
    part = table.take(np.array(rows, dtype=int))
    fresh = as_table({"c": [cells[row] for row in rows]}).codes("c")
    coded = part.codes("c")
    assert len(coded.levels) == len(fresh.levels)
    assert [coded.levels[c] if c >= 0 else None for c in coded.codes] == [
        fresh.levels[c] if c >= 0 else None for c in fresh.codes
    ]
