"""The naive Bayes classifier for raw tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Self, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely.arrays import Array
from likely.engines.in_place import counted_schema
from likely.engines.plan import Families, Task
from likely.errors import SettingsError
from likely.families import Settings, Smoothing
from likely.families.select import best_of, chosen_smoothing, likelihoods
from likely.models.classifier import warn_if_unsaved
from likely.models.feature_weights import FeatureWeights, learn_feature_weights, placed, read_weights
from likely.models.learner import Learner
from likely.models.settings import (
    Changes,
    Missing,
    SmoothingLike,
    Unseen,
    Variance,
    Weighting,
    are_bins,
    is_floor,
    is_smoothing,
    is_truth,
    member_of,
    one_of,
    optional,
    parameter,
)
from likely.parallel import run
from likely.scorer import Model, evidence_for
from likely.stats import Histogram, Part, Summary
from likely.store.container import Document
from likely.table import Labelling, RowsLike, Weights, index_levels

AUTO = "auto"


@dataclass(kw_only=True, eq=False, repr=False)
class BayesClassifier(Learner):
    """Naive Bayes for tables as they are: numbers, categories, missing and unseen values, labels of any type.

    Parameters
    ----------
    smoothing : a number γ added to every count (1 is Laplace's rule, 0 maximum likelihood), an `MEstimate`, "auto" (for
        each column the γ with the highest leave-one-out likelihood), or a mapping of column names
        to any of these.
    priors : None (as counted), "smoothed", "uniform" (maximum likelihood), a mapping of classes to proportions,
        or proportions in the order of the classes.
    families : None (Gaussian for numbers, categorical for the rest), one name for all columns, or a mapping;
        numbers may be "gaussian", "lognormal", "poisson", "bins" or "auto": the one of these with the highest
        leave-one-out likelihood of the rows of `fit`.
    schema : a `Schema`, or a mapping of column names to "numeric", "nominal", "text", "ignored" or "weight".
    text : how texts are split into words: a `likely.text.Tokenizer`, or a mapping of column names to them.
    missing : "ignore" (a missing value contributes nothing) or "value" (being missing counts as a value).
    unseen : "ignore" (an unseen category contributes nothing) or "smooth" (it gets the proportion of a new value).
    variance : "unbiased" (divide by n − 1) or "ml" (by n).
    variance_floor : smallest variance of a class, relative to the variance of the whole column.
    weighting : "counts", or "tf-idf": the fewer texts contain a word, the more it weighs.
    normalise : with the family "complement" for a text, scale the weights of each class to the same sum.
    bins : with the family "bins" for a number, at most this many bins of about equal weight; the default is 10.
    weights : None, or "learned": every column gets an exponent of at least 0, so that information that columns share
        is not counted repeatedly. They are learned from the rows of `fit`, by leave-one-out; after learning more,
        forgetting or merging they stay as they are, `weights_stale_` says so, and `refresh` learns them again.
    n_jobs : number of threads; None for all cores. Results do not depend on it.

    >>> clf = BayesClassifier().fit({"sky": ["grey", "grey", "blue"], "wind": [7.0, 8.0, 2.0]}, ["wet", "wet", "dry"])
    >>> clf.predict({"wind": [6.5], "sky": ["green"]}).tolist()
    ['wet']
    """

    smoothing: SmoothingLike = parameter(1.0, partial(is_smoothing, auto=True))
    missing: Missing = parameter("ignore", member_of(Missing))
    unseen: Unseen = parameter("ignore", member_of(Unseen))
    variance: Variance = parameter("unbiased", member_of(Variance))
    variance_floor: float = parameter(1e-9, is_floor)
    weighting: Weighting = parameter("counts", member_of(Weighting))
    normalise: bool = parameter(False, is_truth)
    bins: int = parameter(10, are_bins)
    weights: Literal["learned"] | None = parameter(None, optional(one_of("learned")))

    def fit(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self:
        """Forget everything, then learn these rows. `y` may also name a column of the table."""
        task = self._task(X, y, sample_weight)  # families that are left open are chosen by the rows
        warn_if_unsaved(task.rows.classes)
        summary = task.count()
        settings = self._settings_for(summary, task.assigned)  # and smoothing by the counts
        learned = self._learned_weights(task, summary, settings) if self._wants_weights() else None
        weights = (None, None) if learned is None else (learned.weights, learned.offsets)
        model = Model.settle(summary, task.assigned, self.priors, settings, *weights)
        self.exponents_ = learned
        self._remember_columns(counted_schema(task, summary), named=task.rows.table.named)
        return self._keep(summary, task.assigned, model)

    def resettle(self, **changes: Unpack[Changes]) -> Self:
        """Change smoothing, priors, families or other settings after training; needs no data.

        >>> clf = BayesClassifier().fit({"sky": ["grey", "blue"]}, ["wet", "dry"])
        >>> clf.resettle(smoothing=0, priors="uniform").predict_proba({"sky": ["blue"]}).tolist()
        [[1.0, 0.0]]
        """
        return self._resettle(changes)

    def refresh(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self:
        """Learn the column weights again from rows that have been learned: all of them, or a representative sample."""
        check_is_fitted(self)
        if not self._wants_weights():
            raise SettingsError("There are no weights to refresh: ask for them by weights='learned'.")
        task = self._task_of(X, y, sample_weight)
        settings = self._settings_for(self.summary_, task.assigned)
        self.exponents_ = self._learned_weights(task, self.summary_, settings)
        return super()._settle(self.summary_, self.families_)

    @property
    def adds_up(self) -> bool:
        """Whether everything follows from a summary; learned weights and chosen families need the rows."""
        return self.weights is None and not self._is_open()

    @property
    def smoothing_(self) -> dict[str, Smoothing]:
        """The smoothing of each column, given or chosen."""
        check_is_fitted(self)
        settings = self._settings_for(self.summary_, self.families_)
        return {name: settings.smoothing_of(name) for name in self.families_}

    @property
    def weights_(self) -> dict[str, float]:
        """The weight of each column: learned, or 1."""
        check_is_fitted(self)
        learned = self._exponents if self.weights is not None else None
        return {name: 1.0 if learned is None else learned.weights[name] for name in self.families_}

    @property
    def weights_stale_(self) -> bool:
        """Whether rows or settings have changed since the weights were learned: `refresh` learns them again."""
        check_is_fitted(self)
        return self.weights is not None and (self._exponents is None or self._exponents.stale)

    @property
    def _exponents(self) -> FeatureWeights | None:
        """Weights of columns and offsets of classes, if any were learned."""
        return self.exponents_ if "exponents_" in vars(self) else None

    def _is_stale(self) -> bool:
        return self.weights_stale_

    # Families that are left open are chosen once, from the rows of `fit`, and then kept (the schema says why): a family
    # needs statistics of its own. Smoothing follows from the counts, so it is chosen whenever they are settled.

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
        seen = task.rows.summarise([Part("histogram", (name,)) for name in wanted])

        def judge(name: str) -> dict[str, float]:
            found = seen.parts[Part("histogram", (name,))]
            return likelihoods(name, found, settings) if isinstance(found, Histogram) else {}

        told = dict(zip(wanted, run(judge, wanted, self.n_jobs), strict=True))
        chosen = {name: best_of(found) for name, found in told.items()}
        schema = task.schema.with_reasons({name: _why(found) for name, found in told.items()})
        return Task(task.rows, schema, {**task.assigned, **chosen}, task.weighted)

    def _settings_for(self, summary: Summary, assigned: Mapping[str, str]) -> Settings:
        settings = self._settings(tuple(assigned))
        given = self.smoothing if isinstance(self.smoothing, Mapping) else dict.fromkeys(assigned, self.smoothing)
        wanted = [name for name, each in given.items() if isinstance(each, str) and each == AUTO]
        if not wanted:
            return settings
        found = chosen_smoothing(evidence_for(assigned, summary), summary.classes.weights, settings)
        more = {name: found[name] for name in wanted if name in found}
        return replace(settings, smoothing={**settings.smoothing, **more})

    # Weights of columns need rows, so they do not follow from the summary: without rows they stay, and are stale.

    def _wants_weights(self) -> bool:
        return self.weights == "learned"

    def _learned_weights(self, task: Task, summary: Summary, settings: Settings) -> FeatureWeights:
        rows = placed(task, summary.classes.labels, self.n_jobs)
        return learn_feature_weights(rows, summary, settings, self.n_jobs)

    def _settle(self, summary: Summary, assigned: Mapping[str, str]) -> Self:
        learned = self._exponents
        if learned is not None:
            places = index_levels(summary.classes.labels.tolist(), self.classes_.tolist())
            offsets = np.where(places < 0, 0.0, np.append(learned.offsets, 0.0)[places])
            self.exponents_ = FeatureWeights(learned.weights, offsets, stale=True)
        return super()._settle(summary, assigned)

    def _resettle(self, changes: Mapping[str, object]) -> Self:
        families, before = changes.get("families"), self._exponents
        if families == AUTO or (isinstance(families, Mapping) and AUTO in families.values()):
            raise SettingsError("To choose families needs the rows: fit again with families='auto'.")
        super()._resettle(changes)
        if before is not None and set(changes) <= {"priors", "n_jobs", "weights"}:
            self.exponents_ = before  # none of these changes what columns say
        return self

    def _weighed_by(self, summary: Summary) -> tuple[Mapping[str, float] | None, Array | None]:
        learned = self._exponents if self._wants_weights() else None
        return (None, None) if learned is None else (learned.weights, learned.offsets)

    def _weights_kept(self) -> dict[str, object] | None:
        return None if self._exponents is None else self._exponents.kept(self.families_)

    def _restore(self, summary: Summary, families: Mapping[str, str], weights: Document | None = None) -> Self:
        """Take on a summary that was counted elsewhere, and weights that go with it; those it has are stale then."""
        if weights is None:
            return self._settle(summary, families)
        self.exponents_ = read_weights(weights, families, len(summary.classes))
        return super()._settle(summary, families)


def _why(found: Mapping[str, float]) -> str:
    """What the families were worth, the best first."""
    ordered = sorted(found.items(), key=lambda entry: -entry[1])
    return "chosen by leave-one-out, nats a row: " + ", ".join(f"{name} {value:.3f}" for name, value in ordered)
