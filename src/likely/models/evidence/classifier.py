"""The classifier that corrects naive Bayes for what columns say twice, and together."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely.arrays import Array
from likely.engines.plan import recipes_for
from likely.errors import DataError, ModelFileError, SettingsError
from likely.explain.credible import around, check_level, is_counted
from likely.families.uncertainty import trigamma
from likely.models.classifier import Persistable, Predicting
from likely.models.decision import Decider
from likely.models.evidence.codec import read_evidence, write_evidence
from likely.models.evidence.counts import by_code, counted_parts
from likely.models.evidence.explain import EvidenceLooks
from likely.models.evidence.fit import Learning, Options
from likely.models.evidence.fitter import EncodedData
from likely.models.evidence.laplace import Certainty
from likely.models.evidence.predictor import AdditivePredictor, Evidence
from likely.models.evidence.prepare import Reading, make_ready
from likely.models.evidence.row_source import RowSource
from likely.models.evidence.text_scores import FAMILY, Words
from likely.models.evidence.updates import EvidenceAdding, GivenRows
from likely.parallel import WorkerPool, n_threads, one_thread_each
from likely.scorer import class_prior
from likely.stats import Summary
from likely.store import Reader, Writer
from likely.store.summaries import read_summary, write_summary
from likely.table import Labels, Table, as_table, labels_of
from likely.table.labels import row_weights
from likely.table.schema import Schema, schema_for

FORM = 2
"""Of what was learned, in a file. The first form had counted bins, which cannot be cut anew."""


class EvidenceClassifier(
    EvidenceLooks, EvidenceAdding, Predicting, Persistable, ClassifierMixin, BaseEstimator, Decider
):
    """Evidence that adds up: one table per column and per chosen pair or triple of columns, fitted jointly.

    Every prediction is a prior plus contributions, as in naive Bayes; but what two columns say twice counts once, and
    what they say only together is heard. How much the tables may say is chosen on rows that are held out.

    Parameters
    ----------
    max_pairs : pairs of columns that get a table of their own; None to choose the number on held-out rows.
    max_triples : the same for three columns together; they are tried only where pairs have helped.
    time_limit : seconds after which no further trial is begun; None for no limit. What is learned then may differ.
    priors : None (as counted), "uniform", a mapping of classes to shares, or shares in the order of the classes.
    schema : a `Schema`, or a mapping of column names to "numeric", "nominal", "text", "ignored" or "weight".
    text : how text columns become words: a `likely.text.Tokenizer`, or a mapping of column names to tokenizers.
    progress : called with a few words whenever a new step of learning begins.
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

    def __init__(
        self,
        *,
        max_pairs: int | None = None,
        max_triples: int | None = None,
        time_limit: float | None = None,
        priors: Any = None,
        schema: Any = None,
        text: Any = None,
        progress: Callable[[str], None] | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.max_pairs = max_pairs
        self.max_triples = max_triples
        self.time_limit = time_limit
        self.priors = priors
        self.schema = schema
        self.text = text
        self.progress = progress
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def pairs_(self) -> list[tuple[str, ...]]:
        """Names of the columns that have a table together: pairs first, then triples."""
        check_is_fitted(self)
        evidence = self.model_.evidence
        names = [column.name for column in evidence.frame.columns]
        return [tuple(names[place] for place in term) for term in evidence.terms.tuples()]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn these rows. `y` may also name a column of the table."""
        self._wishes()
        table = as_table(X, allow_empty=False)
        target = y if isinstance(y, str) and y in table else None
        schema = None if table.sparse is not None else schema_for(table, target, self.schema)
        given = self._given(table, schema, y, sample_weight)
        recipes = recipes_for(given.table, dict.fromkeys(given.schema.text, FAMILY), self.text)
        self.learn(given.schema, recipes, lambda how: make_ready(given.table, given.labels, given.weight, how))
        if not table.named:
            del self.feature_names_in_
        return self

    def learn(
        self,
        schema: Schema,
        recipes: Mapping[str, Any],
        prepare: Callable[[Reading], tuple[EncodedData[RowSource], Summary]],
    ) -> Self:
        """Forget everything, then learn rows that `prepare` makes ready, wherever they are kept."""
        wishes, began = self._wishes(), time.monotonic()
        with one_thread_each(), WorkerPool(self.n_jobs) as crew:
            data, summary = prepare(Reading(schema, recipes, wishes.seed, crew, self.n_jobs))
            evidence = Learning(data, wishes, self.progress or _silent, began).run()
        self.schema_, self.n_features_in_ = schema, len(schema)
        self.feature_names_in_ = np.array(schema.names, dtype=object)
        return self._remember(evidence, summary, stale=False)

    def _given(self, table: Table, schema: Schema | None, y: Any, sample_weight: Any) -> GivenRows:
        """Rows to learn from, without those that have no weight."""
        if schema is None or table.sparse is not None:
            raise DataError("Evidence needs a dense table; BayesClassifier reads sparse ones.")
        labels = labels_of(y, table)
        given = row_weights(sample_weight, table, schema.weight)
        weight = np.ones(table.n_rows) if given is None else given
        if not weight.sum() > 0.0:
            raise DataError("All rows have weight zero, so there is nothing to learn.")
        if not weight.all():  # a row without weight is as if it were not there
            there = weight > 0.0
            table, weight = table.take(there), weight[there]
            labels = Labels(labels.classes, labels.codes[there])
        return GivenRows(table, schema, labels, weight)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper bound of P(class | row): with probability `level` it lies between them, by the rows learned.

        Laplace's approximation: around the fitted tables their coefficients are taken for normal, with the curvature of
        up to 500 of the rows learned, weighed to stand for all. The interval is normal in the log-odds of a class. How
        much tables may say is the most that these rows do not refuse, and pairs of columns count whether they were
        found or not. Texts are taken for known.
        """
        table = self._read(X)
        check_level(level)
        if self.stale_:
            raise SettingsError(
                "The corrections are stale, so nobody knows how sure they are: call refresh(X, y) first."
            )
        believed = self.model_.posterior(table, in_logs=False, n_jobs=self.n_jobs)
        if len(self.classes_) < 2:
            return believed, believed
        with one_thread_each():
            variance = Certainty(self.model_.evidence).variances(self.model_.codes(table, self.n_jobs))
        if is_counted(self.priors):
            weights = np.maximum(self.summary_.classes.weights, 1.0)
            variance = variance + trigamma(weights) + trigamma(np.maximum(weights.sum() - weights, 1.0))
        return around(believed, variance, believed, level)

    def recount(self, summary: Summary) -> Self:
        """Settle on other counts of the same columns, say of files; corrections are stale from then on."""
        check_is_fitted(self)
        return self._counted_anew(summary)

    def with_priors(self, priors: Any) -> Self:
        """Another classifier with the same evidence, but other priors."""
        check_is_fitted(self)
        other = copy(self)
        other.priors = priors
        return other._remember(self.model_.evidence, self.summary_, stale=self.stale_)

    def _remember(self, evidence: Evidence, summary: Summary, *, stale: bool) -> Self:
        classes = summary.classes
        known = self.schema_.text if len(classes) else ()
        words = tuple(Words.settle(name, summary) for name in known)
        columns = self.schema_.features
        prior = class_prior(self.priors, classes) if len(classes) else np.zeros(0)
        self.model_ = AdditivePredictor(classes.labels, columns, prior, evidence, words)
        self.summary_, self.classes_, self.stale_ = summary, classes.labels, stale
        if not stale:
            self._corrected = evidence
        kinds = {"numeric": "bins", "nominal": "levels", "text": FAMILY}
        self.families_ = {name: kinds[self.schema_.kinds[name]] for name in columns}
        return self

    def _wishes(self) -> Options:
        n_threads(self.n_jobs)
        for name in ("max_pairs", "max_triples"):
            given = getattr(self, name)
            if given is not None and not (isinstance(given, int | np.integer) and given >= 0):
                raise SettingsError(f"{name} is {given!r}, but it is a number from 0 up, or None.")
        limit: Any = self.time_limit
        if limit is not None and not (isinstance(limit, int | float) and limit > 0.0):
            raise SettingsError(f"time_limit is {limit!r}, but it is a number of seconds above 0, or None.")
        seed: Any = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(seed.randint(2**31 - 1))
        if seed is not None and not (isinstance(seed, int | np.integer) and seed >= 0):
            raise SettingsError(f"random_state is {seed!r}, but it is a whole number from 0 up.")
        return Options(self.max_pairs, self.max_triples, limit, 0 if seed is None else int(seed))

    def _read(self, X: Any) -> Table:
        """A table to predict for, under the names of the schema."""
        check_is_fitted(self)
        if not len(self.classes_):
            raise DataError("All rows have been forgotten: learn some before predicting.")
        return self.schema_.align(as_table(X, allow_empty=False), type(self).__name__)

    def _prior_shares(self) -> Array:
        return self.model_.prior

    def _evidence(self, X: Any, ordinary: Mapping[str, float]) -> Array:
        raise SettingsError("Evidence tells classes apart and has no density of rows, so novel ones cannot be told.")

    def _rows_learned(self) -> int:
        return self.summary_.n_rows

    def _write_learned(self, writer: Writer) -> Any:
        return {
            "form": FORM,
            "summary": write_summary(self.summary_, writer),
            "evidence": write_evidence(self.model_.evidence, writer),
            "stale": self.stale_,
            "corrected": write_evidence(self._corrected, writer) if self.stale_ and self._corrected else None,
        }

    def _read_learned(self, data: Any, reader: Reader) -> None:
        self._wishes()
        if data.get("form") != FORM:
            raise ModelFileError("its evidence was counted in a form that this version does not read; fit it anew")
        summary = read_summary(data["summary"], reader)
        stale, empty = data["stale"], not len(self.classes_)
        counted = summary.classes.labels.tolist() == self.classes_.tolist() and type(stale) is bool
        if not counted or not (summary.classes.weights.sum() > 0.0 or (empty and stale)):
            raise DataError("its counts are not those of its classes")
        if set(summary.parts) != set(counted_parts(self.schema_, texts=True)):
            raise DataError("its counts are not those of its columns")
        evidence = read_evidence(data["evidence"], reader, len(self.classes_), len(self.schema_.text))
        names = [column.name for column in evidence.frame.columns]
        if [*names, *self.schema_.text] != sorted(self.schema_.features, key=[*names, *self.schema_.text].index):
            raise DataError("its evidence is not about the columns of its schema")
        for column in evidence.frame.columns:
            by_code(column, summary)  # refuses counts that do not fall into its bins
        last = data["corrected"]
        self._corrected = None if last is None else read_evidence(last, reader, len(self.classes_), evidence.texts.size)
        self._remember(evidence, summary, stale=stale)

    def save(self, path: Any, sources: Any = ()) -> None:
        """Write the fitted classifier to a file, whole or not at all; `likely.load` reads it again."""
        check_is_fitted(self)
        kept = copy(self)
        kept.progress = None  # a function cannot be saved
        Persistable.save(kept, path, sources)

    def __sklearn_tags__(self) -> Tags:
        tags = cast(Tags, super().__sklearn_tags__())
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _silent(text: str) -> None:
    """Nobody asked."""
