"""Known cells of a column, and a table that knows one column less."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.decide import Chosen, Loss, LossMatrix, Novelty, as_loss
from likely.decide.priors import likelihood_ratios, shifted_prior
from likely.decide.refusal import checked_novelty
from likely.decide.scores import Block, Joint, Scores
from likely.errors import SettingsError
from likely.families import family_named
from likely.scorer import Model
from likely.table import GAP, Table
from likely.table.cells import Cells, NumberCells

if TYPE_CHECKING:
    import pandas as pd


def known_cells(table: Table, name: str) -> NDArray[np.bool_]:
    """Which rows know the column."""
    if table.storage(name) in ("float", "integer", "boolean"):
        return np.asarray(~np.isnan(table.numbers(name)))
    return np.asarray(table.codes(name).codes != GAP)


def without_column(table: Table, name: str) -> Table:
    """The same rows with a column that is all gaps."""

    def read(place: int) -> Cells:
        other = table.names[place]
        return NumberCells(np.full(table.n_rows, np.nan)) if other == name else table.cells(other)

    return Table(table.names, table.n_rows, read, named=table.named)


# Deciding at the least expected cost, for every classifier with posteriors.


class Decider:
    """What a classifier with `predict_proba` and `classes_` can say about decisions.

    One that has a log joint gives its blocks by `_scores` (so rows × classes need not be there as a whole), and so
    can say which rows are novel.
    """

    classes_: NDArray[Any]

    def predict_proba(self, X: Any) -> Array:
        raise NotImplementedError("A decider stands beside a predictor, which knows the posteriors.")

    def decide(self, X: Any, loss: Any, *, novelty: Novelty | None = None) -> NDArray[Any]:
        """The decision of least expected cost for each row; the first of equals.

        REFUSED where refusing is cheaper still, and where a row is novel. If neither can be, the array has the
        type of the classes (or of the names of the decisions), else it is one of objects.
        """
        given = as_loss(loss)
        price = given.refuse
        bound, chosen, novel = self._chosen(X, given, novelty, with_risk=price is not None)
        if price is None:
            return bound.labelled(chosen.best, novel)
        ambiguous = chosen.least > price
        return bound.labelled(chosen.best, ambiguous if novel is None else ambiguous | novel)

    def risk(self, X: Any, loss: Any) -> Array:
        """Rows × decisions: what each decision is expected to cost, R(decision | row) = Σ cost · P(truth | row).

        Columns are in the order of `loss.options`: the decisions and, if refusing has a price, that price.
        """
        scores = self._scores(X)
        return LossMatrix.of(as_loss(loss), self.classes_, scores.n_rows).risk(scores)

    def decisions(self, X: Any, loss: Any, *, novelty: Novelty | None = None) -> pd.DataFrame:
        """A frame with decision, risk and reason: "", "ambiguous" (no decision is cheap enough) or "novel".

        The risk of a refusal is its price; without a price, that of the decision that was not taken. A row that is
        both is novel, for then its posterior, too, is not to be trusted.
        """
        import pandas as pd

        bound, chosen, novel = self._chosen(X, as_loss(loss), novelty, with_risk=True)
        price = bound.loss.refuse
        reason = np.full(len(chosen.best), "", dtype=object)
        if price is not None:
            reason[chosen.least > price] = "ambiguous"
        if novel is not None:
            reason[novel] = "novel"
        refused = None if price is None and novel is None else reason != ""
        risk = chosen.least if price is None or refused is None else np.where(refused, price, chosen.least)
        columns = {"decision": bound.labelled(chosen.best, refused), "risk": risk, "reason": reason}
        return pd.DataFrame(columns, index=X.index if isinstance(X, pd.DataFrame) else None)

    def novelty(self, X: Any, quantile: float = 0.01) -> Novelty:
        """What makes a row novel: less evidence than all but the share `quantile` of these ordinary rows.

        Give rows that were held out, if there are enough of them; training rows look a little more ordinary than
        they are. The result goes to `decide` and `decisions`, and belongs to this classifier as it is now.
        """
        ordinary = self._ordinary_evidence(X)
        return Novelty.settle(self._evidence(X, ordinary), quantile, ordinary)

    def estimate_priors(self, X: Any, *, tolerance: float = 1e-3, max_iterations: int = 1_000) -> dict[Any, float]:
        """How common the classes are among rows without labels, if only that has changed since training.

        Expectation and maximisation: the priors under which these rows are most likely. It ends once the
        log-likelihood of all rows together cannot grow by more than `tolerance`.
        """
        scores, prior = self._scores(X), self._prior_shares()
        shares = shifted_prior(likelihood_ratios(scores, prior), prior, tolerance, max_iterations)
        return dict(zip(self.classes_.tolist(), shares.tolist(), strict=True))

    def _chosen(
        self, X: Any, loss: Loss, novelty: Any, *, with_risk: bool
    ) -> tuple[LossMatrix, Chosen, NDArray[np.bool_] | None]:
        usual = checked_novelty(novelty)
        scores = self._scores(X)
        bound = LossMatrix.of(loss, self.classes_, scores.n_rows)
        novel = None if usual is None else usual.found_in(self._evidence(X, usual.ordinary))
        return bound, bound.choose(scores, with_risk=with_risk), novel

    def _scores(self, X: Any) -> Scores:
        """What the classifier says about the rows, in blocks."""
        return Scores.of_posterior(self.predict_proba(X))

    def _evidence(self, X: Any, ordinary: Mapping[str, float]) -> Array:
        """log P(row), with a gap credited as an ordinary cell of its column."""
        return self._scores(X).log_evidence()

    def _ordinary_evidence(self, X: Any) -> dict[str, float]:
        """What a known cell of each column adds to log P(row) on average; empty where rows have no gaps."""
        return {}

    def _prior_shares(self) -> Array:
        """How common the classes were for this classifier when it learned, in their order."""
        raise SettingsError(f"{type(self).__name__} does not know how common its classes were when it learned.")


# Deciding with a settled model: in blocks, with novel rows told by their density, under other priors.

SAMPLED_ROWS = 512
SAMPLED_CELLS = 1 << 28
"""Rows that tell what a column adds to the evidence; fewer if there are very many columns, each left out once."""


class ModelDecider(Decider):
    """A decider beside a learner with a settled model."""

    model_: Model
    n_jobs: int | None
    families_: dict[str, str]

    def _read(self, X: Any) -> Table:
        raise NotImplementedError("A decider stands beside a learner, which reads the table.")

    def _resettle(self, changes: Mapping[str, Any]) -> Self:
        raise NotImplementedError("A decider stands beside a learner, which settles its summary again.")

    def with_priors(self, priors: Any) -> Self:
        """Another classifier that believes the same of the columns, but has other priors; it shares the summary.

        `priors` is what the parameter of that name may be, such as a mapping of classes to shares.
        """
        other = copy(self)
        return other._resettle({"priors": priors})

    def _prior_shares(self) -> Array:
        return self.model_.prior

    def _scores(self, X: Any) -> Scores:
        table, model, n_jobs = self._read(X), self.model_, self.n_jobs

        def each(use: Callable[[slice, Block], None]) -> None:
            model.each_block(table, lambda block, joint: use(block, Joint(joint, model.prior)), n_jobs)

        return Scores(table.n_rows, each)

    def _evidence(self, X: Any, ordinary: Mapping[str, float]) -> Array:
        table = self._read(X)
        evidence = self._for_density()._scores(table).log_evidence()
        for name, usual in ordinary.items():
            if table.gaps(name):
                evidence[~known_cells(table, name)] += usual
        return evidence

    def _ordinary_evidence(self, X: Any) -> dict[str, float]:
        """Leave out one column at a time: what is then lost is what the column adds."""
        table, weigher = self._read(X), self._for_density()
        columns = self.model_.columns
        if table.sparse is not None:
            return {}
        n_rows = min(SAMPLED_ROWS, max(SAMPLED_CELLS // len(columns) ** 2, 1), table.n_rows)
        part = table.take(np.linspace(0, table.n_rows - 1, n_rows).astype(np.intp))
        whole = weigher._scores(part).log_evidence()
        means = {}
        for name in columns:
            rest = weigher._scores(without_column(part, name)).log_evidence()
            with np.errstate(invalid="ignore"):  # of an impossible row no part is larger than another
                added = whole - rest
            telling = known_cells(part, name) & np.isfinite(added)
            means[name] = float(added[telling].mean()) if telling.any() else 0.0
        return means

    def _for_density(self) -> Self:
        """The same beliefs, but a value never seen is as rare as smoothing says: it is novel, not ignored."""
        for name, family in self.families_.items():
            if not family_named(family).has_density:
                raise SettingsError(
                    f"The family {family!r} of {name!r} has no density of rows, so novel ones cannot be told."
                )
        if getattr(self, "unseen", "smooth") != "ignore":
            return self
        return copy(self)._resettle({"unseen": "smooth"})
