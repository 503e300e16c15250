"""Expressions of SQL in any dialect. Names and values come from data, so all is made of sqlglot's own nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import partialmethod
from typing import Any

import numpy as np

from likely.errors import MissingExtra, SettingsError, to_install
from likely.sql.dialects import SQLDialect

Node = Any
"""An expression of sqlglot, which is imported only where it is needed."""

Writer = Callable[[float], Node]
"""How a number of an array is written."""

MOST_NUMBERS = 200_000
"""A query with more numbers would take longer to read than the table."""

EXACT = 1 << 53
"""Whole numbers up to this are floats, too."""

LEAST_EXPONENT = -700.0
"""Below this, e to the power of a number is nothing, and an error in engines that mind."""


class Nodes:
    """Makes expressions in a dialect, and counts the numbers in them; `exp` are sqlglot's nodes."""

    def __init__(self, dialect: SQLDialect) -> None:
        try:
            from sqlglot import exp
        except ImportError:
            raise MissingExtra(f"SQL is written with sqlglot: {to_install('sql')}.") from None
        self.exp: Node = exp
        self.dialect = dialect
        self.n_numbers = 0

    # Numbers, values and names.

    def number(self, number: float) -> Node:
        """A number with a fraction, as a float."""
        self._count(1)
        number = float(number)
        if not math.isfinite(number) and (self.dialect.infinity is None or math.isnan(number)):
            return self.as_float(self.exp.Literal.string(_spelt(number)))
        digits = str(self.dialect.infinity) if math.isinf(number) else _spelt(abs(number))
        if self.dialect.typed:
            literal = self.as_float(self.exp.Literal.string(digits))
        else:  # an exponent makes it a float; without one, some engines would reckon in decimals
            literal = self.exp.Literal.number(digits if "e" in digits else f"{digits}e0")
        return self.exp.Neg(this=literal) if number < 0.0 else literal

    def _count(self, more: int) -> None:
        self.n_numbers += more
        if self.n_numbers > MOST_NUMBERS:
            raise SettingsError(
                f"The model has more than {MOST_NUMBERS:,} numbers, too many for one query; predict with likely, or "
                "export it as ONNX, JSON or CSV."
            )

    def whole(self, number: int) -> Node:
        """A whole number."""
        literal = self.exp.Literal.number(str(abs(int(number))))
        return self.exp.Neg(this=literal) if number < 0 else literal

    def value(self, value: object) -> Node:
        """A label or category."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, bool):
            return self.exp.Boolean(this=value)
        if isinstance(value, str):
            if "\0" in value:
                raise SettingsError(f"The value {value!r} holds a character that SQL text cannot have.")
            return self.exp.Literal.string(value)
        if isinstance(value, int):
            return self.whole(value)
        if isinstance(value, float):
            return self.number(value)
        raise SettingsError(
            f"{value!r} is a {type(value).__name__}, a type that SQL has no word for; export the model as JSON or CSV."
        )

    def quoted(self, name: str) -> Node:
        """A name."""
        if not name:
            raise SettingsError("A column or table has no name at all, which SQL cannot say: give it one.")
        if "\0" in name:
            raise SettingsError(f"The column {name!r} has a zero byte in its name, which SQL cannot say: rename it.")
        return self.exp.to_identifier(name, quoted=True)

    def column(self, name: str, table: str | None = None) -> Node:
        """A column by its name."""
        return self.exp.Column(this=self.quoted(name), table=None if table is None else self.quoted(table))

    def named(self, expression: Node, name: str) -> Node:
        """An expression under a name."""
        return self.exp.Alias(this=expression, alias=self.quoted(name))

    # Types.

    def as_float(self, a: Node) -> Node:
        """An expression as a float of double precision."""
        return self.exp.cast(a, "double")

    def typed(self, cell: Node, values: Sequence[Hashable], name: str) -> Node:
        """A cell in the type that the values of its column have."""
        kind = self.kind_of(values)
        if kind is None:
            raise SettingsError(
                f"The values of column {name!r} are of several types, or of one that SQL has no word for: make them "
                "all text before fitting, or predict with likely."
            )
        return self.exp.cast(cell, kind)

    def kind_of(self, values: Sequence[Hashable]) -> str | None:
        """The type that some values have in SQL; None where it has no type for all of them."""
        exact = all(type(value) is int for value in values)
        largest = max(map(abs, values), default=0) if exact else 0  # type: ignore[arg-type]
        number = "double" if largest <= EXACT else "bigint" if largest < 1 << 63 else "decimal(38, 0)"
        for kinds, sql in (((bool,), "boolean"), ((str,), "text"), ((int, float), number)):
            if all(isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool)) for value in values):
                return sql
        return None

    def typed_value(self, value: Hashable, values: Sequence[Hashable]) -> Node:
        """A value to compare such a cell with."""
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and not all(type(each) is int for each in values):
            return self.number(float(value))  # type: ignore[arg-type]
        return self.value(value)

    def without_nan(self, a: Node) -> Node:
        """A float, or null where it is NaN."""
        if self.dialect.nan == "none":
            return a
        if self.dialect.nan == "equal":
            return self.exp.Nullif(this=a, expression=self.as_float(self.exp.Literal.string("nan")))
        return self.case([(self.exp.Not(this=self.exp.IsNan(this=a)), a.copy())])

    # Arithmetic.

    def _binary(self, name: str, a: Node, b: Node) -> Node:
        return vars(self.exp)[name](this=a, expression=b)

    def times(self, a: Node, b: Node) -> Node:
        """a · b."""
        return self.exp.Mul(this=self._operand(a), expression=self._operand(b))

    def _operand(self, a: Node) -> Node:
        """A sum is put into parentheses."""
        return self.grouped(a) if isinstance(a, self.exp.Add | self.exp.Sub) else a

    equal = partialmethod(_binary, "EQ")
    at_most = partialmethod(_binary, "LTE")
    below = partialmethod(_binary, "LT")
    either = partialmethod(_binary, "Or")
    both = partialmethod(_binary, "And")

    def minus(self, a: Node, b: Node) -> Node:
        """(a − b)."""
        return self.grouped(self.exp.Sub(this=a, expression=self._operand(b)))

    def over(self, a: Node, b: Node) -> Node:
        """(a / b) of floats; b is not zero."""
        return self.grouped(self.exp.Div(this=self._operand(a), expression=self._operand(b), typed=True))

    def sum(self, terms: Sequence[Node]) -> Node:
        """All terms together: by halves, so that no expression is as deep as a table has columns."""
        if len(terms) < 3:
            return terms[0] if len(terms) == 1 else self.exp.Add(this=terms[0], expression=terms[1])
        middle = (len(terms) + 1) // 2
        left, right = self.sum(terms[:middle]), self.sum(terms[middle:])
        return self.exp.Add(this=left, expression=self.grouped(right) if len(terms) - middle > 1 else right)

    def grouped(self, a: Node) -> Node:
        """(a)."""
        return self.exp.Paren(this=a)

    def call(self, name: str, *arguments: Node) -> Node:
        """A function that every engine has under the same name."""
        return self.exp.Anonymous(this=name, expressions=list(arguments))

    def ln(self, a: Node) -> Node:
        """Natural logarithm."""
        return self.exp.Ln(this=a)

    def root(self, a: Node) -> Node:
        """√a."""
        return self.exp.Sqrt(this=a)

    def size(self, a: Node) -> Node:
        """|a|."""
        return self.exp.Abs(this=a)

    def power(self, a: Node) -> Node:
        """e to the power of a; what would be smaller than the smallest float is 0."""
        if not self.dialect.strict:
            return self.exp.Exp(this=a)
        nothing = self.at_most(a, self.number(LEAST_EXPONENT))
        return self.case([(nothing, self.number(0.0))], self.exp.Exp(this=a.copy()))

    def greatest(self, a: Sequence[Node]) -> Node:
        """The largest of some numbers; null if all are."""
        if len(a) == 1:
            return a[0]
        return self._extreme("Greatest", a)

    def _extreme(self, function: str, a: Sequence[Node]) -> Node:
        if self.dialect.name == "tsql":
            return self.call(function.upper(), *a)
        return vars(self.exp)[function](this=a[0], expressions=list(a[1:]), ignore_nulls=True)

    def clamped(self, a: Node, most: float) -> Node:
        """A number, or ±most where it is farther from zero; null for a gap, NaN for what is infinite."""
        low = self._extreme("Greatest", [a, self.number(-most)])
        near = self._extreme("Least", [low, self.number(most)])
        # Some engines pass over nulls here: a − a brings them back, and is NaN for what is infinite.
        return self.sum([near, self.minus(a.copy(), a.copy())])

    # Conditions.

    def null(self, a: Node) -> Node:
        """Whether a is not there."""
        return self.exp.Is(this=a, expression=self.exp.Null())

    def not_(self, a: Node) -> Node:
        """Whether a does not hold."""
        return self.exp.Not(this=self.grouped(a))

    def finite(self, a: Node) -> Node:
        """Whether a number is finite; neither true nor false of a gap."""
        return self.below(self.size(a), self.number(math.inf))

    def among(self, a: Node, values: Sequence[Node]) -> Node:
        """Whether a is one of some values."""
        return self.equal(a, values[0]) if len(values) == 1 else self.exp.In(this=a, expressions=list(values))

    def case(self, whens: Sequence[tuple[Node, Node]], otherwise: Node | None = None) -> Node:
        """The first result whose condition holds; null if none does and nothing else is said."""
        if not whens and otherwise is not None:
            return otherwise
        ifs = [self.exp.If(this=condition, true=result) for condition, result in whens]
        return self.exp.Case(ifs=ifs, default=otherwise)

    def unless(self, condition: Node, result: Node) -> Node:
        """A result, or 0 where a condition holds."""
        return self.case([(condition, self.number(0.0))], result)

    def known_or(self, a: Node, otherwise: Node) -> Node:
        """a, or something else where it is null."""
        return self.exp.Coalesce(this=a, expressions=[otherwise])

    # Tables of numbers.

    def number_at(self, numbers: Sequence[float], place: Node) -> Node:
        """One of some numbers, by its place from 0 up: an array where there are arrays, else by halves."""
        if len(set(numbers)) == 1 and not math.isnan(numbers[0]):
            return self.case([(self.null(place), self.exp.Null())], self.number(numbers[0]))
        return self._item(numbers, self.number, place, "double")

    def whole_at(self, numbers: Sequence[int], place: Node) -> Node:
        """One of some whole numbers, by its place from 0 up."""
        return self._item(numbers, lambda number: self.whole(int(number)), place, "int")

    def _item(self, numbers: Sequence[float], write: Writer, place: Node, kind: str) -> Node:
        first = self.dialect.array
        if first is None or len(numbers) <= FEW_ITEMS:
            cuts = [self.whole(k) for k in range(1, len(numbers))]
            found = self.by_halves(place, cuts, list(map(write, numbers)), self.below)
            return self.case([(self.null(place.copy()), self.exp.Null())], found)
        array = self._array(numbers, write, kind)
        if first > 0:
            at = self.exp.Add(this=place, expression=self.whole(first))
            return self.exp.Bracket(this=self.grouped(array), expressions=[at])
        # Spark takes an item for a number even where its place is null.
        item = self.exp.Bracket(this=self.grouped(array), expressions=[place])
        return self.case([(self.null(place.copy()), self.exp.Null())], item)

    def _array(self, numbers: Sequence[float], write: Writer, kind: str) -> Node:
        brackets = self.dialect.brackets
        if brackets is None:
            return self.exp.Array(expressions=list(map(write, numbers)))
        self._count(len(numbers) if kind == "double" else 0)
        text = ", ".join(map(_spelt, map(float, numbers)) if kind == "double" else map(str, numbers))
        literal = self.exp.Literal.string(f"{brackets[0]}{text}{brackets[1]}")
        return self.exp.cast(literal, self.exp.DataType.build(f"{kind}[]", dialect=self.dialect.name))

    def values(self, rows: Sequence[Sequence[Node]], alias: str, names: Sequence[str]) -> Node:
        """A table of values under names."""
        exp = self.exp
        tuples = [exp.Tuple(expressions=list(row)) for row in rows]
        columns = [self.quoted(name) for name in names]
        return exp.Values(expressions=tuples, alias=exp.TableAlias(this=self.quoted(alias), columns=columns))

    def by_halves(
        self, cell: Node, cuts: Sequence[Node], results: Sequence[Node], before: Callable[[Node, Node], Node]
    ) -> Node:
        """The first result if the cell is before the first cut, and so on: as a search by halves.

        A null gets the last result.
        """
        if not cuts:
            return results[0]
        middle = len(cuts) // 2
        left = self.by_halves(cell, cuts[:middle], results[: middle + 1], before)
        right = self.by_halves(cell, cuts[middle + 1 :], results[middle + 1 :], before)
        return self.case([(before(cell.copy(), cuts[middle]), left)], right)


FEW_ITEMS = 4
"""Up to so many items a search by halves is no slower than an array."""


def _spelt(number: float) -> str:
    """A float so that it is read back as it is."""
    return repr(number) if math.isfinite(number) else "-inf" if number < 0 else "inf" if number > 0 else "nan"
