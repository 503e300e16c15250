"""From a plan, columns and classes to a grown tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from likely.errors import SettingsError, say_kind
from likely.measures import measure_named
from likely.models.tree.binned_column import BinnedColumn, quantile_edges
from likely.models.tree.columns import Cases, SearchColumn, SplitCriterion
from likely.models.tree.data import TrainingData
from likely.models.tree.grow import Limits, TreeGrower
from likely.models.tree.nominal_column import EVERY, GROUPS, ONE, NominalColumn
from likely.models.tree.partition import TreeWorkers
from likely.models.tree.sorted_column import SortedColumn
from likely.models.tree.split_measures import IDS, logarithms
from likely.models.tree.subtrees import collapse_tree
from likely.models.tree.tree import Feature, Missing, Tree

MOST_GROUPED = 256
"""Values of a column that are merged greedily; every step looks at all pairs."""

MOST_LOGARITHMS = 1 << 21


@dataclass(frozen=True, slots=True)
class Plan:
    """How a tree is grown; what each setting means stands at `TreeClassifier`."""

    measure: str = "gain_ratio"
    min_cases: float = 2.0
    max_depth: int | None = None
    missing: Missing = "weights"
    subsets: bool = False
    binary: bool = False
    binned: bool = False
    collapse: bool = True
    restrained: bool = False

    def criterion(self, total: float) -> SplitCriterion:
        """The plan as the search for tests needs it."""
        measure_named(self.measure)
        if self.subsets and self.binary:
            raise SettingsError("subsets merges values and binary takes one against the rest: choose one of them.")
        if self.restrained and self.measure != "gain_ratio":
            raise SettingsError(f"restrained=True is for measure='gain_ratio'; {self.measure!r} has no use for it.")
        mode = GROUPS if self.subsets else ONE if self.binary else EVERY
        logs = logarithms(int(min(total, MOST_LOGARITHMS)))
        return SplitCriterion(IDS[self.measure], logs, float(self.min_cases), mode, self.restrained)

    @property
    def limits(self) -> Limits:
        """Where growing ends."""
        return Limits(self.min_cases, self.max_depth, self.missing, reuse_nominal=self.subsets or self.binary)


def fit_tree(plan: Plan, data: TrainingData, n_jobs: int | None = None) -> Tree:
    """Grow a tree."""
    criterion, features = plan.criterion(float(len(data))), data.features
    refuse_many_groups(plan, features)
    weights = np.ones(len(data)) if data.weights is None else data.weights
    unit = data.weights is None or bool((weights == 1.0).all())
    cases = Cases(np.arange(len(data), dtype=np.int32), data.labels, weights, unit)

    def prepare(place: int) -> SearchColumn:
        column, levels = data.columns[place], features[place].levels
        if levels is not None:
            return NominalColumn(place, column.astype(np.int32, copy=False), len(levels))
        numbers = column.astype(np.float64, copy=False)
        return BinnedColumn(place, numbers, quantile_edges(numbers)) if plan.binned else SortedColumn(place, numbers)

    with TreeWorkers(n_jobs) as workers:
        searched = list(workers.each(prepare, range(len(features)), len(data)))
        known = tuple(_with_cuts(feature, column) for feature, column in zip(features, searched, strict=True))
        tree = TreeGrower(data.classes, known, searched, criterion, plan.limits, workers).grow(cases)
    return collapse_tree(tree) if plan.collapse else tree


def refuse_many_groups(plan: Plan, features: Sequence[Feature]) -> None:
    """Merging looks at all pairs of values again and again: there is a limit to that."""
    for feature in features:
        if plan.subsets and feature.levels is not None and len(feature.levels) > MOST_GROUPED:
            raise SettingsError(
                f"Column {feature.name!r} has {len(feature.levels):,} values, and subsets=True merges at most "
                f"{MOST_GROUPED}: join rare values first, or leave it out (",
                say_kind(feature.name, "ignored"),
                ").",
            )


def _with_cuts(feature: Feature, column: SearchColumn) -> Feature:
    if isinstance(column, SortedColumn):
        return replace(feature, cuts=max(len(column.values) - 1, 0))
    return replace(feature, cuts=len(column.edges)) if isinstance(column, BinnedColumn) else feature
