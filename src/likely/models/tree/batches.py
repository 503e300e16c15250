"""Growing from counts that add up: one pass over all batches for each level, and nothing of a row is kept.

For every node that may still be split there is a class × bin table for each numeric column (at most 255 bins, edges
settled beforehand) and a class × value table for each nominal one. They are sums over rows, so batches may be counted
anywhere, in any order. Tests, children and their class weights follow from the tables alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Int32, Int64, UInt8
from likely.errors import SettingsError
from likely.models.tree.binned_column import bin_numbers, score_bin_tables
from likely.models.tree.columns import GAP, SplitCriterion, Splits
from likely.models.tree.data import TrainingData
from likely.models.tree.fit import Plan, refuse_many_groups
from likely.models.tree.grow import NodeList, best_columns
from likely.models.tree.nominal_column import best_grouping, number_branches
from likely.models.tree.partition import is_largest
from likely.models.tree.predict import Flat, Rows, branch_at, flatten, push_children
from likely.models.tree.split_measures import GAIN, ZERO_WEIGHT, above_average_ratios, gain_ratios_of_cuts
from likely.models.tree.subtrees import collapse_tree
from likely.models.tree.tree import Feature, Tree

MOST_CELLS = 1 << 23
"""Cells of all tables that are counted in one pass; a level with more open nodes takes several."""


@dataclass(frozen=True, slots=True, eq=False)
class OpenNodes:
    """Nodes whose tables are to be counted: a tree so far, the numbers of its open leaves, and the edges of bins."""

    tree: Tree
    nodes: Int64
    edges: tuple[Array, ...]

    @property
    def widths(self) -> Int64:
        """Bins or values of each feature."""
        pairs = zip(self.tree.features, self.edges, strict=True)
        return np.array([len(e) + 1 if f.levels is None else len(f.levels) for f, e in pairs], dtype=np.int64)

    def empty(self) -> LevelCounts:
        """Tables without any rows."""
        return LevelCounts(np.zeros(len(self.nodes) * int(self.widths.sum()) * len(self.tree.classes)))

    def count(self, data: TrainingData) -> LevelCounts:
        """The tables of some rows."""
        tree, n_classes = self.tree, len(self.tree.classes)
        rows = Rows.from_columns(tree, data.columns)
        numbers, codes = rows.block(slice(0, len(data)))
        bins = np.full(numbers.shape, GAP, dtype=np.uint8)
        numeric = [edges for feature, edges in zip(tree.features, self.edges, strict=True) if feature.is_numeric]
        for place, edges in enumerate(numeric):
            own = np.empty(len(data), dtype=np.uint8)
            bin_numbers(np.ascontiguousarray(numbers[:, place]), edges, own)
            bins[:, place] = own
        places = np.full(len(tree), -1, dtype=np.int64)
        places[self.nodes] = np.arange(len(self.nodes))
        counts = self.empty()
        offsets = len(self.nodes) * n_classes * (np.cumsum(self.widths) - self.widths)
        weights = np.ones(len(data)) if data.weights is None else data.weights
        count_open(
            flatten(tree), tree.sizes, places, numbers, codes, bins, data.labels, weights, self.widths, offsets,
            n_classes, counts.cells,
        )  # fmt: skip
        return counts

    def tables(self, counts: LevelCounts) -> list[Array]:
        """Node × bin × class for each feature."""
        n, n_classes = len(self.nodes), len(self.tree.classes)
        ends = np.cumsum(self.widths)[:-1] * n * n_classes
        parts = np.split(counts.cells, ends)
        return [part.reshape(n, -1, n_classes) for part in parts]


@dataclass(frozen=True, slots=True, eq=False)
class LevelCounts:
    """Class × bin and class × value counts of some nodes; those of two batches add up."""

    cells: Array

    def __add__(self, other: LevelCounts) -> LevelCounts:
        return LevelCounts(self.cells + other.cells)


Count = Callable[[OpenNodes], LevelCounts]
"""One pass over all batches."""


@dataclass(slots=True, eq=False)
class StreamedTreeGrower:
    """A tree that is being grown from counts."""

    plan: Plan
    classes: NDArray[Any]
    features: tuple[Feature, ...]
    edges: tuple[Array, ...]
    count: Count
    nodes: NodeList = field(init=False)

    def grow(self, root: Array) -> Tree:
        """Level by level, from the class weights of all rows on."""
        if self.plan.missing != "weights":
            raise SettingsError("A tree that is grown from counts shares gaps out: missing='weights'.")
        refuse_many_groups(self.plan, self.features)
        self.nodes = NodeList(root[None, :])
        open_ids = np.flatnonzero(self.plan.limits.leave_open(root[None, :], 0))
        used, counts, depth = np.zeros((len(open_ids), len(self.features)), dtype=np.uint8), root[None, :][open_ids], 0
        while len(open_ids):
            depth += 1
            open_ids, counts, used = self._next(open_ids, counts, used, depth)
        tree = self._tree()
        return collapse_tree(tree) if self.plan.collapse else tree

    def _tree(self) -> Tree:
        return self.nodes.tree(self.classes, self.features, "weights")

    def _next(
        self, ids: Int64, counts: Array, used: NDArray[np.uint8], depth: int
    ) -> tuple[Int64, Array, NDArray[np.uint8]]:
        """Count and split the open nodes of a level; the open nodes of the next."""
        tree = self._tree()
        cells = max(int(OpenNodes(tree, ids[:1], self.edges).widths.sum()) * len(self.classes), 1)
        step = max(MOST_CELLS // cells, 1)
        chosen: list[_NodeSplit] = []
        for start in range(0, len(ids), step):
            some = slice(start, start + step)
            open_nodes = OpenNodes(tree, ids[some], self.edges)
            tables = open_nodes.tables(self.count(open_nodes))
            chosen += self._choose(tables, counts[some], used[some], start)
        n_branches = np.zeros(len(ids), dtype=np.int32)
        for test in chosen:
            n_branches[test.node] = len(test.known)
        return self._split(chosen, ids, counts, used, n_branches, depth)

    def _choose(self, tables: list[Array], counts: Array, used: NDArray[np.uint8], start: int) -> list[_NodeSplit]:
        """The best test of each node."""
        sizes, criterion = counts.sum(axis=1), self.plan.criterion(0.0)
        cuts = np.zeros((len(self.features), len(counts)), dtype=np.int64)
        scores = self._scores(
            tables, sizes, used, replace(criterion, measure=GAIN) if criterion.restrained else criterion, cuts
        )
        if criterion.restrained and len(scores):
            scores = above_average_ratios(scores, self._ratios(tables, sizes, used, criterion, scores, cuts))
        winners, found = best_columns(scores, len(counts)), list[_NodeSplit]()
        for node in np.flatnonzero(winners >= 0):
            place, table = int(winners[node]), tables[winners[node]]
            if self.features[place].is_numeric:
                cut = int(cuts[place, node])
                known = np.array([table[node, : cut + 1].sum(axis=0), table[node, cut + 1 :].sum(axis=0)])
                found.append(_NodeSplit(start + int(node), place, known, float(self.edges[place][cut]), None))
                continue
            maps, n = np.empty((1, table.shape[1]), dtype=np.int32), np.empty(1, dtype=np.int32)
            rest = criterion.mode, criterion.measure, criterion.logs, criterion.min_cases
            group_table_values(table, np.array([node]), *rest, maps, n)
            known = np.array([table[node][maps[0] == branch].sum(axis=0) for branch in range(n[0])])
            found.append(_NodeSplit(start + int(node), place, known, 0.0, maps))
        return found

    def _scores(
        self, tables: list[Array], sizes: Array, used: NDArray[np.uint8], criterion: SplitCriterion, cuts: Int64
    ) -> Array:
        """The value of the best test on each feature in each node; `cuts` gets the last bins below."""
        scores = np.empty((len(tables), len(sizes)))
        for place, (feature, table) in enumerate(zip(self.features, tables, strict=True)):
            rest = criterion.measure, criterion.logs, criterion.min_cases, scores[place]
            if feature.is_numeric:
                score_bin_tables(table, sizes, *rest, cuts[place])
            else:
                score_value_tables(table, sizes, np.ascontiguousarray(used[:, place]), criterion.mode, *rest)
        return scores

    def _ratios(
        self,
        tables: list[Array],
        sizes: Array,
        used: NDArray[np.uint8],
        criterion: SplitCriterion,
        gains: Array,
        cuts: Int64,
    ) -> Array:
        """Gain ratios of splits that were scored by gain."""
        ratios = self._scores(tables, sizes, used, criterion, np.empty_like(cuts))
        for place, feature in enumerate(self.features):
            if feature.is_numeric:
                sums = tables[place].sum(axis=2).cumsum(axis=1)
                left = sums[np.arange(len(sizes)), np.maximum(cuts[place], 0)]
                ratios[place] = gain_ratios_of_cuts(gains[place], left, sums[:, -1])
        return ratios

    def _split(
        self,
        chosen: Sequence[_NodeSplit],
        ids: Int64,
        counts: Array,
        used: NDArray[np.uint8],
        n_branches: Int32,
        depth: int,
    ) -> tuple[Int64, Array, NDArray[np.uint8]]:
        if not chosen:
            return ids[:0], counts[:0], used[:0]
        first_child = np.where(n_branches > 0, np.cumsum(n_branches) - n_branches, -1).astype(np.int64)
        majority, children, below = np.full(len(ids), -1, dtype=np.int32), [], []
        tests: list[tuple[Any, Int64, Splits]] = []
        for test in chosen:
            sizes = test.known.sum(axis=1)
            majority[test.node] = int(np.argmax(is_largest(sizes, sizes.max())))
            gaps = np.maximum(counts[test.node] - test.known.sum(axis=0), 0.0)
            children.append(test.known + gaps * (sizes / sizes.sum())[:, None])
            gone = used[test.node].copy()
            if test.maps is not None and not self.plan.limits.reuse_nominal:
                gone[test.place] = 1
            below.append(np.repeat(gone[None, :], len(sizes), axis=0))
            cut = None if test.maps is not None else np.array([test.threshold])
            n = np.array([len(sizes)], dtype=np.int32)
            tests.append((test, np.array([test.node]), Splits(n, cut, test.maps)))
        new_counts = np.concatenate(children)
        kids = self.nodes.add(ids, tests, first_child, n_branches, majority, new_counts, None)
        open_ = self.plan.limits.leave_open(new_counts, depth)
        return kids[open_], new_counts[open_], np.concatenate(below)[open_]


@dataclass(frozen=True, slots=True, eq=False)
class _NodeSplit:
    """The test of one node: the column's place, and the class weights of the known cases of each branch."""

    node: int
    place: int
    known: Array
    threshold: float
    maps: Int32 | None


