"""A model as one SELECT that scores a table where it lies: the same posteriors, without likely.

Every belief of naive Bayes is a sum over columns, and so is the query: a CASE over values for a category, a parabola
for a bell curve. Names and values come from data, so nothing is put into the query but by sqlglot's own nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from likely.errors import SettingsError
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
from likely.families.tempered import Tempered
from likely.models.evidence.predictor import AdditivePredictor
from likely.models.evidence.sql import evidence_query
from likely.models.listing import lines_of_weights
from likely.numerics import log_of
from likely.scorer import Model
from likely.store.sql import Node, Nodes, posterior_query


def scoring_query(model: Model | AdditivePredictor, table: str = "data") -> str:
    """SELECT all columns of `table`, the prediction and P(class), in the dialect of DuckDB."""
    nodes = Nodes()
    if isinstance(model, AdditivePredictor):
        return evidence_query(model, nodes, table)
    return posterior_query(nodes, model.classes, model.prior, Query(model, nodes).joints(), table)


class Query:
    """The expressions of one model."""

    def __init__(self, model: Model, nodes: Nodes) -> None:
        self.model, self.nodes = model, nodes

    def joints(self) -> list[Node]:
        """The log joint of every class."""
        return [self._joint(c) for c in range(len(self.model.classes))]

    def _joint(self, c: int) -> Node:
        prior = self.nodes.number(float(log_of(self.model.prior[[c]])[0]))
        return self.nodes.sum([prior, *(term for belief in self.model.beliefs for term in self._terms(belief, c))])

    def _terms(self, belief: Any, c: int) -> Iterator[Node]:
        """What a belief adds to the log joint of one class, column by column."""
        if isinstance(belief, MultivariateGaussian) and not belief.chained:
            belief = belief.margins
        if isinstance(belief, Tempered):
            if belief.weight > 0.0:
                weight = self.nodes.number(belief.weight)
                yield from (self.nodes.times(weight.copy(), term) for term in self._terms(belief.belief, c))
            return
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
        column = self.nodes.cast(name, belief.values)
        whens = [(self.nodes.null(name), self.nodes.number(logs[GAP]))]
        whens += [
            (
                self.nodes.exp.EQ(this=column.copy(), expression=self.nodes.value(value)),
                self.nodes.number(logs[FIRST + place]),
            )
            for place, value in enumerate(belief.values)
        ]
        yield self.nodes.case(whens, self.nodes.number(logs[UNSEEN]))

    def _bins(self, belief: Bins, c: int) -> Iterator[Node]:
        (name,) = belief.columns
        logs = belief.table[:, c]
        whens = [(self.nodes.missing(name), self.nodes.number(logs[GAP_OF_BINS]))]
        for place, edge in enumerate(belief.edges[1:-1]):
            below = self.nodes.exp.LT(this=self.nodes.real(name), expression=self.nodes.number(edge))
            whens.append((below, self.nodes.number(logs[FIRST_BIN + place])))
        yield self.nodes.case(whens, self.nodes.number(logs[-1]))

    def _gaussian(self, belief: Gaussian, c: int, logs: bool = False) -> Iterator[Node]:
        for place, name in enumerate(belief.columns):
            mean, deviation = float(belief.mean[c, place]), float(belief.deviation[c, place])
            if math.isinf(deviation):
                continue
            cell = self.nodes.call("ln", self.nodes.real(name)) if logs else self.nodes.real(name)
            z = self.nodes.over(self.nodes.minus(cell, self.nodes.number(mean)), self.nodes.number(deviation))
            parabola = self.nodes.times(self.nodes.number(-0.5), self.nodes.call("pow", z, self.nodes.number(2.0)))
            density = self.nodes.sum([parabola, self.nodes.number(-math.log(deviation) - LOG_ROOT_TAU)])
            yield self.nodes.unless(self._nothing(name, logs), density)

    def _lognormal(self, belief: LogNormal, c: int) -> Iterator[Node]:
        return self._gaussian(belief.of_logs, c, logs=True)

    def _poisson(self, belief: Poisson, c: int) -> Iterator[Node]:
        """x·log λ − λ; log x! is the same for all classes."""
        for place, name in enumerate(belief.columns):
            rate = float(belief.rate[c, place])
            below = self.nodes.exp.LT(this=self.nodes.real(name), expression=self.nodes.number(0.0))
            none = self.nodes.equal(self.nodes.real(name), self.nodes.number(0.0))
            log_rate = math.log(rate) if rate > 0.0 else -math.inf
            events = self.nodes.sum(
                [self.nodes.times(self.nodes.real(name), self.nodes.number(log_rate)), self.nodes.number(-rate)]
            )
            nothing = self.nodes.exp.Or(this=self.nodes.missing(name), expression=below)
            yield self.nodes.case([(nothing, self.nodes.number(0.0)), (none, self.nodes.number(-rate))], events)

    def _bernoulli(self, belief: Bernoulli, c: int) -> Iterator[Node]:
        for place, name in enumerate(belief.columns):
            shares = belief.shares.only(place)
            present = self.nodes.exp.GT(this=self.nodes.real(name), expression=self.nodes.number(belief.threshold))
            logs = self.nodes.number(shares.present[0, c]), self.nodes.number(shares.absent[0, c])
            yield self.nodes.case([(self.nodes.missing(name), self.nodes.number(0.0)), (present, logs[0])], logs[1])

    def _weighed(self, belief: Multinomial | Complement, c: int) -> Iterator[Node]:
        for place, line in lines_of_weights(belief.weights):
            name = belief.columns[place]
            zero = self.nodes.equal(self.nodes.real(name), self.nodes.number(0.0))
            nothing = self.nodes.exp.Or(this=self.nodes.missing(name), expression=zero)
            yield self.nodes.unless(nothing, self.nodes.times(self.nodes.real(name), self.nodes.number(line[c])))

    def _gap(self, belief: GapFactor, c: int) -> Iterator[Node]:
        for place, name in enumerate(belief.columns):
            logs = self.nodes.number(belief.gap[c, place]), self.nodes.number(belief.known[c, place])
            yield self.nodes.case([(self.nodes.missing(name), logs[0])], logs[1])

    def _nothing(self, name: str, logs: bool) -> Node:
        """When a cell says nothing: a gap, or a number without a logarithm."""
        if not logs:
            return self.nodes.missing(name)
        below = self.nodes.exp.LTE(this=self.nodes.real(name), expression=self.nodes.number(0.0))
        return self.nodes.exp.Or(this=self.nodes.missing(name), expression=below)
