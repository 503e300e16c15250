"""One class against others, in log-odds that add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from likely.arrays import Array, Index
from likely.errors import SettingsError, did_you_mean, listed
from likely.numerics import log_of
from likely.render.factors import (
    DRAWN_COLUMNS,
    MOST_COLUMNS,
    SHOWN_ROWS,
    RowLogOdds,
    Status,
    as_html,
    as_text,
    odds,
    strongest_lines,
    written_cell,
)

if TYPE_CHECKING:
    import pandas as pd

    from likely.render.picture import Picture


class Explained(Protocol):
    """What a contrast needs of an explanation: the parts of a log joint, and the cells that they are of."""

    @property
    def classes(self) -> NDArray[Any]: ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def cells(self) -> tuple[tuple[object, ...], ...]: ...

    @property
    def prior(self) -> Array: ...

    @property
    def contributions(self) -> Array: ...

    @property
    def joint(self) -> Array: ...

    @property
    def posterior(self) -> Array: ...

    def status(self, row: int, place: int) -> Status: ...


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """prior + contributions = total, all of them log-odds of `target` against `rivals`.

    With one rival a contribution is the logarithm of the likelihood ratio of its column. With several, the
    odds of all rivals are added before the logarithm is taken, and each column gets its share of the change by
    logarithmic means (see `log_odds_by_column`); the order of the columns and their units play no part.
    """

    explanation: Explained
    target: Any
    rivals: tuple[Any, ...]
    prior: float
    contributions: Array

    @classmethod
    def of(cls, explanation: Explained, target: int, rivals: NDArray[np.intp]) -> Contrast:
        labels = explanation.classes.tolist()
        prior, contributions = log_odds_by_column(log_of(explanation.prior), explanation.contributions, target, rivals)
        return cls(explanation, labels[target], tuple(labels[k] for k in rivals), prior, contributions)

    def __len__(self) -> int:
        return len(self.contributions)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.explanation.columns

    @property
    def joint(self) -> Array:
        """Log joint of each row and class, as in the explanation."""
        return self.explanation.joint

    @property
    def posterior(self) -> Array:
        """P(class | row), as in the explanation."""
        return self.explanation.posterior

    @property
    def total(self) -> Array:
        """Posterior log-odds of each row."""
        return np.asarray(self.prior + self.contributions.sum(axis=1))

    @property
    def probability(self) -> Array:
        """P(target | row, target or a rival)."""
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(-self.total)))

    @property
    def is_against_rest(self) -> bool:
        return len(self.rivals) + 1 == len(self.explanation.classes)

    @property
    def against(self) -> str:
        """The rivals in words."""
        if len(self.rivals) == 1:
            return str(self.rivals[0])
        return "the rest" if self.is_against_rest else " or ".join(str(rival) for rival in self.rivals)

    @property
    def chance(self) -> str:
        """What `probability` is, in symbols."""
        return f"P({self.target})" if self.is_against_rest else f"P({self.target} | {self.target} or {self.against})"

    @property
    def title(self) -> str:
        return f"{self.target} against {self.against}"

    def lines(self, row: int, most: int = MOST_COLUMNS) -> list[tuple[str, float]]:
        """Label and log-odds of the prior and of the strongest columns; the others are taken together."""
        if not -len(self) <= row < len(self):
            raise SettingsError(f"There is no row {row}: {len(self)} rows are explained, counted from 0.")
        why = self.explanation

        def label(place: int) -> str:
            return written_cell(self.columns[place], why.cells[row][place], why.status(row, place))

        return [("prior", self.prior), *strongest_lines(label, self.contributions[row], most)]

    def to_frame(self) -> pd.DataFrame:
        """One line per row and factor: the factor, its value and status, and its log-odds."""
        import pandas as pd

        why, totals = self.explanation, self.total
        lines: list[tuple[object, ...]] = []
        for row in range(len(self)):
            lines.append((row, "prior", "", "", self.prior))
            for place, name in enumerate(self.columns):
                cell = why.cells[row][place], why.status(row, place)
                lines.append((row, name, *cell, self.contributions[row, place]))
            lines.append((row, "log-odds", "", "", totals[row]))
        return pd.DataFrame(lines, columns=["row", "factor", "value", "status", self.title])

    def row_log_odds(self, row: int = 0, columns: int = MOST_COLUMNS) -> RowLogOdds:
        """One row, ready to be shown: the prior and the strongest columns, the others taken together."""
        parts = self.lines(row, columns), float(self.total[row]), float(self.probability[row])
        return RowLogOdds(str(self.target), self.against, self.chance, *parts)

    def plot(self, *, row: int = 0) -> Picture:
        """How the log-odds of one row grow from the prior to the posterior."""
        return odds(self.row_log_odds(row, DRAWN_COLUMNS), row)

    def __str__(self) -> str:
        shown = range(min(len(self), SHOWN_ROWS))
        return as_text([self.row_log_odds(row).grid(self.title) for row in shown], len(self))

    def _repr_html_(self) -> str:
        shown = range(min(len(self), SHOWN_ROWS))
        titles = [f"{self.title}, row {row}" if len(self) > 1 else self.title for row in shown]
        return as_html([self.row_log_odds(row).grid("factor", titles[row]) for row in shown], len(self))


# How the log-odds of one class against several are shared out among the columns, exactly.


def log_odds_by_column(log_prior: Array, evidence: Array, target: int, rivals: NDArray[np.intp]) -> tuple[float, Array]:
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
    prior = float(log_prior[target] - logsumexp(log_prior[rivals])) if log_prior[target] > -np.inf else -np.inf
    own = evidence[:, :, target]
    theirs = evidence[:, :, rivals]
    own_dead, dead = np.isneginf(own), np.isneginf(theirs)
    out = _shared(_finite_odds(log_prior, target, rivals), own, theirs, own_dead, dead)
    doomed, all_dead = np.any(own_dead, axis=1), np.all(np.any(dead, axis=1), axis=1)
    out = np.where(own_dead & ~all_dead[:, None], -np.inf, out)
    out = np.where(dead.any(axis=2) & (all_dead & ~doomed)[:, None], np.inf, out)
    out[doomed & all_dead] = 0.0
    return prior, out


def _finite_odds(log_prior: Array, target: int, rivals: NDArray[np.intp]) -> Array:
    """Log odds of each rival against the target before any column; a prior of zero is taken out of the weighing."""
    own = log_prior[target] if log_prior[target] > -np.inf else 0.0
    theirs = log_prior[rivals]
    return np.asarray(theirs - own if (theirs > -np.inf).any() else np.zeros(len(rivals)))


def _shared(before: Array, own: Array, theirs: Array, own_dead: NDArray[np.bool_], dead: NDArray[np.bool_]) -> Array:
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
    return np.asarray(logsumexp(logs, axis=-1))


def _log_mean(a: Array, b: Array) -> Array:
    """log of (e^a − e^b) / (a − b), which is e^a where both are equal."""
    a, b = np.broadcast_arrays(a, b)
    with np.errstate(invalid="ignore"):
        gap = np.abs(a - b)
    apart = gap > 0.0
    ratio = np.divide(-np.expm1(-gap), gap, out=np.ones_like(gap), where=apart & np.isfinite(gap))
    return np.asarray(np.maximum(a, b) + np.log(ratio))


# Reading what a user wants to see contrasted: one class, and those that it stands against.


def target_and_rivals(wanted: Any, classes: NDArray[Any]) -> tuple[int, Index]:
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


def _find(label: Any, labels: list[Any]) -> int | None:
    """Where a label stands; of labels that are equal to Python, such as 1 and True, the one of the same type."""
    label = label.item() if isinstance(label, np.generic) else label
    equal = [place for place, known in enumerate(labels) if isinstance(known == label, bool) and known == label]
    same = [place for place in equal if type(labels[place]) is type(label)]
    return next(iter(same or equal), None)


def _known(label: Any, labels: list[Any]) -> int:
    place = _find(label, labels)
    if place is None:
        hint = did_you_mean(str(label), [str(known) for known in labels])
        raise SettingsError(f"contrast names {label!r}, but the classes are {listed(labels)}.{hint}")
    return place
