"""Expressions of SQL, in the dialect of DuckDB, and the query that turns log joints into posteriors.

Names and values come from data, so nothing is put into a query but by sqlglot's own nodes.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import partialmethod, reduce
from typing import Any

from likely.arrays import AnyArray, Array
from likely.errors import MissingExtra, SettingsError

Node = Any
"""An expression of sqlglot, which is imported only where it is needed."""

DIALECT = "duckdb"
MOST_NUMBERS = 100_000
"""A query with more numbers would take longer to read than the table."""

PREFIX = "likely_"
"""Names of the columns that stand between the table and the result."""


class Nodes:
    """Makes expressions, and counts the numbers in them; `exp` are sqlglot's nodes."""

    def __init__(self) -> None:
        try:
            from sqlglot import exp
        except ImportError:
            raise MissingExtra("SQL is written with sqlglot: pip install 'likely[sql]'.") from None
        self.exp: Node = exp
        self._size = 0

    def missing(self, name: str) -> Node:
        """Whether a number is not there."""
        return self.exp.Or(this=self.null(name), expression=self.call("isnan", self.real(name)))

    def null(self, name: str) -> Node:
        """Whether a cell is empty."""
        return self.exp.Is(this=self.column(name), expression=self.exp.Null())

    def real(self, name: str) -> Node:
        """A column as numbers."""
        return self.exp.cast(self.column(name), "DOUBLE", dialect=DIALECT)

    def cast(self, name: str, values: Sequence[Hashable]) -> Node:
        """A column of categories, in the type that its values have."""
        for kinds, sql in (((bool,), "BOOLEAN"), ((str,), "VARCHAR"), ((int, float), "DOUBLE")):
            if all(isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool)) for value in values):
                return self.exp.cast(self.column(name), sql, dialect=DIALECT)
        raise SettingsError(f"The values of column {name!r} are of several types, or of one that SQL has no word for.")

    def value(self, value: object) -> Node:
        """A label or category."""
        if isinstance(value, bool):
            return self.exp.Boolean(this=value)
        if isinstance(value, str):
            if "\0" in value:
                raise SettingsError(f"The value {value!r} holds a character that SQL text cannot have.")
            return self.exp.Literal.string(value)
        if isinstance(value, int):
            return self.exp.Literal.number(str(value))
        if isinstance(value, float):
            return self.number(value)
        raise SettingsError(f"{value!r} is of a type that SQL has no word for; export the model as JSON or CSV.")

    def number(self, number: float) -> Node:
        """A number with a fraction."""
        self._size += 1
        if self._size > MOST_NUMBERS:
            raise SettingsError(
                f"The model has more than {MOST_NUMBERS:,} numbers, too many for one query; export it as JSON or CSV."
            )
        number = float(number)
        if math.isfinite(number):
            digits = repr(abs(number))  # an exponent makes it a DOUBLE; else DuckDB would reckon in decimals
            literal = self.exp.Literal.number(digits if "e" in digits else f"{digits}e0")
            return self.exp.Neg(this=literal) if number < 0.0 else literal
        return self.exp.cast(self.exp.Literal.string("-Infinity" if number < 0 else "Infinity"), "DOUBLE")

    def quoted(self, name: str) -> Node:
        """A name."""
        return self.exp.to_identifier(name, quoted=True)

    def column(self, name: str) -> Node:
        """A column by its name."""
        return self.exp.column(self.quoted(name))

    def named(self, expression: Node, name: str) -> Node:
        """An expression under a name."""
        return self.exp.alias_(expression, name, quoted=True)

    def call(self, name: str, *arguments: Node) -> Node:
        """A function of something."""
        return self.exp.Anonymous(this=name, expressions=list(arguments))

    def case(self, whens: Sequence[tuple[Node, Node]], otherwise: Node) -> Node:
        """The first result whose condition holds."""
        ifs = [self.exp.If(this=condition, true=result) for condition, result in whens]
        return self.exp.Case(ifs=ifs, default=otherwise)

    def unless(self, condition: Node, result: Node) -> Node:
        """A result, or 0 where a condition holds."""
        return self.case([(condition, self.number(0.0))], result)

    def sum(self, terms: Sequence[Node]) -> Node:
        """All terms together."""
        return reduce(lambda a, b: self.exp.Add(this=a, expression=b), terms)

    def minus(self, a: Node, b: Node) -> Node:
        """a − b."""
        return self.exp.Paren(this=self.exp.Sub(this=a, expression=b))

    def over(self, a: Node, b: Node) -> Node:
        """a / b."""
        return self.exp.Paren(this=self.exp.Div(this=a, expression=b, typed=True))

    def number_at(self, numbers: Sequence[float], place: Node) -> Node:
        """One of some numbers, by its place from 0 up."""
        return self._item(list(map(self.number, numbers)), place)

    def whole_at(self, numbers: Sequence[int], place: Node) -> Node:
        """One of some whole numbers, by its place from 0 up."""
        return self._item(list(map(self.whole, numbers)), place)

    def _item(self, items: list[Node], place: Node) -> Node:
        return self.call("list_extract", self.call("list_value", *items), self.sum([place, self.whole(1)]))

    def grouped(self, a: Node) -> Node:
        """(a)."""
        return self.exp.Paren(this=a)

    def whole(self, number: int) -> Node:
        """A whole number."""
        return self.exp.Literal.number(str(int(number)))

    def _binary(self, name: str, a: Node, b: Node) -> Node:
        return vars(self.exp)[name](this=a, expression=b)

    times = partialmethod(_binary, "Mul")
    equal = partialmethod(_binary, "EQ")
    at_most = partialmethod(_binary, "LTE")
    below = partialmethod(_binary, "LT")
    either = partialmethod(_binary, "Or")

    def among(self, a: Node, values: Sequence[object]) -> Node:
        """Whether a is one of some values."""
        return self.exp.In(this=a, expressions=[self.value(value) for value in values])

    def select(self, source: Node, columns: dict[str, Node]) -> Node:
        """All columns of a table or step, and more."""
        more = [self.named(node, name) for name, node in columns.items()]
        return self.exp.select(self.exp.Star(), *more).from_(source)

    def table(self, name: str) -> Node:
        """A table by its name."""
        return self.exp.to_table(self.quoted(name))


