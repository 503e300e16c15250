"""From posteriors to decisions: what they cost, when to refuse, and what changes with the priors."""

from __future__ import annotations

from likely.decide.bound import Bound, Chosen
from likely.decide.coverage import RiskCoverage, risk_coverage
from likely.decide.loss import Loss, as_loss
from likely.decide.novelty import Novelty
from likely.decide.posteriors import decide_posterior, risk_of_posterior
from likely.decide.ratio import likelihood_ratio_threshold
from likely.decide.refusal import REFUSED, Refusal
from likely.decide.scores import Joint, Scores, Shares
from likely.decide.shift import shifted_prior

__all__ = [
    "REFUSED",
    "Bound",
    "Chosen",
    "Joint",
    "Loss",
    "Novelty",
    "Refusal",
    "RiskCoverage",
    "Scores",
    "Shares",
    "as_loss",
    "decide_posterior",
    "likelihood_ratio_threshold",
    "risk_coverage",
    "risk_of_posterior",
    "shifted_prior",
]
