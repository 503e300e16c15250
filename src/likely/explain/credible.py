"""How sure a probability is itself: credible intervals, because counts leave the parameters open."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy

from likely.arrays import Array
from likely.decide.calibration import log_odds
from likely.errors import SettingsError, listed
from likely.families import Settings, family_named
from likely.families.protocol import Certainty, Uncertain
from likely.families.smoothing import log_bias, trigamma
from likely.families.tempered import weight_of
from likely.numerics import normalise, sums_of_others
from likely.scorer import Model, evidence_for
from likely.stats import Summary
from likely.table import Table

LEAST = 1e-150
"""A probability whose square is still a float."""

MOST = 1e100
"""Next to no rows leave a variance beyond the floats; beyond this one, an interval has every share in it anyway."""

COUNTS_GAPS = ("values", "histogram")
"""Statistics that tell families how many gaps there are, so that a gap may be a value among others."""


def credible_interval(
    model: Model,
    summary: Summary,
    assigned: Mapping[str, str],
    settings: Settings,
    priors: object,
    table: Table,
    level: float,
) -> tuple[Array, Array]:
    """Bounds between which P(class | row) lies with probability `level`, given what was counted (rows × classes)."""
    strange = [name for name, family in assigned.items() if not issubclass(family_named(family), Uncertain)]
    if strange:
        families = listed(sorted({assigned[name] for name in strange}))
        raise SettingsError(f"How sure the family {families} of {listed(strange)} is, is not known: no interval.")
    if settings.missing == "value" and any(
        family_named(family).statistic not in COUNTS_GAPS for family in assigned.values()
    ):
        raise SettingsError("Intervals take a gap in numbers as saying nothing: use missing='ignore'.")
    spreads = [
        _weighed(family.uncertainty(columns, seen, summary.classes.weights, settings, table), weight)
        for some, weight in _by_weight(model, assigned)
        for family, columns, seen in evidence_for(some, summary)
        if issubclass(family, Uncertain)
    ]
    counted = summary.classes.weights if is_counted(priors) else None
    return interval(model.log_joint(table).array(), spreads, counted, model.prior, level)


def _by_weight(model: Model, assigned: Mapping[str, str]) -> list[tuple[dict[str, str], float]]:
    """Columns that are believed with the same weight."""
    weights = {name: weight_of(belief) for belief in model.beliefs for name in belief.columns}
    groups: dict[float, dict[str, str]] = {}
    for name, family in assigned.items():
        groups.setdefault(weights[name], {})[name] = family
    return [(columns, weight) for weight, columns in groups.items()]


def _weighed(spread: Certainty, weight: float) -> Certainty:
    """Evidence times a weight has the mean times the weight, and the variance times its square."""
    if weight == 1.0:
        return spread

    def weighed(block: slice, shift: Array, variance: Array) -> None:
        more = np.zeros((2, *shift.shape))
        spread(block, more[0], more[1])
        shift += weight * more[0]
        variance += weight**2 * more[1]

    return weighed


def is_counted(priors: object) -> bool:
    """Whether the shares of the classes rest on rows, so that they are uncertain, too."""
    return priors is None or (isinstance(priors, str) and priors in ("counted", "smoothed"))


def interval(
    joint: Array, spreads: list[Certainty], counted: Array | None, prior: Array, level: float
) -> tuple[Array, Array]:
    """The delta method on the log-odds of each class: classes are independent of each other, so variances add.

    A step of ℓ, the log joint of another class, moves the log-odds of a class by −P(other) / (1 − P(class)).
    """
    check_level(level)
    shift, variance = np.zeros((2, *joint.shape))
    for spread in spreads:
        spread(slice(0, len(joint)), shift, variance)
    if counted is not None:
        shift += log_bias(counted)
        variance += trigamma(counted)
    variance = np.minimum(variance, MOST)
    believed, centre = np.empty_like(joint), np.empty_like(joint)
    normalise(joint, prior, False, believed)
    normalise(joint + shift, prior, False, centre)
    if joint.shape[1] < 2:
        return believed, believed
    rest = np.maximum(sums_of_others(centre.T).T, LEAST)
    others = sums_of_others((centre * np.sqrt(variance)).T ** 2).T / rest**2
    return around(centre, variance + others, believed, level)


def around(centre: Array, variance: Array, believed: Array, level: float) -> tuple[Array, Array]:
    """Bounds that are normal in the log-odds of each class; what is believed lies always between them."""
    odds, reach = log_odds(centre), scipy.special.ndtri(0.5 + level / 2.0) * np.sqrt(variance)
    return np.minimum(scipy.special.expit(odds - reach), believed), np.maximum(
        scipy.special.expit(odds + reach), believed
    )


def check_level(level: float) -> None:
    """Refuse what is no probability of an interval."""
    if not 0.0 < level < 1.0:
        raise SettingsError(f"level is {level!r}, but it is the probability of an interval, between 0 and 1.")
