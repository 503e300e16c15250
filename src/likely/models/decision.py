"""Deciding at the least expected cost, by what a classifier says about rows: its methods of these names.

A classifier with a log joint gives it in blocks, so rows × classes need not be there as a whole, and so it can say
which rows are novel; of any other one, posteriors are enough for all the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.decide import Chosen, Loss, LossMatrix, Novelty, as_loss
from likely.decide.priors import likelihood_ratios, shifted_prior
from likely.decide.scores import Block, Joint, Scores, checked_novelty
from likely.scorer import Model, Scorer
from likely.table import GAP, Table
from likely.table.cells import Cells, NumberCells

if TYPE_CHECKING:
    import pandas as pd


@runtime_checkable
class Decides(Protocol):
    """What decisions need to know of a classifier."""

    classes_: NDArray[Any]

    def _scores(self, X: Any) -> Scores: ...

    def _evidence(self, X: Any, ordinary: Mapping[str, float]) -> Array: ...

    def _ordinary_evidence(self, X: Any) -> dict[str, float]: ...

    def _prior_shares(self) -> Array: ...


def decide(classifier: Decides, X: Any, loss: Any, *, novelty: Novelty | None = None) -> NDArray[Any]:
    """The decision of least expected cost for each row; the first of equals.

    REFUSED where refusing is cheaper still, and where a row is novel. If neither can be, the array has the
    type of the classes (or of the names of the decisions), else it is one of objects.
    """
    given = as_loss(loss)
    price = given.refuse
    bound, chosen, novel = _chosen(classifier, X, given, novelty, with_risk=price is not None)
    if price is None:
        return bound.labelled(chosen.best, novel)
    ambiguous = chosen.least > price
    return bound.labelled(chosen.best, ambiguous if novel is None else ambiguous | novel)


def risk(classifier: Decides, X: Any, loss: Any) -> Array:
    """Rows × decisions: what each decision is expected to cost, R(decision | row) = Σ cost · P(truth | row).

    Columns are in the order of `loss.options`: the decisions and, if refusing has a price, that price.
    """
    scores = classifier._scores(X)
    return LossMatrix.of(as_loss(loss), classifier.classes_, scores.n_rows).risk(scores)


def decisions(classifier: Decides, X: Any, loss: Any, *, novelty: Novelty | None = None) -> pd.DataFrame:
    """A frame with decision, risk and reason: "", "ambiguous" (no decision is cheap enough) or "novel".

    The risk of a refusal is its price; without a price, that of the decision that was not taken. A row that is
    both is novel, for then its posterior, too, is not to be trusted.
    """
    import pandas as pd

    bound, chosen, novel = _chosen(classifier, X, as_loss(loss), novelty, with_risk=True)
    price = bound.loss.refuse
    reason = np.full(len(chosen.best), "", dtype=object)
    if price is not None:
        reason[chosen.least > price] = "ambiguous"
    if novel is not None:
        reason[novel] = "novel"
    refused = None if price is None and novel is None else reason != ""
    expected = chosen.least if price is None or refused is None else np.where(refused, price, chosen.least)
    columns = {"decision": bound.labelled(chosen.best, refused), "risk": expected, "reason": reason}
    return pd.DataFrame(columns, index=X.index if isinstance(X, pd.DataFrame) else None)


def novelty(classifier: Decides, X: Any, quantile: float = 0.01) -> Novelty:
    """What makes a row novel: less evidence than all but the share `quantile` of these ordinary rows.

    Give rows that were held out, if there are enough of them; training rows look a little more ordinary than
    they are. The result goes to `decide` and `decisions`, and belongs to this classifier as it is now.
    """
    ordinary = classifier._ordinary_evidence(X)
    return Novelty.settle(classifier._evidence(X, ordinary), quantile, ordinary)


def estimate_priors(
    classifier: Decides, X: Any, *, tolerance: float = 1e-3, max_iterations: int = 1_000
) -> dict[Any, float]:
    """How common the classes are among rows without labels, if only that has changed since training.

    Expectation and maximisation: the priors under which these rows are most likely. It ends once the
    log-likelihood of all rows together cannot grow by more than `tolerance`.
    """
    scores, prior = classifier._scores(X), classifier._prior_shares()
    shares = shifted_prior(likelihood_ratios(scores, prior), prior, tolerance, max_iterations)
    return dict(zip(classifier.classes_.tolist(), shares.tolist(), strict=True))


def _chosen(
    classifier: Decides, X: Any, loss: Loss, given: Any, *, with_risk: bool
) -> tuple[LossMatrix, Chosen, NDArray[np.bool_] | None]:
    usual = checked_novelty(given)
    scores = classifier._scores(X)
    bound = LossMatrix.of(loss, classifier.classes_, scores.n_rows)
    novel = None if usual is None else usual.found_in(classifier._evidence(X, usual.ordinary))
    return bound, bound.choose(scores, with_risk=with_risk), novel


# What a scorer says about rows, and what each column adds to their density.

SAMPLED_ROWS = 512
SAMPLED_CELLS = 1 << 28
"""Rows that tell what a column adds to the evidence; fewer if there are very many columns, each left out once."""


def scores_of(scorer: Scorer, table: Table, n_jobs: int | None) -> Scores:
    """The log joint of rows, in blocks."""

    def each(use: Callable[[slice, Block], None]) -> None:
        scorer.each_block(table, lambda block, joint: use(block, Joint(joint, scorer.prior)), n_jobs)

    return Scores(table.n_rows, each)


def density(model: Model, table: Table, ordinary: Mapping[str, float], n_jobs: int | None) -> Array:
    """log P(row) by a model, with a gap credited as an ordinary cell of its column."""
    evidence = scores_of(model, table, n_jobs).log_evidence()
    for name, usual in ordinary.items():
        if table.gaps(name):
            evidence[~_known_cells(table, name)] += usual
    return evidence


def ordinary_density(model: Model, table: Table, n_jobs: int | None) -> dict[str, float]:
    """What a known cell of each column adds to log P(row) on average.

    One column at a time is left out: what is then lost is what the column adds.
    """
    if table.sparse is not None:
        return {}
    n_rows = min(SAMPLED_ROWS, max(SAMPLED_CELLS // len(model.columns) ** 2, 1), table.n_rows)
    part = table.take(np.linspace(0, table.n_rows - 1, n_rows).astype(np.intp))
    whole = scores_of(model, part, n_jobs).log_evidence()
    means = {}
    for name in model.columns:
        rest = scores_of(model, _without_column(part, name), n_jobs).log_evidence()
        with np.errstate(invalid="ignore"):  # of an impossible row no part is larger than another
            added = whole - rest
        telling = _known_cells(part, name) & np.isfinite(added)
        means[name] = float(added[telling].mean()) if telling.any() else 0.0
    return means


def _known_cells(table: Table, name: str) -> NDArray[np.bool_]:
    if table.storage(name) in ("float", "integer", "boolean"):
        return np.asarray(~np.isnan(table.numbers(name)))
    return np.asarray(table.codes(name).codes != GAP)


def _without_column(table: Table, name: str) -> Table:
    """The same rows with a column that is all gaps."""

    def read(place: int) -> Cells:
        other = table.names[place]
        return NumberCells(np.full(table.n_rows, np.nan)) if other == name else table.cells(other)

    return Table(table.names, table.n_rows, read, named=table.named)
