"""Averaged one-dependence estimators for raw tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely.arrays import Array
from likely.engines.memory import Rows
from likely.engines.plan import Task
from likely.errors import SettingsError, did_you_mean, listed
from likely.measures import information_gain
from likely.models.learner import Learner
from likely.models.settings import (
    MOST_CELLS,
    PairChanges,
    SmoothingLike,
    are_bins,
    are_numbers,
    is_smoothing,
    not_negative,
    parameter,
    refusal,
    whole_from,
)
from likely.stats import Cuts, Histogram, PairCounts, Part, Summary, ValueCounts
from likely.stats.binning import cut
from likely.table.schema import Schema

if TYPE_CHECKING:
    from likely.explain.rank import Dependence


def _are_cuts(name: str, given: object) -> None:
    if given is None:
        return
    if not isinstance(given, Mapping) or not all(map(are_numbers, given.values())):
        raise refusal(name, given, "a mapping of numeric columns to ascending numbers")


@dataclass(kw_only=True, eq=False, repr=False)
class AODEClassifier(Learner):
    """Between naive and full Bayes: each column depends on the class and on one other column, averaged over all.

    P(class, row) is the mean over parents j of P(class) · P(x_j | class) · Π P(x_k | x_j, class): what two
    columns have in common is counted once. It counts pairs of values, of numbers in bins, and these counts add up: rows
    can be learned, forgotten and merged in any order. The first rows decide where bins are cut.

    Parameters
    ----------
    smoothing : a number γ added to every count (½ by default: cells of pairs are small), an `MEstimate`,
        or a mapping of column names to either.
    priors, schema, text : as for `BayesClassifier`; a text column is a further factor.
    families : None, or a mapping that takes columns out of the pairs, such as {"visits": "poisson"}.
    bins : numbers are cut into at most this many bins of about equal weight.
    cuts : a mapping of numeric columns to ascending numbers at which to cut them; give `cuts_` of another classifier
        to be able to merge with it.
    min_cases : a value is a parent only if it was seen at least this often.
    max_cells : classes × pairs of values that may be counted. If there are more, the columns most informative about
        the class are paired (see `paired_`), and the others are factors of their own, as in naive Bayes.
    n_jobs : number of threads; None for all cores. Results do not depend on it.

    >>> X = {"a": ["x", "x", "y", "y"] * 5, "b": ["u", "v", "u", "v"] * 5}
    >>> clf = AODEClassifier(smoothing=0.1).fit(X, ["odd", "even", "even", "odd"] * 5)
    >>> clf.predict({"a": ["x", "y"], "b": ["u", "u"]}).tolist()  # naive Bayes could only guess
    ['odd', 'even']
    """

    reads_sparse: ClassVar[bool] = False
    smoothing: SmoothingLike = parameter(0.5, partial(is_smoothing, auto=False))
    bins: int = parameter(6, are_bins)
    cuts: Mapping[str, Sequence[float]] | None = parameter(None, _are_cuts)
    min_cases: float = parameter(1.0, not_negative)
    max_cells: int = parameter(MOST_CELLS, whole_from(1))

    def resettle(self, **changes: Unpack[PairChanges]) -> Self:
        """Change smoothing, priors or `min_cases` after training; needs no data."""
        return self._resettle(changes)

    @property
    def paired_(self) -> tuple[str, ...]:
        """The columns that are counted in pairs."""
        check_is_fitted(self)
        return tuple(name for name, family in self.families_.items() if family == "aode")

    @property
    def cuts_(self) -> dict[str, list[float]]:
        """Where the numbers of each column are cut into bins; another classifier with these `cuts` can be merged."""
        check_is_fitted(self)
        return {name: cuts.at.tolist() for name, cuts in cuts_in(self.summary_).items()}

    def dependence(self) -> Dependence:
        """Which columns repeat each other, given the class: conditional mutual information of every pair."""
        from likely.explain.rank import Dependence

        check_is_fitted(self)
        for part, seen in self.summary_.parts_of(PairCounts).items():
            return Dependence.of(part.columns, seen)
        return Dependence((), np.zeros((0, 0)), np.zeros((0, 0)))

    def _considered(self, task: Task) -> Task:
        """Cut the numbers, and pair as many columns as there is room for."""
        rows, assigned = task.rows, dict(task.assigned)
        wanted = tuple(name for name, family in assigned.items() if family == "aode")
        given = cuts_given(self.cuts, [name for name in wanted if task.schema.kinds[name] == "numeric"])
        chosen, cuts = chosen_columns(rows, task.schema, wanted, given, int(self.bins), int(self.max_cells))
        left_out = {"numeric": "bins", "nominal": "categorical"}
        assigned |= {name: left_out[task.schema.kinds[name]] for name in wanted if name not in chosen}
        again = rows.with_preprocessing({**rows.preprocessing, **cuts})
        return Task(again, task.schema, assigned, task.weighted)

    def _usual_families(self) -> Mapping[str, str]:
        return {**super()._usual_families(), "numeric": "aode", "nominal": "aode", "sparse": "aode"}


# What must be known before pairs are counted: where numbers are cut, and which columns there is room for.


def cuts_given(given: Mapping[str, Sequence[float]] | None, numeric: Sequence[str]) -> dict[str, Cuts]:
    """Cuts that the user gave, checked: columns that are there, finite numbers that ascend."""
    if given is None:
        return {}
    strange = [name for name in given if name not in set(numeric)]
    if strange:
        hint = did_you_mean(str(strange[0]), list(numeric))
        raise SettingsError(f"cuts names {listed(strange)}, which is no numeric column of the pairs.{hint}")
    return {name: Cuts(_ascending(name, at)) for name, at in given.items()}


def cuts_in(summary: Summary) -> dict[str, Cuts]:
    """The cuts by which the numbers of a summary were counted."""
    found: dict[str, Cuts] = {}
    for part, seen in summary.parts_of(PairCounts).items():
        found |= seen.cuts(part.columns)
    return found


def chosen_columns(
    rows: Rows, schema: Schema, columns: tuple[str, ...], given: Mapping[str, Cuts], n_bins: int, most: int
) -> tuple[set[str], dict[str, Cuts]]:
    """Columns whose pairs fit into `most` cells, the most telling first, and the cuts of those that are numbers."""
    kinds = {name: "histogram" if schema.kinds[name] == "numeric" else "values" for name in columns}
    seen = rows.summarise([Part(kind, (name,)) for name, kind in kinds.items()])
    tables = {part.columns[0]: found.counts for part, found in seen.parts_of(ValueCounts).items()}
    cuts: dict[str, Cuts] = {}
    for part, found in seen.parts_of(Histogram).items():
        (name,) = part.columns
        cuts[name] = given[name] if name in given else Cuts(cut(found, n_bins).cuts)
        places = cuts[name].places(found.lows())
        bins = [found.counts[:, places == bin_].sum(axis=1) for bin_ in range(len(cuts[name].at) + 1)]
        tables[name] = np.stack(bins, axis=1)
    sizes = {name: table.shape[1] for name, table in tables.items()}
    if len(rows.classes) * _cells(sizes.values()) <= most:
        return set(columns), cuts
    telling = {name: information_gain(table) * float(table.sum()) for name, table in tables.items()}
    chosen: set[str] = set()
    singles, pairs = 0, 0
    for name in sorted(columns, key=lambda name: -telling[name]):
        more = sizes[name] * (singles + 1)
        if len(rows.classes) * (pairs + more) <= most:
            chosen.add(name)
            singles, pairs = singles + sizes[name], pairs + more
    return chosen, {name: at for name, at in cuts.items() if name in chosen}


def _cells(sizes: Iterable[int]) -> int:
    """Values and pairs of values."""
    each = np.array(list(sizes), dtype=np.float64)
    return int(each.sum() + (each.sum() ** 2 - (each**2).sum()) / 2)


def _ascending(name: str, given: Sequence[float]) -> Array:
    at = np.asarray(given, dtype=np.float64)
    if at.ndim != 1 or not np.isfinite(at).all() or (at[1:] <= at[:-1]).any():
        raise SettingsError(f"The cuts of {name!r} are not finite numbers in ascending order.")
    return at
