"""What each column is taken for, and whether a later table fits."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from likely.errors import SchemaError
from likely.table import as_table
from likely.table.infer import ManyColumns
from likely.table.schema import Schema

ROWS = 40
COLUMNS: dict[str, list[Any]] = {
    "age": [20 + i for i in range(ROWS)],
    "stars": [i % 3 for i in range(ROWS)],
    "height": [1.5 + i / 7 for i in range(ROWS)],
    "town": [("Ulm", "Bonn")[i % 2] for i in range(ROWS)],
    "id": [f"id-{i}" for i in range(ROWS)],
    "note": [f"the patient came in on day {i}" for i in range(ROWS)],
    "sick": [i % 4 == 0 for i in range(ROWS)],
    "void": [None] * ROWS,
    "same": [7] * ROWS,
    "digits": [str(i % 7) for i in range(ROWS)],
    "label": [("yes", "no")[i % 2] for i in range(ROWS)],
}
KINDS = {
    "age": "numeric",
    "stars": "numeric",
    "height": "numeric",
    "town": "nominal",
    "id": "ignored",
    "note": "text",
    "sick": "nominal",
    "void": "ignored",
    "same": "numeric",
    "digits": "nominal",
}


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, pa.table, lambda c: pd.DataFrame(c, dtype=object),
             lambda c: pa.table(c).to_pandas(types_mapper=pd.ArrowDtype)],
)  # fmt: skip
def test_guesses(make: Any) -> None:
    schema = Schema.infer(make(COLUMNS), target="label")
    assert schema.kinds == KINDS
    assert schema.target == "label"
    assert schema.numeric == ("age", "stars", "height", "same")
    assert schema.nominal == ("town", "sick", "digits")
    assert schema.text == ("note",)
    assert schema.ignored == ("id", "void")
    assert schema.features == ("age", "stars", "height", "town", "note", "sick", "same", "digits")
    assert schema["town"].levels == 2
    assert schema["void"].gaps == ROWS
    assert schema["age"].gaps == 0
    assert "only 3 distinct" in schema["stars"].why
    assert "'nominal'" in schema["stars"].why
    assert "identifiers" in schema["id"].why
    assert "missing" in schema["void"].why
    assert "constant" in schema["same"].why
    assert "numeric" in schema["digits"].why
    assert not any("judged" in column.why for column in schema)


def test_dates_nested_and_odd_objects() -> None:
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2020", periods=3),
            "long": pd.to_timedelta([1, 2, 3], unit="h"),
            "list": [[1], [2], []],
            "hidden": [(1, [2]), (1, [2]), "x"],
            "dict": [{"a": 1}, 1.5, 2.5],
            "mixed": [1, "a", "a"],
            "category": pd.Categorical([1, 2, None]),
            "gappy": [1.0, None, 2.0],
        }
    )
    schema = Schema.infer(frame)
    assert schema.ignored == ("long", "list", "hidden", "dict")
    assert schema.kinds["when"] == "date"
    assert schema.nominal == ("when: month", "when: weekday", "mixed", "category")
    assert schema["gappy"].gaps == 1
    assert schema["category"].gaps == 1
    assert "dates" in schema["when"].why


def test_long_columns_of_strings() -> None:
    n = 25_000
    schema = Schema.infer(
        {
            "text": [f"word {i} and some more of them" for i in range(n)],
            "id": [f"u{i}" for i in range(n)],
            "word": [f"w{i % 50}" for i in range(n)],
            "phrase": [f"the very same phrase number {i % 50}" for i in range(n)],
        }
    )
    assert schema.kinds == {"text": "text", "id": "ignored", "word": "nominal", "phrase": "nominal"}
    assert schema["word"].levels == 50
    assert "judged from" in schema["text"].why


def test_short_tables_have_no_identifiers() -> None:
    schema = Schema.infer({"name": ["a", "b", "c"]})
    assert schema.nominal == ("name",)
    assert Schema.infer({"name": [f"n{i}" for i in range(19)]}).nominal == ("name",)
    assert Schema.infer({"name": [f"n{i}" for i in range(20)] + [None]}).ignored == ("name",)


def test_overrides() -> None:
    wishes = {"stars": "nominal", "id": "nominal", "digits": "numeric", "town": "ignored", "note": "text"}
    schema = Schema.infer(COLUMNS, overrides={**wishes, "label": "target", "age": "weight"})
    assert {name: schema.kinds[name] for name in wishes} == wishes
    assert schema.target == "label"
    assert schema.weight == "age"
    assert "age" not in schema
    assert schema["stars"].levels == 3
    assert schema["stars"].why == "as you said"
    assert as_table(COLUMNS).numbers("digits")[:3].tolist() == [0, 1, 2]


def test_schema_as_override_decides_alone() -> None:
    first = Schema.infer({key: COLUMNS[key] for key in ("age", "town", "label")}, target="label")
    again = Schema.infer(COLUMNS, overrides=first)
    assert again.features == ("age", "town")
    assert again.target == "label"
    assert "id" in again.ignored
    assert Schema.infer({"age": [1], "town": ["a"]}, overrides=first).target is None
    with pytest.raises(SchemaError, match="'town'"):
        Schema.infer({"age": [1]}, overrides=first)


def test_wrong_wishes() -> None:
    with pytest.raises(SchemaError, match="Did you mean 'stars'"):
        Schema.infer(COLUMNS, overrides={"star": "nominal"})
    with pytest.raises(SchemaError, match="Did you mean 'nominal'"):
        Schema.infer(COLUMNS, overrides={"stars": "nominl"})
    with pytest.raises(SchemaError, match="Did you mean 'label'"):
        Schema.infer(COLUMNS, target="lable")
    with pytest.raises(SchemaError, match="weigth"):
        Schema.infer(COLUMNS, weight="weigth")
    with pytest.raises(SchemaError, match="both the target and the weight"):
        Schema.infer(COLUMNS, target="age", weight="age")
    with pytest.raises(SchemaError, match="called the target"):
        Schema.infer(COLUMNS, target="age", overrides={"label": "target"})
    with pytest.raises(SchemaError, match="'agee'"):
        Schema.infer(COLUMNS)["agee"]


def test_small_matrix_is_read_whole() -> None:
    rows = [[1.0, 0.5, np.nan, 3.0], [2.0, np.nan, np.nan, 3.0], [1.0, 0.25, np.nan, 3.0], [1.0, 0.1, np.nan, 3.0]]
    X = np.array(rows)
    schema = Schema.infer(X)
    assert schema.kinds == {"x0": "numeric", "x1": "numeric", "x2": "ignored", "x3": "numeric"}
    assert [column.gaps for column in schema] == [0, 1, 4, 0]
    assert [column.levels for column in schema] == [2, None, None, 1]
    assert "only 2 distinct" in schema["x0"].why
    assert "constant" in schema["x3"].why
    assert Schema.infer(X[:, :1] > 1).nominal == ("x0",)
    assert Schema.infer(np.empty((0, 2))).numeric == ("x0", "x1")
    assert Schema.infer(X, overrides={"x0": "nominal"})["x0"].levels == 2


def test_big_matrix_is_sampled() -> None:
    X = np.random.default_rng(0).random((25_000, 3))
    X[:, 2] = np.arange(25_000) % 4
    schema = Schema.infer(X)
    assert all(column.gaps is None and "judged from" in column.why for column in schema)
    assert "only 4 distinct" in schema["x2"].why or "whole" in schema["x2"].why
    filled = schema.with_gaps({"x1": 7})
    assert filled["x1"].gaps == 7
    assert filled["x0"].gaps is None
    assert schema["x1"].gaps is None
    assert Schema.infer(X.astype(int))["x0"].gaps == 0
    # A column that is missing in the sample only is not all missing.
    X[:, 0] = np.nan
    assert Schema.infer(X).ignored == ("x0",)
    X[1, 0] = 1.0
    assert Schema.infer(X).ignored == ()
    with pytest.raises(SchemaError):
        schema.with_gaps({"x9": 1})


def test_object_matrix_of_numbers_is_numeric() -> None:
    schema = Schema.infer(np.random.default_rng(0).random((50, 2)).astype(object))
    assert schema.numeric == ("x0", "x1")


def test_wide_sparse_matrix_makes_no_columns() -> None:
    X = sp.random_array((1000, 50_000), density=1e-3, format="csr", random_state=0)
    schema = Schema.infer(X)
    assert isinstance(schema.columns, ManyColumns)
    assert len(schema) == 50_000
    assert schema["x49999"].kind == "numeric"
    assert len(schema.numeric) == 50_000
    changed = Schema.infer(X, overrides={"x7": "ignored"})
    assert changed.ignored == ("x7",)
    assert changed.with_gaps({"x3": 2})["x3"].gaps == 2
    assert Schema.infer(X) == schema
    assert changed != schema
    assert str(schema).endswith("and 49960 more columns")
    schema.check(X)
    with pytest.raises(ValueError, match=r"X has 3 features, but NB is expecting 50000 features as input."):
        schema.check(X[:, :3], estimator="NB")


def test_check_by_name() -> None:
    schema = Schema.infer(COLUMNS, target="label")
    frame = pd.DataFrame(COLUMNS)
    schema.check(frame)
    schema.check(frame[frame.columns[::-1]].assign(extra=1))
    schema.check(frame.drop(columns=["label", "id", "void"]))
    with pytest.raises(SchemaError, match=r"lacks the columns 'age', 'town'"):
        schema.check(frame.drop(columns=["age", "town"]))
    with pytest.raises(SchemaError, match="Did you mean 'twon'"):
        schema.check(frame.rename(columns={"town": "twon"}))


def test_check_by_place() -> None:
    X = np.arange(8.0).reshape(2, 4)
    schema = Schema.infer(X)
    schema.check(X)
    with pytest.raises(ValueError, match=r"^X has 3 features, but BayesClassifier is expecting 4 features as input\.$"):
        schema.check(X[:, :3])
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    assert schema.align(frame).numbers("x1").tolist() == [1, 5]
    with pytest.raises(ValueError, match="X has 3 features"):
        schema.check(frame[["a", "b", "c"]])
    named = Schema.infer(frame)
    assert named.align(X).numbers("b").tolist() == [1, 5]
    assert named.align(frame[["d", "b", "a", "c"]]).numbers("b").tolist() == [1, 5]
    with pytest.raises(ValueError, match="X has 2 features"):
        named.check(X[:, :2])


def test_shown() -> None:
    schema = Schema.infer({"<b>": [1, None], "town": ["Ulm", "Bonn"]}, target="town")
    frame = schema.to_frame()
    assert list(frame.columns) == ["column", "kind", "levels", "gaps", "why"]
    assert frame["gaps"].tolist() == [1]
    assert "target 'town'" in str(schema)
    assert "1 gap;" in str(schema)
    assert "&lt;b&gt;" in schema._repr_html_()


@pytest.mark.parametrize("table", [COLUMNS, np.ones((3, 2)), sp.csr_array(np.ones((3, 2)))])
def test_written_and_read_again(table: Any) -> None:
    schema = Schema.infer(table, weight="age" if isinstance(table, dict) else None)
    again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert schema == again
    assert again == schema
    assert again.features == schema.features


def test_no_schema() -> None:
    with pytest.raises(SchemaError, match="no schema"):
        Schema.from_dict({"columns": [{"name": "a"}]})
    with pytest.raises(SchemaError, match="cannot be 'odd'"):
        odd = {"name": "a", "kind": "odd", "storage": "float", "levels": None, "gaps": None, "why": ""}
        Schema.from_dict({"columns": [odd], "target": None, "weight": None})
