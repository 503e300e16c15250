"""Growing a tree from files of any length: a first pass for classes, values and bins, then one pass for each level."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.engines.pieces import MOST_VALUES, JudgedFile, Pass, Result, judge_usual
from likely.errors import DataError, SchemaError, SettingsError, say_kind
from likely.io.file_table import FileTable, open_table
from likely.models.tree.batches import LevelCounts, OpenNodes, StreamedTreeGrower
from likely.models.tree.binned_column import MOST_SAMPLED, quantile_edges
from likely.models.tree.classifier import TreeClassifier
from likely.models.tree.data import TrainingData, read_numbers
from likely.models.tree.tree import Feature
from likely.numerics import together
from likely.progress import Shown
from likely.table import Table, encode_column, level_key, merge_classes
from likely.table.labels import row_weights
from likely.table.levels import in_order as ordered
from likely.table.schema import Schema


def train_tree_file(
    source: Any,
    target: str,
    *,
    classifier: TreeClassifier | None = None,
    weight: str | None = None,
    progress: Shown = None,
) -> TreeClassifier:
    """Grow a tree from a table in files, in bounded memory: numbers are binned, each level is one pass.

    `classifier` is one as constructed, with `binned=True` and `missing="weights"` (None for such a one); prunings that
    need rows apart from a given table are not for files. `source` is what `open_table` takes.
    """
    clf = TreeClassifier(binned=True) if classifier is None else classifier
    _refuse_settings(clf)
    table = source if isinstance(source, FileTable) else open_table(source)
    return FileGrowth(clf, judge_usual(table, target, schema=clf.schema, weight=weight), progress).run()


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
class Looked:
    """What the first pass finds: classes and their weights, values of nominal columns, samples of numeric ones."""

    schema: Schema
    classes: NDArray[Any] | None = None
    weights: Array = field(default_factory=lambda: np.zeros(0))
    levels: dict[str, dict[Hashable, Hashable]] = field(default_factory=dict)
    sampled: dict[str, list[Array]] = field(default_factory=dict)
    step: int = 1
    rows: int = 0

    def take(self, seen: Glance) -> None:
        """The next piece."""
        known = seen.classes if self.classes is None else self.classes
        self.classes, mine, theirs = merge_classes(known, seen.classes)
        before, more = np.zeros((2, len(self.classes)))
        before[mine[: len(self.weights)]] = self.weights
        more[theirs] = seen.weights
        self.weights = together(before, more)
        for name, levels in seen.levels.items():
            own = self.levels.setdefault(name, {})
            own.update((level_key(level), level) for level in levels)
            if len(own) > MOST_VALUES:
                raise DataError(
                    f"Column {name!r} has more than {MOST_VALUES:,} distinct values, too many for a category; leave it "
                    f"out with ",
                    say_kind(name, "ignored"),
                    ".",
                )
        self._sample(seen)
        self.rows += seen.n_rows

    def _sample(self, seen: Glance) -> None:
        """Every so many rows of the whole table, fewer and fewer as it grows: whatever its pieces are."""
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
class Glance:
    """What the first pass sees of one piece."""

    n_rows: int
    classes: NDArray[Any]
    weights: Array
    levels: dict[str, tuple[Hashable, ...]]
    numbers: dict[str, Array]


@dataclass(frozen=True, slots=True)
class FileGrowth:
    """A tree that is about to be grown from files."""

    classifier: TreeClassifier
    judged: JudgedFile
    progress: Shown

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.judged.schema

    @property
    def target(self) -> str:
        """The column of labels."""
        return self.judged.counter.target

    def run(self) -> TreeClassifier:
        """All passes."""
        self._refuse_text()
        looked = Looked(self.schema)
        for seen in self._each(self._glance):
            looked.take(seen)
        if looked.classes is None or not looked.weights.sum() > 0.0:
            raise self.judged.no_rows()
        features, edges = looked.features()
        factors = self.classifier._class_factors(looked.classes, looked.weights)
        classes = looked.classes

        def count(open_nodes: OpenNodes) -> LevelCounts:
            def tables(rows: Table) -> LevelCounts:
                return open_nodes.count(self._training_data(rows, features, classes, factors))

            total = open_nodes.empty()
            for part in self._each(tables):
                total = total + part
            return total

        growth = StreamedTreeGrower(self.classifier._plan(), classes, features, edges, count)
        return self.classifier._grown(growth.grow(looked.weights * factors), self.schema, looked.rows)

    def _refuse_text(self) -> None:
        for name in self.schema.text:
            raise SchemaError(
                f"Column {name!r} is free text, which a tree from files does not look into: leave it out (",
                say_kind(name, "ignored"),
                "), or fit rows in memory with text_tokens=100.",
            )

    def _glance(self, rows: Table) -> Glance:
        labels = encode_column(rows.cells(self.target))
        weights = row_weights(None, rows, self.schema.weight)
        by_class = np.bincount(labels.codes, weights, len(labels.classes)).astype(np.float64)
        kinds = self.schema.kinds
        levels = {name: rows.codes(name).levels for name in self.schema.features if kinds[name] == "nominal"}
        numbers = {name: read_numbers(rows, name) for name in self.schema.features if kinds[name] == "numeric"}
        return Glance(rows.n_rows, labels.classes, by_class, levels, numbers)

    def _training_data(
        self, rows: Table, features: tuple[Feature, ...], classes: NDArray[Any], factors: Array
    ) -> TrainingData:
        labels = encode_column(rows.cells(self.target))
        places = merge_classes(classes, labels.classes)[2].astype(np.int32)
        codes = places[labels.codes]
        weights = row_weights(None, rows, self.schema.weight)
        own = factors[codes] if weights is None else weights * factors[codes]
        return TrainingData.read(rows, features, classes, codes, own)

    def _each(self, task: Callable[[Table], Result]) -> Iterator[Result]:
        """What a task makes of every piece, in order."""
        level = Pass(self.judged.table, self.judged.wanted, self.classifier.n_jobs, self.progress, "growing")
        for _, result in level.tables(lambda rows, turn: task(rows)):
            if result is not None:
                yield result
