"""The decision tree for raw tables."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from os import PathLike
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely.decide import Bound, as_loss
from likely.errors import DataError, SettingsError
from likely.estimators.deciding import Decider
from likely.estimators.keeping import Kept
from likely.estimators.tree_looks import TreeLooks
from likely.numerics import log_of
from likely.priors import class_prior
from likely.schema import Schema
from likely.stats import ClassWeights
from likely.store import Reader, Writer
from likely.store.trees import read_tree, write_tree
from likely.table import Labels, Table, as_table, encode_column, encode_labels, merge_classes
from likely.threads import n_threads
from likely.trees import Plan, Rows, Stock, Tree
from likely.trees.cases import features_of
from likely.trees.pruning.choice import Choice, grow_and_prune
from likely.trees.pruning.raising import raised
from likely.trees.tree import Missing
from likely.weights import row_weights

Array = NDArray[np.float64]
Ints = NDArray[np.int32]


class TreeClassifier(TreeLooks, Kept, ClassifierMixin, BaseEstimator, Decider):
    """A decision tree for tables as they are: numbers are cut, categories branch, gaps are no obstacle.

    Parameters
    ----------
    measure : what a test is judged by: "gain_ratio", "information_gain", "symmetric_gain_ratio_1",
        "symmetric_gain_ratio_2", "chi2", "misclassification" or "gini" (see `likely.measures`).
    min_cases : weight of cases that two branches of a test must have at least.
    max_depth : tests on a path at most; None for no limit.
    missing : "weights" (a row with a gap goes down all branches, with the share of its weight that the known rows
        have there, as in C4.5) or "surrogates" (tests on other columns stand in, as in CART).
    prune : None, ("pessimistic", r), ("confidence", level), ("reduced_error", share of the rows or (X, y)), "mdl",
        "cost_complexity" (price by cross-validation) or ("cost_complexity", price of a leaf).
    raising : with "pessimistic" and "confidence", a subtree may also be replaced by its largest branch.
    collapse : a node stays a leaf where its subtree would make no fewer errors on the training rows.
    subsets : merge values of nominal columns into groups, greedily, as long as the measure does not fall.
    binary : test one value of a nominal column against the rest. With either, a column may be tested again.
    binned : put numbers into at most 255 bins of about equal size first: faster, and a little coarser.
    smoothing : γ added to every class of a leaf for probabilities (1 is Laplace's rule).
    priors : None (as counted), "uniform", a mapping of classes to shares, or shares in the order of the classes.
    loss : a `Loss`: `predict` then takes the cheapest decision in place of the most probable class.
    schema : a `Schema`, or a mapping of column names to "numeric", "nominal", "ignored" or "weight".
    seed : for shares of rows and folds that pruning draws.
    n_jobs : number of threads; None for all cores. Results do not depend on it.

    >>> from likely import datasets
    >>> patients = datasets.patients()
    >>> clf = TreeClassifier().fit(patients, "drug")
    >>> print(clf.to_text())
    blood_pressure
    ├─ high: A (3)
    ├─ low: B (3)
    └─ normal: age
       ├─ < 41: A (3)
       └─ ≥ 41: B (3)
    """

    tree_: Tree
    n_rows_: int

    def __init__(
        self,
        *,
        measure: str = "gain_ratio",
        min_cases: float = 2,
        max_depth: int | None = None,
        missing: str = "weights",
        prune: Any = None,
        raising: bool = False,
        collapse: bool = True,
        subsets: bool = False,
        binary: bool = False,
        binned: bool = False,
        smoothing: float = 1.0,
        priors: Any = None,
        loss: Any = None,
        schema: Any = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.min_cases = min_cases
        self.max_depth = max_depth
        self.missing = missing
        self.prune = prune
        self.raising = raising
        self.collapse = collapse
        self.subsets = subsets
        self.binary = binary
        self.binned = binned
        self.smoothing = smoothing
        self.priors = priors
        self.loss = loss
        self.schema = schema
        self.seed = seed
        self.n_jobs = n_jobs

    @property
    def n_nodes_(self) -> int:
        """How many nodes the tree has, leaves included."""
        check_is_fitted(self)
        return len(self.tree_)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow and prune a tree from these rows. `y` may also name a column of the table."""
        plan, choice = self.plan(), Choice.read(self.prune)
        table = as_table(X, allow_empty=False)
        target = y if isinstance(y, str) and y in table else None
        schema = _infer(table, target, self.schema)
        labels = encode_column(table.cells(y)) if target is not None else encode_labels(y)
        _refuse_lengths(table, labels)
        weights = self._weights(labels, row_weights(sample_weight, table, schema.weight))
        features = features_of(table, schema)
        stock = Stock.read(table, features, labels.classes, labels.codes, weights)
        apart = None
        if choice.way == "reduced_error" and not isinstance(choice.amount, float | int):
            apart = self._apart(choice.amount, schema, stock)
        tree = grow_and_prune(plan, choice, stock, apart, raising=self.raising, seed=self.seed, n_jobs=self.n_jobs)
        self.schema_, self.n_features_in_, self.n_rows_ = schema, len(schema), table.n_rows
        if table.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self._remember(tree)

    def pruned(self, prune: Any, X: Any = None, y: Any = None, *, raising: bool = False) -> Self:
        """Another classifier with a smaller tree: this one's, pruned anew, by other rows if they are given.

        "cost_complexity" needs a price here, and "reduced_error" rows. To raise branches, give the rows that the tree
        grew from.
        """
        check_is_fitted(self)
        choice = Choice.read(prune if prune != "reduced_error" else ("reduced_error", (X, y)))
        if choice.way == "cost_complexity" and choice.amount is None:
            raise SettingsError("A grown tree needs the price of a leaf: pruned(('cost_complexity', 0.01)).")
        if X is None and (raising or choice.way == "reduced_error"):
            raise SettingsError("This pruning needs rows: pruned(…, X, y).")
        other = copy(self)
        if X is None:
            return other._remember(choice.cut(self.tree_))
        rows, labels = self._rows(X), self._known_labels(X, y)
        kept = np.flatnonzero(labels >= 0)
        if len(kept) < len(labels):
            rows, labels = Rows.of(self.tree_, self._read(X).take(kept), self.n_jobs), labels[kept]
        if raising:
            return other._remember(raised(self.tree_, rows, labels, None, choice.estimate()))
        return other._remember(choice.cut(self.tree_, rows.counts(labels)))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row, the first of equals; with a `loss`, the cheapest decision."""
        rows = self._rows(X)
        if self.loss is None:
            return np.asarray(self.classes_[rows.choose(self._shares())])
        scores = self._scores(X)
        bound = Bound.of(as_loss(self.loss), self.classes_, scores.n_rows)
        return bound.labelled(bound.choose(scores, with_risk=False).best, None)

    def predict_proba(self, X: Any) -> Array:
        """P(class | row): the class shares of the row's leaf with Laplace's correction, one column per class."""
        return self._rows(X).posterior(self._shares())

    def predict_log_proba(self, X: Any) -> Array:
        """log P(class | row)."""
        return log_of(self.predict_proba(X))

    def apply(self, X: Any) -> Ints:
        """The leaf of each row; −1 for a row that a gap sends to several."""
        return self._rows(X).leaves()

    def save(self, path: str | PathLike[str], sources: Sequence[str] = ()) -> None:
        """Write the fitted classifier to a file, whole or not at all; `likely.load` reads it again."""
        choice, kept = Choice.read(self.prune), copy(self)
        if choice.way == "reduced_error" and not isinstance(choice.amount, float | int):
            kept.prune = ("reduced_error", GIVEN_APART)
        Kept.save(kept, path, sources)

    def plan(self) -> Plan:
        """The parameters that growing needs, checked."""
        missing = cast(Missing, self.missing)
        if missing not in ("weights", "surrogates"):
            raise SettingsError(f"missing is {self.missing!r}, but it is 'weights' or 'surrogates'.")
        if not (self.min_cases > 0.0):
            raise SettingsError(f"min_cases is {self.min_cases!r}, but two branches need some cases: above 0.")
        depth: Any = self.max_depth
        if depth is not None and not (isinstance(depth, int | np.integer) and depth >= 0):
            raise SettingsError(f"max_depth is {self.max_depth!r}, but it is a number of tests, or None.")
        if not self.smoothing >= 0.0:
            raise SettingsError(f"smoothing is {self.smoothing!r}, but it is a number from 0 up.")
        n_threads(self.n_jobs)
        return Plan(
            measure=self.measure,
            min_cases=float(self.min_cases),
            max_depth=None if depth is None else int(depth),
            missing=missing,
            subsets=bool(self.subsets),
            binary=bool(self.binary),
            binned=bool(self.binned),
            collapse=bool(self.collapse),
        )

    def _weights(self, labels: Labels, weights: Array | None) -> Array | None:
        """What each row weighs: as given, and so that the classes have the shares of the priors."""
        seen = ClassWeights.observe(labels.classes, labels.codes, weights)
        if not seen.weights.sum() > 0.0:
            raise DataError("All rows have weight zero, so there is nothing to learn.")
        if self.priors is None:
            return weights
        factors = self.class_factors(labels.classes, seen.weights)
        return np.asarray(factors[labels.codes] * (1.0 if weights is None else weights))

    def class_factors(self, classes: NDArray[Any], weights: Array) -> Array:
        """By what the weights of each class are multiplied so that the classes have the shares of the priors."""
        if self.priors is None:
            return np.ones(len(classes))
        seen = ClassWeights(classes, weights, np.zeros(len(classes), dtype=np.int64))
        wanted = class_prior(self.priors, seen) * weights.sum()
        return np.asarray(np.divide(wanted, weights, out=np.zeros_like(wanted), where=weights > 0.0))

    def grown(self, tree: Tree, schema: Schema, n_rows: int) -> Self:
        """Take on a tree that was grown elsewhere from rows of this schema, and prune it."""
        choice = Choice.read(self.prune)
        self.schema_, self.n_features_in_, self.n_rows_ = schema, len(schema), n_rows
        self.feature_names_in_ = np.array(schema.names, dtype=object)
        self._remember(tree)
        if choice.way == "reduced_error":
            return self._remember(self.pruned("reduced_error", *choice.amount).tree_)
        return self._remember(choice.cut(tree))

    def _apart(self, given: Any, schema: Schema, stock: Stock) -> Stock:
        """Rows to prune by, as columns of the same features."""
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise SettingsError(
                "prune=('reduced_error', …) takes a share of the rows, or a table and its labels: (X, y)."
            )
        table = schema.align(as_table(given[0], allow_empty=False), type(self).__name__)
        labels = _labels_of(table, given[1])
        codes = _places(labels, stock.classes)
        read = Stock.read(table, stock.features, stock.classes, codes, None)
        return read.take(np.flatnonzero(codes >= 0))

    def _known_labels(self, X: Any, y: Any) -> Ints:
        """Places of labels among the classes; −1 for classes that were never learned."""
        return _places(_labels_of(as_table(X), y), self.classes_)

    def _remember(self, tree: Tree) -> Self:
        self.tree_, self.classes_ = tree, tree.classes
        return self

    def _read(self, X: Any) -> Table:
        """A table to predict for, under the names of the schema."""
        check_is_fitted(self)
        return self.schema_.align(as_table(X, allow_empty=False), type(self).__name__)

    def _rows(self, X: Any) -> Rows:
        table = self._read(X)
        return Rows.of(self.tree_, table, self.n_jobs)

    def _shares(self) -> Array:
        return self.tree_.probabilities(float(self.smoothing))

    def _prior_shares(self) -> Array:
        return np.asarray(self.tree_.counts[0] / self.tree_.counts[0].sum())

    def _rows_learned(self) -> int:
        return self.n_rows_

    def _write_learned(self, writer: Writer) -> Any:
        return {"rows": self.n_rows_, "tree": write_tree(self.tree_, writer)}

    def _read_learned(self, data: Any, reader: Reader) -> None:
        self.plan()
        Choice.read(self.prune)
        if type(data["rows"]) is not int or data["rows"] < 0:
            raise DataError("its number of rows is no number")
        if self.loss is not None:
            Bound.of(as_loss(self.loss), self.classes_, 1)
        tree = read_tree(data["tree"], reader, self.classes_)
        if not {feature.name for feature in tree.features} <= set(self.schema_.features):
            raise DataError("its tree tests columns that are not in its schema")
        self.n_rows_ = data["rows"]
        self._remember(tree)

    def __sklearn_tags__(self) -> Tags:
        tags = cast(Tags, super().__sklearn_tags__())
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


GIVEN_APART = "rows that were given apart"
"""What a file says of a pruning set, which it does not keep."""


def _infer(table: Table, target: str | None, given: Any) -> Schema:
    if isinstance(given, Schema):
        return Schema.infer(table, target or given.target, given.weight, overrides=given)
    overrides = {**({table.names[0]: "text"} if table.is_text else {}), **dict(given or {})}
    return Schema.infer(table, target, overrides=overrides)


def _labels_of(table: Table, y: Any) -> Labels:
    labels = encode_column(table.cells(y)) if isinstance(y, str) and y in table else encode_labels(y)
    _refuse_lengths(table, labels)
    return labels


def _refuse_lengths(table: Table, labels: Labels) -> None:
    if len(labels) != table.n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: X has {table.n_rows} rows, "
            f"y has {len(labels)}."
        )


def _places(labels: Labels, classes: NDArray[Any]) -> Ints:
    """Where each row's class stands among others, −1 if it does not."""
    merged, own, known = merge_classes(labels.classes, classes)
    place = np.full(len(merged), -1, dtype=np.int32)
    place[known] = np.arange(len(classes), dtype=np.int32)
    return np.asarray(place[own][labels.codes], dtype=np.int32)
