"""Averaged one-dependence estimators for raw tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely.choices import PairChanges, at_least_one, not_negative
from likely.engines.memory import Rows
from likely.estimators.learning import Learner
from likely.estimators.pairing import chosen_columns, cuts_given, cuts_in
from likely.estimators.predicting import Predictor
from likely.estimators.showing import Shown
from likely.estimators.weighing import ModelDecider
from likely.families import Settings, smoothing_by_column
from likely.plan import Task
from likely.stats import PairCounts

if TYPE_CHECKING:
    from likely.explain.dependence import Dependence

MOST_CELLS = 1 << 23
"""Classes × pairs of values that are counted unless the user allows more: 64 MiB."""


class AODEClassifier(Shown, Learner, Predictor, ModelDecider):
    """Between naive and full Bayes: each column may depend on the class and on one other column, in turn on every one.

    P(class, row) is the mean over parents j of P(class) · P(x_j | class) · Π P(x_k | x_j, class): evidence that two
    columns share is counted once. Pairs of values are counted, numbers in bins; so it adds up: rows can be learned,
    forgotten and merged in any order. Where the bins were cut is decided by the first rows and then kept.

    Parameters
    ----------
    smoothing : a number γ added to every count (½ unless told otherwise: cells of pairs are small), an `MEstimate`,
        or a mapping of column names to either.
    priors, schema, text : as for `BayesClassifier`; a text column is a further factor.
    families : None, or a mapping that takes columns out of the pairs, such as {"visits": "poisson"}.
    bins : numbers are cut into at most so many bins of about equal weight.
    cuts : a mapping of numeric columns to ascending numbers at which to cut them; give `cuts_` of another classifier
        to be able to merge with it.
    min_cases : a value is a parent only if it was seen so often.
    max_cells : classes × pairs of values that may be counted. If there are more, the columns that tell most about the
        class are paired (see `paired_`), and the others are factors of their own, as in naive Bayes.
    n_jobs : number of threads; None for all cores. Results do not depend on it.

    >>> X = {"a": ["x", "x", "y", "y"] * 5, "b": ["u", "v", "u", "v"] * 5}
    >>> clf = AODEClassifier(smoothing=0.1).fit(X, ["odd", "even", "even", "odd"] * 5)
    >>> clf.predict({"a": ["x", "y"], "b": ["u", "u"]}).tolist()  # naive Bayes could only guess
    ['odd', 'even']
    """

    def __init__(
        self,
        *,
        smoothing: Any = 0.5,
        priors: Any = None,
        families: Any = None,
        schema: Any = None,
        text: Any = None,
        bins: int = 6,
        cuts: Any = None,
        min_cases: float = 1.0,
        max_cells: int = MOST_CELLS,
        n_jobs: int | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.priors = priors
        self.families = families
        self.schema = schema
        self.text = text
        self.bins = bins
        self.cuts = cuts
        self.min_cases = min_cases
        self.max_cells = max_cells
        self.n_jobs = n_jobs

    def resettle(self, **changes: Unpack[PairChanges]) -> Self:
        """Change smoothing, priors or `min_cases` after training; needs no data."""
        return self._resettle(changes)

    @property
    def paired_(self) -> tuple[str, ...]:
        """The columns that are counted in pairs."""
        check_is_fitted(self)
        return tuple(name for name, family in self.families_.items() if family == "aode")

    @property
    def cuts_(self) -> dict[str, list[float]]:
        """Where the numbers of each column are cut into bins; another classifier with these `cuts` can be merged."""
        check_is_fitted(self)
        return {name: cuts.at.tolist() for name, cuts in cuts_in(self.summary_).items()}

    def dependence(self) -> Dependence:
        """Which columns say the same thing given the class: conditional mutual information of every pair."""
        from likely.explain.dependence import Dependence

        check_is_fitted(self)
        for part, seen in self.summary_.parts.items():
            if isinstance(seen, PairCounts):
                return Dependence.of(part.columns, seen)
        return Dependence((), np.zeros((0, 0)), np.zeros((0, 0)))

    def _considered(self, task: Task) -> Task:
        """Cut the numbers, and pair as many columns as there is room for."""
        rows, assigned = task.rows, dict(task.assigned)
        wanted = tuple(name for name, family in assigned.items() if family == "aode")
        given = cuts_given(self.cuts, [name for name in wanted if task.schema.kinds[name] == "numeric"])
        most = at_least_one("max_cells", self.max_cells)
        chosen, cuts = chosen_columns(rows, task.schema, wanted, given, at_least_one("bins", self.bins), most)
        left_out = {"numeric": "bins", "nominal": "categorical"}
        assigned |= {name: left_out[task.schema.kinds[name]] for name in wanted if name not in chosen}
        recipes = {**rows.recipes, **cuts}
        again = Rows(rows.table, rows.classes, rows.y, rows.weight, rows.n_jobs, recipes)
        return Task(again, task.schema, assigned, task.weighted)

    def _usual_families(self) -> Mapping[str, str]:
        return {**super()._usual_families(), "numeric": "aode", "nominal": "aode", "sparse": "aode"}

    def _settings(self, columns: tuple[str, ...]) -> Settings:
        return Settings(
            smoothing=smoothing_by_column(self.smoothing, columns),
            bins=at_least_one("bins", self.bins),
            fewest=not_negative("min_cases", self.min_cases),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
