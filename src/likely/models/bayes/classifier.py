"""The naive Bayes classifier for raw tables."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Literal, Self, Unpack

from sklearn.utils.validation import check_is_fitted

from likely.engines.plan import Families, Task
from likely.errors import SettingsError
from likely.families import Settings, Smoothing, smoothing_by_column
from likely.families.select import best_of, chosen_smoothing, likelihoods
from likely.models.bayes.feature_weights import WeightedLearner
from likely.models.classifier import Predictor
from likely.models.decision import ModelDecider
from likely.models.display import Shown
from likely.models.settings import Changes, Missing, Unseen, Variance, Weighting, at_least_one, checked, not_negative
from likely.parallel import side_by_side
from likely.stats import Histogram, Part, Summary

AUTO = "auto"


class ChoosingLearner(WeightedLearner):
    """A learner with `families="auto"` and `smoothing="auto"`.

    Families are chosen once, from the rows of `fit`, and then kept (the schema says why): a family needs statistics of
    its own. Smoothing follows from the counts, so it is chosen whenever they are settled.
    """

    smoothing: Any

    @property
    def adds_up(self) -> bool:
        """Whether all that it believes follows from a summary; learned weights and chosen families need the rows."""
        return super().adds_up and not self._is_open()

    @property
    def smoothing_(self) -> dict[str, Smoothing]:
        """The smoothing of each column, given or chosen."""
        check_is_fitted(self)
        settings = self._settings_for(self.summary_, self.families_)
        return {name: settings.smoothing_of(name) for name in self.families_}

    def _is_open(self, name: str | None = None) -> bool:
        """Whether the family of a column (or of any) is left open."""
        if isinstance(self.families, Mapping):
            return AUTO in self.families.values() if name is None else self.families.get(name) == AUTO
        return isinstance(self.families, str) and self.families == AUTO

    def _families_given(self) -> Families:
        if isinstance(self.families, Mapping):
            return {name: family for name, family in self.families.items() if family != AUTO}
        return None if self._is_open() else self.families

    def _considered(self, task: Task) -> Task:
        """Count histograms of the columns that are left open, and take the likeliest family of each."""
        kinds = task.schema.kinds
        wanted = [name for name in task.assigned if self._is_open(name) and kinds[name] == "numeric"]
        if not wanted or task.rows.table.sparse is not None:
            return task
        settings = self._settings(tuple(task.assigned))
        seen = task.rows.summarise([Part("histogram", (name,)) for name in wanted]).parts_of(Histogram)

        def judge(name: str) -> dict[str, float]:
            return likelihoods(name, seen[Part("histogram", (name,))], settings)

        told = dict(zip(wanted, side_by_side(judge, wanted, self.n_jobs), strict=True))
        chosen = {name: best_of(found) for name, found in told.items()}
        schema = task.schema.with_reasons({name: _why(found) for name, found in told.items()})
        return Task(task.rows, schema, {**task.assigned, **chosen}, task.weighted)

    def _resettle(self, changes: Mapping[str, Any]) -> Self:
        families = changes.get("families")
        if families == AUTO or (isinstance(families, Mapping) and AUTO in families.values()):
            raise SettingsError("To choose families needs the rows: fit again with families='auto'.")
        return super()._resettle(changes)

    def _settings_for(self, summary: Summary, assigned: Mapping[str, str]) -> Settings:
        settings = self._settings(tuple(assigned))
        given = self.smoothing if isinstance(self.smoothing, Mapping) else dict.fromkeys(assigned, self.smoothing)
        wanted = [name for name, each in given.items() if isinstance(each, str) and each == AUTO]
        if not wanted:
            return settings
        found = chosen_smoothing(summary, settings)
        more = {name: found[name] for name in wanted if name in found}
        return replace(settings, smoothing={**settings.smoothing, **more})


def _why(found: Mapping[str, float]) -> str:
    """What the families were worth, the best first."""
    ordered = sorted(found.items(), key=lambda entry: -entry[1])
    return "chosen by leave-one-out, nats a row: " + ", ".join(f"{name} {value:.3f}" for name, value in ordered)


# The naive Bayes classifier for raw tables.


class BayesClassifier(Shown, ChoosingLearner, Predictor, ModelDecider):
    """Naive Bayes for tables as they are: numbers, categories, gaps, values never seen, labels of any type.

    Parameters
    ----------
    smoothing : a number γ added to every count (1 is Laplace's rule, 0 maximum likelihood), an `MEstimate`, "auto" (for
        each column the γ under which its rows are likeliest, each judged without itself), or a mapping of column names
        to any of these.
    priors : None (as counted), "smoothed", "uniform" (maximum likelihood), a mapping of classes to shares,
        or shares in the order of the classes.
    families : None (Gaussian for numbers, categorical for the rest), one name for all columns, or a mapping;
        numbers may be "gaussian", "lognormal", "poisson", "bins" or "auto": the one of these under which the rows of
        `fit` are likeliest, each judged without itself.
    schema : a `Schema`, or a mapping of column names to "numeric", "nominal", "text", "ignored" or "weight".
    text : how text columns become words: a `likely.text.Recipe`, or a mapping of column names to recipes.
    missing : "ignore" (a gap says nothing) or "value" (that a cell is empty is evidence, too).
    unseen : "ignore" (a category never seen says nothing) or "smooth" (it gets the smoothed share of a new value).
    variance : "unbiased" (divide by n − 1) or "ml" (by n).
    variance_floor : least variance of a class, relative to the variance of the whole column.
    weighting : "counts", or "tf-idf": words of a text weigh more the fewer texts have them.
    normalise : with the family "complement" for a text, scale the weights of each class to the same sum.
    bins : with the family "bins" for a number, at most so many bins of about equal weight; the default is 10.
    weights : None, or "learned": every column gets an exponent from 0 up, so that what columns say in common is not
        counted again and again. They are learned from the rows of `fit`, each judged without itself; after learning
        more, forgetting or merging they stay as they are, `weights_stale_` says so, and `refresh` learns them anew.
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
        text: Any = None,
        missing: Missing = "ignore",
        unseen: Unseen = "ignore",
        variance: Variance = "unbiased",
        variance_floor: float = 1e-9,
        weighting: Weighting = "counts",
        normalise: bool = False,
        bins: int = 10,
        weights: Literal["learned"] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.priors = priors
        self.families = families
        self.schema = schema
        self.text = text
        self.missing = missing
        self.unseen = unseen
        self.variance = variance
        self.variance_floor = variance_floor
        self.weighting = weighting
        self.normalise = normalise
        self.bins = bins
        self.weights = weights
        self.n_jobs = n_jobs

    def resettle(self, **changes: Unpack[Changes]) -> Self:
        """Change smoothing, priors, families or any other belief after training; needs no data.

        >>> clf = BayesClassifier().fit({"sky": ["grey", "blue"]}, ["wet", "dry"])
        >>> clf.resettle(smoothing=0, priors="uniform").predict_proba({"sky": ["blue"]}).tolist()
        [[1.0, 0.0]]
        """
        return self._resettle(changes)

    def _for_density(self) -> Self:
        """Novelty is judged by densities, which have no weights."""
        if self.weights is None:
            return super()._for_density()
        return copy(self)._resettle({"weights": None})._for_density()

    def _settings(self, columns: tuple[str, ...]) -> Settings:
        return Settings(
            smoothing=smoothing_by_column(self.smoothing, columns, auto=True),
            missing=checked("missing", self.missing),
            unseen=checked("unseen", self.unseen),
            unbiased=checked("variance", self.variance) == "unbiased",
            variance_floor=not_negative("variance_floor", self.variance_floor),
            weighting=checked("weighting", self.weighting),
            normalise=bool(self.normalise),
            bins=at_least_one("bins", self.bins),
        )
