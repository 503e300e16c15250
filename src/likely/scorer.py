"""Priors and families make a classifier: log joint, posterior, decision for the most probable class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from likely.arrays import AnyArray, Array, Index, SupportsArray
from likely.errors import DataError, SettingsError, listed
from likely.families import BlockScorer, Family, FittedFamily, Settings, family_named
from likely.families.categorical import GapFactor
from likely.families.protocol import Costly
from likely.families.tempered import Tempered
from likely.numerics import log_of, most_probable, normalise
from likely.parallel import FEWEST_ROWS, one_thread_each, row_blocks, run
from likely.stats import STATISTICS, ClassWeights, Moments, Statistic, Summary, moments_of
from likely.stats.protocol import NOISE
from likely.table import Table

Priors: TypeAlias = str | Mapping[Hashable, float] | Sequence[float] | SupportsArray | None
"""P(class): counted, smoothed, uniform, by class, or in the order of the classes; see `class_prior`."""


class ScoredRows(Protocol):
    """log P(class, row) of some rows, wherever they lie; what comes out lies there, too."""

    @property
    def n_rows(self) -> int: ...

    @property
    def prior(self) -> Array: ...

    def each_block(self, use: Callable[[slice, Array], None]) -> None: ...

    def array(self) -> Array: ...

    def posterior(self, *, in_logs: bool = False) -> Array: ...

    def labels(self, classes: AnyArray) -> AnyArray: ...


@dataclass(frozen=True, slots=True, eq=False)
class LogJoint:
    """log P(class, row) of some rows, block by block; rows × classes need not be there as a whole.

    Every row begins with `start`, to which the scorers add. A row that no class allows has the prior as its posterior.
    `dtype` is that of what comes out; all is reckoned in double precision.
    """

    n_rows: int
    prior: Array
    start: Array
    scorers: Sequence[BlockScorer]
    width: int
    n_jobs: int | None = None
    dtype: np.dtype[np.floating] | None = None

    def each_block(self, use: Callable[[slice, Array], None]) -> None:
        """Hand the log joint of every block of rows to `use`."""

        def score(block: slice) -> None:
            joint = np.tile(self.start, (block.stop - block.start, 1))
            for add_evidence in self.scorers:
                add_evidence(block, joint)
            use(block, joint)

        blocks = row_blocks(self.n_rows, 2 * self.width)  # so that many threads end at about the same time
        with one_thread_each() if len(blocks) > 1 else nullcontext():
            run(score, blocks, self.n_jobs)

    def array(self) -> Array:
        """All of it, rows × classes."""
        out = self._empty()

        def keep(block: slice, joint: Array) -> None:
            out[block] = joint

        self.each_block(keep)
        return out

    def posterior(self, *, in_logs: bool = False) -> Array:
        """P(class | row), or its logarithm."""
        out = self._empty()

        def keep(block: slice, joint: Array) -> None:
            if out.dtype == np.float64:
                normalise(joint, self.prior, in_logs, out[block])
            else:
                normalise(joint, self.prior, in_logs, joint)
                out[block] = joint

        self.each_block(keep)
        return out

    def choose(self) -> Index:
        """Position of the most probable class of every row; needs no room for rows × classes."""
        out = np.empty(self.n_rows, dtype=np.intp)
        self.each_block(lambda block, joint: most_probable(joint, self.prior, out[block]))
        return out

    def labels(self, classes: AnyArray) -> AnyArray:
        """The most probable class of every row."""
        return np.asarray(classes[self.choose()])

    def _empty(self) -> Array:
        return np.empty((self.n_rows, len(self.prior)), dtype=self.dtype)


class Scorer(ABC):
    """What has a log joint of the rows of any table with its columns."""

    __slots__ = ()

    classes: AnyArray
    columns: tuple[str, ...]
    prior: Array

    @abstractmethod
    def log_joint(self, table: Table, n_jobs: int | None = None) -> LogJoint:
        """log P(class) and what the columns add, of every row and class."""


@dataclass(frozen=True, slots=True, eq=False)
class Model(Scorer):
    """A prior per class, and beliefs whose log-likelihoods add up."""

    classes: AnyArray
    columns: tuple[str, ...]
    prior: Array
    beliefs: tuple[FittedFamily, ...]

    @classmethod
    def settle(
        cls,
        summary: Summary,
        assigned: Mapping[str, str],
        priors: Priors,
        settings: Settings,
        weights: Mapping[str, float] | None = None,
        offsets: Array | None = None,
    ) -> Model:
        """From what was seen to what is believed: no rows needed.

        `weights` are exponents of the columns' likelihoods; `offsets` are added to the log priors.
        """
        beliefs: list[FittedFamily] = [
            belief
            for family, columns, seen in evidence_for(assigned, summary)
            for belief in _settle_family(family, columns, seen, summary.classes.weights, settings)
        ]
        prior = class_prior(priors, summary.classes) if len(summary.classes) else np.zeros(0)
        if offsets is not None and len(prior):
            raised = prior * np.exp(offsets - offsets.max())
            prior = raised / raised.sum()
        if weights is not None:
            beliefs = [part for belief in beliefs for part in _weighed(belief, weights)]
        return cls(summary.classes.labels, tuple(assigned), prior, tuple(beliefs))

    def log_joint(self, table: Table, n_jobs: int | None = None) -> LogJoint:
        """log P(class) and what the columns add, of every row and class."""
        few = table.n_rows < FEWEST_ROWS
        scorers = run(lambda belief: belief.bind(table), self.beliefs, 1 if few else n_jobs)
        work = [belief.work if isinstance(belief, Costly) else len(belief.columns) for belief in self.beliefs]
        width = len(self.classes) + sum(work)
        return LogJoint(table.n_rows, self.prior, log_of(self.prior), scorers, width, n_jobs)


def _weighed(belief: FittedFamily, weights: Mapping[str, float]) -> list[FittedFamily]:
    """The belief with its weight; one for each column where these differ."""
    different = {weights[name] for name in belief.columns}
    if len(different) == 1:
        return [Tempered(belief, different.pop())]
    return [Tempered(belief.only(name), weights[name]) for name in belief.columns]


def evidence_for(
    assigned: Mapping[str, str], summary: Summary
) -> Iterator[tuple[type[Family], tuple[str, ...], Statistic]]:
    """The families in use, the columns that each believes something about at once, and what was seen of these."""
    columns_of: dict[str, list[str]] = {}
    for name, family in assigned.items():
        columns_of.setdefault(family, []).append(name)
    for name, columns in columns_of.items():
        family_type = family_named(name)
        alone = STATISTICS[family_type.statistic].by_column
        groups = [(column,) for column in columns] if alone else [tuple(columns)]
        for group in groups:
            yield family_type, group, _seen(summary, family_type, group)


def _settle_family(
    family: type[Family], columns: tuple[str, ...], seen: Statistic, weights: Array, settings: Settings
) -> list[FittedFamily]:
    beliefs: list[FittedFamily] = [family.settle(columns, seen, weights, settings)]
    moments = moments_of(seen)
    if settings.missing == "value" and moments is not None:
        with_gaps = columns_with_gaps(moments, weights)
        if len(with_gaps):
            names = tuple(columns[position] for position in with_gaps)
            beliefs.append(GapFactor.settle(names, moments.select(with_gaps).n, weights, settings))
    return beliefs


def columns_with_gaps(seen: Moments, weights: Array) -> Index:
    """Places of the columns that have a gap in some class."""
    return np.flatnonzero((weights[:, None] - seen.n > NOISE * weights[:, None]).any(axis=0))


def _seen(summary: Summary, family: type[Family], columns: tuple[str, ...]) -> Statistic:
    """What the summary holds of these columns for that family."""
    for part, seen in summary.parts.items():
        if part.kind == family.statistic and set(columns) <= set(part.columns):
            if part.columns == columns:
                return seen
            return seen.select(np.array([part.columns.index(name) for name in columns], dtype=np.intp))
    raise SettingsError(
        f"The family {family.name!r} needs {family.statistic} of {listed(columns)}, which were not counted: "
        "choose it before fitting."
    )


# How probable each class is before a row is looked at.


def class_prior(given: Priors, classes: ClassWeights) -> Array:
    """None or "counted", "smoothed" (one row more for each class), "uniform", a mapping, or shares in class order."""
    weights = classes.weights
    if given is None or (isinstance(given, str) and given == "counted"):
        if weights.sum() <= 0.0:
            raise DataError("All rows have weight zero, so there is nothing to learn the classes from.")
        return np.asarray(weights / weights.sum())
    if isinstance(given, str):
        if given == "smoothed":
            return np.asarray((weights + 1.0) / (weights.sum() + len(weights)))
        if given == "uniform":
            return np.full(len(weights), 1.0 / max(len(weights), 1))
        raise SettingsError(f"priors is {given!r}, but it is 'counted', 'smoothed', 'uniform' or a mapping by class.")
    shares = _by_class(given, classes) if isinstance(given, Mapping) else np.asarray(given, dtype=np.float64)
    if shares.shape != weights.shape:
        raise SettingsError(f"priors has {shares.size} shares for {len(weights)} classes. Give one for each class.")
    if not (shares >= 0.0).all() or abs(shares.sum() - 1.0) > 1e-6:
        raise SettingsError(f"priors sums to {shares.sum():g}, but shares are not negative and sum to 1.")
    return np.asarray(shares / shares.sum())


def remaining_priors(given: Priors, classes: AnyArray, left: AnyArray) -> Priors:
    """The same priors where only some of the classes are left: shares that were given are scaled to sum to one."""
    if given is None or isinstance(given, str) or len(left) == len(classes):
        return given
    labels, kept = classes.tolist(), left.tolist()
    shares = dict(given) if isinstance(given, Mapping) else dict(zip(labels, np.asarray(given).tolist(), strict=True))
    total = sum(shares[label] for label in kept if label in shares)
    if not total > 0.0:
        raise SettingsError(f"priors leaves nothing for {listed(kept)}, the only classes that are left to learn.")
    gone = set(labels) - set(kept)
    return {label: share / total for label, share in shares.items() if label not in gone}


def _by_class(given: Mapping[Hashable, float], classes: ClassWeights) -> Array:
    labels = classes.labels.tolist()
    lacking, strange = [label for label in labels if label not in given], [k for k in given if k not in labels]
    if lacking:
        raise SettingsError(f"priors gives no share for the class {listed(lacking)}.")
    if strange:
        raise SettingsError(f"priors names {listed(strange)}, but the classes are {listed(labels)}.")
    return np.array([float(given[label]) for label in labels])
