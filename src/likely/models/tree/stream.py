"""Growing a tree from files of any length: a first pass for classes, values and bins, then one pass for each level.

For every node that may still be split there is a class × bin table for each numeric column (at most 255 bins, edges
settled beforehand) and a class × value table for each nominal one. They are sums over rows, so batches may be counted
anywhere, in any order, and nothing of a row is kept. Tests, children and their class weights follow from the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field

import numpy as np

from likely.arrays import AnyArray, Array, Int32, Int64, UInt8
from likely.engines.files import MOST_VALUES, JudgedFile, Pass, Result, judge_usual
from likely.errors import About, DataError, SchemaError, SettingsError, say_kind
from likely.io.file_table import FileTable, open_table
from likely.io.sources import FileSource
from likely.jit import kernel
from likely.models.tree.classifier import TreeClassifier
from likely.models.tree.data import GAP_BIN, MOST_SAMPLED, TrainingData, bin_numbers, quantile_edges, read_numbers
from likely.models.tree.grow import (
    GrowthPlan,
    NodeList,
    NodeSplits,
    SearchColumn,
    best_columns,
    refuse_many_groups,
    score_column,
)
from likely.models.tree.level import NOWHERE, Level, LevelPartition, TreeWorkers
from likely.models.tree.nominal_column import NominalColumn
from likely.models.tree.numeric_column import BinnedColumn
from likely.models.tree.predict import Flat, TreeRows, branch_at, flatten, push_children
from likely.models.tree.split_measures import ZERO_WEIGHT
from likely.models.tree.subtrees import collapse_tree
from likely.models.tree.tree import Feature, Tree
from likely.progress import Shown
from likely.stats import ClassWeights
from likely.table import Table, encode_column, level_key, merge_classes
from likely.table.labels import row_weights
from likely.table.levels import in_order as ordered
from likely.table.schema import Schema

MOST_CELLS = 1 << 23
"""Cells of all tables that are counted in one pass; a level with more open nodes takes several."""


def train_tree_file(
    source: FileSource | FileTable,
    target: str,
    *,
    classifier: TreeClassifier | None = None,
    weight: str | None = None,
    progress: Shown = None,
) -> TreeClassifier:
    """Grow a tree from a table in files, in bounded memory: numbers are binned, each level is one pass.

    `classifier` is an unfitted one with `binned=True` and `missing="weights"` (None for such a one); prunings that
    need rows beyond a given table do not work with files. `source` is what `open_table` takes.
    """
    clf = TreeClassifier(binned=True) if classifier is None else classifier
    _refuse_settings(clf)
    table = source if isinstance(source, FileTable) else open_table(source)
    return FileTreeFit(clf, judge_usual(table, target, schema=clf.schema, weight=weight), progress).run()


def _refuse_settings(clf: TreeClassifier) -> None:
    prune = clf.prune if isinstance(clf.prune, tuple | list) else (clf.prune,)
    if not clf.binned or clf.missing != "weights":
        raise SettingsError("A tree from files needs binned=True and missing='weights'.")
    by_price = prune[0] == "cost_complexity" and len(prune) == 1
    by_share = prune[0] == "reduced_error" and isinstance(prune[-1], float | int)
    if by_price or by_share or clf.raising:
        raise SettingsError(
            "A tree from files is pruned from its counts: give ('cost_complexity', price), ('reduced_error', (X, y)), "
            "'mdl', ('pessimistic', r) or ('confidence', level), without raising."
        )


@dataclass(slots=True, eq=False)
class FirstPass:
    """What the first pass finds: classes and their weights, values of nominal columns, samples of numeric ones."""

    schema: Schema
    classes: ClassWeights | None = None
    levels: dict[str, dict[Hashable, Hashable]] = field(default_factory=dict)
    sampled: dict[str, list[Array]] = field(default_factory=dict)
    step: int = 1
    rows: int = 0

    def take(self, seen: PieceSeen) -> None:
        """The next piece."""
        self.classes = seen.classes if self.classes is None else self.classes + seen.classes
        for name, levels in seen.levels.items():
            own = self.levels.setdefault(name, {})
            own.update((level_key(level), level) for level in levels)
            if len(own) > MOST_VALUES:
                raise DataError(
                    About("endless values", name, MOST_VALUES),
                    f"Column {name!r} has more than {MOST_VALUES:,} distinct values, too many for a category; leave it "
                    f"out with ",
                    say_kind(name, "ignored"),
                    ".",
                )
        self._sample(seen)
        self.rows += seen.n_rows

    def _sample(self, seen: PieceSeen) -> None:
        """Every `step`-th row of the whole table, however it comes in pieces; the step doubles as the table grows."""
        first = -self.rows % self.step
        for name, numbers in seen.numbers.items():
            self.sampled.setdefault(name, []).append(numbers[first :: self.step].copy())
        while (self.rows + seen.n_rows) // self.step >= 2 * MOST_SAMPLED:
            self.step *= 2
            self.sampled = {name: [np.concatenate(parts)[::2]] for name, parts in self.sampled.items()}

    def features(self) -> tuple[tuple[Feature, ...], tuple[Array, ...]]:
        """The columns that may be tested, and the edges of the bins of numeric ones."""
        features, edges = [], []
        for name in self.schema.features:
            if self.schema.kinds[name] == "numeric":
                edges.append(quantile_edges(np.concatenate(self.sampled.get(name, [np.zeros(0)]))))
                features.append(Feature(name, None, len(edges[-1])))
            else:
                edges.append(np.empty(0))
                features.append(Feature(name, ordered(self.levels.get(name, {}).values())))
        return tuple(features), tuple(edges)


@dataclass(frozen=True, slots=True, eq=False)
class PieceSeen:
    """What the first pass sees of one piece."""

    n_rows: int
    classes: ClassWeights
    levels: dict[str, tuple[Hashable, ...]]
    numbers: dict[str, Array]


@dataclass(frozen=True, slots=True)
class FileTreeFit:
    """A tree that is about to be grown from files."""

    classifier: TreeClassifier
    judged: JudgedFile
    progress: Shown

    def run(self) -> TreeClassifier:
        """All passes."""
        for name in self.judged.schema.text:
            raise SchemaError(
                About("text in a tree", name),
                f"Column {name!r} is free text, which a tree from files does not look into: leave it out (",
                say_kind(name, "ignored"),
                "), or fit rows in memory with text_tokens=100.",
            )
        first_pass = FirstPass(self.judged.schema)
        for piece in self._each(self._look_at):
            first_pass.take(piece)
        seen = first_pass.classes
        if seen is None or not seen.weights.sum() > 0.0:
            raise self.judged.no_rows()
        (features, edges), classes = first_pass.features(), seen.labels
        factors = self.classifier._class_factors(classes, seen.weights)

        def count(open_nodes: OpenNodes) -> Array:
            def tables(rows: Table) -> Array:
                return open_nodes.count(self._training_data(rows, features, classes, factors))

            total = open_nodes.empty()
            for part in self._each(tables):
                total = total + part
            return total

        growth = StreamedTreeGrower(self.classifier._plan(), classes, features, edges, count)
        return self.classifier._prune_grown(growth.grow(seen.weights * factors), self.judged.schema, first_pass.rows)

    def _look_at(self, rows: Table) -> PieceSeen:
        labels = encode_column(rows.cells(self.judged.counter.target))
        weights = row_weights(None, rows, self.judged.schema.weight)
        classes = ClassWeights.observe(labels.classes, labels.codes, weights)
        kinds = self.judged.schema.kinds
        levels = {name: rows.codes(name).levels for name in self.judged.schema.features if kinds[name] == "nominal"}
        numbers = {name: read_numbers(rows, name) for name in self.judged.schema.features if kinds[name] == "numeric"}
        return PieceSeen(rows.n_rows, classes, levels, numbers)

    def _training_data(
        self, rows: Table, features: tuple[Feature, ...], classes: AnyArray, factors: Array
    ) -> TrainingData:
        labels = encode_column(rows.cells(self.judged.counter.target))
        places = merge_classes(classes, labels.classes)[2].astype(np.int32)
        codes = places[labels.codes]
        weights = row_weights(None, rows, self.judged.schema.weight)
        own = factors[codes] if weights is None else weights * factors[codes]
        return TrainingData.read(rows, features, classes, codes, own)

    def _each(self, task: Callable[[Table], Result]) -> Iterator[Result]:
        """What a task makes of every piece, in order."""
        level = Pass(self.judged.table, self.judged.wanted, self.classifier.n_jobs, self.progress, "growing")
        for _, result in level.tables(lambda rows, turn: task(rows)):
            if result is not None:
                yield result


# Growing from counts that add up.


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

    def empty(self) -> Array:
        """Tables without any rows, one behind the other; those of batches add up."""
        return np.zeros(len(self.nodes) * int(self.widths.sum()) * len(self.tree.classes))

    def count(self, data: TrainingData) -> Array:
        """The tables of some rows."""
        tree, n_classes = self.tree, len(self.tree.classes)
        rows = TreeRows.from_columns(tree, data.columns)
        numbers, codes = rows.block(slice(0, len(data)))
        bins = np.empty(numbers.shape, dtype=np.uint8)
        numeric = [edges for feature, edges in zip(tree.features, self.edges, strict=True) if feature.is_numeric]
        for place, edges in enumerate(numeric):
            bins[:, place] = bin_numbers(np.ascontiguousarray(numbers[:, place]), edges)
        places = np.full(len(tree), -1, dtype=np.int64)
        places[self.nodes] = np.arange(len(self.nodes))
        counts = self.empty()
        offsets = len(self.nodes) * n_classes * (np.cumsum(self.widths) - self.widths)
        weights = np.ones(len(data)) if data.weights is None else data.weights
        count_open(
            flatten(tree), tree.sizes, places, numbers, codes, bins, data.labels, weights, self.widths, offsets,
            n_classes, counts,
        )  # fmt: skip
        return counts

    def tables(self, counts: Array) -> list[Array]:
        """Node × bin × class for each feature."""
        n, n_classes = len(self.nodes), len(self.tree.classes)
        ends = np.cumsum(self.widths)[:-1] * n * n_classes
        parts = np.split(counts, ends)
        return [part.reshape(n, -1, n_classes) for part in parts]


@dataclass(slots=True, eq=False)
class StreamedTreeGrower:
    """A tree that is being grown from counts; `count` is one pass over all batches."""

    plan: GrowthPlan
    classes: AnyArray
    features: tuple[Feature, ...]
    edges: tuple[Array, ...]
    count: Callable[[OpenNodes], Array]
    nodes: NodeList = field(init=False)

    def grow(self, root: Array) -> Tree:
        """Level by level, from the class weights of all rows on."""
        if self.plan.missing != "weights":
            raise SettingsError("A tree that is grown from counts shares gaps out: missing='weights'.")
        refuse_many_groups(self.plan, self.features)
        counts, depth = root[None, :], 0
        self.nodes = NodeList(counts)
        ids = np.flatnonzero(self.plan.leave_open(counts, 0))
        used = np.zeros((1, len(self.features)), dtype=np.uint8)
        while len(ids):
            depth += 1
            ids, counts, used = self._next(ids, counts, used, depth)
        tree = self._tree()
        return collapse_tree(tree) if self.plan.collapse else tree

    def _tree(self) -> Tree:
        return self.nodes.tree(self.classes, self.features, "weights")

    def _next(self, ids: Int64, counts: Array, used: UInt8, depth: int) -> tuple[Int64, Array, UInt8]:
        """Count and split the open nodes of a level; the open nodes of the next."""
        tree, n_branches = self._tree(), np.zeros(len(ids), dtype=np.int32)
        cells = max(int(OpenNodes(tree, ids[:1], self.edges).widths.sum()) * len(self.classes), 1)
        step = max(MOST_CELLS // cells, 1)
        splits, known_below = list[NodeSplits](), list[Array]()
        for start in range(0, len(ids), step):
            some = slice(start, start + step)
            open_nodes = OpenNodes(tree, ids[some], self.edges)
            for (place, chosen, found), known in self._splits(open_nodes, counts[some], used[some]):
                splits.append((place, start + chosen, found))
                known_below.append(known)
                n_branches[start + chosen] = found.n_branches
        if not splits:
            return ids[:0], counts[:0], used[:0]
        partition = LevelPartition.of(n_branches, NOWHERE)
        parents, known = partition.parents, np.empty((int(n_branches.sum()), counts.shape[1]))
        for (_, chosen, _), own in zip(splits, known_below, strict=True):
            known[np.isin(parents, chosen)] = own
        gaps, sizes = counts.copy(), known.sum(axis=1)
        np.subtract.at(gaps, parents, known)
        below = known + np.maximum(gaps, 0.0)[parents] * partition.shares(sizes)[:, None]
        kids = self.nodes.add(ids, splits, partition, partition.majority_branches(sizes), below)
        open_ = self.plan.leave_open(below, depth)
        return kids[open_], below[open_], self.plan.used_below(used, splits, partition)[open_]

    def _splits(self, open_nodes: OpenNodes, counts: Array, used: UInt8) -> Iterator[tuple[NodeSplits, Array]]:
        """The best tests of some nodes, column by column, and the class weights of the known cases of each branch."""
        criterion = self.plan.criterion(0)
        columns = [
            self._as_cases(place, table, counts, used)
            for place, table in enumerate(open_nodes.tables(self.count(open_nodes)))
        ]
        winners = best_columns([score_column(*column, criterion) for column in columns], len(counts), criterion)
        for place in np.unique(winners[winners >= 0]).tolist():
            (column, level), chosen = columns[place], np.flatnonzero(winners == place)
            branches, n_branches = np.full(level.n_cases, -1, dtype=np.int32), np.zeros(len(counts), dtype=np.int32)
            found = column.split(level, criterion, chosen, branches)
            n_branches[chosen] = found.n_branches
            known, _, _ = LevelPartition.of(n_branches, branches).child_counts(level, TreeWorkers(1))
            yield (place, chosen, found), known

    def _as_cases(self, place: int, table: Array, counts: Array, used: UInt8) -> tuple[SearchColumn, Level]:
        """A node × bin × class table as a column: each cell is a case with the weight of all rows in it."""
        node, code, label = np.nonzero(table > ZERO_WEIGHT)
        starts, rows = np.searchsorted(node, np.arange(len(table) + 1)), np.arange(len(node), dtype=np.int32)
        weights = table[node, code, label]
        level = Level(rows, label.astype(np.int32), weights, starts, table.sum(axis=1), counts.sum(axis=1), used)
        if self.features[place].levels is not None:
            return NominalColumn(place, code.astype(np.int32), table.shape[1]), level
        lowest = np.concatenate([[-np.inf], self.edges[place]])
        return BinnedColumn(place, lowest[code], self.edges[place]), level


@kernel
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
                        if code >= 0 and not (flat.numeric[j] and code == GAP_BIN):
                            at = (places[node] * widths[j] + code) * n_classes + labels[i]
                            out[offsets[j] + at] += weight
                continue
            first, branch = flat.first_child[node], branch_at(flat, node, numbers, codes, i)
            n = push_children(first, flat.n_children[node], branch, weight, sizes, pending, weights, n)
