"""One class against others: which these are, and how their log-odds are shared out among the columns, exactly."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import scipy

from likely.arrays import AnyArray, Array, Flags, Index
from likely.errors import SettingsError, did_you_mean, listed


def log_odds_by_column(log_prior: Array, evidence: Array, target: int, rivals: Index) -> tuple[float, Array]:
    """Prior log-odds, and what each column of each row adds to them.

    Given are log P(class) and log P(column | class) as rows × columns × classes. Let o_k be the odds of rival
    k against the target, before (from the priors) and after all columns, and O their sum. With the logarithmic
    mean L(a, b) = (a − b) / (log a − log b),

        log O_after − log O_before = Σ_k w_k · (log o_k,after − log o_k,before),    w_k = L(o_k) / L(O),

    and log o_k,after − log o_k,before is a sum over columns: so column j adds −Σ_k w_k · log-ratio_kj, and
    nothing is left over. With one rival w is 1. A rival that some columns rule out has no logarithm, but its
    part of the sum is still o_k,before / L(O), which those columns share evenly.

    A row that is impossible for the target and for all rivals says nothing about them.
    """
    prior = (
        float(log_prior[target] - scipy.special.logsumexp(log_prior[rivals]))
        if log_prior[target] > -np.inf
        else -np.inf
    )
    own = evidence[:, :, target]
    theirs = evidence[:, :, rivals]
    own_dead, dead = np.isneginf(own), np.isneginf(theirs)
    out = _shared(_finite_odds(log_prior, target, rivals), own, theirs, own_dead, dead)
    doomed, all_dead = np.any(own_dead, axis=1), np.all(np.any(dead, axis=1), axis=1)
    out = np.where(own_dead & ~all_dead[:, None], -np.inf, out)
    out = np.where(dead.any(axis=2) & (all_dead & ~doomed)[:, None], np.inf, out)
    out[doomed & all_dead] = 0.0
    return prior, out


def _finite_odds(log_prior: Array, target: int, rivals: Index) -> Array:
    """Log odds of each rival against the target before any column; a prior of zero is taken out of the weighing."""
    own = log_prior[target] if log_prior[target] > -np.inf else 0.0
    theirs = log_prior[rivals]
    return np.asarray(theirs - own if (theirs > -np.inf).any() else np.zeros(len(rivals)))


def _shared(before: Array, own: Array, theirs: Array, own_dead: Flags, dead: Flags) -> Array:
    """The finite part: columns that rule something out count as ratio 1, except for what dead rivals leave."""
    finite = ~(own_dead[:, :, None] | dead)
    ratio = np.subtract(theirs, own[:, :, None], out=np.zeros_like(theirs), where=finite)
    # Where the target itself is ruled out, what that column says of the rivals no longer matters.
    killing = dead & ~own_dead[:, :, None]
    n_killing = killing.sum(axis=1)
    is_dead = n_killing > 0
    alive_left = ~is_dead.all(axis=1)
    is_dead &= alive_left[:, None]
    after = before + ratio.sum(axis=1)
    after = np.where(is_dead, -np.inf, after)
    log_mean = _log_mean(_log_sum(before)[None], _log_sum(after))
    known = before > -np.inf
    weight = np.exp(np.where(is_dead | ~known, -np.inf, _log_mean(before[None], after)) - log_mean[:, None])
    shared = -np.einsum("ijk,ik->ij", ratio, weight)
    leaving = np.where(is_dead & known, np.exp(before - log_mean[:, None]) / np.maximum(n_killing, 1), 0.0)
    return np.asarray(shared + np.einsum("ijk,ik->ij", killing.astype(np.float64), leaving))


def _log_sum(logs: Array) -> Array:
    return np.asarray(scipy.special.logsumexp(logs, axis=-1))


def _log_mean(a: Array, b: Array) -> Array:
    """log of (e^a − e^b) / (a − b), which is e^a where both are equal."""
    a, b = np.broadcast_arrays(a, b)
    with np.errstate(invalid="ignore"):
        gap = np.abs(a - b)
    apart = gap > 0.0
    ratio = np.divide(-np.expm1(-gap), gap, out=np.ones_like(gap), where=apart & np.isfinite(gap))
    return np.asarray(np.maximum(a, b) + np.log(ratio))


# Reading what a user wants to see contrasted: one class, and those that it stands against.


def target_and_rivals(wanted: object, classes: AnyArray) -> tuple[int, Index]:
    """Position of the one class and those of its rivals; a class alone stands against all the others.

    >>> target, rivals = target_and_rivals(("B", "C"), np.array(["A", "B", "C"]))
    >>> target, rivals.tolist()
    (1, [2])
    """
    labels = classes.tolist()
    if len(labels) < 2:
        raise SettingsError("There is one class only, so there is nothing to contrast it with.")
    target = _find(wanted, labels)
    if target is not None:
        return target, np.array([k for k in range(len(labels)) if k != target], dtype=np.intp)
    if not (isinstance(wanted, (tuple, list)) and len(wanted) == 2):
        hint = did_you_mean(str(wanted), [str(label) for label in labels])
        raise SettingsError(
            f"contrast is {wanted!r}, but it is one class, or two of them; the classes are {listed(labels)}.{hint}"
        )
    first, second = wanted
    # A label may be a tuple itself, so a whole is looked for before its parts.
    others = [second] if _find(second, labels) is not None or not isinstance(second, (tuple, list)) else second
    places = [_known(label, labels) for label in (first, *others)]
    if len(set(places)) < len(places) or len(places) < 2:
        raise SettingsError(f"contrast is {wanted!r}, but its classes must differ, and there must be two at least.")
    return places[0], np.array(places[1:], dtype=np.intp)


def _find(label: object, labels: list[Any]) -> int | None:
    """Where a label stands; of labels that are equal to Python, such as 1 and True, the one of the same type."""
    label = label.item() if isinstance(label, np.generic) else label
    if not isinstance(label, Hashable):  # no label is; and a matrix is not to be compared, for a broken one crashes
        return None
    equal = [place for place, known in enumerate(labels) if isinstance(known == label, bool) and known == label]
    same = [place for place in equal if type(labels[place]) is type(label)]
    return next(iter(same or equal), None)


def _known(label: object, labels: list[object]) -> int:
    place = _find(label, labels)
    if place is None:
        hint = did_you_mean(str(label), [str(known) for known in labels])
        raise SettingsError(f"contrast names {label!r}, but the classes are {listed(labels)}.{hint}")
    return place
