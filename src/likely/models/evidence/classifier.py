"""The classifier that corrects naive Bayes for columns that repeat each other, and for interactions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely.arrays import Array
from likely.engines.connect import is_relation
from likely.engines.gpu import is_on_device
from likely.engines.in_place import counted_schema
from likely.engines.memory import Preprocessing
from likely.engines.memory import Rows as TableRows
from likely.engines.plan import preprocessing_in, tokenizers_for
from likely.errors import SettingsError
from likely.explain import Explanation, rank
from likely.explain.credible import check_level
from likely.models import prediction
from likely.models.classifier import Classifier, TrainingRows, warn_if_unsaved
from likely.models.display import learned_page
from likely.models.evidence import inspection, prepare, updates
from likely.models.evidence.codec import Learned, read_learned, write_learned
from likely.models.evidence.explain import TOLD_STALE, explanation, interval, terms_page
from likely.models.evidence.fit import DEPTHS, STEPS, Depth, EvidenceFit, Options
from likely.models.evidence.in_place import at_hand, further_rows, judge_in_place, prepare_in_place
from likely.models.evidence.on_device import log_joint_on_device
from likely.models.evidence.predictor import AdditiveModel, AdditivePredictor, Hyperparameters, text_scorers
from likely.models.evidence.sql import sql_posterior
from likely.models.evidence.text_scores import FAMILY
from likely.models.learner import refuse_other_families
from likely.models.settings import (
    COMMON,
    Check,
    ClassWeight,
    SchemaLike,
    TokenizerLike,
    are_class_weights,
    are_tokenizers,
    check_settings,
    is_positive,
    is_progress,
    is_random_state,
    one_of,
    optional,
    whole_from,
)
from likely.parallel import WorkerPool, one_thread_each
from likely.progress import Shown, StepBar
from likely.scorer import Model, Priors, ScoredRows
from likely.stats import Summary
from likely.store import Reader, Writer
from likely.table import Labelling, RowsLike, Table, Weights, index_levels
from likely.table.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


class EvidenceClassifier(Classifier):
    """Evidence that adds up: one table per column and per chosen pair or triple of columns, fitted jointly.

    Every prediction is a prior plus contributions, as in naive Bayes; but information that columns share
    counts once, and their interactions count as well. How strong their effects may be is chosen on held-out rows.

    Parameters
    ----------
    depth : how many columns may act together: "columns" (each alone), "pairs", "triples", or "rest": besides the
        tables, a quadratic discriminant of the numbers and, from 2,000 rows on, trees, if they help on held-out rows.
    max_pairs : pairs of columns that get a table of their own; None to choose the number on held-out rows.
    max_triples : the same for three columns together; they are tried only where pairs have helped.
    time_limit : seconds after which no further trial is started; None for no limit. With one, the model may vary.
    priors : None (as counted), "uniform", a mapping of classes to proportions, or a list in the order of the classes.
    class_weight : None, "balanced", or a mapping of classes to weights that multiply the priors.
    schema : a `Schema`, or a mapping of column names to "numeric", "nominal", "text", "ignored" or "weight".
    text : how texts are split into words: a `likely.text.Tokenizer`, or a mapping of column names to them.
    progress : True for a progress bar, None for one on a terminal only, or a function that is told of each step.
    random_state : for the rows that are held out. The same rows and the same number give the same model.
    n_jobs : number of threads; None for all cores. Results do not depend on it.

    >>> table = {"a": [0, 0, 1, 1] * 10, "b": [0, 1, 0, 1] * 10}
    >>> clf = EvidenceClassifier(schema={"a": "nominal", "b": "nominal"}).fit(table, ["no", "yes", "yes", "no"] * 10)
    >>> clf.predict({"a": [0, 1], "b": [1, 1]}).tolist(), clf.pairs_
    (['yes', 'no'], [('a', 'b')])
    """

    model_: AdditivePredictor
    summary_: Summary
    families_: dict[str, str]
    stale_: bool
    _corrected: AdditiveModel | None

    setting_checks: ClassVar[Mapping[str, Check]] = {
        **COMMON,
        "depth": one_of(*DEPTHS),
        "max_pairs": optional(whole_from(0)),
        "max_triples": optional(whole_from(0)),
        "time_limit": optional(is_positive),
        "class_weight": are_class_weights,
        "text": are_tokenizers,
        "progress": is_progress,
        "random_state": is_random_state,
    }

    def __init__(
        self,
        *,
        depth: Depth = "rest",
        max_pairs: int | None = None,
        max_triples: int | None = None,
        time_limit: float | None = None,
        priors: Priors = None,
        class_weight: ClassWeight = None,
        schema: SchemaLike = None,
        text: TokenizerLike = None,
        progress: Shown = False,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.depth = depth
        self.max_pairs = max_pairs
        self.max_triples = max_triples
        self.time_limit = time_limit
        self.priors = priors
        self.class_weight = class_weight
        self.schema = schema
        self.text = text
        self.progress = progress
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def pairs_(self) -> list[tuple[str, ...]]:
        """Names of the columns that have a table together: pairs first, then triples."""
        check_is_fitted(self)
        return self.model_.evidence.term_names()

    def fit(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self:
        """Learn these rows, and forget all others. `y` may also name a column of the table."""
        self._options()
        if is_relation(X):
            task = judge_in_place(X, y, sample_weight, self.schema, self.text, self.n_jobs)
            self._learn(task.schema, lambda context: prepare_in_place(task, context))
            self._remember_columns(counted_schema(task, self.summary_))
            return self
        given = updates.rows_with_weight(self._training_rows(X, y, sample_weight))
        warn_if_unsaved(given.labels.classes)
        tokenizers = tokenizers_for(given.table, dict.fromkeys(given.schema.text, FAMILY), self.text)
        rows = self._rows(given, tokenizers)
        self._learn(given.schema, lambda context: prepare.prepare_rows(rows, context))
        self._remember_columns(given.schema, named=given.table.named)
        return self

    def _learn(self, schema: Schema, preparation: prepare.Preparation) -> Self:
        """Forget everything, then learn rows that `preparation` makes ready, wherever they are kept."""
        options, started = self._options(), time.monotonic()
        bar = StepBar(len(STEPS), "step", self.progress, STEPS)
        with one_thread_each():
            data, summary = preparation(prepare.FitContext(schema, options.seed, WorkerPool(self.n_jobs)))
            evidence = EvidenceFit(data, options, bar, started).run()
        bar.end()
        self._remember_columns(schema)
        return self._remember(evidence, summary, stale=False)

    def _rows(self, given: TrainingRows, tokenizers: Preprocessing) -> TableRows:
        labels = given.labels
        return TableRows(given.table, labels.classes, labels.codes, given.weight, self.n_jobs, tokenizers)

    def _read(self, X: RowsLike) -> Table:
        return updates.column_by_column(super()._read(X))

    def _further(self, X: RowsLike, y: Labelling, sample_weight: Weights) -> TableRows:
        """Further rows, without those that have no weight."""
        tokenizers = preprocessing_in(self.summary_)
        if is_relation(X):
            return further_rows(X, y, sample_weight, self.schema_, tokenizers)
        return self._rows(updates.rows_with_weight(self._further_rows(X, y, sample_weight)), tokenizers)

    # Learning on, forgetting and merging, by counts.

    def partial_fit(self, X: RowsLike, y: Labelling, classes: object = None, sample_weight: Weights = None) -> Self:
        """Count more rows; new classes and categories are fine. From then on corrections are stale, see `refresh`.

        `classes` is accepted because scikit-learn's tools pass it; nothing needs to be known beforehand.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, sample_weight)
        return self._recount(self.summary_ + prepare.count_rows(self._further(X, y, sample_weight), self.schema_))

    def forget(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self:
        """Take rows out of the counts; from then on corrections are stale, see `refresh`."""
        check_is_fitted(self)
        return self._recount(self.summary_ - prepare.count_rows(self._further(X, y, sample_weight), self.schema_))

    def merge(self, other: Self) -> Self:
        """Add what another classifier of the same columns has counted; corrections are stale from then on.

        Bins and categories follow from what both have counted. Column weights are averaged, weighted by rows;
        pairs and variances, for the next `refresh`, come from the one that has counted more.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        refuse_other_families(self.families_, other.families_)
        summary = self.summary_ + other.summary_
        labels, weights = summary.classes.labels, summary.classes.weights
        chosen = updates.merge_hyperparameters(self._side(), other._side(), labels, weights)
        more = self if self.summary_.n_rows >= other.summary_.n_rows else other
        return self._fall_back(chosen, summary, more)

    def __add__(self, other: Self) -> Self:
        """A third classifier that has counted the rows of both."""
        check_is_fitted(self)
        return copy(self).merge(other)

    def emptied(self) -> Self:
        """Another classifier with the same column weights that has not counted any rows yet, to be merged later."""
        check_is_fitted(self)
        return copy(self)._recount(self.summary_ - self.summary_)

    def refresh(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self:
        """Correct the model again with rows that have been counted: all of them, or a representative sample.

        Bins follow from the counts. Terms, variances and mixing weights stay as they were chosen by `fit`, so nothing
        is searched for, and it starts from the last corrections. Counts and priors stay as well.
        """
        check_is_fitted(self)
        options = self._options()
        rows = at_hand(self._further(X, y, sample_weight), self.schema_, options.seed)
        before, last = self.model_.evidence, self._corrected
        evidence = updates.corrected_anew(before, last, self.summary_, rows, self.schema_, options)
        return self._remember(evidence, self.summary_, stale=False)

    def _is_stale(self) -> bool:
        return self.stale_

    def _recount(self, summary: Summary) -> Self:
        """Settle on other counts of the same columns, say of files; corrections are stale from then on."""
        check_is_fitted(self)
        places = index_levels(summary.classes.labels.tolist(), self.classes_.tolist()).astype(np.intp)
        chosen = self.model_.evidence.hyperparameters.for_classes(places, summary.classes.weights)
        return self._fall_back(chosen, summary, self)

    def _fall_back(self, chosen: Hyperparameters, summary: Summary, last: Self) -> Self:
        """Weighted naive Bayes; the last corrections are kept to begin the next ones with, if classes are the same."""
        same = summary.classes.labels.tolist() == last.classes_.tolist()
        self._corrected = replace(last._corrected, texts=()) if same and last._corrected else None
        return self._remember(updates.weighted_nb_from_counts(chosen, summary, self.schema_), summary, stale=True)

    def _side(self) -> updates.MergedModel:
        evidence = self.model_.evidence
        columns = (*evidence.encoding.names, *self.schema_.text)
        return updates.MergedModel(evidence.hyperparameters, columns, self.classes_, self.summary_.n_rows)

    # Predicting.

    predict = prediction.predict
    predict_proba = prediction.predict_proba
    predict_log_proba = prediction.predict_log_proba
    predict_joint_log_proba = prediction.predict_joint_log_proba
    explain = prediction.explain
    _scores = prediction.scores
    _sql_posterior = sql_posterior

    def _log_joint(self, X: RowsLike) -> ScoredRows:
        if is_on_device(X):
            return log_joint_on_device(self.model_, self._read_on_device(X))
        table = self._read(X)
        return self.model_.log_joint(table, self.n_jobs)

    def _explanation(self, X: RowsLike) -> Explanation:
        """Where rows were counted since the last fit, the first contribution says that corrections are stale."""
        table = self._read(X)
        return explanation(self.model_, table, stale=self.stale_)

    def predict_interval(self, X: RowsLike, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper bound of P(class | row): with probability `level` it lies between them, given the rows.

        Laplace's approximation: around the fitted tables, the coefficients are treated as normal, with the curvature of
        up to 500 of the rows learned, weighted to stand for all. The interval is normal in the log-odds of a class.
        The effects of tables may be as large as these rows do not rule out, and pairs of columns count whether they
        were found or not. Texts are treated as known.
        """
        table = self._read(X)
        check_level(level)
        if self.stale_:
            raise SettingsError(
                "The corrections are stale, so nobody knows how sure they are: call refresh(X, y) first."
            )
        return interval(self.model_, self.summary_.classes.weights, self.priors, table, level, self.n_jobs)

    # Explaining.

    table_of = inspection.table_of
    plot_table = inspection.plot_table
    plot_pair = inspection.plot_pair
    nomogram = inspection.nomogram
    next_measurement = inspection.next_measurement
    unseen_values = inspection.unseen_values
    rank_words = inspection.rank_words
    telling_values = inspection.telling_values

    def _column_information(self) -> pd.DataFrame:
        by_counts = Model(self.model_.classes, self.model_.columns, self.model_.prior, ())
        return rank(by_counts, prepare.binned_summary(self.model_.evidence.encoding, self.summary_), self.summary_)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        told = f" ({TOLD_STALE})" if self.__sklearn_is_fitted__() and self.stale_ else ""
        return str(super().__repr__(N_CHAR_MAX)) + told

    def _page(self) -> str:
        return learned_page(self, terms_page(self.model_.evidence, self.telling_values(), stale=self.stale_))

    def with_priors(self, priors: Priors) -> Self:
        """Another classifier with the same evidence, but other priors."""
        check_is_fitted(self)
        other = copy(self)
        other.priors = priors
        return other._remember(self.model_.evidence, self.summary_, stale=self.stale_)

    def _remember(self, evidence: AdditiveModel, summary: Summary, *, stale: bool) -> Self:
        classes = summary.classes
        words = text_scorers(self.schema_.text, evidence, summary)
        columns = self.schema_.features
        prior = updates.weighted_prior(self.priors, self.class_weight, classes) if len(classes) else np.zeros(0)
        self.model_ = AdditivePredictor(classes.labels, columns, prior, evidence, words)
        self.summary_, self.classes_, self.stale_ = summary, classes.labels, stale
        if not stale:
            self._corrected = evidence
        kinds = {"numeric": "bins", "nominal": "levels", "text": FAMILY}
        self.families_ = {name: kinds[self.schema_.kinds[name]] for name in columns}
        return self

    def _options(self) -> Options:
        check_settings(self)
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(seed.randint(2**31 - 1))
        seed = 0 if seed is None else int(seed)
        return Options.for_depth(self.depth, self.max_pairs, self.max_triples, self.time_limit, seed)

    def _prior_shares(self) -> Array:
        return self.model_.prior

    def _evidence(self, X: RowsLike, ordinary: Mapping[str, float]) -> Array:
        """By naive Bayes from the same counts: evidence tells classes apart and has no density of rows."""
        return prediction.density(inspection.density_model(self), self._read(X), ordinary, self.n_jobs)

    def _ordinary_evidence(self, X: RowsLike) -> dict[str, float]:
        return prediction.ordinary_density(inspection.density_model(self), self._read(X), self.n_jobs)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _rows_learned(self) -> int:
        return self.summary_.n_rows

    def _write_learned(self, writer: Writer) -> object:
        corrected = self._corrected if self.stale_ else None
        return write_learned(Learned(self.summary_, self.model_.evidence, self.stale_, corrected), writer)

    def _read_learned(self, data: Any, reader: Reader) -> None:
        self._options()
        self.progress = False
        found = read_learned(data, reader, self.classes_, self.schema_)
        self._corrected = found.corrected
        self._remember(found.evidence, found.summary, stale=found.stale)
