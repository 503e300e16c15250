"""Learning by counting: every way in ends with a summary that is settled into a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely.arrays import Array, Flags
from likely.decide import LossLike
from likely.engines.connect import is_relation
from likely.engines.gpu import is_on_device
from likely.engines.gpu.rows import further_on_device, task_on_device
from likely.engines.gpu.steps import log_joint_on_device
from likely.engines.in_place import counted_schema, further_task, task_in_place
from likely.engines.memory import Preprocessing, Rows
from likely.engines.plan import (
    Families,
    Task,
    assign,
    kinds_for,
    preprocessing_in,
    reassign,
    refuse_negative_counts,
    refuse_strings,
    strings_in,
    tokenizers_for,
)
from likely.errors import LikelyError, ModelFileError, NotMergeable, SettingsError, listed
from likely.explain import Explanation, Nomogram, next_measurement, rank, rank_words
from likely.explain.credible import credible_interval
from likely.families import Settings, family_named
from likely.families.categorical import Categorical
from likely.families.tempered import bare
from likely.models import prediction
from likely.models.classifier import Classifier, TrainingRows, warn_if_unsaved
from likely.models.display import learned_page
from likely.models.leave_one_out import LeaveOneOut
from likely.models.prediction import density, ordinary_density, unseen_cells, with_empty_columns
from likely.models.settings import (
    FamiliesLike,
    SchemaLike,
    SmoothingLike,
    TokenizerLike,
    are_families,
    are_priors,
    are_tokenizers,
    check_settings,
    family_settings,
    is_n_jobs,
    is_schema,
    is_smoothing,
    parameter,
)
from likely.scorer import Model, Priors, ScoredRows, remaining_priors
from likely.sql.posterior import Posterior, posterior_of_model
from likely.sql.query import Query
from likely.stats import Summary
from likely.store.container import Document
from likely.table import Labelling, RowsLike, Table, Weights, index_levels
from likely.table.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

FOR_DENSITIES: Mapping[str, object] = {"unseen": "smooth", "weights": None}
"""Densities of rows have no weights, and a value never seen is as rare as smoothing says: novel, not ignored."""


@dataclass(kw_only=True, eq=False, repr=False)
class Learner(Classifier):
    """A classifier whose memory is a summary, which is settled into a model: one family for each column.

    Those who derive from it may have any of `SETTLED` as further parameters.
    """

    reads_sparse: ClassVar[bool] = True

    smoothing: SmoothingLike = parameter(1.0, partial(is_smoothing, auto=False))
    priors: Priors = parameter(None, are_priors)
    families: FamiliesLike = parameter(None, are_families)
    schema: SchemaLike = parameter(None, is_schema)
    text: TokenizerLike = parameter(None, are_tokenizers)
    n_jobs: int | None = parameter(None, is_n_jobs)

    def _settings(self, columns: tuple[str, ...]) -> Settings:
        """The parameters that families are settled with; those that a classifier does not have are as usual."""
        return family_settings(vars(self), columns)

    def _settings_for(self, summary: Summary, assigned: Mapping[str, str]) -> Settings:
        """The same, where some of them are chosen by what was seen."""
        return self._settings(tuple(assigned))

    def _usual_families(self) -> Mapping[str, str]:
        """The family of each kind of column, unless the user names another."""
        return {"numeric": "gaussian", "nominal": "categorical", "text": "text multinomial"}

    def _families_given(self) -> Families:
        """What the user said about families, without what is left open."""
        return self.families

    def _considered(self, task: Task) -> Task:
        """The task as it is to be counted, where a classifier must have a look at the rows before."""
        return task

    def _weighed_by(self, summary: Summary) -> tuple[Mapping[str, float] | None, Array | None]:
        """Exponents of the columns and offsets of the summary's classes, where a classifier has learned any."""
        return None, None

    @property
    def adds_up(self) -> bool:
        """Whether everything follows from a summary, so that folds of rows can be added up."""
        return True

    # Learning: read, plan, count, settle.

    def fit(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self:
        """Learn these rows, and forget all others. `y` may also name a column of the table."""
        task = self._task(X, y, sample_weight)
        warn_if_unsaved(task.rows.classes)
        return self._remember(task, task.count())

    def _task(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Task:
        """What `fit` counts: the rows, what their columns are taken for, and the family of each."""
        check_settings(self)
        if is_relation(X):
            return self._considered(task_in_place(X, y, sample_weight, self.schema, self._look, self.n_jobs))
        if is_on_device(X):
            return self._considered(task_on_device(X, y, sample_weight, self._look, self.n_jobs))
        return self._considered(self._look(X, y, sample_weight))

    def _look(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Task:
        return self._plan(self._training_rows(X, y, sample_weight))

    def _plan(self, rows: TrainingRows) -> Task:
        """The family of each column, and how texts become words."""
        families, is_sparse = self._families_given(), rows.table.sparse is not None
        assigned = assign(rows.schema, families, self._usual_families(), is_sparse=is_sparse)
        refuse_strings(rows.table, families, assigned)
        return self._planned(rows, assigned, tokenizers_for(rows.table, assigned, self.text))

    def _schema_of(self, table: Table, target: str | None) -> Schema:
        return _infer(table, target, self.schema, self._families_given())

    def _planned(self, given: TrainingRows, assigned: Mapping[str, str], preprocessing: Preprocessing) -> Task:
        refuse_negative_counts(given.table, assigned)
        rows = Rows(given.table, given.labels.classes, given.labels.codes, given.weight, self.n_jobs, preprocessing)
        return Task(rows, given.schema, assigned, given.weight is not None)

    def _task_of(self, X: RowsLike, y: Labelling, sample_weight: Weights) -> Task:
        """Further rows, read as the first ones were."""
        how = preprocessing_in(self.summary_)
        if is_relation(X):
            return further_task(X, y, sample_weight, self.schema_, self.families_, how)
        if is_on_device(X):
            return further_on_device(X, y, sample_weight, self.schema_, self.families_, how, self.n_jobs)
        return self._planned(self._further_rows(X, y, sample_weight), self.families_, how)

    def _remember(self, task: Task, summary: Summary) -> Self:
        self._remember_columns(counted_schema(task, summary), named=task.rows.table.named)
        return self._settle(summary, task.assigned)

    def _settle(self, summary: Summary, assigned: Mapping[str, str]) -> Self:
        check_settings(self)
        weights, offsets = self._weighed_by(summary)
        model = Model.settle(summary, assigned, self.priors, self._settings_for(summary, assigned), weights, offsets)
        return self._keep(summary, assigned, model)

    def _keep(self, summary: Summary, assigned: Mapping[str, str], model: Model) -> Self:
        self.summary_, self.families_, self.model_ = summary, dict(assigned), model
        self.classes_ = summary.classes.labels
        return self

    def partial_fit(self, X: RowsLike, y: Labelling, classes: object = None, sample_weight: Weights = None) -> Self:
        """Learn more rows; new classes and categories are fine.

        `classes` is accepted because scikit-learn's tools pass it; nothing needs to be known beforehand.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, sample_weight)
        return self._settle(self.summary_ + self._task_of(X, y, sample_weight).count(), self.families_)

    def forget(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self:
        """Take rows out: afterwards the model is as if it had never seen them."""
        check_is_fitted(self)
        return self._settle(self.summary_ - self._task_of(X, y, sample_weight).count(), self.families_)

    def merge(self, other: Self) -> Self:
        """Add what another classifier with the same columns has learned, without its rows."""
        check_is_fitted(self)
        check_is_fitted(other)
        refuse_other_families(self.families_, other.families_)
        return self._settle(self.summary_ + other.summary_, self.families_)

    def __add__(self, other: Self) -> Self:
        """A third classifier that has learned the rows of both."""
        check_is_fitted(self)
        return copy(self).merge(other)

    def _resettle(self, changes: Mapping[str, object]) -> Self:
        """Settle the same summary with other parameters; a refused change changes nothing."""
        check_is_fitted(self)
        unknown = [name for name in changes if name not in self.get_params(deep=False)]
        if unknown or "schema" in changes:
            raise SettingsError(f"{listed(unknown or ['schema'])} cannot be changed without fitting again.")
        assigned: Mapping[str, str] = self.families_
        if "families" in changes:
            assigned = reassign(self.families_, cast(Families, changes["families"]), self._usual_families())
        before = self.get_params(deep=False)
        self.set_params(**changes)
        try:
            return self._settle(self.summary_, assigned)
        except LikelyError:
            self.set_params(**before)
            raise

    def with_priors(self, priors: Priors) -> Self:
        """Another classifier with the same columns but other priors; it shares the summary.

        `priors` is what the parameter of that name may be, such as a mapping of classes to proportions.
        """
        return copy(self)._resettle({"priors": priors})

    # What evaluation, files and stores need.

    def _learned(self, task: Task, summary: Summary) -> Self:
        """Another classifier with these parameters, as if it had counted `summary` from some rows of the task.

        Shares that were given for classes which the summary lacks go to the other classes.
        """
        other = type(self)(**self.get_params(deep=False))
        other.priors = remaining_priors(self.priors, task.rows.classes, summary.classes.labels)
        return other._remember(task, summary)

    def _leave_one_out(self, task: Task, use: Callable[[slice, Array], None]) -> None:
        """Hand P(class | row) of every block of rows to `use`, each row judged by a model without that row."""
        summary = task.count()
        settings = self._settings_for(summary, task.assigned)
        LeaveOneOut(task, summary, self.priors, settings).each_block(use, self.n_jobs)

    def _restore(self, summary: Summary, families: Mapping[str, str], weights: Document | None = None) -> Self:
        """Take on a summary that was counted elsewhere, under the columns that are remembered."""
        if weights is not None:
            raise ModelFileError("its classifier has no weights")
        return self._settle(summary, families)

    def _rows_learned(self) -> int:
        return self.summary_.n_rows

    def _weights_kept(self) -> dict[str, object] | None:
        """Learned weights as plain values for a file."""
        return None

    # Predicting, explaining and deciding.

    predict = prediction.predict
    predict_proba = prediction.predict_proba
    predict_log_proba = prediction.predict_log_proba
    predict_joint_log_proba = prediction.predict_joint_log_proba
    explain = prediction.explain
    _scores = prediction.scores

    def _log_joint(self, X: RowsLike) -> ScoredRows:
        if is_on_device(X):
            rows = self._read_on_device(X)
            return log_joint_on_device(rows, self.model_.prior, self.model_.beliefs)
        table = self._read(X)
        return self.model_.log_joint(table, self.n_jobs)

    def _explanation(self, X: RowsLike) -> Explanation:
        table = self._read(X)
        return Explanation.of(self.model_, table)

    def _sql_posterior(self, query: Query, *, explain: bool) -> Posterior:
        check_is_fitted(self)
        return posterior_of_model(query, self.model_, explain=explain)

    def predict_interval(self, X: RowsLike, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper bound of P(class | row): with probability `level` it lies between them, given the counts.

        A few rows do not pin the parameters down: proportions have a Dirichlet distribution, means and variances a
        normal-inverse-gamma one, rates a gamma one. Means and variances of their logarithms are exact, the interval is
        normal in the log-odds (delta method), so nothing is drawn at random. It says how well the parameters of the
        model are known, not whether the model is right: where columns depend on each other within a class, the
        intervals of naive Bayes are too narrow, and more rows make them worse. Those of `EvidenceClassifier` hold
        there, too.
        """
        table, families = self._read(X), self.families_
        settings = self._settings_for(self.summary_, families)
        return credible_interval(self.model_, self.summary_, families, settings, self.priors, table, level)

    def _evidence(self, X: RowsLike, ordinary: Mapping[str, float]) -> Array:
        table = self._read(X)
        return density(self._density_model(), table, ordinary, self.n_jobs)

    def _ordinary_evidence(self, X: RowsLike) -> dict[str, float]:
        table = self._read(X)
        return ordinary_density(self._density_model(), table, self.n_jobs)

    def _density_model(self) -> Model:
        for name, family in self.families_.items():
            if not family_named(family).has_density:
                raise SettingsError(
                    f"The family {family!r} of {name!r} has no density of rows, so novel ones cannot be told."
                )
        own = self.get_params(deep=False)
        changes = {name: usual for name, usual in FOR_DENSITIES.items() if own.get(name, usual) != usual}
        return copy(self)._resettle(changes).model_ if changes else self.model_

    def _prior_shares(self) -> Array:
        return self.model_.prior

    def nomogram(self, target: object = None) -> Nomogram:
        """Points for every value of every column; added up, they give `predict_proba` of `target`."""
        check_is_fitted(self)
        return Nomogram.of(self.model_, target)

    def _column_information(self) -> pd.DataFrame:
        return rank(self.model_, self.summary_)

    def rank_words(self, column: str | None = None) -> pd.DataFrame:
        """Top words of a text column: by what their presence tells about the class, best first."""
        check_is_fitted(self)
        return rank_words(self.summary_, column)

    def next_measurement(self, X: RowsLike, loss: LossLike | None = None) -> pd.DataFrame:
        """Which missing value of each row to find out first: expected information in bits, and saving under a loss.

        Columns that the table does not have at all count as missing. `loss` is a `Loss`, or costs as decisions ×
        classes in the order of `classes_`.
        """
        check_is_fitted(self)
        return next_measurement(self.model_, self._read(with_empty_columns(X, self.schema_)), loss)

    def unseen_values(self, X: RowsLike) -> pd.DataFrame:
        """The cells whose category did not occur in training: row, column, value."""
        table = self._read(X)
        return _unseen_values(self.model_, table)

    def _page(self) -> str:
        return learned_page(self)


def refuse_other_families(mine: Mapping[str, str], theirs: Mapping[str, str]) -> None:
    """Refuse to merge classifiers that read their columns in different ways."""
    differing = [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]
    if differing:
        raise NotMergeable(f"The two classifiers do not read {listed(differing)} in the same way.")


def _infer(table: Table, target: str | None, given: SchemaLike, families: Families) -> Schema:
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


def _unseen_values(model: Model, table: Table) -> pd.DataFrame:
    strange: dict[str, Flags] = {}
    for belief in map(bare, model.beliefs):
        if isinstance(belief, Categorical):
            name, column = belief.columns[0], table.codes(belief.columns[0])
            unknown = index_levels(column.levels, belief.values) < 0
            strange[name] = (column.codes >= 0) & np.append(unknown, False)[column.codes]
    return unseen_cells(table, strange)
