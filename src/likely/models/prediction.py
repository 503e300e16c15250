"""Predicting, explaining and deciding by what a classifier says about rows: its methods of these names.

A classifier with a log joint gives it in blocks, so rows × classes need not be there as a whole, and so it can say
which rows are novel; of any other one, posteriors are enough to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Protocol, cast, overload, runtime_checkable

import numpy as np

from likely.arrays import AnyArray, Array, Flags
from likely.decide import Chosen, Loss, LossLike, LossMatrix, Novelty, as_loss
from likely.decide.priors import likelihood_ratios, shifted_prior
from likely.decide.scores import Block, Joint, Scores, checked_novelty
from likely.errors import SettingsError
from likely.explain import Contrast, Explanation
from likely.explain.contrast import target_and_rivals
from likely.models.in_sql import ScoresInSQL, is_scored_in_place, scored, scored_there
from likely.scorer import Model, ScoredRows
from likely.table import GAP, RowsLike, Table, as_rows, as_table
from likely.table.cells import Cells, NumberCells
from likely.table.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


class HasLogJoint(Protocol):
    """A classifier that knows log P(class, row)."""

    @property
    def classes_(self) -> AnyArray: ...

    def _log_joint(self, X: RowsLike) -> ScoredRows: ...


@scored_there("prediction")
def predict(classifier: HasLogJoint, X: RowsLike) -> AnyArray:
    """The most probable class of each row; the first one in a tie.

    An Ibis table gives an expression with its columns and "prediction": nothing is fetched.
    """
    return classifier._log_joint(X).labels(classifier.classes_)


@scored_there("P(")
def predict_proba(classifier: HasLogJoint, X: RowsLike) -> Array:
    """P(class | row), one column per class in the order of `classes_`.

    A table of Ibis gives an expression of its columns and "P(class)" for each class: nothing is fetched.
    """
    return classifier._log_joint(X).posterior()


def predict_log_proba(classifier: HasLogJoint, X: RowsLike) -> Array:
    """log P(class | row)."""
    return classifier._log_joint(X).posterior(in_logs=True)


def predict_joint_log_proba(classifier: HasLogJoint, X: RowsLike) -> Array:
    """Log prior plus the contributions of all columns, for each class; normalised, this is the log posterior."""
    return classifier._log_joint(X).array()


def scores(classifier: HasLogJoint, X: RowsLike) -> Scores:
    """The log joint of rows, in blocks."""
    return as_scores(classifier._log_joint(X))


def as_scores(log_joint: ScoredRows) -> Scores:
    """The same, as decisions read it."""

    def each(use: Callable[[slice, Block], None]) -> None:
        log_joint.each_block(lambda block, joint: use(block, Joint(joint, log_joint.prior)))

    return Scores(log_joint.n_rows, each)


@runtime_checkable
class HasExplanation(Protocol):
    """A classifier whose log joint is a sum of contributions."""

    def _explanation(self, X: RowsLike) -> Explanation: ...


@overload
def explain(classifier: HasExplanation, X: RowsLike, contrast: None = None) -> Explanation: ...


@overload
def explain(classifier: HasExplanation, X: RowsLike, contrast: object) -> Contrast: ...


def explain(classifier: HasExplanation, X: RowsLike, contrast: object = None) -> Explanation | Contrast:
    """Prior and one contribution per column (or term) for each row: they sum to `predict_joint_log_proba`.

    With `contrast`, log-odds that sum to those of the posterior: of one class against another, as in
    `contrast=("A", "B")`, or against all the rest, as in `contrast="A"`.
    """
    why = classifier._explanation(X)
    return why if contrast is None else Contrast.of(why, *target_and_rivals(contrast, why.classes))


@runtime_checkable
class Decides(Protocol):
    """What decisions need to know of a classifier."""

    @property
    def classes_(self) -> AnyArray: ...

    def _scores(self, X: RowsLike) -> Scores: ...

    def _evidence(self, X: RowsLike, ordinary: Mapping[str, float]) -> Array: ...

    def _ordinary_evidence(self, X: RowsLike) -> dict[str, float]: ...

    def _prior_shares(self) -> Array: ...


def decide(classifier: Decides, X: RowsLike, loss: LossLike, *, novelty: Novelty | None = None) -> AnyArray:
    """The decision of least expected cost for each row; the first one in a tie.

    REFUSED where refusing is cheaper still, and where a row is novel. If neither is possible, the array has the
    type of the classes (or of the names of the decisions), otherwise it is an array of objects. An Ibis table
    gives an expression with the columns "decision" and "risk".
    """
    given = as_loss(loss)
    if is_scored_in_place(X):
        if novelty is not None:
            raise SettingsError("Novel rows cannot be told in an engine: leave novelty out, or fetch the rows.")
        return cast(AnyArray, scored(cast(ScoresInSQL, classifier), X, "decision", given, ["decision", "risk"]))
    price = given.refuse
    bound, chosen, novel = _chosen(classifier, X, given, novelty, with_risk=price is not None)
    if price is None:
        return bound.labelled(chosen.best, novel)
    ambiguous = chosen.least > price
    return bound.labelled(chosen.best, ambiguous if novel is None else ambiguous | novel)


def risk(classifier: Decides, X: RowsLike, loss: LossLike) -> Array:
    """Rows × decisions: what each decision is expected to cost, R(decision | row) = Σ cost · P(truth | row).

    Columns are in the order of `loss.options`: the decisions and, if refusing has a price, that price.
    """
    scores = classifier._scores(X)
    return LossMatrix.of(as_loss(loss), classifier.classes_, scores.n_rows).risk(scores)


def decisions(classifier: Decides, X: RowsLike, loss: LossLike, *, novelty: Novelty | None = None) -> pd.DataFrame:
    """A frame with decision, risk and reason: "", "ambiguous" (no decision is cheap enough) or "novel".

    The risk of a refusal is its price; without a price, that of the decision that was not taken. A row that is
    both is called novel, since its posterior cannot be trusted either.
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


