"""The figures of a report, each one number."""

from __future__ import annotations

import numpy as np

from likely.evaluation.curves import Curve
from likely.evaluation.ledger import Outcomes
from likely.evaluation.rates import Rates
from likely.evaluation.shares import Calibration, brier_scores, log_losses, mean

AVERAGES = ("macro", "micro", "weighted")
MOST_CURVES = 100
"""Beyond so many classes no curve is drawn for each of them."""

RATES = ("accuracy", "error_rate", "coverage")
"""Shares of rows: their intervals have a formula."""

UNBOUNDED = ("log_loss", "expected_cost")
"""Figures that may be above one; all others are shares."""


def figures(outcomes: Outcomes, beta: float, *, with_curves: bool = True) -> dict[str, float]:
    """All figures that the outcomes allow, in the order in which a report shows them."""
    rates = Rates.of(outcomes, beta)
    found = {"accuracy": rates.accuracy, "error_rate": 1.0 - rates.accuracy, "coverage": rates.coverage}
    for kind in AVERAGES:
        names = (f"precision_{kind}", f"recall_{kind}", f"f_{kind}")
        found |= zip(names, rates.average(kind), strict=True)
    weight = outcomes.weight
    if outcomes.shares is not None:
        likelihood, squares, _ = outcomes.shares
        found["log_loss"] = mean(log_losses(likelihood), weight)
        scores = brier_scores(likelihood, squares, len(outcomes.classes))
        found["brier_score"] = mean(scores, weight)
        found["calibration_error"] = calibration(outcomes).error
    if with_curves and has_curves(outcomes):
        found |= areas(outcomes)
    if outcomes.cost is not None:
        found["expected_cost"] = mean(outcomes.cost, weight)
    return found


def calibration(outcomes: Outcomes, label: int | None = None) -> Calibration:
    """Shares of the most probable class, or of a given one, beside how often that was the truth."""
    if label is None:
        assert outcomes.shares is not None
        return Calibration.of(outcomes.shares.confidence, outcomes.top == outcomes.truth, outcomes.weight)
    assert outcomes.posterior is not None
    given = np.ascontiguousarray(outcomes.posterior[:, label])
    return Calibration.of(given, outcomes.truth == label, outcomes.weight)


def has_curves(outcomes: Outcomes) -> bool:
    """Whether there are posteriors of few enough classes."""
    return outcomes.posterior is not None and len(outcomes.classes) <= MOST_CURVES


def curve(outcomes: Outcomes, label: int) -> Curve:
    """One class against the rest."""
    assert outcomes.posterior is not None
    score = np.ascontiguousarray(outcomes.posterior[:, label])
    return Curve.of(outcomes.truth == label, score, outcomes.weight)


def areas(outcomes: Outcomes) -> dict[str, float]:
    """Macro averages of the areas, over the classes that have both rows of their own and rows of others."""
    curves = [curve(outcomes, label) for label in range(len(outcomes.classes))]
    drawn = [each for each in curves if each.is_defined]
    if not drawn:
        return {}
    return {
        "roc_auc": float(np.mean([each.roc_auc() for each in drawn])),
        "average_precision": float(np.mean([each.average_precision() for each in drawn])),
    }
