"""The decision tree for raw tables."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Self, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely.arrays import AnyArray, Array, ColumnLike, Int32
from likely.decide import LossLike, LossMatrix, Scores, as_loss
from likely.errors import DataError, SettingsError
from likely.families.smoothing import LARGEST as MOST_SMOOTHING
from likely.measures import measure_named
from likely.models.classifier import Classifier, warn_if_unsaved
from likely.models.in_sql import scored_there
from likely.models.settings import (
    SchemaLike,
    are_priors,
    check_settings,
    is_loss,
    is_n_jobs,
    is_positive,
    is_schema,
    is_truth,
    not_negative,
    one_of,
    optional,
    parameter,
    whole_from,
)
from likely.models.tree.codec import check_features, read_tree, write_tree
from likely.models.tree.data import TrainingData, WordSelection, features_of, informative_words
from likely.models.tree.explain import Paths
from likely.models.tree.export import Rule, as_dot, as_json, as_text, pmml_model, rules
from likely.models.tree.grow import GrowthPlan
from likely.models.tree.information import column_information
from likely.models.tree.onnx import graph_posterior
from likely.models.tree.plot import TreePicture, tree_page
from likely.models.tree.predict import TreeRows
from likely.models.tree.prune import (
    Pruning,
    alpha_by_cases,
    cost_complexity,
    grow_and_prune,
    learned_places,
    places_among,
    table_and_labels,
)
from likely.models.tree.sql import tree_posterior
from likely.models.tree.subtrees import raise_subtrees
from likely.models.tree.tree import Missing, Tree
from likely.numerics import refuse_heavy
from likely.scorer import Priors, class_prior
from likely.stats import ClassWeights
from likely.store import Reader, Writer
from likely.store.container import Document
from likely.table import Labels, Table, as_table, labels_of
from likely.table.schema import Schema
from likely.table.table import RowsLike, Weights

if TYPE_CHECKING:
    import pandas as pd

    from likely.families.export import Tensor
    from likely.models.pmml import PMMLModel
    from likely.sql.posterior import Posterior
    from likely.sql.query import Query
    from likely.store.onnx import OnnxGraph

FEW_ROWS = 1 << 14
"""Columns of so many rows are read before a thread has woken up."""

OWN_PRUNING_ROWS = "rows that were given apart"
"""What a file says of a pruning set, which it does not keep."""


@dataclass(kw_only=True, eq=False, repr=False)
class TreeClassifier(Classifier):
    """A decision tree for tables as they are: numbers are cut, categories branch, missing values are fine.

    Parameters
    ----------
    measure : how tests are judged: "gain_ratio", "information_gain", "symmetric_gain_ratio_1",
        "symmetric_gain_ratio_2", "chi2", "misclassification" or "gini" (see `likely.measures`).
    restrained : with "gain_ratio", cut numbers where information gain is largest, and compare only columns whose gain
        is at least average, as C4.5 does: trees of noisy numbers become too deep otherwise. None: with "gain_ratio".
    min_cases : smallest weight of cases that two branches of a test must have.
    max_depth : largest number of tests on a path; None for no limit.
    missing : "weights" (a row with a missing value goes down all branches, in the proportions of the known rows, as in
        C4.5) or "surrogates" (tests on other columns stand in, as in CART).
    prune : ("confidence", level), ("pessimistic", r), ("reduced_error", rows: a fraction, (X, y), or a table with the
        target), "mdl", "cost_complexity" (price by cross-validation), ("cost_complexity", price of a leaf), or None.
    raising : with "pessimistic" and "confidence", a subtree may also be replaced by its largest branch.
    collapse : a node stays a leaf where its subtree would make no fewer errors on the training rows.
    subsets : merge values of nominal columns into groups, greedily, as long as the measure does not fall.
    binary : test one value of a nominal column against the rest. With either, a column may be tested again.
    text_tokens : how many words of each text column may be tested (is it in the text, yes or no?): those with
        the highest information gain. None: a text column is refused.
    binned : put numbers into at most 255 bins of about equal size first: faster, and a little coarser.
    smoothing : γ added to every class of a leaf for probabilities (1 is Laplace's rule).
    priors : None (as counted), "uniform", a mapping of classes to proportions, or a list in the order of the classes.
    loss : a `Loss`: `predict` then takes the cheapest decision instead of the most probable class.
    schema : a `Schema`, or a mapping of column names to "numeric", "nominal", "text", "ignored" or "weight".
    random_state : for rows and folds that pruning draws at random.
    n_jobs : number of threads; None for all cores. Results do not depend on it.

    >>> from likely.teaching import datasets
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

    measure: str = parameter("gain_ratio", lambda name, given: measure_named(given))
    restrained: bool | None = parameter(None, optional(is_truth))
    min_cases: float = parameter(2, is_positive)
    max_depth: int | None = parameter(None, optional(whole_from(0)))
    missing: str = parameter("weights", one_of("weights", "surrogates"))
    prune: object = parameter(("confidence", 0.9), lambda name, given: Pruning.read(given))
    raising: bool = parameter(False, is_truth)
    collapse: bool = parameter(True, is_truth)
    subsets: bool = parameter(False, is_truth)
    binary: bool = parameter(False, is_truth)
    text_tokens: int | None = parameter(None, optional(whole_from(1)))
    binned: bool = parameter(False, is_truth)
    smoothing: float = parameter(1.0, partial(not_negative, most=MOST_SMOOTHING))
    priors: Priors = parameter(None, are_priors)
    loss: LossLike | None = parameter(None, is_loss)
    schema: SchemaLike = parameter(None, is_schema)
    random_state: int = parameter(0, whole_from(0))
    n_jobs: int | None = parameter(None, is_n_jobs)

    @property
    def n_nodes_(self) -> int:
        """How many nodes the tree has, leaves included."""
        check_is_fitted(self)
        return len(self.tree_)

    def fit(self, X: RowsLike, y: ColumnLike, sample_weight: Weights = None) -> Self:
        """Grow and prune a tree from these rows. `y` may also name a column of the table."""
        plan, pruning = self._plan(), Pruning.read(self.prune)
        given = self._training_rows(X, y, sample_weight)
        table, schema, labels = given.table, given.schema, given.labels
        warn_if_unsaved(labels.classes)
        if self.loss is not None:
            LossMatrix.of(as_loss(self.loss), labels.classes, 1)
        weights = self._weights(labels, given.weight)
        features = features_of(table, schema, self._word_selection(table, labels, weights))
        threads = self.n_jobs if table.n_rows > FEW_ROWS else 1
        data = TrainingData.read(table, features, labels.classes, labels.codes, weights, threads)
        held_out = None
        if pruning.method == "reduced_error" and not isinstance(pruning.amount, float | int):
            held_out = self._pruning_data(pruning.amount, schema, data)
        tree = grow_and_prune(
            plan, pruning, data, held_out, raising=self.raising, seed=self.random_state, n_jobs=self.n_jobs
        )
        self._remember_columns(schema, named=table.named)
        self.n_rows_ = table.n_rows
        return self._remember(tree)

    def pruned(
        self, prune: object, X: RowsLike | None = None, y: ColumnLike | None = None, *, raising: bool = False
    ) -> Self:
        """Another classifier with a smaller tree: this one's, pruned again, with other rows if they are given.

        "reduced_error" needs rows, and so does "cost_complexity" without a price, which is then the one with the fewest
        errors on these rows. To raise branches, give the rows that the tree grew from.
        """
        check_is_fitted(self)
        pruning = Pruning.read(prune if prune != "reduced_error" else ("reduced_error", (X, y)))
        by_price = pruning.method == "cost_complexity" and pruning.amount is None
        if pruning.method == "reduced_error":
            if isinstance(pruning.amount, float | int):
                raise SettingsError("A grown tree has no rows to share out: give those to prune by, pruned(…, X, y).")
            X, y = table_and_labels(pruning.amount, self.schema_.target)
        if X is None and by_price:
            raise SettingsError("Without rows a price of a leaf is needed: pruned(('cost_complexity', 0.01)).")
        if X is None and (raising or pruning.method == "reduced_error"):
            raise SettingsError("This pruning needs rows: pruned(…, X, y).")
        other = copy(self)
        if X is None:
            return other._remember(pruning.apply(self.tree_))
        if y is None:
            raise SettingsError("Rows to prune by need their labels: pruned(…, X, y).")
        rows, labels = self._rows(X), places_among(labels_of(y, as_table(X)), self.classes_)
        kept = learned_places(labels)
        if len(kept) < len(labels):
            rows, labels = TreeRows.of(self.tree_, self._read(X).take(kept), self.n_jobs), labels[kept]
        if raising:
            return other._remember(raise_subtrees(self.tree_, rows, labels, None, pruning.estimate()))
        counts = rows.counts(labels)
        if by_price:
            return other._remember(cost_complexity(self.tree_, alpha_by_cases(self.tree_, counts)))
        return other._remember(pruning.apply(self.tree_, counts))

    @scored_there("prediction")
    def predict(self, X: RowsLike) -> AnyArray:
        """The most probable class of each row, the first one in a tie; with a `loss`, the cheapest decision."""
        rows = self._rows(X)
        if self.loss is None:
            return np.asarray(self.classes_[rows.choose(self._shares())])
        return self._cheapest(self.loss, self._scores(X))

    @scored_there("P(")
    def predict_proba(self, X: RowsLike) -> Array:
        """P(class | row): the class proportions of the row's leaf with Laplace's correction, one column per class."""
        return self._rows(X).posterior(self._shares())

    def _sql_posterior(self, query: Query, *, explain: bool) -> Posterior:
        check_is_fitted(self)
        return tree_posterior(query, self.tree_, self._shares(), self.loss)

    def _graph_posterior(self, graph: OnnxGraph) -> Tensor:
        return graph_posterior(graph, self.tree_, self._shares())

    def _pmml_model(self) -> PMMLModel:
        return pmml_model(self.tree_, self._shares(), self.loss)

    def apply(self, X: RowsLike) -> Int32:
        """The leaf of each row; −1 for a row that a missing value sends to several."""
        return self._rows(X).leaves()

    # What it shows of itself.

    def explain(self, X: RowsLike) -> Paths:
        """The tests that each row passed and the leaf, or leaves, that it came to."""
        rows = replace(self._rows(X), tree=self._shown())
        return Paths.of(rows, self._shares(), None if self.loss is None else list(self.predict(X).tolist()))

    def to_text(self, max_depth: int | None = None) -> str:
        """The tree in lines: tests, outcomes, and in a leaf its class, its cases and, after a slash, its errors."""
        return as_text(self._shown(), max_depth)

    def rules(self) -> list[Rule]:
        """One rule for each leaf: if … and … then class, cases, confidence."""
        return rules(self._shown(), float(self.smoothing))

    def to_json(self, indent: int | None = None) -> str:
        """The tree as strict JSON: classes, columns, and nodes that name their children by number."""
        return as_json(self._shown(), indent, float(self.smoothing))

    def to_dot(self, max_depth: int | None = None) -> str:
        """The tree as a graph for Graphviz."""
        return as_dot(self._shown(), max_depth)

    def plot(self, X: RowsLike | None = None, row: int = 0, max_depth: int | None = None) -> TreePicture:
        """The tree as a picture with class bars; with rows, the path of one of them is highlighted."""
        return TreePicture(self._shown(), max_depth=max_depth) if X is None else self.explain(X).plot(row, max_depth)

    def _column_information(self) -> pd.DataFrame:
        return column_information(self.tree_, self.schema_.features)

    def _page(self) -> str:
        return tree_page(self._shown(), repr(self))

    def _shown(self) -> Tree:
        """The tree with what is decided in each node."""
        check_is_fitted(self)
        if self.loss is None:
            return self.tree_
        return replace(
            self.tree_, decided=tuple(self._cheapest(self.loss, Scores.of_posterior(self._shares())).tolist())
        )

    # How it grows, here or from files.

    def _plan(self) -> GrowthPlan:
        """The parameters that growing needs, checked."""
        check_settings(self)
        return GrowthPlan(
            measure=self.measure,
            min_cases=float(self.min_cases),
            max_depth=None if self.max_depth is None else int(self.max_depth),
            missing=cast(Missing, self.missing),
            subsets=bool(self.subsets),
            binary=bool(self.binary),
            binned=bool(self.binned),
            collapse=bool(self.collapse),
            restrained=self.measure == "gain_ratio" if self.restrained is None else bool(self.restrained),
        )

    def _word_selection(self, table: Table, labels: Labels, weights: Array | None) -> WordSelection | None:
        """How the words of a text column are chosen, if they may be tested at all."""
        if self.text_tokens is None:
            return None
        most, n_classes = int(self.text_tokens), len(labels.classes)
        return lambda name: informative_words(table, name, labels.codes, weights, n_classes, most, self.n_jobs)

    def _weights(self, labels: Labels, weights: Array | None) -> Array | None:
        """What each row weighs: as given, and so that the classes have the shares of the priors."""
        seen = ClassWeights.observe(labels.classes, labels.codes, weights)
        if not seen.weights.sum() > 0.0:
            raise DataError("All rows have weight zero, so there is nothing to learn.")
        if self.priors is None:
            return weights
        factors = self._class_factors(labels.classes, seen.weights)
        weighed = np.asarray(factors[labels.codes] * (1.0 if weights is None else weights))
        refuse_heavy(weighed)
        return weighed

    def _class_factors(self, classes: AnyArray, weights: Array) -> Array:
        """By what the weights of each class are multiplied so that the classes have the shares of the priors."""
        if self.priors is None:
            return np.ones(len(classes))
        seen = ClassWeights(classes, weights, np.zeros(len(classes), dtype=np.int64))
        wanted = class_prior(self.priors, seen) * weights.sum()
        with np.errstate(over="ignore"):
            return np.asarray(np.divide(wanted, weights, out=np.zeros_like(wanted), where=weights > 0.0))

    def _prune_grown(self, tree: Tree, schema: Schema, n_rows: int) -> Self:
        """Take on a tree that was grown elsewhere from rows of this schema, and prune it."""
        pruning = Pruning.read(self.prune)
        self._remember_columns(schema)
        self.n_rows_ = n_rows
        self._remember(tree)
        if pruning.method == "reduced_error":
            return self._remember(self.pruned(self.prune).tree_)
        return self._remember(pruning.apply(tree))

    def _pruning_data(self, given: object, schema: Schema, data: TrainingData) -> TrainingData:
        """Rows to prune by, as columns of the same features."""
        X, y = table_and_labels(given, schema.target)
        table = schema.align(as_table(X, allow_empty=False), type(self).__name__)
        labels = labels_of(y, table)
        codes = places_among(labels, data.classes)
        kept = learned_places(codes)
        return TrainingData.read(table, data.features, data.classes, codes, None).take(kept)

    def _remember(self, tree: Tree) -> Self:
        self.tree_, self.classes_ = tree, tree.classes
        return self

    def _rows(self, X: RowsLike) -> TreeRows:
        table = self._read(X)  # says first that nothing has been learned yet
        return TreeRows.of(self.tree_, table, self.n_jobs)

    def _shares(self) -> Array:
        return self.tree_.probabilities(float(self.smoothing))

    def _cheapest(self, loss: LossLike, scores: Scores) -> AnyArray:
        bound = LossMatrix.of(as_loss(loss), self.classes_, scores.n_rows)
        return bound.labelled(bound.choose(scores, with_risk=False).best, None)

    def _prior_shares(self) -> Array:
        return np.asarray(self.tree_.counts[0] / self.tree_.counts[0].sum())

    def _settings_kept(self) -> dict[str, object]:
        pruning, settings = Pruning.read(self.prune), super()._settings_kept()
        if pruning.method == "reduced_error" and not isinstance(pruning.amount, float | int):
            settings["prune"] = ("reduced_error", OWN_PRUNING_ROWS)
        return settings

    def _write_learned(self, writer: Writer) -> object:
        return {"rows": self.n_rows_, "tree": write_tree(self.tree_, writer)}

    def _read_learned(self, data: Document, reader: Reader) -> None:
        self._plan()
        Pruning.read(self.prune)
        if type(data["rows"]) is not int or data["rows"] < 0:
            raise DataError("its number of rows is no number")
        if self.loss is not None:
            LossMatrix.of(as_loss(self.loss), self.classes_, 1)
        tree = read_tree(data["tree"], reader, self.classes_)
        check_features(tree, self.schema_, self.text_tokens or 0)
        self.n_rows_ = data["rows"]
        self._remember(tree)
