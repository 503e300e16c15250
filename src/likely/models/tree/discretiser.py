"""Numbers as named intervals, for whatever wants categories."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Self, cast

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely.arrays import AnyArray, Array, ColumnLike, Int32, TableLike
from likely.errors import DataError, SettingsError
from likely.models.settings import SchemaLike
from likely.models.tree.data import TrainingData, read_numbers
from likely.models.tree.grow import GrowthPlan
from likely.models.tree.prune import Pruning, grow_and_prune
from likely.models.tree.tree import Feature, number
from likely.stats.binning import equal_frequency_edges, interval_of
from likely.table import Labels, Table, as_table, labels_of
from likely.table.labels import row_weights
from likely.table.schema import Schema

METHODS = ("tree", "width", "frequency")
ENCODINGS = ("interval", "code")


@dataclass(kw_only=True, eq=False, repr=False)
class TreeDiscretiser(TransformerMixin, BaseEstimator):
    """Cut numeric columns into intervals; other columns are passed on unchanged.

    Parameters
    ----------
    method : "tree" (where a decision tree of that column alone cuts it, so that the classes differ from interval to
        interval), "width" (intervals of equal width) or "frequency" (of about equal size).
    n_bins : intervals for "width" and "frequency".
    measure, min_cases, max_depth, prune : of the tree, as for `TreeClassifier`.
    encode : "interval" (names such as "[2.45, 4.75)") or "code" (0, 1, …; NaN for a missing value).
    schema : kinds of columns by name, as for `TreeClassifier`.

    >>> table = {"age": [20, 73, 37, 33, 48, 29, 52, 42, 61, 30], "sex": list("mffmfmfmmf")}
    >>> young = [True, False, True, True, False, True, False, False, False, True]
    >>> TreeDiscretiser().fit_transform(table, young)[:2].tolist()
    [['< 39.5', 'm'], ['≥ 39.5', 'f']]
    """

    method: str = "tree"
    n_bins: int = 10
    measure: str = "information_gain"
    min_cases: float = 2
    max_depth: int | None = None
    prune: object = ("confidence", 0.8)
    encode: str = "interval"
    schema: SchemaLike = None
    random_state: int = 0

    @property
    def intervals_(self) -> dict[str, list[str]]:
        """The names of the intervals of each numeric column, in their order."""
        check_is_fitted(self)
        return {name: interval_names(edges) for name, edges in self.edges_.items()}

    def fit(self, X: TableLike, y: ColumnLike | str | None = None, sample_weight: ColumnLike | None = None) -> Self:
        """Find the cuts; trees need the classes `y`, which may also name a column of the table."""
        self._check()
        table = as_table(X, allow_empty=False)
        if table.sparse is not None:
            raise DataError("Intervals do not read sparse matrices: pass a dense array (X.toarray()).")
        target = y if isinstance(y, str) and y in table else None
        schema = Schema.infer(table, target, overrides=self.schema)
        labels = self._labels(table, y)
        weights = row_weights(sample_weight, table, schema.weight)
        weights = np.ones(table.n_rows) if weights is None else weights
        if not weights.any():
            raise DataError("All rows have weight zero, so there is nothing to cut.")
        self.edges_ = {name: self._edges(read_numbers(table, name), labels, weights) for name in schema.numeric}
        self.schema_, self.n_features_in_ = schema, len(schema)
        if table.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)
        return self

    def transform(self, X: TableLike) -> AnyArray:
        """One column for each that came in: intervals for numbers, other cells as they are."""
        check_is_fitted(self)
        table = self.schema_.align(as_table(X, allow_empty=False), type(self).__name__)
        names = list(self.schema_.names)
        coded = self.encode == "code" and all(name in self.edges_ for name in names)
        out = np.empty((table.n_rows, len(names)), dtype=np.float64 if coded else object)
        for place, name in enumerate(names):
            out[:, place] = self._column(table, name)
        return out

    def get_feature_names_out(self, input_features: object = None) -> AnyArray:
        """The names of the columns, which stay as they are."""
        check_is_fitted(self)
        return np.array(self.schema_.names, dtype=object)

    def _column(self, table: Table, name: str) -> AnyArray:
        if name not in self.edges_:
            codes = table.codes(name)
            return np.array([*codes.levels, None], dtype=object)[codes.codes]
        places = interval_of(read_numbers(table, name), self.edges_[name])
        if self.encode == "code":
            return np.where(places < 0, np.nan, places)
        said = np.array([*interval_names(self.edges_[name]), None], dtype=object)
        return np.asarray(said[places])

    def _edges(self, numbers: Array, labels: Labels | None, weights: Array) -> Array:
        rows = np.flatnonzero(weights)
        numbers, weights = numbers[rows], weights[rows]
        if self.method == "width":
            return width_edges(numbers, self.n_bins)
        if self.method == "frequency" or labels is None:
            return equal_frequency_edges(numbers, self.n_bins, weights)
        plan = GrowthPlan(self.measure, float(self.min_cases), self.max_depth)
        classes = labels.codes[rows], len(labels.classes)
        return tree_edges(numbers, *classes, weights, plan, Pruning.read(self.prune), self.random_state)

    def _labels(self, table: Table, y: ColumnLike | str | None) -> Labels | None:
        if self.method != "tree":
            return None
        if y is None:
            raise DataError("A tree cuts by classes: fit(X, y) requires y to be passed, but the target y is None.")
        return labels_of(y, table)

    def _check(self) -> None:
        if self.method not in METHODS or self.encode not in ENCODINGS:
            raise SettingsError(
                f"method is one of {', '.join(METHODS)} and encode one of {', '.join(ENCODINGS)}, "
                f"not {self.method!r} and {self.encode!r}."
            )
        if self.n_bins < 1:
            raise SettingsError(f"n_bins is {self.n_bins!r}, but there is at least one interval.")

    def __sklearn_tags__(self) -> Tags:
        tags = cast(Tags, super().__sklearn_tags__())
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = self.method == "tree"
        tags.requires_fit = True
        return tags


# Numbers in intervals: cut where a one-column tree cuts them, at equal widths, or into parts of equal size.


def tree_edges(
    numbers: Array,
    labels: Int32,
    n_classes: int,
    weights: Array | None,
    plan: GrowthPlan,
    pruning: Pruning,
    seed: int = 0,
) -> Array:
    """The thresholds of a tree that knows this column only, in order: the tree, flattened."""
    data = TrainingData((Feature("x"),), (numbers,), np.arange(n_classes), labels, weights)
    tree = grow_and_prune(plan, pruning, data, None, raising=False, seed=seed, n_jobs=1)
    return np.unique(tree.threshold[~tree.is_leaf])


def width_edges(numbers: Array, n_bins: int) -> Array:
    """Edges that cut the range of the known numbers into `n_bins` equal parts."""
    known = numbers[~np.isnan(numbers)]
    if not len(known) or known.min() == known.max():
        return np.empty(0)
    # Of halves, so that the range of numbers near to the largest there are is still a number.
    return np.unique(2.0 * np.linspace(0.5 * known.min(), 0.5 * known.max(), n_bins + 1)[1:-1])


def interval_names(edges: Array) -> list[str]:
    """Intervals as a reader writes them.

    >>> interval_names(np.array([2.45, 4.75]))
    ['< 2.45', '[2.45, 4.75)', '≥ 4.75']
    """
    if not len(edges):
        return ["all"]
    said = [number(edge) for edge in edges]
    if len(set(said)) < len(said):  # ten digits do not tell them apart
        said = [repr(float(edge)) for edge in edges]
    between = [f"[{low}, {high})" for low, high in pairwise(said)]
    return [f"< {said[0]}", *between, f"≥ {said[-1]}"]
