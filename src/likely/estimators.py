"""The Bayes classifier for raw tables, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely.bayes import Model
from likely.choices import CHOICES, Changes, Missing, Unseen, Variance
from likely.engines.memory import Rows
from likely.errors import DataError, LikelyError, NotMergeable, SettingsError, listed
from likely.explanation import Explanation
from likely.families import Settings, smoothing_by_column
from likely.families.categorical import Categorical
from likely.plan import assign, kinds_for, plan, reassign, refuse_negative_counts
from likely.schema import Schema
from likely.stats import Moments, Summary
from likely.table import Table, as_table, encode_column, encode_labels, index_levels
from likely.weights import row_weights

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


class BayesClassifier(ClassifierMixin, BaseEstimator):
    """Naive Bayes for tables as they are: numbers, categories, gaps, values never seen, labels of any type.

    Parameters
    ----------
    smoothing : a number γ added to every count (1 is Laplace's rule, 0 maximum likelihood), an `MEstimate`,
        or a mapping of column names to either.
    priors : None (as counted), "smoothed", "uniform" (maximum likelihood), a mapping of classes to shares,
        or shares in the order of the classes.
    families : None (Gaussian for numbers, categorical for the rest), one name for all columns, or a mapping.
    schema : a `Schema`, or a mapping of column names to "numeric", "nominal", "text", "ignored" or "weight".
    missing : "ignore" (a gap says nothing) or "value" (that a cell is empty is evidence, too).
    unseen : "ignore" (a category never seen says nothing) or "smooth" (it gets the smoothed share of a new value).
    variance : "unbiased" (divide by n − 1) or "ml" (by n).
    variance_floor : least variance of a class, relative to the variance of the whole column.
    n_jobs : number of threads; None for all cores. Results do not depend on it.

    >>> clf = BayesClassifier().fit({"sky": ["grey", "grey", "blue"], "wind": [7.0, 8.0, 2.0]}, ["wet", "wet", "dry"])
    >>> clf.predict({"wind": [6.5], "sky": ["green"]}).tolist()
    ['wet']
    """

    def __init__(
        self,
        *,
        smoothing: Any = 1.0,
        priors: Any = None,
        families: Any = None,
        schema: Any = None,
        missing: Missing = "ignore",
        unseen: Unseen = "ignore",
        variance: Variance = "unbiased",
        variance_floor: float = 1e-9,
        n_jobs: int | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.priors = priors
        self.families = families
        self.schema = schema
        self.missing = missing
        self.unseen = unseen
        self.variance = variance
        self.variance_floor = variance_floor
        self.n_jobs = n_jobs

    # Learning: every way in ends with a summary that is settled.

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn these rows. `y` may also name a column of the table."""
        table = as_table(X, allow_empty=False)
        target = y if isinstance(y, str) and y in table else None
        schema = _infer(table, target, self.schema, self.families)
        assigned = assign(schema, self.families, is_sparse=table.sparse is not None)
        summary = self._count(table, schema, assigned, y, sample_weight)
        self.schema_ = schema if sample_weight is not None or schema.weight else _with_gaps(schema, summary)
        self.n_features_in_ = len(schema)
        if table.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self._settle(summary, assigned)

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

    def merge(self, other: BayesClassifier) -> Self:
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

    def __add__(self, other: BayesClassifier) -> BayesClassifier:
        """A third classifier that has learned the rows of both."""
        check_is_fitted(self)
        both = BayesClassifier(**self.get_params(deep=False))
        both.__dict__.update(self.__dict__)
        return both.merge(other)

    def resettle(self, **changes: Unpack[Changes]) -> Self:
        """Change smoothing, priors, families or any other parameter after training; needs no data.

        >>> clf = BayesClassifier().fit({"sky": ["grey", "blue"]}, ["wet", "dry"])
        >>> clf.resettle(smoothing=0, priors="uniform").predict_proba({"sky": ["blue"]}).tolist()
        [[1.0, 0.0]]
        """
        check_is_fitted(self)
        unknown = [name for name in changes if name not in self.get_params(deep=False)]
        if unknown or "schema" in changes:
            raise SettingsError(f"{listed(unknown or ['schema'])} cannot be changed without fitting again.")
        assigned = reassign(self.families_, changes["families"]) if "families" in changes else self.families_
        before = self.get_params(deep=False)
        self.set_params(**changes)
        try:
            return self._settle(self.summary_, assigned)
        except LikelyError:
            self.set_params(**before)
            raise

    # Predicting.

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; the first of equals."""
        table = self._read(X)
        return np.asarray(self.classes_[self.model_.choose(table, self.n_jobs)])

    def predict_proba(self, X: Any) -> Array:
        """P(class | row), one column per class in the order of `classes_`."""
        table = self._read(X)
        return self.model_.posterior(table, in_logs=False, n_jobs=self.n_jobs)

    def predict_log_proba(self, X: Any) -> Array:
        """log P(class | row)."""
        table = self._read(X)
        return self.model_.posterior(table, in_logs=True, n_jobs=self.n_jobs)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log P(class, row): the logarithms of prior and factors, added up."""
        table = self._read(X)
        return self.model_.log_joint(table, self.n_jobs)

    def explain(self, X: Any) -> Explanation:
        """Prior and one contribution per column for each row: they sum to `predict_joint_log_proba`."""
        table = self._read(X)
        return Explanation.of(self.model_, table)

    def unseen_values(self, X: Any) -> pd.DataFrame:
        """The cells whose category was never learned: row, column, value."""
        import pandas as pd

        table = self._read(X)
        found = [
            (int(row), belief.columns[0], level)
            for belief in self.model_.beliefs
            if isinstance(belief, Categorical)
            for level, row in _strangers(table, belief)
        ]
        return pd.DataFrame(sorted(found, key=lambda cell: cell[:2]), columns=["row", "column", "value"])

    # Between rows and summaries.

    def _read(self, X: Any) -> Table:
        check_is_fitted(self)
        if len(self.classes_) == 0:
            raise DataError("All rows have been forgotten: learn some before predicting.")
        return self.schema_.align(as_table(X, allow_empty=False), type(self).__name__)

    def _count_more(self, X: Any, y: Any, sample_weight: Any) -> Summary:
        table = self.schema_.align(as_table(X), type(self).__name__)
        return self._count(table, self.schema_, self.families_, y, sample_weight)

    def _count(self, table: Table, schema: Schema, assigned: Mapping[str, str], y: Any, sample_weight: Any) -> Summary:
        named = isinstance(y, str) and y in table
        labels = encode_column(table.cells(y)) if named else encode_labels(y)
        if len(labels) != table.n_rows:
            raise DataError(
                f"Found input variables with inconsistent numbers of samples: X has {table.n_rows} rows, "
                f"y has {len(labels)}."
            )
        weight = row_weights(sample_weight, table, schema.weight)
        refuse_negative_counts(table, assigned)
        return Rows(table, labels.classes, labels.codes, weight, self.n_jobs).summarise(plan(assigned))

    def _settle(self, summary: Summary, assigned: Mapping[str, str]) -> Self:
        model = Model.settle(summary, assigned, self.priors, self._settings(tuple(assigned)))
        self.summary_, self.families_, self.model_ = summary, dict(assigned), model
        self.classes_ = summary.classes.labels
        return self

    def _settings(self, columns: tuple[str, ...]) -> Settings:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise SettingsError(f"{name} is {getattr(self, name)!r}, but it is one of {listed(choices)}.")
        if not self.variance_floor >= 0.0:
            raise SettingsError(f"variance_floor is {self.variance_floor!r}, but it is a share from 0 up.")
        return Settings(
            smoothing=smoothing_by_column(self.smoothing, columns),
            missing=self.missing,
            unseen=self.unseen,
            unbiased=self.variance == "unbiased",
            variance_floor=self.variance_floor,
        )

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _infer(table: Table, target: str | None, given: Any, families: Any) -> Schema:
    """The schema as guessed, as the families need it, and above all as the user gave it."""
    if isinstance(given, Schema):
        return Schema.infer(table, target or given.target, given.weight, overrides=given)
    overrides = dict(given or {})
    roles = {target, *(name for name, kind in overrides.items() if kind in ("weight", "target", "ignored"))}
    wanted = kinds_for(families, tuple(name for name in table.names if name not in roles))
    return Schema.infer(table, target, overrides={**wanted, **overrides})


def _with_gaps(schema: Schema, summary: Summary) -> Schema:
    """The gaps of a large matrix, which was not read twice to count them: rows less known cells."""
    known: dict[str, float] = {}
    for part, seen in summary.parts.items():
        if isinstance(seen, Moments):
            known |= zip(part.columns, seen.n.sum(axis=0), strict=True)
    unknown = [name for name in known if schema[name].gaps is None]
    return schema.with_gaps({name: summary.n_rows - round(known[name]) for name in unknown}) if unknown else schema


def _strangers(table: Table, belief: Categorical) -> list[tuple[Any, int]]:
    column = table.codes(belief.columns[0])
    unknown = index_levels(column.levels, belief.values) < 0
    rows = np.flatnonzero((column.codes >= 0) & np.append(unknown, False)[column.codes])
    return [(column.levels[column.codes[row]], int(row)) for row in rows]
