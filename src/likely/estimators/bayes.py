"""The naive Bayes classifier for raw tables."""

from __future__ import annotations

from copy import copy
from typing import Any, Literal, Self, Unpack

from likely.choices import Changes, Missing, Unseen, Variance, Weighting, at_least_one, checked, not_negative
from likely.estimators.choosing import ChoosingLearner
from likely.estimators.predicting import Predictor
from likely.estimators.showing import Shown
from likely.estimators.weighing import ModelDecider
from likely.families import Settings, smoothing_by_column


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
