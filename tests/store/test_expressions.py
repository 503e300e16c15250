"""Expressions of several classes that differ in their numbers alone are one expression, with a number for each."""

from __future__ import annotations

import pytest

from likely.store.expressions import Expression, Expressions, joined, numbers

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
