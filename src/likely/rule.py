"""Bayes' rule for one hypothesis and one observation."""

from __future__ import annotations

from likely.errors import SettingsError

ROUNDING = 1e-12


def bayes_rule(prior: float, likelihood: float, evidence: float) -> float:
    """P(hypothesis | data) = P(data | hypothesis) · P(hypothesis) / P(data).

    Four of five patients with arthrosis have a stiff joint; one person in 10,000 has arthrosis, one in
    ten a stiff joint:

    >>> round(bayes_rule(prior=0.0001, likelihood=0.8, evidence=0.1), 12)
    0.0008
    """
    for name, value in (("prior", prior), ("likelihood", likelihood), ("evidence", evidence)):
        if not 0.0 <= value <= 1.0:
            raise SettingsError(f"{name} is {value!r}, but a probability lies between 0 and 1.")
    joint = likelihood * prior
    if evidence < joint * (1.0 - ROUNDING) or evidence == 0.0:
        raise SettingsError(
            f"evidence is {evidence!r}, but data that come with the hypothesis at least {joint!r} of the time "
            "cannot be rarer than that (and must be possible)."
        )
    return joint / evidence
