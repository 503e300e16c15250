"""Deciding at the least expected cost, for every classifier with posteriors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likely.decide import Bound, Chosen, Loss, Novelty, Scores, as_loss
from likely.decide.novelty import checked_novelty
from likely.decide.shift import likelihood_ratios, shifted_prior
from likely.errors import SettingsError

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


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
        return Bound.of(as_loss(loss), self.classes_, scores.n_rows).risk(scores)

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
    ) -> tuple[Bound, Chosen, NDArray[np.bool_] | None]:
        usual = checked_novelty(novelty)
        scores = self._scores(X)
        bound = Bound.of(loss, self.classes_, scores.n_rows)
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
