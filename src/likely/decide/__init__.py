"""From posteriors to decisions: what they cost, when to refuse, and what changes with the priors."""

from __future__ import annotations

from likely.decide.loss import REFUSED, Loss, LossLike, Refusal, as_loss
from likely.decide.loss_matrix import (
    Chosen,
    LossMatrix,
    RiskCoverage,
    decide_posterior,
    risk_coverage,
    risk_of_posterior,
)
from likely.decide.priors import likelihood_ratio_threshold, shifted_prior
from likely.decide.scores import Joint, Novelty, Scores, Shares

__all__ = [
    "REFUSED",
    "Chosen",
    "Joint",
    "Loss",
    "LossLike",
    "LossMatrix",
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
