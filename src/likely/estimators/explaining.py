"""What a classifier with a settled model can say about itself: why, what matters, what to measure next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from likely.bayes import Model
from likely.explain import Contrast, Explanation, Nomogram, next_measurement, rank, rank_words
from likely.explain.sides import sides_of
from likely.stats import Summary
from likely.table import Table, as_table

if TYPE_CHECKING:
    import pandas as pd

    from likely.schema import Schema


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
        return why if contrast is None else Contrast.of(why, *sides_of(contrast, why.classes))

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
