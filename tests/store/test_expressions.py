"""Expressions of several classes that differ in their numbers alone are one expression, with a number for each."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from likely import BayesClassifier
from likely.errors import SettingsError
from likely.store.expressions import (
    ByCut,
    ByValue,
    Expression,
    Expressions,
    NoExpressionError,
    as_table,
    code_of_number,
    code_of_value,
    expressions_of,
    family_terms,
    joined,
    numbers,
    plain_numbers,
    plain_value,
    refuse_alike,
    table_term,
)

SQL = Expressions()


def line(slope: float, height: float, column: str = "x") -> Expression:
    """height + slope · column"""
    return Expression("sum", (number(height), Expression("times", (number(slope), SQL.real(column)))))


def number(*of_classes: float) -> Expression:
    return Expression("number", value=of_classes)


def test_numbers_stand_beside_each_other() -> None:
    found = joined([line(2.0, 1.0), line(3.0, -1.0), line(2.0, 0.5)])
    times = Expression("times", (number(2.0, 3.0, 2.0), SQL.real("x")))
    assert found == Expression("sum", (number(1.0, -1.0, 0.5), times))
    assert joined([line(2.0, 1.0)]) == line(2.0, 1.0)


@pytest.mark.parametrize(
    "other",
    [
        line(2.0, 1.0, "y"),  # deep within, another column
        SQL.real("x"),
        Expression("sum", (number(1.0),)),
        Expression("product", line(2.0, 1.0).parts),
        Expression("sum", line(2.0, 1.0).parts, value="named"),
    ],
    ids=str,
)
def test_what_differs_otherwise_stays_apart(other: Expression) -> None:
    assert joined([line(2.0, 1.0), other]) is None
    assert joined([other, line(2.0, 1.0)]) is None
    assert joined([other, other]) is not None


def test_only_a_number_is_numbers() -> None:
    assert numbers(number(1.0, 2.0)) == (1.0, 2.0)
    assert numbers(SQL.real("x")) == () and numbers(Expression("number", value="x")) == ()


# What a family asks for, and what comes of it.


def value(told: Expression, row: dict[str, float | None]) -> float:
    """What an expression of one class is for a row."""
    parts = told.parts
    match told.kind:
        case "number":
            return numbers(told)[0]
        case "real":
            return math.nan if (cell := row[str(told.value)]) is None else cell
        case "missing":
            return row[str(told.value)] is None
        case "case":
            for condition, result in zip(parts[:-1:2], parts[1:-1:2], strict=True):
                if value(condition, row):
                    return value(result, row)
            return value(parts[-1], row)
        case "sum":
            return sum(value(part, row) for part in parts)
    a, b = (value(part, row) for part in parts)
    return {"minus": a - b, "times": a * b, "over": a / b if b else math.nan, "at_most": a <= b, "below": a < b}[
        told.kind
    ]


def test_a_bell_is_the_log_density_and_nothing_for_a_gap() -> None:
    mean, deviation = np.array([1.0, -2.0]), np.array([0.5, 3.0])
    for place in range(2):
        bell = SQL.log_bell(SQL.real("x"), mean, deviation, place)
        for x in (-1.0, 0.0, 2.5):
            assert value(bell, {"x": x}) == pytest.approx(norm(mean[place], deviation[place]).logpdf(x), rel=1e-12)
        assert value(bell, {"x": None}) == 0.0


def test_a_bell_over_what_is_a_number_under_a_condition_is_nothing_elsewhere() -> None:
    mean, deviation = np.array([1.0]), np.array([2.0])
    known = SQL.case([(SQL.below(SQL.number(0.0), SQL.real("x")), SQL.times(SQL.real("x"), SQL.number(2.0)))])
    bell = SQL.log_bell(known, mean, deviation, 0)
    assert value(bell, {"x": 0.75}) == pytest.approx(norm(1.0, 2.0).logpdf(1.5), rel=1e-12)
    assert value(bell, {"x": -0.75}) == 0.0 and value(bell, {"x": None}) == 0.0


def test_what_may_be_null_is_a_case_without_an_else() -> None:
    gap, x = SQL.missing("x"), SQL.real("x")
    known = SQL.case([(gap, x)])
    assert known == Expression("known", (gap, x))
    assert SQL.known_or(known, number(7.0)) == Expression("case", (gap, x, number(7.0)))
    doubled = SQL.times(SQL.number(2.0), SQL.sum([known, known]))
    expected = SQL.times(SQL.number(2.0), SQL.sum([x, x]))
    assert SQL.known_or(doubled, number(7.0)) == Expression("case", (gap, expected, number(7.0)))
    with pytest.raises(NoExpressionError):
        SQL.known_or(x, number(7.0))
    with pytest.raises(NoExpressionError):  # two conditions at once
        SQL.known_or(SQL.sum([known, SQL.case([(SQL.missing("y"), x)])]), number(7.0))
    with pytest.raises(NoExpressionError):
        SQL.case([(gap, x), (gap, x)])


def test_cases_are_in_their_order_and_what_is_left_out_adds_nothing() -> None:
    a, b = SQL.missing("a"), SQL.missing("b")
    assert SQL.case([(a, number(1.0)), (b, number(2.0))], number(3.0)).parts == (
        a,
        number(1.0),
        b,
        number(2.0),
        number(3.0),
    )
    assert SQL.unless(a, number(5.0)) == Expression("case", (a, number(0.0), number(5.0)))


def test_operations_keep_their_order_and_nothing_is_worked_out_twice() -> None:
    a, b = SQL.real("a"), SQL.real("b")
    for kind in ("minus", "times", "over", "equal", "below", "at_most", "either"):
        assert getattr(SQL, kind)(a, b) == Expression(kind, (a, b))
    assert SQL.sum([a, b]).parts == (a, b) and SQL.ln(a) == Expression("ln", (a,))
    assert SQL.kept(a, "key") is a and a.copy() is a


def test_what_only_a_database_has_is_no_expression() -> None:
    for asked in ("words", "whole", "whole_at", "power", "size", "root", "greatest", "both", "null"):
        with pytest.raises(NoExpressionError):
            getattr(SQL, asked)(SQL.real("x"), 3)


class Teller:
    """A family that says what it is told to."""

    def __init__(self, *of_classes: list[Any] | None) -> None:
        self.of_classes = of_classes

    def sql_terms(self, sql: Any, place: int) -> Any:
        told = self.of_classes[place]
        return told if told is None or told != ["asks"] else [sql.root(sql.real("x"))]


def test_terms_are_gathered_column_by_column() -> None:
    belief: Any = Teller([number(1.0), number(2.0)], [number(3.0), number(4.0)])
    assert expressions_of(belief, 2) == [[number(1.0), number(3.0)], [number(2.0), number(4.0)]]
    assert expressions_of(belief, 1) == [[number(1.0)], [number(2.0)]]


def test_classes_that_say_less_of_a_column_have_one_sum_each() -> None:
    belief: Any = Teller([number(1.0), number(2.0)], [], [number(3.0)])
    zero = number(0.0)
    assert expressions_of(belief, 3) == [
        [SQL.sum([zero, number(1.0), number(2.0)]), SQL.sum([zero]), SQL.sum([zero, number(3.0)])]
    ]
    assert expressions_of(belief, 2) == [[SQL.sum([zero, number(1.0), number(2.0)]), SQL.sum([zero])]]


def test_a_family_that_writes_nothing_or_asks_for_more_has_no_expressions() -> None:
    for belief in (object(), Teller([number(1.0)], None), Teller([number(1.0)], ["asks"])):
        told: Any = belief
        assert expressions_of(told, 2) is None and family_terms(told, 2) is None


# Tables that are looked up.

CODE = SQL.code("town", ["u", "v", "w"], [2, 0, 2], 3, 1)
INTERVAL = SQL.interval("x", np.array([0.5, 3.0]), 1, 4, at_most=False)


def test_a_category_is_a_line_of_a_table_with_gap_and_unseen_behind() -> None:
    found = as_table(SQL.number_at([10.0, 20.0, 30.0, 40.0], CODE))
    assert isinstance(found, ByValue) and found.column == "town" and found.values == ("u", "v", "w")
    assert found.table.tolist() == [[30.0], [10.0], [30.0], [20.0], [40.0]]


def test_an_interval_is_a_line_of_a_table_with_the_gap_behind() -> None:
    found = as_table(SQL.number_at([-1.0, 10.0, 20.0, 30.0, 40.0], INTERVAL))
    assert isinstance(found, ByCut) and found.column == "x" and found.cuts == (0.5, 3.0)
    assert found.table.tolist() == [[10.0], [20.0], [30.0], [40.0]]
    closed = SQL.interval("x", np.array([0.5, 3.0]), 1, 4, at_most=True)
    assert as_table(SQL.number_at([-1.0, 10.0, 20.0, 30.0, 40.0], closed)) is None


def test_a_weight_multiplies_the_table_and_numbers_of_all_classes_fill_their_line() -> None:
    lines = (number(1.0, 2.0), number(3.0), number(5.0, 6.0), number(7.0, 8.0))
    told = Expression("number_at", (CODE, *lines))
    found = as_table(told)
    assert found is not None and found.table.tolist() == [[5.0, 6.0], [1.0, 2.0], [5.0, 6.0], [3.0, 3.0], [7.0, 8.0]]
    weighted = as_table(SQL.times(number(2.0, 10.0), told))
    assert weighted is not None and weighted.table[0].tolist() == [10.0, 60.0]
    for other in (SQL.real("x"), SQL.times(number(2.0), SQL.real("x")), SQL.times(told, number(2.0)),
                  SQL.sum([number(2.0), told])):  # fmt: skip
        assert as_table(other) is None


def plain_of(*of_classes: Expression) -> Any:
    belief: Any = Teller(*([each] for each in of_classes))
    (found,) = family_terms(belief, len(of_classes)) or [None]
    return found


def test_terms_of_tables_are_codes_and_lines() -> None:
    first, second = [10.0, 20.0, 30.0, -math.inf], [1.0, 2.0, 3.0, 4.0]
    assert plain_of(SQL.number_at(first, CODE), SQL.number_at(second, CODE)) == {
        "codes": [{"column": "town", "values": ["u", "v", "w"], "lines": [0, 1, 2], "gap": 3, "unseen": 4, "size": 5}],
        "table": [[30.0, 3.0], [10.0, 1.0], [30.0, 3.0], [20.0, 2.0], [None, 4.0]],
    }
    assert plain_of(SQL.number_at([-1.0, 10.0, 20.0, 30.0, 40.0], INTERVAL)) == {
        "codes": [{"column": "x", "cuts": [0.5, 3.0], "closed": "left", "lines": [0, 1, 2], "gap": 3, "size": 4}],
        "table": [[10.0], [20.0], [30.0], [40.0]],
    }


def test_terms_of_expressions_name_columns_cases_and_operations() -> None:
    x, gap = SQL.real("x"), SQL.missing("x")
    told = SQL.case([(gap, number(1.0)), (SQL.below(x, number(2.0)), x)], SQL.minus(x, number(3.0)))
    assert plain_of(told) == {
        "expression": {
            "case": [
                ({"missing": "x"}, {"number": [1.0]}),
                ({"below": [{"column": "x"}, {"number": [2.0]}]}, {"column": "x"}),
            ],
            "else": {"minus": [{"column": "x"}, {"number": [3.0]}]},
        }
    }
    table = SQL.number_at([1.0, 2.0, 3.0, 4.0], CODE)
    assert plain_of(SQL.sum([x, table])) == {"expression": {"sum": [{"column": "x"}, plain_of(table)]}}
    assert plain_of(x, number(2.0)) == {"expression": {"by_class": [{"column": "x"}, {"number": [2.0]}]}}


def test_codes_of_columns_say_all_of_their_lines() -> None:
    by_value = code_of_value("a", ["u", None], range(2), gap=5, unseen=6, size=7)
    assert by_value == {"column": "a", "values": ["u", None], "lines": [0, 1], "gap": 5, "unseen": 6, "size": 7}
    by_number = code_of_number("a", (1.0,), range(2), gap=5, closed="right", size=7)
    assert by_number == {"column": "a", "cuts": [1.0], "closed": "right", "lines": [0, 1], "gap": 5, "size": 7}
    term = table_term([by_value, by_number], np.array([[1.0, -np.inf]]))
    assert term == {"codes": [by_value, by_number], "table": [[1.0, None]]}


@pytest.mark.parametrize(
    ("told", "plain"),
    [
        (None, None), (True, True), (3, 3), (1.5, 1.5), ("x", "x"), (math.inf, "inf"), (Decimal("1.50"), "1.50"),
        (datetime.date(2024, 2, 29), "2024-02-29"), (np.float64(0.5), 0.5), (np.int64(3), "3"), (np.str_("x"), "x"),
    ],
    ids=repr,
)  # fmt: skip
def test_values_that_json_has_are_themselves_and_others_their_text(told: Any, plain: Any) -> None:
    found = plain_value(told)
    assert found == plain and (isinstance(found, type(plain)))


def test_infinite_numbers_are_null() -> None:
    assert plain_numbers([0.0, -math.inf, 1e300]) == [0.0, None, 1e300]


def test_texts_that_are_alike_are_refused_by_name() -> None:
    refuse_alike("classes", [], "PMML")
    refuse_alike("classes", ["a", "b"], "PMML")
    with pytest.raises(SettingsError, match="Two classes are both written 'b', and PMML"):
        refuse_alike("classes", ["a", "b", "c", "b"], "PMML")


def test_a_fitted_family_says_one_term_for_each_of_its_columns() -> None:
    rows = {"a": [1.0, 2.0, 4.0, 5.0], "b": [0.0, 1.0, 1.0, 3.0]}
    (belief,) = BayesClassifier().fit(rows, ["p", "q", "p", "q"]).model_.beliefs
    found = expressions_of(belief, 2)
    assert found is not None and [len(each) for each in found] == [2, 2]
    assert len(family_terms(belief, 2) or []) == 2
