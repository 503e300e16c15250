"""Pseudo-counts by hand, one smoothing for each column, and what is refused in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likely import Laplace, MEstimate, SettingsError
from likely.families.smoothing import (
    LARGEST,
    log_share,
    refuse_unknown_columns,
    smoothing_by_column,
    totals_without_one,
)


def test_pseudo_counts() -> None:
    assert Laplace().gamma == 1.0
    assert Laplace(0.5).pseudo_counts("abc").tolist() == [0.5] * 3 and Laplace(0.5).pseudo_rows == 0.5
    assert MEstimate(2.0).pseudo_counts("abcd").tolist() == [0.5] * 4 and MEstimate(2.0).pseudo_rows == 2.0
    assert MEstimate(4.0, {"a": 0.25, "b": 0.75}).pseudo_counts("bca").tolist() == [3.0, 0.0, 1.0]
    assert len(MEstimate(2.0).pseudo_counts("")) == 0 and MEstimate(2.0).pseudo_counts("a").tolist() == [2.0]


@pytest.mark.parametrize("bad", [-0.1, np.inf, np.nan, 1.5e100, 2 * LARGEST, "1", None, 1j])
def test_pseudo_counts_are_finite_numbers_from_zero_up(bad: Any) -> None:
    for make in (Laplace, MEstimate, lambda given: smoothing_by_column(given, ["x"])):
        make(0.0), make(LARGEST), make(np.float32(0.5)), make(np.int64(2)), make(3)
        with pytest.raises(SettingsError):
            make(bad)
    with pytest.raises(SettingsError, match="smoothing is -1, but smoothing is a finite number"):
        smoothing_by_column(-1, ["x"])


@pytest.mark.parametrize(
    "bad", [{"a": 0.5}, {"a": 0.5, "b": 0.6}, {"a": 1.5, "b": -0.5}, {"a": "1"}, [1.0], {"a": np.nan}, {}]
)
def test_shares_of_an_m_estimate_sum_to_one(bad: Any) -> None:
    for fair in (
        {"a": 1.0},
        {"a": 0.5, "b": 0.5 + 5e-7},
        {"a": 1.0 + 5e-7},
        {"a": 0.5, "b": 0.5 - 5e-7},
        {"a": 1, "b": 0},
    ):
        MEstimate(1.0, fair)
    with pytest.raises(SettingsError, match="shares p of an m-estimate"):
        MEstimate(1.0, bad)
    with pytest.raises(SettingsError, match="sum to 1"):
        MEstimate(1.0, {"a": 0.5, "b": 0.5 + 2e-6})


def test_shares_of_nothing_are_even() -> None:
    part, total = np.array([1.0, 0.0, 0.0]), np.array([4.0, 4.0, 0.0])
    assert log_share(part, total, 2).tolist() == [np.log(0.25), -np.inf, np.log(0.5)]
    assert log_share(np.zeros(2), np.zeros(2), np.array([4, 0])).tolist() == [np.log(0.25), 0.0]


@pytest.mark.parametrize(
    ("smoothing", "expected"),
    [
        (Laplace(2.0), [4.0, 4.0, 4.0]),
        (MEstimate(3.0), [3.0, 3.0, 3.0]),
        (MEstimate(4.0, {"a": 0.25, "b": 0.5, "c": 0.25}), [3.0, 2.0, 3.0]),
    ],
)
def test_pseudo_counts_together_if_a_value_did_not_exist(smoothing: Any, expected: list[float]) -> None:
    assert totals_without_one(smoothing, ["a", "b", "c"]).tolist() == expected


def test_each_column_has_a_smoothing() -> None:
    columns = ["x", "y"]
    assert smoothing_by_column(0.5, columns) == {"x": Laplace(0.5), "y": Laplace(0.5)}
    assert smoothing_by_column(MEstimate(2.0), columns) == {"x": MEstimate(2.0), "y": MEstimate(2.0)}
    assert smoothing_by_column({"y": 0.5}, columns) == {"x": Laplace(1.0), "y": Laplace(0.5)}
    assert smoothing_by_column("auto", columns, auto=True) == {"x": Laplace(1.0), "y": Laplace(1.0)}
    assert smoothing_by_column({"x": "auto", "y": 2}, columns, auto=True) == {"x": Laplace(1.0), "y": Laplace(2.0)}
    assert smoothing_by_column(3, columns, auto=True)["x"] == Laplace(3.0)


@pytest.mark.parametrize("bad", ["auto", "best", None, True, [1.0], {"x": "auto"}, {"x": True}])
def test_what_is_no_smoothing(bad: Any) -> None:
    with pytest.raises(SettingsError, match=r"smoothing is .*, but it is a number"):
        smoothing_by_column(bad, ["x"])


def test_columns_that_are_not_there_are_named_with_a_hint() -> None:
    with pytest.raises(SettingsError, match=r"names 'agee', which is no column of the model.*'age'"):
        smoothing_by_column({"agee": 1.0}, ["age", "size"])
    refuse_unknown_columns("weights", ["age"], ["age", "size"], "column")
    with pytest.raises(SettingsError, match="weights names 'b', 'c'"):
        refuse_unknown_columns("weights", ["a", "b", "c"], ["a"], "column")
