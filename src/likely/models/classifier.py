"""The one base of all classifiers for tables: what is read and remembered of columns, predictions, decisions, files."""

from __future__ import annotations

import inspect
import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from os import PathLike
from typing import TYPE_CHECKING, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely.arrays import AnyArray, Array
from likely.compilation import watch
from likely.decide.scores import Scores
from likely.engines.gpu.table import DeviceTable
from likely.errors import DataError, SettingsError
from likely.models import feature_importance, in_sql, persistence, prediction
from likely.models.protocols import KeepsLearned
from likely.models.settings import Check, ChecksOfFields, SchemaLike, refuse_unknown
from likely.numerics import log_of
from likely.sql.posterior import Posterior
from likely.sql.query import Query
from likely.store import Reader
from likely.store.container import Document
from likely.store.plain import unsaved_type
from likely.table import (
    Labelling,
    Labels,
    RowsLike,
    Table,
    Weights,
    as_rows,
    as_table,
    encode_labels,
    index_levels,
    labels_of,
)
from likely.table.images import flattened
from likely.table.infer import Note
from likely.table.labels import row_weights
from likely.table.schema import Schema, schema_for

if TYPE_CHECKING:
    import pandas as pd
    from onnx import ModelProto

    from likely.store.onnx import Precision


watch()


class UnsavedWarning(UserWarning):
    """Labels are learned that no model file can hold, so that the classifier cannot be saved."""


BY_VALUE = "a column's contribution depends on its value: see explain(X), or feature_importances_ for whole columns"
SKLEARN_ATTRIBUTES = {
    "intercept_": "the prior and the intercept are lines of explain(X)",
    **dict.fromkeys(("coef_", "feature_log_prob_", "theta_", "var_"), BY_VALUE),
}
"""Where to find what scikit-learn's models have under these names; who has it under the name is not asked."""


def warn_if_unsaved(classes: AnyArray) -> None:
    """Say while something can still be done about it that `save` will refuse these labels."""
    kind = unsaved_type(classes)
    if kind is not None:
        warnings.warn(
            f"Labels of the type {kind} are learned, but save() will refuse them: a model file holds none. "
            "To save the classifier, use strings or numbers as labels.",
            UnsavedWarning,
            stacklevel=3,
        )


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """Rows to learn from, as a schema reads them; no weight means that each row counts once."""

    table: Table
    schema: Schema
    labels: Labels
    weight: Array | None


class _ParameterSignature:
    """The signature of `__init__`; or it would be that of `__new__`, which is there for unknown names alone."""

    def __get__(self, instance: object, kind: type) -> inspect.Signature:
        return _without_self(kind.__init__)  # type: ignore[misc]


@cache
def _without_self(method: Callable[..., object]) -> inspect.Signature:
    own = inspect.signature(method)
    return own.replace(parameters=list(own.parameters.values())[1:])