def posterior_query(
    nodes: Nodes,
    classes: AnyArray,
    prior: Array,
    joints: Sequence[Node],
    table: str,
    steps: dict[str, dict[str, Node]] | None = None,
) -> str:
    """The whole query: log joints, their peak, shares, and their sum; `steps` add columns that joints are made of.

    These columns are not part of the result.
    """
    exp, labels = nodes.exp, classes.tolist()
    scored = {f"{PREFIX}joint_{c}": joint for c, joint in enumerate(joints)}
    shares, peak, total = [f"{PREFIX}share_{c}" for c in range(len(joints))], f"{PREFIX}peak", f"{PREFIX}total"
    # A row that every class rules out has the prior as its posterior.
    impossible = nodes.equal(nodes.column(peak), nodes.number(-math.inf))
    lowered = {
        share: nodes.case(
            [(impossible.copy(), nodes.number(float(prior[c])))],
            nodes.call("exp", nodes.minus(nodes.column(joint), nodes.column(peak))),
        )
        for c, (share, joint) in enumerate(zip(shares, scored, strict=True))
    }
    whole = {
        **(steps or {}),
        "scored": scored,
        "peaked": {peak: _greatest(nodes, list(scored))},
        "shared": lowered,
        "summed": {total: nodes.sum([nodes.column(name) for name in shares])},
    }
    hidden = [nodes.quoted(name) for made in whole.values() for name in made]
    posterior = [nodes.over(nodes.column(name), nodes.column(total)) for name in shares]
    result = exp.select(
        exp.Star(**{"except_": hidden}),
        nodes.named(_prediction(nodes, shares, labels), "prediction"),
        *(nodes.named(share, f"P({label})") for share, label in zip(posterior, labels, strict=True)),
    )
    source: Node = nodes.table(table)
    for step, columns in whole.items():  # a table of the user may have such a name
        name = f"{PREFIX}{step}"
        result, source = result.with_(name, as_=nodes.select(source, columns)), name
    return str(result.from_(source).sql(dialect=DIALECT, pretty=True)) + ";\n"


def _greatest(nodes: Nodes, names: Sequence[str]) -> Node:
    return nodes.call("greatest", *map(nodes.column, names)) if len(names) > 1 else nodes.column(names[0])


def _prediction(nodes: Nodes, shares: Sequence[str], labels: Sequence[object]) -> Node:
    """The first class with the largest share."""
    largest = _greatest(nodes, shares)
    whens = [
        (nodes.equal(nodes.column(name), largest.copy()), nodes.value(label))
        for name, label in zip(shares, labels, strict=True)
    ]
    return nodes.case(whens[:-1], whens[-1][1]) if len(whens) > 1 else whens[0][1]
