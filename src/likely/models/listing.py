"""The settled numbers of a model one by one, with names that a person understands: for exports."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from likely.arrays import Array
from likely.errors import SettingsError, listed
from likely.families.bernoulli import Bernoulli
from likely.families.bins import GAP as GAP_OF_BINS
from likely.families.bins import Bins
from likely.families.categorical import FIRST, GAP, UNSEEN, Categorical
from likely.families.complement import Complement
from likely.families.gap import GapFactor
from likely.families.gaussian import Gaussian
from likely.families.linear import SparseWeights, Weights
from likely.families.lognormal import LogNormal
from likely.families.multinomial import Multinomial
from likely.families.multivariate import MultivariateGaussian
from likely.families.poisson import Poisson
from likely.families.tempered import Tempered, bare
from likely.families.texts import TextBernoulli, TextComplement, TextMultinomial
from likely.models.evidence.predictor import AdditivePredictor
from likely.models.evidence.term_tables import SEPARATOR, term_table
from likely.scorer import FittedFamily, Model

LINES_AT_ONCE = 4096

BEYOND = "beyond the prior"
"""What speaks for a class before any column does."""


class Number(NamedTuple):
    """One number: of which column and family, what it is, for which value (or word) and which class."""

    column: str
    family: str
    parameter: str
    value: Hashable
    label: Any
    number: float


class Line(NamedTuple):
    """One number for each class."""

    column: str
    family: str
    parameter: str
    value: Hashable
    numbers: Array


def numbers_of(model: Model | AdditivePredictor) -> Iterator[Number]:
    """The prior, and all that is believed of each column."""
    labels = model.classes.tolist()
    for line in lines_of(model):
        for label, number in zip(labels, line.numbers.tolist(), strict=True):
            yield Number(*line[:4], label, number)


def lines_of(model: Model | AdditivePredictor) -> Iterator[Line]:
    """The same, the classes of each side by side."""
    yield Line("", "prior", "probability", None, model.prior)
    if isinstance(model, AdditivePredictor):
        yield from _evidence(model)
        return
    for weighed in model.beliefs:
        belief = bare(weighed)
        if isinstance(weighed, Tempered):
            for name in weighed.columns:
                yield Line(name, weighed.name, "weight of the column", None, np.full(len(model.prior), weighed.weight))
        listing = _LISTINGS.get(type(belief))
        if listing is None:
            family = getattr(belief, "name", type(belief).__name__)
            raise SettingsError(
                f"The family {family!r} of {listed(belief.columns)} cannot be written as a list of numbers."
            )
        yield from listing(belief)


def readable(model: Model | AdditivePredictor) -> dict[str, Any]:
    """Prior and columns as nested plain values; what is infinite is null."""
    labels = [str(label) for label in model.classes.tolist()]
    columns: dict[str, Any] = {}
    prior: dict[str, Any] = {}
    for line in lines_of(model):
        cells = dict(zip(labels, map(_finite, line.numbers.tolist()), strict=True))
        if not line.column:
            prior = cells
            continue
        entry = columns.setdefault(line.column, {"family": line.family, "parameters": {}})
        if line.value is None:
            entry["parameters"][line.parameter] = cells
        else:
            entry["parameters"].setdefault(line.parameter, {})[str(line.value)] = cells
    return {"prior": prior, "columns": columns}


def lines_of_weights(weights: Weights) -> Iterator[tuple[int, Array]]:
    """Place and weights (one per class) of every column; a wide table is written out block by block."""
    if not isinstance(weights, SparseWeights):
        yield from enumerate(weights.lines)
        return
    n_columns = weights.lines.shape[0]
    for start in range(0, n_columns, LINES_AT_ONCE):
        block = slice(start, min(start + LINES_AT_ONCE, n_columns))
        dense = weights.lines[block].toarray() + weights.per_class
        dense += weights.scale * weights.per_column[block, None]
        yield from enumerate(dense, start)


def _evidence(model: AdditivePredictor) -> Iterator[Line]:
    """What every cell of every table adds; of a text its words, and the share that their evidence counts for."""
    yield Line(BEYOND, "evidence", "evidence", None, model.beyond_prior())
    names = [column.name for column in model.evidence.encoding.columns]
    for term in [*((place,) for place in range(len(names))), *model.evidence.terms.tuples()]:
        told = term_table(model, [names[place] for place in term])
        for at in np.ndindex(told.entries.shape[:-1]):
            cell = SEPARATOR.join(cells[k] for cells, k in zip(told.cells, at, strict=True))
            yield Line(SEPARATOR.join(told.names), "evidence", "evidence", cell, told.entries[at])
    for share, words in zip(model.evidence.text_weights.tolist(), model.text_models, strict=True):
        yield Line(words.column, "evidence", "share of the words", None, np.full(len(model.prior), share))
        for belief in words.model.beliefs:
            listing = _LISTINGS.get(type(belief))
            yield from () if listing is None else listing(belief)


def _categorical(belief: Categorical) -> Iterator[Line]:
    (name,) = belief.columns
    shares = np.exp(belief.table)
    for place, value in enumerate(belief.values):
        yield Line(name, belief.name, "probability", value, shares[FIRST + place])
    for line, what in ((GAP, "probability of a gap"), (UNSEEN, "probability of another value")):
        if belief.table[line].any():
            yield Line(name, belief.name, what, None, shares[line])


def _bins(belief: Bins) -> Iterator[Line]:
    (name,) = belief.columns
    shares = belief.shares()
    for place, (low, high) in enumerate(pairwise(belief.edges.tolist())):
        yield Line(name, belief.name, "probability", f"{low:.10g} to {high:.10g}", shares[place])
    if belief.table[GAP_OF_BINS].any():
        yield Line(name, belief.name, "probability of a gap", None, np.exp(belief.table[GAP_OF_BINS]))


def _gaussian(belief: Gaussian, family: str = "gaussian", of: str = "") -> Iterator[Line]:
    for place, name in enumerate(belief.columns):
        yield Line(name, family, f"mean{of}", None, belief.mean[:, place])
        yield Line(name, family, f"deviation{of}", None, belief.deviation[:, place])


def _multivariate(belief: MultivariateGaussian) -> Iterator[Line]:
    yield from _gaussian(belief.margins, belief.name)
    n_classes, correlation = len(belief.margins.mean), belief.correlation
    for row, name in enumerate(belief.columns):
        for column, other in enumerate(belief.columns[:row]):
            shared = np.broadcast_to(correlation[:, row, column], (n_classes,))
            yield Line(name, belief.name, "correlation", other, shared)


def _poisson(belief: Poisson) -> Iterator[Line]:
    for place, name in enumerate(belief.columns):
        yield Line(name, belief.name, "rate", None, belief.rate[:, place])


def _bernoulli(belief: Bernoulli) -> Iterator[Line]:
    for place, name in enumerate(belief.columns):
        shares = belief.shares.only(place)
        yield Line(name, belief.name, "probability of presence", None, np.exp(shares.present[0]))


def _multinomial(belief: Multinomial) -> Iterator[Line]:
    for place, line in lines_of_weights(belief.weights):
        yield Line(belief.columns[place], belief.name, "probability", None, np.exp(line))


def _complement(belief: Complement) -> Iterator[Line]:
    for place, line in lines_of_weights(belief.weights):
        yield Line(belief.columns[place], belief.name, "weight", None, line)


def _words(belief: TextMultinomial | TextComplement) -> Iterator[Line]:
    (name,) = belief.columns
    words: Sequence[str] = belief.reader.words.to_list()
    is_share = isinstance(belief, TextMultinomial)
    for place, line in lines_of_weights(belief.weights):
        what, numbers = ("probability", np.exp(line)) if is_share else ("weight", line)
        yield Line(name, belief.name, what, words[place], numbers)


def _present_words(belief: TextBernoulli) -> Iterator[Line]:
    (name,) = belief.columns
    for place, word in enumerate(belief.reader.words.to_list()):
        yield Line(name, belief.name, "probability of presence", word, np.exp(belief.shares.only(place).present[0]))


def _gaps(belief: GapFactor) -> Iterator[Line]:
    for place, name in enumerate(belief.columns):
        yield Line(name, "gap", "probability of a gap", None, np.exp(belief.gap[:, place]))


_LISTINGS: dict[type[FittedFamily], Callable[[Any], Iterator[Line]]] = {
    Bernoulli: _bernoulli,
    Bins: _bins,
    Categorical: _categorical,
    Complement: _complement,
    GapFactor: _gaps,
    Gaussian: _gaussian,
    LogNormal: lambda belief: _gaussian(belief.of_logs, belief.name, " of the logarithm"),
    Multinomial: _multinomial,
    MultivariateGaussian: _multivariate,
    Poisson: _poisson,
    TextBernoulli: _present_words,
    TextComplement: _words,
    TextMultinomial: _words,
}
"""How the numbers of each family are listed: a new family adds a line."""


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
