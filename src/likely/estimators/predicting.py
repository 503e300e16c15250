"""Predicting from a settled model: posteriors, the most probable class, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from likely.bayes import Model
from likely.estimators.explaining import Explaining
from likely.families.categorical import Categorical
from likely.families.weighed import bare
from likely.table import Table, index_levels

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


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
            if isinstance(belief, Categorical)
            for level, row in _strangers(table, belief)
        ]
        return pd.DataFrame(sorted(found, key=lambda cell: cell[:2]), columns=["row", "column", "value"])


def _strangers(table: Table, belief: Categorical) -> list[tuple[Any, int]]:
    column = table.codes(belief.columns[0])
    unknown = index_levels(column.levels, belief.values) < 0
    rows = np.flatnonzero((column.codes >= 0) & np.append(unknown, False)[column.codes])
    return [(column.levels[column.codes[row]], int(row)) for row in rows]