# Class × bin and class × value counts of all open nodes of a tree at once, and the best tests from them.


@numba.njit(nogil=True, cache=True)
def count_open(
    flat: Flat, sizes: Array, places: Int64, numbers: Array, codes: Int32, bins: UInt8, labels: Int32, given: Array,
    widths: Int64, offsets: Int64, n_classes: int, out: Array,
) -> None:  # fmt: skip
    """Add rows to the tables of the open leaves that they come to; a gap on the way shares a row out.

    `places` is the place of each open node among them, −1 for others. The tables of feature j begin at `offsets[j]`:
    node × bin × class, with `widths[j]` bins.
    """
    pending, weights = np.empty(len(flat.column), dtype=np.int64), np.empty(len(flat.column))
    for i in range(len(labels)):
        pending[0], weights[0], n = 0, given[i], 1
        while n:
            n -= 1
            node, weight = pending[n], weights[n]
            if flat.column[node] < 0:
                if places[node] >= 0:
                    for j in range(len(widths)):
                        slot = flat.slot[j]
                        code = int(bins[i, slot]) if flat.numeric[j] else int(codes[i, slot])
                        if code >= 0 and not (flat.numeric[j] and code == GAP):
                            at = (places[node] * widths[j] + code) * n_classes + labels[i]
                            out[offsets[j] + at] += weight
                continue
            first, branch = flat.first_child[node], branch_at(flat, node, numbers, codes, i)
            n = push_children(first, flat.n_children[node], branch, weight, sizes, pending, weights, n)


