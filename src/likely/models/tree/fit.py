"""From a plan, columns and classes to a grown tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from likely.errors import SettingsError, say_kind
from likely.measures import measure_named
from likely.models.tree.data import TrainingData, quantile_edges
from likely.models.tree.grow import Limits, TreeGrower
from likely.models.tree.level import SplitCriterion, TreeWorkers
from likely.models.tree.nominal_column import EVERY, GROUPS, ONE, NominalColumn
from likely.models.tree.numeric_column import BinnedColumn, SortedColumn
from likely.models.tree.split_measures import IDS, WITHOUT_LOGARITHMS, logarithms
from likely.models.tree.subtrees import collapse_tree
from likely.models.tree.tree import Feature, Missing, Tree

MOST_GROUPED = 256
"""Values of a column that are merged greedily; every step looks at all pairs."""

MOST_LOGARITHMS = 1 << 24
"""Above, logarithms are computed when they are needed."""


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

    def criterion(self, n_rows: int) -> SplitCriterion:
        """The plan as the search for tests needs it."""
        measure_named(self.measure)
        if self.subsets and self.binary:
            raise SettingsError("subsets merges values and binary takes one against the rest: choose one of them.")
        if self.restrained and self.measure != "gain_ratio":
            raise SettingsError(f"restrained=True is for measure='gain_ratio'; {self.measure!r} has no use for it.")
        mode = GROUPS if self.subsets else ONE if self.binary else EVERY
        measure = IDS[self.measure]
        logs = None if measure in WITHOUT_LOGARITHMS else logarithms(min(n_rows, MOST_LOGARITHMS))
        return SplitCriterion(measure, logs, float(self.min_cases), mode, self.restrained)

    @property
    def limits(self) -> Limits:
        """Where growing ends."""
        return Limits(self.min_cases, self.max_depth, self.missing, reuse_nominal=self.subsets or self.binary)


def fit_tree(plan: Plan, data: TrainingData, n_jobs: int | None = None) -> Tree:
    """Grow a tree."""
    criterion, weights = plan.criterion(len(data)), data.weights
    refuse_many_groups(plan, data.features)
    if weights is not None and bool((weights == 1.0).all()):
        weights = None
    if weights is None and len(data) > MOST_LOGARITHMS:  # whole numbers of cases are looked up
        weights = np.ones(len(data))

    def prepare(place: int) -> tuple[Feature, SortedColumn | BinnedColumn | NominalColumn]:
        feature, column = data.features[place], data.columns[place]
        if feature.levels is not None:
            return feature, NominalColumn(place, column.astype(np.int32, copy=False), len(feature.levels))
        numbers = column.astype(np.float64, copy=False)
        known = BinnedColumn(place, numbers, quantile_edges(numbers)) if plan.binned else SortedColumn(place, numbers)
        return replace(feature, cuts=known.n_cuts), known

    with TreeWorkers(n_jobs) as workers:
        prepared = workers.each(prepare, range(len(data.features)), len(data))
        features, columns = tuple(feature for feature, _ in prepared), [column for _, column in prepared]
        tree = TreeGrower(data.classes, features, columns, criterion, plan.limits, workers).grow(data.labels, weights)
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
