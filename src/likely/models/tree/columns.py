"""What growing asks of a column, and what it tells it about the level of nodes that is being grown."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int32, Int64

HALF = 32
LOWER = (1 << HALF) - 1
"""A sorted column keeps the rank of a value in the upper half of a number, and the case in the lower half."""

GAP = 255
"""The bin of a gap."""

MOST_BLOCKS = 2


@dataclass(frozen=True, slots=True, eq=False)
class SplitCriterion:
    """How splits are judged: the number of the measure, a table of logarithms, and how small a branch may be.

    `restrained` is for gain ratio: cuts by gain, columns with at least average gain.
    """

    measure: int
    logs: Array
    min_cases: float
    mode: int
    restrained: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """Rows with their class and weight; a row with a gap may be here several times, with a part of its weight.

    `unit` says that each row is here once and weighs 1.
    """

    rows: Int32
    labels: Int32
    weights: Array
    unit: bool


class EntropyTables(NamedTuple):
    """Known cases by class of every node, and f(k) + f(n − k) for every way to cut them (`unit_weights`)."""

    known: Array
    cells: Array
    sizes: Array


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Nodes that may still be split: those of `members` between two `starts` lie in one node.

    Members are case numbers; `labels` are their classes in the same order. `entropy_tables` are made once for
    all columns in bins, where every case weighs 1.
    """

    cases: Cases
    members: Int64
    starts: Int64
    counts: Array
    sizes: Array
    used: NDArray[np.uint8]
    labels: Int32
    entropy_tables: EntropyTables | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    def blocks(self) -> list[slice]:
        """Neighbouring nodes with about as many members as other blocks have: work for threads."""
        wanted = np.linspace(0, self.starts[-1], MOST_BLOCKS + 1)
        ends = np.unique(np.searchsorted(self.starts, wanted)).tolist()
        return [slice(first, last) for first, last in pairwise(ends)]

    def has_unit_weights(self, criterion: SplitCriterion) -> bool:
        """Whether every case weighs 1, and the logarithms of all numbers of cases are at hand."""
        return self.cases.unit and int(np.diff(self.starts).max(initial=0)) < len(criterion.logs)


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """Tests on one column in some nodes: thresholds, or the branch of every value; and how many branches there are."""

    n_branches: Int32
    thresholds: Array | None = None
    maps: Int32 | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SurrogateScores:
    """How well a column tells the branch of another test, node by node, in weight; `low` and `high` for numbers."""

    gains: Array
    low: Int32 | None = None
    high: Int32 | None = None
    thresholds: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Where cases go: the node of the next level (−1: none), and where the copies of each case are.

    Only sorted columns look targets up: without one there are none. `starts` are those of the next level; `sources` are
    the places that its members had among those of this one, unless some were copied.
    """

    targets: Int64
    copies: Int64
    starts: Int64
    sources: Int32 | None


class SearchColumn(Protocol):
    """A column that is searched for tests."""

    @property
    def place(self) -> int:
        """The place of its feature."""
        ...

    def score_splits(self, level: Level, criterion: SplitCriterion) -> Array:
        """The value of the best test in each node; 0 where there is none."""
        ...

    def ratios(self, level: Level, criterion: SplitCriterion, gains: Array) -> Array:
        """The gain ratio of tests that were just judged by information gain, times known / all weight like `gains`."""
        ...

    def split(self, level: Level, criterion: SplitCriterion, nodes: Int64, branches: Int32) -> Splits:
        """The best tests of some nodes, just judged; `branches` gets the branch of each of their cases."""
        ...

    def score_surrogates(self, level: Level, branches: Int32, n_branches: Int32, majority: Int32) -> SurrogateScores:
        """How well this column tells the branches of the tests that were chosen."""
        ...

    def surrogate_value_branches(
        self, level: Level, branches: Int32, n_branches: Int32, majority: Int32, nodes: Int64
    ) -> Int32 | None:
        """For a nominal column, the branch of every value in these nodes."""
        ...

    def follow_surrogate(self, rows: Int32, threshold: float, low: int, high: int, branches: Int32 | None) -> Int32:
        """The branch that a surrogate on this column gives to some rows, −1 where it cannot tell."""
        ...

    def move(self, moves: Moves) -> None:
        """Go on to the next level."""
        ...
