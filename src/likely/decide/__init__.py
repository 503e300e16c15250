"""From posteriors to decisions: what they cost, when to refuse, and what changes with the priors."""

from __future__ import annotations

from likely.decide.loss import Loss, as_loss
from likely.decide.loss_matrix import (
    Chosen,
    LossMatrix,
    RiskCoverage,
    decide_posterior,
    risk_coverage,
    risk_of_posterior,
)
from likely.decide.priors import likelihood_ratio_threshold, shifted_prior
from likely.decide.refusal import REFUSED, Novelty, Refusal
from likely.decide.scores import Joint, Scores, Shares

__all__ = [
    "REFUSED",
    "Chosen",
    "Joint",
    "Loss",
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
