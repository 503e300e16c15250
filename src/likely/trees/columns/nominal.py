"""A nominal column: tests come from class × value tables."""

from __future__ import annotations

import numpy as np

from likely.trees.columns.protocol import Array, Ints, Level, Moves, Order, Rule, Splits, StandIns
from likely.trees.kernels import counting

NO_MAPS = np.empty((0, 0), dtype=np.int32)


class NominalColumn:
    """Codes of the values, −1 for a gap. With a branch for every value it is tested once on a path."""

    def __init__(self, place: int, codes: Ints, n_values: int) -> None:
        self.place, self.codes, self.n_values = place, codes, n_values

    def judge(self, level: Level, rule: Rule) -> Array:
        cases, scores = level.cases, np.empty(len(level))
        counting.score(
            self.codes, cases.rows, level.members, level.starts, cases.labels, cases.weights, self.n_values,
            level.counts.shape[1], level.sizes, np.ascontiguousarray(level.used[:, self.place]), rule.mode,
            rule.measure, rule.logs, rule.min_cases, scores,
        )  # fmt: skip
        return scores

    def ratios(self, level: Level, rule: Rule, gains: Array) -> Array:
        return self.judge(level, rule)

    def split(self, level: Level, rule: Rule, nodes: Order, branches: Ints) -> Splits:
        cases = level.cases
        maps = np.empty((len(nodes), self.n_values), dtype=np.int32)
        n_branches = np.empty(len(nodes), dtype=np.int32)
        counting.settle(
            self.codes, cases.rows, level.members, level.starts, cases.labels, cases.weights, self.n_values,
            level.counts.shape[1], nodes, rule.mode, rule.measure, rule.logs, rule.min_cases, branches, maps,
            n_branches,
        )  # fmt: skip
        return Splits(n_branches, maps=maps)

    def stand_in(self, level: Level, branches: Ints, n_branches: Ints, usual: Ints) -> StandIns:
        nodes = np.flatnonzero(n_branches > 0)
        gains, some = np.zeros(len(level)), np.empty(len(nodes))
        self._agree(level, branches, n_branches, usual, nodes, some, NO_MAPS)
        gains[nodes] = some
        return StandIns(gains)

    def stand_in_maps(self, level: Level, branches: Ints, n_branches: Ints, usual: Ints, nodes: Order) -> Ints | None:
        maps = np.empty((len(nodes), self.n_values), dtype=np.int32)
        self._agree(level, branches, n_branches, usual, nodes, np.empty(len(nodes)), maps)
        return maps

    def follow(self, rows: Ints, threshold: float, low: int, high: int, branches: Ints | None) -> Ints:
        codes = self.codes[rows]
        return np.where(codes < 0, -1, np.append(branches, -1)[codes]).astype(np.int32)  # type: ignore[arg-type]

    def move(self, moves: Moves) -> None:
        """Codes are found by row: nothing has to move."""

    def _agree(
        self, level: Level, branches: Ints, n_branches: Ints, usual: Ints, nodes: Order, gains: Array, maps: Ints
    ) -> None:
        cases = level.cases
        counting.agree_by_value(
            self.codes, cases.rows, level.members, level.starts, branches, cases.weights, self.n_values, n_branches,
            usual, nodes, gains, maps,
        )  # fmt: skip
