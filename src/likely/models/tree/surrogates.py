"""Splits that take the place of another whose column is not known, as in CART.

A surrogate sends the cases that are known to both columns to the branches of the split that it stands for; it is good
if it sends more of them right than the rule "follow the branch that most cases take" would. Up to five are kept, best
first; where none of them knows its column, the case follows most cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int32
from likely.models.tree.columns import LOWER, Level, SearchColumn, SurrogateScores
from likely.models.tree.partition import TreeWorkers
from likely.models.tree.split_measures import ZERO_WEIGHT

MAX_SURROGATES = 5


@dataclass(frozen=True, slots=True, eq=False)
class SurrogateSplit:
    """A surrogate for the split of one node of a level; `branches` are those of the values of a nominal column."""

    node: int
    position: int
    column: int
    threshold: float
    low: int
    high: int
    branches: Int32 | None


@dataclass(frozen=True, slots=True, eq=False)
class LevelSurrogates:
    """All surrogates of a level, those of a node best first."""

    splits: tuple[SurrogateSplit, ...]

    def assign_branches(
        self, columns: Sequence[SearchColumn], level: Level, branches: Int32, n_branches: Int32, majority: Int32
    ) -> None:
        """Give a branch to every case whose own column is a gap."""
        by_node: dict[int, list[SurrogateSplit]] = {}
        for split in self.splits:
            by_node.setdefault(split.node, []).append(split)
        for node in np.flatnonzero(n_branches > 0):
            cases = level.members[level.starts[node] : level.starts[node + 1]] & LOWER
            open_ = cases[branches[cases] < 0]
            for split in by_node.get(int(node), []):
                if not len(open_):
                    break
                rows = level.cases.rows[open_]
                found = columns[split.position].follow_surrogate(
                    rows, split.threshold, split.low, split.high, split.branches
                )
                branches[open_] = found
                open_ = open_[found < 0]
            branches[open_] = majority[node]


def find_surrogates(
    columns: Sequence[SearchColumn],
    level: Level,
    winners: NDArray[np.intp],
    branches: Int32,
    n_branches: Int32,
    majority: Int32,
    workers: TreeWorkers,
) -> LevelSurrogates:
    """The best surrogates of every node that has a split; its own column is none."""
    found = list(
        workers.each(
            lambda column: column.score_surrogates(level, branches, n_branches, majority), columns, len(level.members)
        )
    )
    gains = np.column_stack([one.gains for one in found])
    inner = np.flatnonzero(winners >= 0)
    gains[inner, winners[inner]] = 0.0
    chosen = {int(node): _best(gains[node]) for node in inner}
    maps: dict[int, dict[int, Int32]] = {}
    for position, column in enumerate(columns):
        nodes = np.array([node for node, places in chosen.items() if position in places], dtype=np.int64)
        lines = column.surrogate_value_branches(level, branches, n_branches, majority, nodes)
        maps[position] = {} if lines is None else dict(zip(nodes.tolist(), lines, strict=True))
    splits = [
        _surrogate_split(node, position, columns[position].place, found[position], maps[position].get(node))
        for node, places in chosen.items()
        for position in places
    ]
    return LevelSurrogates(tuple(splits))


def _best(gains: Array) -> list[int]:
    """Up to five columns that tell most, the first of equals first."""
    # Ten digits are compared, so that rounding decides nothing.
    places = np.argsort(-np.round(gains / max(gains.max(), ZERO_WEIGHT), 10), kind="stable")[:MAX_SURROGATES]
    return [int(place) for place in places if gains[place] > ZERO_WEIGHT]


def _surrogate_split(
    node: int, position: int, column: int, found: SurrogateScores, branches: Int32 | None
) -> SurrogateSplit:
    if found.thresholds is None or found.low is None or found.high is None:
        return SurrogateSplit(node, position, column, 0.0, -1, -1, branches)
    return SurrogateSplit(
        node, position, column, float(found.thresholds[node]), int(found.low[node]), int(found.high[node]), None
    )
