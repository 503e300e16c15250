"""Learning by counting: every way in ends with a summary that is settled into a model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely.arrays import Array
from likely.engines.memory import Recipes, Rows
from likely.engines.plan import (
    Families,
    Task,
    assign,
    kinds_for,
    reassign,
    recipes_for,
    recipes_in,
    refuse_negative_counts,
    refuse_strings,
    strings_in,
)
from likely.errors import DataError, LikelyError, ModelFileError, NotMergeable, SettingsError, listed
from likely.families import Settings
from likely.models.leave_one_out import LeaveOneOut
from likely.parallel import n_threads
from likely.scorer import Model, remaining_priors
from likely.stats import Summary
from likely.table import Table, as_table, labels_of
from likely.table.schema import Schema
from likely.table.weights import row_weights


class Learner(ClassifierMixin, BaseEstimator):
    """A classifier whose memory is a summary; the classes above it say what is believed about one.

    Its parameters are `priors`, `families`, `schema` and `n_jobs`, and those that `_settings` makes use of.
    """

    priors: Any
    families: Any
    schema: Any
    text: Any
    n_jobs: int | None

    summary_: Summary
    model_: Model
    schema_: Schema
    families_: dict[str, str]
    classes_: NDArray[Any]

    @abstractmethod
    def _settings(self, columns: tuple[str, ...]) -> Settings:
        """The parameters that families are settled with, checked."""

    def _settings_for(self, summary: Summary, assigned: Mapping[str, str]) -> Settings:
        """The same, where some of them are chosen by what was seen."""
        return self._settings(tuple(assigned))

    def _usual_families(self) -> Mapping[str, str]:
        """The family of each kind of column, unless the user names another."""
        return {"numeric": "gaussian", "nominal": "categorical", "text": "text multinomial"}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn these rows. `y` may also name a column of the table."""
        task = self.task(X, y, sample_weight)
        return self._remember(task, task.count())

    def task(self, X: Any, y: Any, sample_weight: Any = None) -> Task:
        """What `fit` would count: the rows, what their columns are taken for, and the family of each."""
        table = as_table(X, allow_empty=False)
        target = y if isinstance(y, str) and y in table else None
        families = self._families_given()
        schema = _infer(table, target, self.schema, families)
        assigned = assign(schema, families, self._usual_families(), is_sparse=table.sparse is not None)
        refuse_strings(table, families, assigned)
        recipes = recipes_for(table, assigned, self.text)
        return self._considered(self._task(table, schema, assigned, y, sample_weight, recipes))

    def _families_given(self) -> Families:
        """What the user said about families, without what is left open."""
        families: Families = self.families
        return families

    def _considered(self, task: Task) -> Task:
        """The task as it is to be counted, where a classifier must have a look at the rows before."""
        return task

    def learned(self, task: Task, summary: Summary) -> Self:
        """Another classifier with these parameters, as if it had counted `summary` from some rows of the task.

        Shares that were given for classes which the summary lacks go to the other classes.
        """
        other = type(self)(**self.get_params(deep=False))
        other.priors = remaining_priors(self.priors, task.rows.classes, summary.classes.labels)
        return other._remember(task, summary)

    def leave_one_out(self, task: Task, use: Callable[[slice, Array], None]) -> None:
        """Hand P(class | row) of every block of rows to `use`, each row judged by a model without that row."""
        summary = task.count()
        settings = self._settings_for(summary, task.assigned)
        LeaveOneOut(task, summary, self.priors, settings).each_block(use, self.n_jobs)

    def _remember(self, task: Task, summary: Summary) -> Self:
        self.schema_ = task.schema if task.weighted else _with_gaps(task.schema, summary)
        self.n_features_in_ = len(task.schema)
        if task.rows.table.named:
            self.feature_names_in_ = np.array(task.schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self._settle(summary, task.assigned)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows; new classes and categories are welcome.

        `classes` is accepted because scikit-learn's tools pass it; nothing needs to be known beforehand.
        """
        if not hasattr(self, "summary_"):
            return self.fit(X, y, sample_weight)
        return self._settle(self.summary_ + self._count_more(X, y, sample_weight), self.families_)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: afterwards the model is as if it had never seen them."""
        check_is_fitted(self)
        return self._settle(self.summary_ - self._count_more(X, y, sample_weight), self.families_)

    def merge(self, other: Self) -> Self:
        """Learn what another classifier with the same columns has learned, without its rows."""
        check_is_fitted(self)
        check_is_fitted(other)
        differing = [
            name
            for name in dict.fromkeys([*self.families_, *other.families_])
            if self.families_.get(name) != other.families_.get(name)
        ]
        if differing:
            raise NotMergeable(f"The two classifiers do not read {listed(differing)} in the same way.")
        return self._settle(self.summary_ + other.summary_, self.families_)

    def __add__(self, other: Self) -> Self:
        """A third classifier that has learned the rows of both."""
        check_is_fitted(self)
        both = type(self)(**self.get_params(deep=False))
        both.__dict__.update(self.__dict__)
        return both.merge(other)

    def _resettle(self, changes: Mapping[str, Any]) -> Self:
        """Settle the same summary with other parameters; a refused change changes nothing."""
        check_is_fitted(self)
        unknown = [name for name in changes if name not in self.get_params(deep=False)]
        if unknown or "schema" in changes:
            raise SettingsError(f"{listed(unknown or ['schema'])} cannot be changed without fitting again.")
        assigned: Mapping[str, str] = self.families_
        if "families" in changes:
            assigned = reassign(self.families_, changes["families"], self._usual_families())
        before = self.get_params(deep=False)
        self.set_params(**changes)
        try:
            return self._settle(self.summary_, assigned)
        except LikelyError:
            self.set_params(**before)
            raise

    def _count_more(self, X: Any, y: Any, sample_weight: Any) -> Summary:
        return self._task_of(X, y, sample_weight).count()

    def _task_of(self, X: Any, y: Any, sample_weight: Any) -> Task:
        """Further rows, read as the first ones were."""
        table = self.schema_.align(as_table(X), type(self).__name__)
        return self._task(table, self.schema_, self.families_, y, sample_weight, recipes_in(self.summary_))

    def _task(
        self,
        table: Table,
        schema: Schema,
        assigned: Mapping[str, str],
        y: Any,
        sample_weight: Any,
        recipes: Recipes,
    ) -> Task:
        labels = labels_of(y, table)
        weight = row_weights(sample_weight, table, schema.weight)
        refuse_negative_counts(table, assigned)
        rows = Rows(table, labels.classes, labels.codes, weight, self.n_jobs, recipes)
        return Task(rows, schema, assigned, weight is not None)

    def save(self, path: str | PathLike[str], sources: Sequence[str] = ()) -> None:
        """Write the fitted classifier to a file, whole or not at all; `likely.load` reads it again."""
        from likely.models.saving import save

        save(self, path, sources)

    def restore(self, summary: Summary, families: Mapping[str, str], weights: Mapping[str, Any] | None = None) -> Self:
        """Take on a summary that was counted elsewhere, under the schema that the classifier has."""
        if weights is not None:
            raise ModelFileError("its classifier has no weights")
        return self._settle(summary, families)

    def _settle(self, summary: Summary, assigned: Mapping[str, str]) -> Self:
        n_threads(self.n_jobs)  # refuses what is no number of threads
        weights, offsets = self._weighed_by(summary)
        model = Model.settle(summary, assigned, self.priors, self._settings_for(summary, assigned), weights, offsets)
        self.summary_, self.families_, self.model_ = summary, dict(assigned), model
        self.classes_ = summary.classes.labels
        return self

    def _weights_kept(self) -> dict[str, Any] | None:
        """Learned weights as plain values for a file."""
        return None

    def _weighed_by(self, summary: Summary) -> tuple[Mapping[str, float] | None, Array | None]:
        """Exponents of the columns and offsets of the summary's classes, where a classifier has learned any."""
        return None, None

    def _read(self, X: Any) -> Table:
        """A table to predict for, under the names of the schema."""
        check_is_fitted(self)
        if len(self.classes_) == 0:
            raise DataError("All rows have been forgotten: learn some before predicting.")
        return self.schema_.align(as_table(X, allow_empty=False), type(self).__name__)

    def __sklearn_tags__(self) -> Tags:
        tags = cast(Tags, super().__sklearn_tags__())
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _infer(table: Table, target: str | None, given: Any, families: Any) -> Schema:
    """The schema as guessed, as the families need it, and above all as the user gave it."""
    if isinstance(given, Schema):
        return Schema.infer(table, target or given.target, given.weight, overrides=given)
    overrides = {**({table.names[0]: "text"} if table.is_text else {}), **dict(given or {})}
    if table.sparse is not None:  # all columns of it are numbers, and too many to say so one by one
        return Schema.infer(table, target, overrides=overrides)
    roles = {target, *(name for name, kind in overrides.items() if kind in ("weight", "target", "ignored"))}
    free = tuple(name for name in table.names if name not in roles)
    wanted = kinds_for(families, free, strings_in(table, families))
    return Schema.infer(table, target, overrides={**wanted, **overrides})


def _with_gaps(schema: Schema, summary: Summary) -> Schema:
    """The gaps of a large matrix, which was not read twice to count them: rows less known cells."""
    known: dict[str, float] = {}
    for part, seen in summary.parts.items():
        weights = seen.known_weights
        if weights is not None:
            known |= zip(part.columns, weights.sum(axis=0).tolist(), strict=True)
    unknown = [name for name in known if schema[name].gaps is None]
    return schema.with_gaps({name: summary.n_rows - round(known[name]) for name in unknown}) if unknown else schema
