"""What classifiers share: saving what they learned, predicting, explaining."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Flags
from likely.explain import Contrast, Explanation, Nomogram, next_measurement, rank, rank_words
from likely.explain.contrast import target_and_rivals
from likely.families.protocol import KnowsValues
from likely.families.tempered import bare
from likely.scorer import Model
from likely.stats import Summary
from likely.store import Reader, Writer
from likely.store.labels import unsaved_type
from likely.table import Table, as_table
from likely.table.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


class UnsavedWarning(UserWarning):
    """Labels are learned that no model file can hold, so that the classifier cannot be saved."""


def warn_if_unsaved(classes: NDArray[Any]) -> None:
    """Say while something can still be done about it that `save` will refuse these labels."""
    kind = unsaved_type(classes)
    if kind is not None:
        warnings.warn(
            f"Labels of the type {kind} are learned, but save() will refuse them: a model file holds none. "
            "To save the classifier, use strings or numbers as labels.",
            UnsavedWarning,
            stacklevel=3,
        )


class Persistable:
    """A classifier that puts away what it has learned as JSON and named arrays.

    Its kind needs a place in `estimators.saving.KEPT`.
    """

    classes_: NDArray[Any]
    schema_: Schema
    n_features_in_: int

    def save(self, path: str | PathLike[str], sources: Sequence[str] = ()) -> None:
        """Write the fitted classifier to a file, whole or not at all; `likely.load` reads it again."""
        from likely.models.saving import save

        save(self, path, sources)

    def _settings_kept(self) -> dict[str, Any]:
        """The parameters as they go into the file: all of them must be plain values."""
        return dict(cast(Any, self).get_params(deep=False))

    def _rows_learned(self) -> int:
        """How many rows it has learned, for people who look at the file."""
        raise NotImplementedError("A kept classifier says how many rows it has learned.")

    def _write_learned(self, writer: Writer) -> Any:
        """What was learned, as JSON that names the arrays put into `writer`."""
        raise NotImplementedError("A kept classifier writes what it has learned.")

    def _read_learned(self, data: Any, reader: Reader) -> None:
        """Take on what `_write_learned` wrote: parameters, `classes_` and `schema_` are there already.

        The file may be hostile: sizes, types and ranges are checked before anything is built from them
        (`Reader.get` does so for arrays), and what is wrong raises `ModelFileError`.
        """
        raise NotImplementedError("A kept classifier reads what it has learned.")


# What a classifier with a settled model can say about itself: why, what matters, what to measure next.


class Explaining:
    """Explanations of rows and of the whole classifier."""

    model_: Model
    summary_: Summary
    schema_: Schema

    def _read(self, X: Any) -> Table:
        raise NotImplementedError("An explaining classifier stands beside a learner, which reads the table.")

    @overload
    def explain(self, X: Any, contrast: None = None) -> Explanation: ...

    @overload
    def explain(self, X: Any, contrast: Any) -> Contrast: ...

    def explain(self, X: Any, contrast: Any = None) -> Explanation | Contrast:
        """Prior and one contribution per column for each row: they sum to `predict_joint_log_proba`.

        With `contrast`, log-odds that sum to those of the posterior: of one class against another, as in
        `contrast=("A", "B")`, or against all the rest, as in `contrast="A"`.
        """
        table = self._read(X)
        why = Explanation.of(self.model_, table)
        return why if contrast is None else Contrast.of(why, *target_and_rivals(contrast, why.classes))

    def nomogram(self, target: Any = None) -> Nomogram:
        """Points for every value of every column; added up they give `predict_proba` of `target`."""
        self._refuse_unfitted()
        return Nomogram.of(self.model_, target)

    def rank(self, X: Any = None, *, by: str | None = None) -> pd.DataFrame:
        """Columns by what they tell about the class, best first; with rows, also by what they did to them.

        `by` is "information" (mutual information with the class) or "contribution" (mean size of the log-odds).
        """
        self._refuse_unfitted()
        why = None if X is None else Explanation.of(self.model_, self._read(X))
        return rank(self.model_, self.summary_, why, by)

    def rank_words(self, column: str | None = None) -> pd.DataFrame:
        """Words of a text column by what their presence tells about the class, best first."""
        self._refuse_unfitted()
        return rank_words(self.summary_, column)

    def next_measurement(self, X: Any, loss: Any = None) -> pd.DataFrame:
        """Which gap of each row to fill first: expected information in bits, and expected saving under a loss.

        Columns that the table does not have at all are gaps, too. `loss` is a `Loss`, or costs as decisions ×
        classes in the order of `classes_`.
        """
        self._refuse_unfitted()
        return next_measurement(self.model_, self._read(_with_gaps(as_table(X), self.schema_)), loss)

    def _refuse_unfitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)


def _with_gaps(table: Table, schema: Schema) -> Table:
    """The table with an empty column for each one that was learned and that it lacks."""
    missing = [name for name in schema.features if name not in table]
    if not missing or not table.named:
        return table
    there = list(table.names)
    empty = as_table({name: [None] * table.n_rows for name in missing})
    names = [*there, *missing]
    return Table(names, table.n_rows, lambda k: (table if k < len(there) else empty).cells(names[k]), named=True)


# Predicting from a settled model: posteriors, the most probable class, and why.


class Predicting:
    """Classes and posteriors of rows, by a model that judges them (a `bayes.Judging`, narrowed where it is known)."""

    model_: Any
    classes_: NDArray[Any]
    n_jobs: int | None

    def _read(self, X: Any) -> Table:
        raise NotImplementedError("A predictor stands beside a learner, which reads the table.")

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; the first of equals."""
        table = self._read(X)
        return np.asarray(self.classes_[self.model_.choose(table, self.n_jobs)])

    def predict_proba(self, X: Any) -> Array:
        """P(class | row), one column per class in the order of `classes_`."""
        table = self._read(X)
        return np.asarray(self.model_.posterior(table, in_logs=False, n_jobs=self.n_jobs))

    def predict_log_proba(self, X: Any) -> Array:
        """log P(class | row)."""
        table = self._read(X)
        return np.asarray(self.model_.posterior(table, in_logs=True, n_jobs=self.n_jobs))

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Log prior and what each column adds, added up per class; normalised, they are the log posterior."""
        table = self._read(X)
        return np.asarray(self.model_.log_joint(table, self.n_jobs))


class Predictor(Predicting, Explaining):
    """What a learner with a settled model can say about rows."""

    model_: Model

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper bound of P(class | row): with probability `level` it lies between them, given the counts.

        Few rows leave the parameters open: shares have a Dirichlet distribution, means and variances a normal-inverse-
        gamma one, rates a gamma one. Means and variances of the logarithms under these are exact, the interval is
        normal in the log-odds (delta method), so nothing is drawn at random. It says how well the parameters of the
        model are known, not whether the model is right.
        """
        from likely.explain.credible import credible_interval

        table = self._read(X)
        beside = cast(Any, self)
        settings = beside._settings_for(self.summary_, beside.families_)
        return credible_interval(self.model_, self.summary_, beside.families_, settings, beside.priors, table, level)

    def unseen_values(self, X: Any) -> pd.DataFrame:
        """The cells whose category was never learned: row, column, value."""
        import pandas as pd

        table = self._read(X)
        found = [
            (row, belief.columns[0], level)
            for belief in map(bare, self.model_.beliefs)
            if isinstance(belief, KnowsValues)
            for level, row in _strangers(table, belief.columns[0], belief.unseen(table))
        ]
        return pd.DataFrame(sorted(found, key=lambda cell: cell[:2]), columns=["row", "column", "value"])


def _strangers(table: Table, name: str, unseen: Flags) -> list[tuple[Any, int]]:
    column = table.codes(name)
    return [(column.levels[column.codes[row]], int(row)) for row in np.flatnonzero(unseen)]
