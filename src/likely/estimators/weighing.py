"""Deciding with a settled model: in blocks, with novel rows told by their density, under other priors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from likely.bayes import Model
from likely.decide.gaps import known_cells, without_column
from likely.decide.scores import Block, Joint, Scores
from likely.errors import SettingsError, listed
from likely.estimators.deciding import Decider
from likely.table import Table

Array = NDArray[np.float64]

SAMPLED_ROWS = 512
SAMPLED_CELLS = 1 << 28
"""Rows that tell what a column adds to the evidence; fewer if there are very many columns, each left out once."""

NO_DENSITY = ("complement",)
"""Families whose weights tell classes apart but are no probabilities of a row."""


class ModelDecider(Decider):
    """A decider beside a learner with a settled model."""

    model_: Model
    n_jobs: int | None
    families_: dict[str, str]

    def _read(self, X: Any) -> Table:
        raise NotImplementedError("A decider stands beside a learner, which reads the table.")

    def _resettle(self, changes: Mapping[str, Any]) -> Self:
        raise NotImplementedError("A decider stands beside a learner, which settles its summary again.")

    def with_priors(self, priors: Any) -> Self:
        """Another classifier that believes the same of the columns, but has other priors; it shares the summary.

        `priors` is what the parameter of that name may be, such as a mapping of classes to shares.
        """
        other = copy(self)
        return other._resettle({"priors": priors})

    def _prior_shares(self) -> Array:
        return self.model_.prior

    def _scores(self, X: Any) -> Scores:
        table, model, n_jobs = self._read(X), self.model_, self.n_jobs

        def each(use: Callable[[slice, Block], None]) -> None:
            model.each_block(table, lambda block, joint: use(block, Joint(joint, model.prior)), n_jobs)

        return Scores(table.n_rows, each)

    def _evidence(self, X: Any, ordinary: Mapping[str, float]) -> Array:
        table = self._read(X)
        evidence = self._for_density()._scores(table).log_evidence()
        for name, usual in ordinary.items():
            if table.gaps(name):
                evidence[~known_cells(table, name)] += usual
        return evidence

    def _ordinary_evidence(self, X: Any) -> dict[str, float]:
        """Leave out one column at a time: what is then lost is what the column adds."""
        table, weigher = self._read(X), self._for_density()
        columns = self.model_.columns
        if table.sparse is not None:
            return {}
        n_rows = min(SAMPLED_ROWS, max(SAMPLED_CELLS // len(columns) ** 2, 1), table.n_rows)
        part = table.take(np.linspace(0, table.n_rows - 1, n_rows).astype(np.intp))
        whole = weigher._scores(part).log_evidence()
        means = {}
        for name in columns:
            rest = weigher._scores(without_column(part, name)).log_evidence()
            with np.errstate(invalid="ignore"):  # of an impossible row no part is larger than another
                added = whole - rest
            telling = known_cells(part, name) & np.isfinite(added)
            means[name] = float(added[telling].mean()) if telling.any() else 0.0
        return means

    def _for_density(self) -> Self:
        """The same beliefs, but a value never seen is as rare as smoothing says: it is novel, not ignored."""
        strange = [name for name, family in self.families_.items() if family in NO_DENSITY]
        if strange:
            raise SettingsError(
                f"The family 'complement' of {listed(strange)} has no density of rows, so novel ones cannot be told."
            )
        if getattr(self, "unseen", "smooth") != "ignore":
            return self
        return copy(self)._resettle({"unseen": "smooth"})