class Classifier(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A classifier for tables as they are; those who derive from it learn (`fit`) and judge rows (`predict_proba`).

    Parameters are the fields of a dataclass. One that can be saved also writes and reads what it has learned, as
    `models.protocols.KeepsLearned` says.
    """

    setting_checks: ClassVar[Mapping[str, Check]] = cast("Mapping[str, Check]", ChecksOfFields())
    reads_sparse: ClassVar[bool] = False
    __signature__ = _ParameterSignature()
    schema: SchemaLike
    classes_: AnyArray
    schema_: Schema
    n_features_in_: int
    n_rows_: int
    feature_names_in_: NDArray[np.object_]

    def __new__(cls, *given: object, **named: object) -> Self:
        refuse_unknown(cls, named)
        return cast(Self, super().__new__(cls))

    if not TYPE_CHECKING:  # to a type checker, every attribute would be there

        def __getattr__(self, name: str) -> object:
            """What there is not: of an attribute that scikit-learn's models have, where to find it here."""
            if name in SKLEARN_ATTRIBUTES and not hasattr(type(self), name):
                lacking = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(f"{lacking}: {SKLEARN_ATTRIBUTES[name]}", name=name, obj=self)
            return super().__getattribute__(name)  # raises as before, also what a property has to say

    def set_params(self, **params: object) -> Self:
        """Set parameters by name; those of a classifier within this one as in `classifier__smoothing`."""
        refuse_unknown(type(self), [name for name in params if "__" not in name])
        super().set_params(**params)
        return self

    @abstractmethod
    def fit(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self:
        """Forget everything, then learn these rows. `y` may also name a column of the table."""

    @abstractmethod
    def predict_proba(self, X: RowsLike) -> Array:
        """P(class | row), one column per class in the order of `classes_`."""

    def predict_log_proba(self, X: RowsLike) -> Array:
        """log P(class | row)."""
        return log_of(self.predict_proba(X))

    def predict(self, X: RowsLike) -> AnyArray:
        """The most probable class of each row; the first of equals."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def score(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> float:
        """The proportion of rows, by weight, whose class is the predicted one; labels of any type."""
        table = as_table(flattened(X, None)[0])
        truth, told = labels_of(y, table), encode_labels(self.predict(X))
        right = index_levels(told.classes.tolist(), truth.classes.tolist())[told.codes] == truth.codes
        return float(np.average(right, weights=row_weights(sample_weight, table, None)))

    # Deciding: functions of what the classifier says about rows.

    decide = prediction.decide
    risk = prediction.risk
    decisions = prediction.decisions
    novelty = prediction.novelty
    estimate_priors = prediction.estimate_priors

    to_sql = in_sql.to_sql

    def _sql_posterior(self, query: Query, *, explain: bool) -> Posterior:
        """How P(class | row) is written as SQL."""
        raise SettingsError(
            f"{type(self).__name__} cannot be written as SQL: score where the rows can be fetched, with likely predict."
        )

    def _scores(self, X: RowsLike) -> Scores:
        """What the classifier says about the rows, in blocks."""
        return Scores.of_posterior(self.predict_proba(X))

    def _evidence(self, X: RowsLike, ordinary: Mapping[str, float]) -> Array:
        """log P(row), with a gap credited as an ordinary cell of its column."""
        return self._scores(X).log_evidence()

    def _ordinary_evidence(self, X: RowsLike) -> dict[str, float]:
        """What a known cell of each column adds to log P(row) on average; empty where rows have no gaps."""
        return {}

    def _prior_shares(self) -> Array:
        """How common the classes were for this classifier when it learned, in their order."""
        raise SettingsError(f"{type(self).__name__} does not know how common its classes were when it learned.")

    # Which columns matter.

    rank = feature_importance.rank
    feature_importances_ = property(feature_importance.feature_importances)

    def _column_information(self) -> pd.DataFrame | None:
        """What was counted of each column: column, held_out, share, gaps, information; None where nothing was."""
        return None

    # Reading tables, and remembering their columns.

    def _schema_of(self, table: Table, target: str | None) -> Schema:
        """What the columns of a table to learn from are taken for."""
        return schema_for(table, target, self.schema)

    def _training_rows(self, X: RowsLike, y: Labelling, sample_weight: Weights) -> TrainingRows:
        """The rows of `fit`."""
        table = as_table(X, allow_empty=False)
        schema = self._schema_of(table, y if isinstance(y, str) and y in table else None)
        return TrainingRows(table, schema, labels_of(y, table), row_weights(sample_weight, table, schema.weight))

    def _further_rows(self, X: RowsLike, y: Labelling, sample_weight: Weights) -> TrainingRows:
        """Further rows with labels, read as the first ones were."""
        table = self.schema_.align(as_table(X), type(self).__name__)
        weight = row_weights(sample_weight, table, self.schema_.weight)
        return TrainingRows(table, self.schema_, labels_of(y, table), weight)

    def _read(self, X: RowsLike) -> Table:
        """A table to predict for, under the names of the schema."""
        check_is_fitted(self)
        if len(self.classes_) == 0:
            raise DataError("All rows have been forgotten: learn some before predicting.")
        rows = as_rows(X, self.schema_.features)
        return self.schema_.align(as_table(rows, allow_empty=False), type(self).__name__)

    def _read_on_device(self, X: object) -> DeviceTable:
        """The same for rows on a GPU."""
        check_is_fitted(self)
        if len(self.classes_) == 0:
            raise DataError("All rows have been forgotten: learn some before predicting.")
        return DeviceTable.of(X).aligned(self.schema_.features, type(self).__name__)

    def _remember_columns(self, schema: Schema, *, named: bool = True) -> None:
        """Which columns were learned, and by what names they come back."""
        self.schema_, self.n_features_in_ = schema, len(schema)
        if named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)

    def _take_notes(self, notes: tuple[Note, ...]) -> None:
        """What there is to know of the table that was learned."""
        self.schema_ = replace(self.schema_, notes=notes)

    # Files.

    def to_onnx(self, precision: Precision = "double") -> ModelProto:
        """The fitted classifier as a model of ONNX (extra `onnx`): it scores rows in any runtime, without likely.

        Each column is an input of its name (rows × 1): numbers in `precision`, categories as strings; NaN and "" are
        gaps. Outputs are `label` (rows) and `probabilities` (rows × classes); metadata has classes, schema, version.
        """
        from likely.models.onnx import to_onnx  # few need it, and importing takes its time

        check_is_fitted(self)
        return to_onnx(self, precision)

    def to_pmml(self) -> str:
        """The fitted classifier as a document of PMML 4.4: naive Bayes as a NaiveBayesModel, a tree as a TreeModel."""
        from likely.models.pmml import to_pmml

        check_is_fitted(self)
        return to_pmml(self)

    def save(self, path: str | PathLike[str], sources: Sequence[str] = ()) -> None:
        """Write the fitted classifier to a file, completely or not at all; `likely.load` reads it again."""
        persistence.save(self, path, sources)

    def _settings_kept(self) -> dict[str, object]:
        """The parameters as they go into the file: all of them must be plain values."""
        kept = dict(self.get_params(deep=False))
        return kept | {"progress": None} if "progress" in kept else kept  # a function cannot be saved

    def _rows_learned(self) -> int:
        """How many rows it has learned."""
        return self.n_rows_

    def _restore_learned(self, classes: AnyArray, learned: Document, reader: Reader) -> None:
        """Take on what a file holds; parameters and columns are there already."""
        self.classes_ = classes
        cast(KeepsLearned, self)._read_learned(learned, reader)

    # What scikit-learn and notebooks ask for.

    def _page(self) -> str | None:
        """What a notebook shows of a fitted classifier, as HTML; None for scikit-learn's diagram of parameters."""
        return None

    def _repr_html_inner(self) -> str:
        page = self._page() if self.__sklearn_is_fitted__() else None
        return str(super()._repr_html_inner()) if page is None else page

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        bundle = cast("dict[str, str]", super()._repr_mimebundle_(**kwargs))
        page = self._page() if self.__sklearn_is_fitted__() and get_config()["display"] == "diagram" else None
        return bundle if page is None else {**bundle, "text/html": page}

    def __sklearn_is_fitted__(self) -> bool:
        return "classes_" in self.__dict__

    def __sklearn_tags__(self) -> Tags:
        tags = cast(Tags, super().__sklearn_tags__())
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = self.reads_sparse
        return tags
