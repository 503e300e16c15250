"""Learned weights of columns: how a classifier keeps them, says that they are stale, and refreshes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely.choices import checked
from likely.engines.memory import Rows
from likely.errors import DataError, ModelFileError, SettingsError
from likely.estimators.learning import Learner
from likely.exponents import Exponents, learn_exponents
from likely.plan import Task
from likely.stats import Summary
from likely.stats.protocol import Array
from likely.table import index_levels


class WeightedLearner(Learner):
    """A learner whose columns may have exponents. They need rows, so they do not follow from the summary."""

    weights: Any
    exponents_: Exponents

    @property
    def adds_up(self) -> bool:
        """Whether all that it believes follows from a summary; learned weights need the rows."""
        return self.weights is None

    @property
    def weights_(self) -> dict[str, float]:
        """The weight of each column: learned, or 1."""
        check_is_fitted(self)
        learned = self._exponents() if self.weights is not None else None
        return {name: 1.0 if learned is None else learned.weights[name] for name in self.families_}

    @property
    def weights_stale_(self) -> bool:
        """Whether rows or settings have changed since the weights were learned: `refresh` learns them anew."""
        check_is_fitted(self)
        learned = self._exponents()
        return self.weights is not None and (learned is None or learned.stale)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn these rows. `y` may also name a column of the table."""
        task = self.task(X, y, sample_weight)
        self.__dict__.pop("exponents_", None)
        self._remember(task, task.count())
        return self._learn_weights(task) if self._wants_weights() else self

    def refresh(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the weights of the columns anew from rows that have been learned: all of them, or a fair sample."""
        check_is_fitted(self)
        if not self._wants_weights():
            raise SettingsError("There are no weights to refresh: ask for them by weights='learned'.")
        return self._learn_weights(self._task_of(X, y, sample_weight))

    def _wants_weights(self) -> bool:
        return self.weights is not None and checked("weights", self.weights) == "learned"

    def _exponents(self) -> Exponents | None:
        return getattr(self, "exponents_", None)

    def _learn_weights(self, task: Task) -> Self:
        settings = self._settings_for(self.summary_, task.assigned)
        rows = np.append(index_levels(task.rows.classes.tolist(), self.classes_.tolist()), -1)[task.rows.y]
        if (rows < 0).any():
            raise DataError("The rows to learn weights from have a class that was never learned.")
        again = Rows(
            task.rows.table, self.classes_, rows.astype(np.int32), task.rows.weight, self.n_jobs, task.rows.recipes
        )
        placed = Task(again, task.schema, task.assigned, task.weighted)
        self.exponents_ = learn_exponents(placed, self.summary_, settings, self.n_jobs)
        return super()._settle(self.summary_, self.families_)

    def _settle(self, summary: Summary, assigned: Mapping[str, str]) -> Self:
        """Weights stay as they were, which is said: no rows are at hand to learn them from."""
        learned = self._exponents()
        if learned is not None:
            places = index_levels(summary.classes.labels.tolist(), self.classes_.tolist())
            offsets = np.where(places < 0, 0.0, np.append(learned.offsets, 0.0)[places])
            self.exponents_ = Exponents(learned.weights, offsets, stale=True)
        return super()._settle(summary, assigned)

    def _resettle(self, changes: Mapping[str, Any]) -> Self:
        before = self._exponents()
        super()._resettle(changes)
        if before is not None and set(changes) <= {"priors", "n_jobs", "weights"}:
            self.exponents_ = before  # none of these changes what columns say
        return self

    def _weighed_by(self, summary: Summary) -> tuple[Mapping[str, float] | None, Array | None]:
        learned = self._exponents()
        return (learned.weights, learned.offsets) if self._wants_weights() and learned is not None else (None, None)

    def _weights_kept(self) -> dict[str, Any] | None:
        learned = self._exponents()
        if learned is None:
            return None
        of = [learned.weights[name] for name in self.families_]
        return {"of": of, "offsets": learned.offsets.tolist(), "stale": learned.stale}

    def restore(self, summary: Summary, families: Mapping[str, str], weights: Mapping[str, Any] | None = None) -> Self:
        """Take on a summary that was counted elsewhere, and weights that go with it; those it has are stale then."""
        if weights is None:
            return self._settle(summary, families)
        of, offsets = (np.array(weights[name], dtype=np.float64) for name in ("of", "offsets"))
        shapes = of.shape == (len(families),) and offsets.shape == (len(summary.classes),)
        if not (shapes and np.isfinite(of).all() and (of >= 0.0).all() and np.isfinite(offsets).all()):
            raise ModelFileError("its weights do not fit its columns and classes")
        by_column = dict(zip(families, of.tolist(), strict=True))
        self.exponents_ = Exponents(by_column, offsets, bool(weights["stale"]))
        return super()._settle(summary, families)
