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
from likely.models.tree.columns import LOWER, Level, SearchColumn, StandIns
from likely.models.tree.partition import TreeWorkers
from likely.models.tree.split_measures import NOTHING

MOST_STAND_INS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Substitute:
    """A stand-in for the test of one node of a level; `branches` are those of the values of a nominal column."""

    node: int
    position: int
    column: int
    threshold: float
    low: int
    high: int
    branches: Int32 | None


@dataclass(frozen=True, slots=True, eq=False)
class Substitutes:
    """All stand-ins of a level, those of a node best first."""

    tests: tuple[Substitute, ...]

    def send(
        self, columns: Sequence[SearchColumn], level: Level, branches: Int32, n_branches: Int32, usual: Int32
    ) -> None:
        """Give a branch to every case whose own column is a gap."""
        by_node: dict[int, list[Substitute]] = {}
        for test in self.tests:
            by_node.setdefault(test.node, []).append(test)
        for node in np.flatnonzero(n_branches > 0):
            cases = level.members[level.starts[node] : level.starts[node + 1]] & LOWER
            open_ = cases[branches[cases] < 0]
            for test in by_node.get(int(node), []):
                if not len(open_):
                    break
                rows = level.cases.rows[open_]
                found = columns[test.position].follow(rows, test.threshold, test.low, test.high, test.branches)
                branches[open_] = found
                open_ = open_[found < 0]
            branches[open_] = usual[node]


def find_substitutes(
    columns: Sequence[SearchColumn],
    level: Level,
    winners: NDArray[np.intp],
    branches: Int32,
    n_branches: Int32,
    usual: Int32,
    crew: TreeWorkers,
) -> Substitutes:
    """The best stand-ins of every node that has a test; its own column is none."""
    found = list(
        crew.each(lambda column: column.stand_in(level, branches, n_branches, usual), columns, len(level.members))
    )
    gains = np.column_stack([one.gains for one in found])
    inner = np.flatnonzero(winners >= 0)
    gains[inner, winners[inner]] = 0.0
    chosen = {int(node): _best(gains[node]) for node in inner}
    maps: dict[int, dict[int, Int32]] = {}
    for position, column in enumerate(columns):
        nodes = np.array([node for node, places in chosen.items() if position in places], dtype=np.int64)
        lines = column.stand_in_maps(level, branches, n_branches, usual, nodes)
        maps[position] = {} if lines is None else dict(zip(nodes.tolist(), lines, strict=True))
    tests = [
        _substitute(node, position, columns[position].place, found[position], maps[position].get(node))
        for node, places in chosen.items()
        for position in places
    ]
    return Substitutes(tuple(tests))


def _best(gains: Array) -> list[int]:
    """Up to five columns that tell most, the first of equals first."""
    # Ten digits are compared, so that rounding decides nothing.
    places = np.argsort(-np.round(gains / max(gains.max(), NOTHING), 10), kind="stable")[:MOST_STAND_INS]
    return [int(place) for place in places if gains[place] > NOTHING]


def _substitute(node: int, position: int, column: int, found: StandIns, branches: Int32 | None) -> Substitute:
    if found.thresholds is None or found.low is None or found.high is None:
        return Substitute(node, position, column, 0.0, -1, -1, branches)
    return Substitute(
        node, position, column, float(found.thresholds[node]), int(found.low[node]), int(found.high[node]), None
    )
