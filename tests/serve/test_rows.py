"""Rows read without a frame say the same as rows read by the library, alone and in company."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import likely
from likely.errors import LikelyError, SchemaError
from likely.serve.batcher import judged_together
from likely.serve.catalogue import Snapshot
from likely.serve.refusals import HTTPRefusal
from likely.serve.rows import RowReader, checked_rows

TRAINED = {
    "n": [1.5, 2.5, 9.5, 8.5, 3.0, 7.0], "s": ["a", "b", "a", "c", "b", "c"], "i": [1, 2, 3, 3, 2, 1],
    "t": [True, False, True, True, False, False], "d": ["3", "4", "3", "4", "3", "5"],
}  # fmt: skip
KINDS = {"n": "numeric", "s": "nominal", "i": "nominal", "t": "nominal", "d": "nominal"}
CLF = likely.BayesClassifier(schema=KINDS).fit(TRAINED, list("xxyyxy"))
MODEL = Snapshot("m", "1", "r", CLF)

cells = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from([1.0, 2.5, 1e300, -0.0, 10**400]),
    st.sampled_from(["a", "b", "3", "1", "True", "true", "x", "", "1e5", "nan"]), st.just([1]),
)  # fmt: skip
rows = st.fixed_dictionaries(dict.fromkeys(KINDS, cells))
ordinary = st.fixed_dictionaries(
    {
        "n": st.one_of(st.none(), st.floats(-9, 9)), "s": st.sampled_from([None, "a", "q"]), "i": st.integers(0, 4),
        "t": st.one_of(st.none(), st.booleans()), "d": st.sampled_from(["3", "6", None]),
    }
)  # fmt: skip


def asked(rows: Any) -> Any:
    try:
        return CLF.predict_proba(rows)
    except LikelyError as error:
        return type(error)


@given(st.lists(rows, min_size=1, max_size=4))
def test_rows_say_what_they_say_to_the_library(some: list[dict[str, Any]]) -> None:
    wanted = asked(some)
    try:
        found: Any = MODEL.judge_columns([MODEL.reader.columns(some)]).posterior
    except LikelyError as error:
        found = type(error)
    if isinstance(wanted, type):
        assert found is wanted
    else:
        assert_array_equal(found, wanted)


@given(st.lists(ordinary, min_size=2, max_size=6))
def test_company_changes_nothing(some: list[dict[str, Any]]) -> None:
    parts = [MODEL.reader.columns([row]) for row in some]
    together = [part for part in parts if part.plain]
    alone = [MODEL.judge_columns([part]).posterior for part in together]
    for one, judged in zip(alone, judged_together(MODEL, together) if together else [], strict=True):
        assert not isinstance(judged, Exception)
        assert_array_equal(judged.posterior, one)


def test_who_would_be_read_otherwise_in_company_is_read_alone() -> None:
    """The string "1" finds the number 1 only where no number stands beside it."""
    odd, even = MODEL.reader.columns([{**_row(), "i": "1"}]), MODEL.reader.columns([_row()])
    assert even.plain and not odd.plain
    assert_array_equal(MODEL.judge_columns([odd]).posterior, MODEL.judge_columns([even]).posterior)


def _row() -> dict[str, Any]:
    return {"n": 2.0, "s": "a", "i": 1, "t": True, "d": "3"}


def test_one_bad_row_spoils_no_other() -> None:
    good, bad = MODEL.reader.columns([_row()]), MODEL.reader.columns([{**_row(), "n": float("inf")}])
    first, second, third = judged_together(MODEL, [good, bad, good])
    assert not isinstance(first, Exception) and not isinstance(third, Exception)
    assert_array_equal(first.posterior, third.posterior)
    assert isinstance(second, LikelyError)


def test_columns_that_are_missing() -> None:
    reader = RowReader(CLF.schema_)
    with pytest.raises(SchemaError, match="'s'"):
        reader.columns([{"n": 1.0, "i": 1, "t": True, "d": "3"}])
    with pytest.raises(SchemaError, match="'s'"):
        reader.from_columns({"n": [1.0], "i": [1], "t": [True], "d": ["3"]}, 1)
    assert reader.columns([_row(), {"n": 1.0}]).cells[1] == ["a", None]


@pytest.mark.parametrize("given", [None, [], {}, "rows", [1], [[]], [{}, None]])
def test_what_are_no_rows(given: Any) -> None:
    with pytest.raises(HTTPRefusal) as refused:
        checked_rows(given, 10, 10)
    assert refused.value.status == 422


def test_a_number_for_a_number_column_is_a_number() -> None:
    table = MODEL.table([MODEL.reader.columns([_row(), {**_row(), "n": None}])])
    assert_array_equal(table.numbers("n"), [2.0, np.nan])
    assert table.codes("s").levels == ("a",)
