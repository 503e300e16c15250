"""Sentences know their parts: parameters and rows are data, whatever the cells of a table say."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest

from likely.cli.output import in_options
from likely.errors import (
    Aside,
    AtRow,
    DataError,
    Message,
    Setting,
    missing_columns,
    say_kind,
    to_install,
    without_asides,
    without_row,
)
from likely.streaming import train_file
from likely.table.schema import Schema


def test_a_message_is_text_and_keeps_its_parts() -> None:
    said = Message("name it in ", Setting("na"), Message(", or not", Aside(" (of 3)")))
    assert said == "name it in na=, or not (of 3)"
    for again in (copy.deepcopy(said), copy.copy(said), "" + said, said + ""):
        assert isinstance(again, Message)
        assert again.parts == said.parts
    assert json.dumps(said) == '"name it in na=, or not (of 3)"'
    assert without_asides(said) == "name it in na=, or not"
    assert in_options(said) == "name it in --na, or not (of 3)"


def test_an_error_in_parts_is_one_sentence() -> None:
    error = DataError("Column 'a'", AtRow(7, ", row 7"), ": say ", say_kind("a", "nominal"), ".")
    assert str(error) == "Column 'a', row 7: say schema={'a': 'nominal'}."
    assert without_row(error.message) == "Column 'a': say schema={'a': 'nominal'}."
    assert in_options(error.message) == "Column 'a', row 7: say --kind a=nominal."
    assert str(copy.deepcopy(error)) == str(error)
    assert DataError("plain").message == "plain"


@pytest.mark.parametrize(
    ("cell", "told"), [("inf", "line 42: Column 'x' holds inf"), ("-1", "line 42: The weight is -1")]
)
def test_a_row_of_a_file_is_told_by_its_line_alone(tmp_path: Path, cell: str, told: str) -> None:
    weight, x = ("1", "inf") if cell == "inf" else ("-1", "3")
    (tmp_path / "bad.csv").write_text("x,w,y\n" + "1,1,a\n2,2,b\n" * 20 + f"{x},{weight},a\n")
    with pytest.raises(DataError) as caught:
        train_file(tmp_path / "bad.csv", "y", weight="w")
    assert told in str(caught.value)
    assert "row" not in str(caught.value).split(":")[1]


def test_a_stored_reason_gets_its_parts_back() -> None:
    table = {"id": [f"k{n}" for n in range(30)], "n": np.arange(30) % 3}
    schema = Schema.infer(table)
    again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert again == schema
    assert in_options(again["id"].why) == "every row has its own value, as identifiers do; --kind id=nominal keeps it"
    long = Schema.infer({"n": np.arange(40_000) % 3})
    why = Schema.from_dict(json.loads(json.dumps(long.to_dict())))["n"].why
    assert "judged from" in why
    assert without_asides(why) == without_asides(long["n"].why)
    assert "judged" not in without_asides(why)


def test_a_missing_extra_names_libraries_that_pip_can_find() -> None:
    told = to_install("plot")
    assert told.startswith("pip install ") and told.endswith("(the extra 'plot')")
    assert "likely[" not in told
    assert '"matplotlib>=' in told or ".[plot]" in told  # the latter where the package was never installed


def test_each_of_several_missing_columns_has_its_nearest_name() -> None:
    said = str(missing_columns(["purpose", "credit_amount", "zzz"], ["purposes", "Credit Amount", "age"]))
    assert said.endswith(" Did you mean 'purposes' for 'purpose' and 'Credit Amount' for 'credit_amount'?")
    assert "Did you mean" not in str(missing_columns(["zzz", "qqq"], ["age"]))
    assert str(missing_columns(["total1", "total2"], ["total3"])).endswith(" Did you mean 'total3' for 'total1'?")
