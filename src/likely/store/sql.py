"""A model as one SELECT that scores a table where it lies: the same posteriors, without likely.

Every belief of naive Bayes is a sum over columns, and so is the query: a CASE over values for a category, a parabola
for a bell curve. Names and values come from data, so nothing is put into the query but by sqlglot's own nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.bayes import Model
from likely.errors import MissingExtra, SettingsError
from likely.families.bernoulli import Bernoulli
from likely.families.bins import FIRST as FIRST_BIN
from likely.families.bins import GAP as GAP_OF_BINS
from likely.families.bins import Bins
from likely.families.categorical import FIRST, GAP, UNSEEN, Categorical
from likely.families.complement import Complement
from likely.families.gap import GapFactor
from likely.families.gaussian import LOG_ROOT_TAU, Gaussian
from likely.families.lognormal import LogNormal
from likely.families.multinomial import Multinomial
from likely.families.multivariate import MultivariateGaussian
from likely.families.poisson import Poisson
from likely.numerics import log_of
from likely.store.listing import lines_of_weights

Array = NDArray[np.float64]
Node = Any
"""An expression of sqlglot, which is imported only where it is needed."""

DIALECT = "duckdb"
MOST_NUMBERS = 100_000
"""A query with more numbers would take longer to read than the table."""

PREFIX = "likely_"
"""Names of the columns that stand between the table and the result."""


def scoring_query(model: Model, table: str = "data") -> str:
    """SELECT all columns of `table`, the prediction and P(class), in the dialect of DuckDB."""
    return Query(model, _nodes()).text(table)


def _nodes() -> Any:
    try:
        from sqlglot import exp
    except ImportError:
        raise MissingExtra("SQL is written with sqlglot: pip install 'likely[sql]'.") from None
    return exp


class Query:
    """The expressions of one model; `exp` are sqlglot's nodes."""

    def __init__(self, model: Model, exp: Any) -> None:
        self.model, self.exp = model, exp
        self.labels: list[Any] = model.classes.tolist()
        self._size = 0

    def text(self, table: str) -> str:
        """The whole query: log joints, their peak, shares, and their sum."""
        exp, n = self.exp, range(len(self.labels))
        joints, shares = [f"{PREFIX}joint_{c}" for c in n], [f"{PREFIX}share_{c}" for c in n]
        peak, total = f"{PREFIX}peak", f"{PREFIX}total"
        star = exp.Star()
        scored = exp.select(star, *(self._as(self._joint(c), joints[c]) for c in n))
        scored = scored.from_(exp.to_table(self._quoted(table)))
        greatest = self._call("greatest", *map(self._column, joints)) if len(joints) > 1 else self._column(joints[0])
        peaked = exp.select(star, self._as(greatest, peak)).from_("scored")
        # A row that every class rules out has the prior as its posterior.
        impossible = exp.EQ(this=self._column(peak), expression=self._number(-math.inf))
        lowered = [
            self._case(
                [(impossible, self._number(float(self.model.prior[c])))],
                self._call("exp", self._minus(self._column(joints[c]), self._column(peak))),
            )
            for c in n
        ]
        shared = exp.select(star, *map(self._as, lowered, shares)).from_("peaked")
        summed = exp.select(star, self._as(self._sum([self._column(name) for name in shares]), total)).from_("shared")
        hidden = exp.Star(
            **{"except_": [exp.to_identifier(name, quoted=True) for name in (*joints, peak, *shares, total)]}
        )
        posterior = [self._over(self._column(name), self._column(total)) for name in shares]
        named = [f"P({label})" for label in self.labels]
        result = exp.select(hidden, self._as(self._prediction(shares), "prediction"), *map(self._as, posterior, named))
        parts = {"scored": scored, "peaked": peaked, "shared": shared, "summed": summed}
        for name, part in parts.items():
            result = result.with_(name, as_=part)
        return str(result.from_("summed").sql(dialect=DIALECT, pretty=True)) + ";\n"

    def _prediction(self, shares: Sequence[str]) -> Node:
        """The first class with the largest share."""
        largest = self._call("greatest", *map(self._column, shares)) if len(shares) > 1 else self._column(shares[0])
        whens = [
            (self.exp.EQ(this=self._column(name), expression=largest.copy()), self._value(label))
            for name, label in zip(shares, self.labels, strict=True)
        ]
        return self._case(whens[:-1], whens[-1][1]) if len(whens) > 1 else whens[0][1]

    def _joint(self, c: int) -> Node:
        prior = self._number(float(log_of(self.model.prior[[c]])[0]))
        return self._sum([prior, *(term for belief in self.model.beliefs for term in self._terms(belief, c))])

    def _terms(self, belief: Any, c: int) -> Iterator[Node]:
        """What a belief adds to the log joint of one class, column by column."""
        if isinstance(belief, MultivariateGaussian) and not belief.chained:
            belief = belief.margins
        for kind, terms in self._families().items():
            if isinstance(belief, kind):
                yield from terms(belief, c)
                return
        is_text = getattr(belief, "reads", None) == "text"
        why = "it is free text" if is_text else "what it says depends on other columns"
        raise SettingsError(
            f"Column {belief.columns[0]!r} cannot be scored in SQL, because {why}; export the model as JSON or CSV, or "
            "predict with likely."
        )

    def _families(self) -> dict[type[Any], Callable[[Any, int], Iterator[Node]]]:
        return {
            Bernoulli: self._bernoulli,
            Bins: self._bins,
            Categorical: self._categorical,
            Complement: self._weighed,
            GapFactor: self._gap,
            Gaussian: self._gaussian,
            LogNormal: self._lognormal,
            Multinomial: self._weighed,
            Poisson: self._poisson,
        }

    def _categorical(self, belief: Categorical, c: int) -> Iterator[Node]:
        logs, (name,) = belief.table[:, c], belief.columns
        column = self._cast(name, belief.values)
        whens = [(self._null(name), self._number(logs[GAP]))]
        whens += [
            (self.exp.EQ(this=column.copy(), expression=self._value(value)), self._number(logs[FIRST + place]))
            for place, value in enumerate(belief.values)
        ]
        yield self._case(whens, self._number(logs[UNSEEN]))

    def _bins(self, belief: Bins, c: int) -> Iterator[Node]:
        (name,) = belief.columns
        logs = belief.table[:, c]
        whens = [(self._missing(name), self._number(logs[GAP_OF_BINS]))]
        for place, edge in enumerate(belief.edges[1:-1]):
            below = self.exp.LT(this=self._real(name), expression=self._number(edge))
            whens.append((below, self._number(logs[FIRST_BIN + place])))
        yield self._case(whens, self._number(logs[-1]))

    def _gaussian(self, belief: Gaussian, c: int, logs: bool = False) -> Iterator[Node]:
        for place, name in enumerate(belief.columns):
            mean, deviation = float(belief.mean[c, place]), float(belief.deviation[c, place])
            if math.isinf(deviation):
                continue
            cell = self._call("ln", self._real(name)) if logs else self._real(name)
            z = self._over(self._minus(cell, self._number(mean)), self._number(deviation))
            parabola = self._times(self._number(-0.5), self._call("pow", z, self._number(2.0)))
            density = self._sum([parabola, self._number(-math.log(deviation) - LOG_ROOT_TAU)])
            yield self._unless(self._nothing(name, logs), density)

    def _lognormal(self, belief: LogNormal, c: int) -> Iterator[Node]:
        return self._gaussian(belief.of_logs, c, logs=True)

    def _poisson(self, belief: Poisson, c: int) -> Iterator[Node]:
        """x·log λ − λ; log x! is the same for all classes."""
        for place, name in enumerate(belief.columns):
            rate = float(belief.rate[c, place])
            below = self.exp.LT(this=self._real(name), expression=self._number(0.0))
            none = self.exp.EQ(this=self._real(name), expression=self._number(0.0))
            log_rate = math.log(rate) if rate > 0.0 else -math.inf
            events = self._sum([self._times(self._real(name), self._number(log_rate)), self._number(-rate)])
            nothing = self.exp.Or(this=self._missing(name), expression=below)
            yield self._case([(nothing, self._number(0.0)), (none, self._number(-rate))], events)

    def _bernoulli(self, belief: Bernoulli, c: int) -> Iterator[Node]:
        for place, name in enumerate(belief.columns):
            shares = belief.shares.only(place)
            present = self.exp.GT(this=self._real(name), expression=self._number(belief.threshold))
            logs = self._number(shares.present[0, c]), self._number(shares.absent[0, c])
            yield self._case([(self._missing(name), self._number(0.0)), (present, logs[0])], logs[1])

    def _weighed(self, belief: Multinomial | Complement, c: int) -> Iterator[Node]:
        for place, line in lines_of_weights(belief.weights):
            name = belief.columns[place]
            zero = self.exp.EQ(this=self._real(name), expression=self._number(0.0))
            nothing = self.exp.Or(this=self._missing(name), expression=zero)
            yield self._unless(nothing, self._times(self._real(name), self._number(line[c])))

    def _gap(self, belief: GapFactor, c: int) -> Iterator[Node]:
        for place, name in enumerate(belief.columns):
            logs = self._number(belief.gap[c, place]), self._number(belief.known[c, place])
            yield self._case([(self._missing(name), logs[0])], logs[1])

    def _nothing(self, name: str, logs: bool) -> Node:
        """When a cell says nothing: a gap, or a number without a logarithm."""
        if not logs:
            return self._missing(name)
        below = self.exp.LTE(this=self._real(name), expression=self._number(0.0))
        return self.exp.Or(this=self._missing(name), expression=below)

    def _missing(self, name: str) -> Node:
        return self.exp.Or(this=self._null(name), expression=self._call("isnan", self._real(name)))

    def _null(self, name: str) -> Node:
        return self.exp.Is(this=self._column(name), expression=self.exp.Null())

    def _real(self, name: str) -> Node:
        return self.exp.cast(self._column(name), "DOUBLE", dialect=DIALECT)

    def _cast(self, name: str, values: Sequence[Hashable]) -> Node:
        """A column of categories, in the type that its values have."""
        for kinds, sql in (((bool,), "BOOLEAN"), ((str,), "VARCHAR"), ((int, float), "DOUBLE")):
            if all(isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool)) for value in values):
                return self.exp.cast(self._column(name), sql, dialect=DIALECT)
        raise SettingsError(f"The values of column {name!r} are of several types, or of one that SQL has no word for.")

    def _value(self, value: Any) -> Node:
        if isinstance(value, bool):
            return self.exp.Boolean(this=value)
        if isinstance(value, str):
            if "\0" in value:
                raise SettingsError(f"The value {value!r} holds a character that SQL text cannot have.")
            return self.exp.Literal.string(value)
        if isinstance(value, int):
            return self.exp.Literal.number(str(value))
        if isinstance(value, float):
            return self._number(value)
        raise SettingsError(f"{value!r} is of a type that SQL has no word for; export the model as JSON or CSV.")

    def _number(self, number: float) -> Node:
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

    def _quoted(self, name: str) -> Node:
        return self.exp.to_identifier(name, quoted=True)

    def _column(self, name: str) -> Node:
        return self.exp.column(self._quoted(name))

    def _as(self, expression: Node, name: str) -> Node:
        return self.exp.alias_(expression, name, quoted=True)

    def _call(self, name: str, *arguments: Node) -> Node:
        return self.exp.Anonymous(this=name, expressions=list(arguments))

    def _case(self, whens: Sequence[tuple[Any, Any]], otherwise: Any) -> Node:
        ifs = [self.exp.If(this=condition, true=result) for condition, result in whens]
        return self.exp.Case(ifs=ifs, default=otherwise)

    def _unless(self, condition: Any, result: Any) -> Node:
        return self._case([(condition, self._number(0.0))], result)

    def _sum(self, terms: Sequence[Any]) -> Node:
        return reduce(lambda a, b: self.exp.Add(this=a, expression=b), terms)

    def _minus(self, a: Any, b: Any) -> Node:
        return self.exp.Paren(this=self.exp.Sub(this=a, expression=b))

    def _times(self, a: Any, b: Any) -> Node:
        return self.exp.Mul(this=a, expression=b)

    def _over(self, a: Any, b: Any) -> Node:
        return self.exp.Paren(this=self.exp.Div(this=a, expression=b, typed=True))