@numba.njit(nogil=True, cache=True)
def _present(table: Array, values: Int32, some: Array) -> int:
    """The lines of a value × class table that have weight."""
    n = 0
    for value in range(len(table)):
        if table[value].sum() > ZERO_WEIGHT:
            values[n] = value
            some[n] = table[value]
            n += 1
    return n


@numba.njit(nogil=True, cache=True)
def score_value_tables(
    tables: Array, sizes: Array, used: UInt8, mode: int, measure: int, logs: Array, min_cases: float, scores: Array
) -> None:
    """The best test on a nominal column in each node, from node × value × class tables."""
    n_values = tables.shape[1]
    values, groups = np.empty(n_values, dtype=np.int32), np.empty(n_values, dtype=np.int32)
    some = np.empty((n_values, tables.shape[2]))
    for node in range(len(tables)):
        scores[node] = 0.0
        if not used[node]:
            n = _present(tables[node], values, some)
            value, known = best_grouping(mode, some[:n], measure, logs, min_cases, groups)
            scores[node] = value * known / sizes[node]


@numba.njit(nogil=True, cache=True)
def group_table_values(
    tables: Array, nodes: Int64, mode: int, measure: int, logs: Array, min_cases: float, maps: Int32, n_branches: Int32
) -> None:
    """The branch of every value in some nodes, numbered in the order of their first values."""
    n_values = tables.shape[1]
    values, groups = np.empty(n_values, dtype=np.int32), np.empty(n_values, dtype=np.int32)
    numbers, some = np.empty(n_values, dtype=np.int32), np.empty((n_values, tables.shape[2]))
    for k, node in enumerate(nodes):
        n = _present(tables[node], values, some)
        best_grouping(mode, some[:n], measure, logs, min_cases, groups)
        n_branches[k] = number_branches(mode, n, values, groups, numbers, maps[k])