def novelty(classifier: Decides, X: RowsLike, quantile: float = 0.01) -> Novelty:
    """What makes a row novel: it is less likely than all but the proportion `quantile` of these ordinary rows.

    Give rows that were held out, if there are enough of them; training rows look a little more ordinary than
    they are. The result goes to `decide` and `decisions`, and belongs to this classifier as it is now.
    """
    ordinary = classifier._ordinary_evidence(X)
    return Novelty.settle(classifier._evidence(X, ordinary), quantile, ordinary)


def estimate_priors(
    classifier: Decides, X: RowsLike, *, tolerance: float = 1e-3, max_iterations: int = 1_000
) -> dict[Hashable, float]:
    """How common the classes are among rows without labels, if only that has changed since training.

    Expectation maximisation: the priors under which these rows are most likely. It stops once the
    log-likelihood of all rows together cannot grow by more than `tolerance`.
    """
    scores, prior = classifier._scores(X), classifier._prior_shares()
    shares = shifted_prior(likelihood_ratios(scores, prior), prior, tolerance, max_iterations)
    return dict(zip(classifier.classes_.tolist(), shares.tolist(), strict=True))


def _chosen(
    classifier: Decides, X: RowsLike, loss: Loss, given: object, *, with_risk: bool
) -> tuple[LossMatrix, Chosen, Flags | None]:
    usual = checked_novelty(given)
    scores = classifier._scores(X)
    bound = LossMatrix.of(loss, classifier.classes_, scores.n_rows)
    novel = None if usual is None else usual.found_in(classifier._evidence(X, usual.ordinary))
    return bound, bound.choose(scores, with_risk=with_risk), novel


# What each column adds to the density of rows.

SAMPLED_ROWS = 512
SAMPLED_CELLS = 1 << 28
"""Rows that tell what a column adds to the evidence; fewer if there are very many columns, each left out once."""


def density(model: Model, table: Table, ordinary: Mapping[str, float], n_jobs: int | None) -> Array:
    """log P(row) by a model, with a gap credited as an ordinary cell of its column."""
    evidence = as_scores(model.log_joint(table, n_jobs)).log_evidence()
    for name, usual in ordinary.items():
        if table.gaps(name):
            evidence[~known_cells(table, name)] += usual
    return evidence


def ordinary_density(model: Model, table: Table, n_jobs: int | None) -> dict[str, float]:
    """What a known cell of each column adds to log P(row) on average.

    One column at a time is left out: what is then lost is what the column adds.
    """
    if table.sparse is not None:
        return {}
    n_rows = min(SAMPLED_ROWS, max(SAMPLED_CELLS // max(len(model.columns), 1) ** 2, 1), table.n_rows)
    part = table.take(np.linspace(0, table.n_rows - 1, n_rows).astype(np.intp))
    whole = as_scores(model.log_joint(part, n_jobs)).log_evidence()
    means, gaps = {}, NumberCells(np.full(n_rows, np.nan))
    for name in model.columns:
        rest = as_scores(model.log_joint(with_cells(part, name, gaps), n_jobs)).log_evidence()
        with np.errstate(invalid="ignore"):  # of an impossible row no part is larger than another
            added = whole - rest
        telling = known_cells(part, name) & np.isfinite(added)
        means[name] = float(added[telling].mean()) if telling.any() else 0.0
    return means


def known_cells(table: Table, name: str) -> Flags:
    """The cells of a column that are not missing."""
    if table.storage(name) in ("float", "integer", "boolean"):
        return np.asarray(~np.isnan(table.numbers(name)))
    return np.asarray(table.codes(name).codes != GAP)


def with_cells(table: Table, name: str, cells: Cells) -> Table:
    """The same rows with other cells in one column."""

    def read(place: int) -> Cells:
        return cells if table.names[place] == name else table.cells(table.names[place])

    return Table(table.names, table.n_rows, read, named=table.named)


# What new rows hold that was never learned, and what they lack.


def unseen_cells(table: Table, strange: Mapping[str, Flags]) -> pd.DataFrame:
    """Row, column and value of cells that are strange, from top to bottom."""
    import pandas as pd

    found: list[tuple[int, str, Hashable]] = []
    for name, where in strange.items():
        column = table.codes(name)
        found += [(int(row), name, column.levels[column.codes[row]]) for row in np.flatnonzero(where)]
    return pd.DataFrame(sorted(found, key=lambda cell: cell[:2]), columns=["row", "column", "value"])


def with_empty_columns(X: RowsLike, schema: Schema) -> Table:
    """Rows with an empty column for each one that was learned and that they lack."""
    table = as_table(as_rows(X, schema.features))
    missing = [name for name in schema.features if name not in table]
    if not missing or not table.named:
        return table
    there = list(table.names)
    empty = as_table({name: [None] * table.n_rows for name in missing})
    names = [*there, *missing]
    return Table(names, table.n_rows, lambda k: (table if k < len(there) else empty).cells(names[k]), named=True)
