"""The classifier that corrects naive Bayes for what columns say twice, and together."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from likely.arrays import Array
from likely.engines.connections import is_relation
from likely.engines.in_place import counted_schema
from likely.engines.plan import recipes_for
from likely.errors import DataError, ModelFileError, NotMergeable, SettingsError, listed
from likely.explain import Contrast, Explanation, rank
from likely.explain.contrast import target_and_rivals
from likely.explain.credible import check_level
from likely.models.classifier import Classifier, warn_if_unsaved
from likely.models.display import learned_page
from likely.models.evidence.codec import read_evidence, write_evidence
from likely.models.evidence.counts import binned_summary, code_counts, count_plan, weighted_nb_from_counts
from likely.models.evidence.explain import TOLD_STALE, explanation, interval, table_of, terms_page
from likely.models.evidence.fit import EvidenceFit, Options
from likely.models.evidence.hyperparameters import Hyperparameters
from likely.models.evidence.in_place import count_in_place, drawn_rows, judge_in_place, prepare_in_place
from likely.models.evidence.predictor import AdditiveModel, AdditivePredictor
from likely.models.evidence.prepare import FitContext, Preparation, prepare_rows
from likely.models.evidence.settings import CHECKS
from likely.models.evidence.text_scores import FAMILY, TextModel
from likely.models.evidence.updates import (
    GivenRows,
    Side,
    corrected_anew,
    count_further,
    merge_hyperparameters,
    refuse_sparse,
    rows_with_weight,
    ways_for,
)
from likely.models.setting_checks import Check, check_settings
from likely.parallel import WorkerPool, one_thread_each
from likely.scorer import class_prior
from likely.stats import Summary
from likely.store import Reader, Writer
from likely.store.summaries import read_summary, write_summary
from likely.table import Table
from likely.table.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

    from likely.render.picture import Picture

FORM = 2
"""Of what was learned, in a file. The first form had counted bins, which cannot be cut anew."""


class EvidenceClassifier(Classifier):
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
    text : how text columns become words: a `likely.text.Tokenizer`, or a mapping of column names to them.
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
    _corrected: AdditiveModel | None

    setting_checks: ClassVar[Mapping[str, Check]] = CHECKS

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
        names = [column.name for column in evidence.encoding.columns]
        return [tuple(names[place] for place in term) for term in evidence.terms.tuples()]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn these rows. `y` may also name a column of the table."""
        self._options()
        if is_relation(X):
            task = judge_in_place(X, y, sample_weight, self.schema, self.text, self.n_jobs)
            self._learn(task.schema, task.rows.recipes, lambda how: prepare_in_place(task, how))
            self._remember_columns(counted_schema(task, self.summary_))
            return self
        rows = self._training_rows(X, y, sample_weight)
        given = rows_with_weight(rows)
        warn_if_unsaved(given.labels.classes)
        recipes = recipes_for(given.table, dict.fromkeys(rows.schema.text, FAMILY), self.text)
        self._learn(given.schema, recipes, lambda how: prepare_rows(given.table, given.labels, given.weight, how))
        self._remember_columns(given.schema, named=rows.table.named)
        return self

    def _learn(self, schema: Schema, recipes: Mapping[str, Any], prepare: Preparation) -> Self:
        """Forget everything, then learn rows that `prepare` makes ready, wherever they are kept."""
        options, began = self._options(), time.monotonic()
        with one_thread_each(), WorkerPool(self.n_jobs) as crew:
            data, summary = prepare(FitContext(schema, recipes, options.seed, crew, self.n_jobs))
            evidence = EvidenceFit(data, options, self.progress or (lambda text: None), began).run()
        self._remember_columns(schema)
        return self._remember(evidence, summary, stale=False)

    def _schema_of(self, table: Table, target: str | None) -> Schema:
        refuse_sparse(table)
        return super()._schema_of(table, target)

    def _counted_rows(self, X: Any, y: Any, sample_weight: Any) -> GivenRows:
        """Further rows, without those that have no weight; of a table in an engine, a fair sample."""
        if is_relation(X):
            return drawn_rows(X, y, sample_weight, self.schema_, self._options().seed)
        return rows_with_weight(self._further_rows(X, y, sample_weight))

    # EvidenceFit on, forgetting and merging, by counts.

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count more rows; new classes and categories are welcome. Corrections are stale from then on, see `refresh`.

        `classes` is accepted because scikit-learn's tools pass it; nothing needs to be known beforehand.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, sample_weight)
        return self._recount(self.summary_ + self._counted(X, y, sample_weight))

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out of the counts; corrections are stale from then on, see `refresh`."""
        check_is_fitted(self)
        return self._recount(self.summary_ - self._counted(X, y, sample_weight))

    def _counted(self, X: Any, y: Any, sample_weight: Any) -> Summary:
        if is_relation(X):
            return count_in_place(X, y, sample_weight, self.schema_, self.summary_)
        return count_further(self._counted_rows(X, y, sample_weight), self.summary_, self.n_jobs)

    def merge(self, other: Self) -> Self:
        """Add what another classifier of the same columns has counted; corrections are stale from then on.

        Bins and categories follow from what both have counted. Weights of columns are means of both, by their rows;
        pairs and variances, for the next `refresh`, are those of the one that has counted more.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        mine, theirs = self.families_, other.families_
        differing = [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]
        if differing:
            raise NotMergeable(f"The two classifiers do not read {listed(differing)} in the same way.")
        summary = self.summary_ + other.summary_
        ways = merge_hyperparameters(self._side(), other._side(), summary.classes.labels, summary.classes.weights)
        more = self if self.summary_.n_rows >= other.summary_.n_rows else other
        return self._fall_back(ways, summary, more)

    def __add__(self, other: Self) -> Self:
        """A third classifier that has counted the rows of both."""
        check_is_fitted(self)
        return copy(self).merge(other)

    def emptied(self) -> Self:
        """Another classifier with the same weights of columns that has counted no rows yet, to be merged later."""
        check_is_fitted(self)
        return copy(self)._recount(self.summary_ - self.summary_)

    def refresh(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Correct the model anew by rows that have been counted: all of them, or a fair sample with every class.

        Bins follow from the counts. Terms, variances and shares stay as they were chosen when it was fitted, so nothing
        is searched for, and it begins where the last corrections ended. Counts and priors stay, too.
        """
        check_is_fitted(self)
        options = self._options()
        given = self._counted_rows(X, y, sample_weight)
        before, last = self.model_.evidence, self._corrected
        evidence = corrected_anew(before, last, self.summary_, given, options, self.n_jobs)
        return self._remember(evidence, self.summary_, stale=False)

    def _is_stale(self) -> bool:
        return self.stale_

    def _recount(self, summary: Summary) -> Self:
        """Settle on other counts of the same columns, say of files; corrections are stale from then on."""
        check_is_fitted(self)
        ways = ways_for(self.model_.evidence.hyperparameters, self.classes_, summary.classes)
        return self._fall_back(ways, summary, self)

    def _fall_back(self, ways: Hyperparameters, summary: Summary, last: Self) -> Self:
        """Weighted naive Bayes; the last corrections are kept to begin the next ones with, if classes are the same."""
        same = summary.classes.labels.tolist() == last.classes_.tolist()
        self._corrected = last._corrected if same else None
        return self._remember(weighted_nb_from_counts(ways, summary, self.schema_), summary, stale=True)

    def _side(self) -> Side:
        evidence = self.model_.evidence
        columns = (*(column.name for column in evidence.encoding.columns), *self.schema_.text)
        return Side(evidence.hyperparameters, columns, self.classes_, self.summary_.n_rows)

    # Predicting.

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; the first of equals."""
        table = self._read(X)
        return np.asarray(self.classes_[self.model_.choose(table, self.n_jobs)])

    def predict_proba(self, X: Any) -> Array:
        """P(class | row), one column per class in the order of `classes_`."""
        table = self._read(X)
        return self.model_.posterior(table, in_logs=False, n_jobs=self.n_jobs)

    def predict_log_proba(self, X: Any) -> Array:
        """log P(class | row)."""
        table = self._read(X)
        return self.model_.posterior(table, in_logs=True, n_jobs=self.n_jobs)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Log prior and what each column adds, added up per class; normalised, they are the log posterior."""
        table = self._read(X)
        return self.model_.log_joint(table, self.n_jobs)

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
        return interval(self.model_, self.summary_.classes.weights, self.priors, table, level, self.n_jobs)

    # Explaining.

    @overload
    def explain(self, X: Any, contrast: None = None) -> Explanation: ...

    @overload
    def explain(self, X: Any, contrast: Any) -> Contrast: ...

    def explain(self, X: Any, contrast: Any = None) -> Explanation | Contrast:
        """Prior and one contribution per column, pair and triple for each row: they sum to the log joint.

        With `contrast`, log-odds: of one class against another, as in `contrast=("A", "B")`, or against all the rest.
        Where rows were counted since the last fit, the contribution before all columns says that corrections are stale.
        """
        table = self._read(X)
        why = explanation(self.model_, table, stale=self.stale_)
        return why if contrast is None else Contrast.of(why, *target_and_rivals(contrast, why.classes))

    def table_of(self, *columns: str) -> pd.DataFrame:
        """The learned table of a column, a pair or a triple: one line per cell, what it adds for each class.

        Cells are named by bins ("≤ 3.5", "3.5 … 7"), categories, "gap" and "rare"; `weight` is how much was seen of
        each code, for a single column.
        """
        check_is_fitted(self)
        return table_of(self.model_, columns)

    def rank(self) -> pd.DataFrame:
        """Columns by what their bins or categories tell about the class, a gap being a value, in bits; best first."""
        check_is_fitted(self)
        return rank(cast(Any, self.model_), binned_summary(self.model_.evidence.encoding, self.summary_))

    def plot_table(self, *columns: str) -> Picture:
        """What each value of a column adds for each class, a panel per column; without names those that say most."""
        from likely.models.evidence.plot import plot_main_effects

        check_is_fitted(self)
        return plot_main_effects(self, columns or None)

    def plot_pair(self, a: str, b: str) -> Picture:
        """A heat map of what two columns say together, beyond what each says alone."""
        from likely.models.evidence.plot import plot_pair

        check_is_fitted(self)
        return plot_pair(self, a, b)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        stale = self.__sklearn_is_fitted__() and self.stale_
        return str(super().__repr__(N_CHAR_MAX)) + (f" ({TOLD_STALE})" if stale else "")

    def _page(self) -> str:
        return learned_page(self, terms_page(self.model_.evidence, stale=self.stale_))

    def with_priors(self, priors: Any) -> Self:
        """Another classifier with the same evidence, but other priors."""
        check_is_fitted(self)
        other = copy(self)
        other.priors = priors
        return other._remember(self.model_.evidence, self.summary_, stale=self.stale_)

    def _remember(self, evidence: AdditiveModel, summary: Summary, *, stale: bool) -> Self:
        classes = summary.classes
        known = self.schema_.text if len(classes) else ()
        words = tuple(TextModel.settle(name, summary) for name in known)
        columns = self.schema_.features
        prior = class_prior(self.priors, classes) if len(classes) else np.zeros(0)
        self.model_ = AdditivePredictor(classes.labels, columns, prior, evidence, words)
        self.summary_, self.classes_, self.stale_ = summary, classes.labels, stale
        if not stale:
            self._corrected = evidence
        kinds = {"numeric": "bins", "nominal": "levels", "text": FAMILY}
        self.families_ = {name: kinds[self.schema_.kinds[name]] for name in columns}
        return self

    def _options(self) -> Options:
        check_settings(self)
        seed: Any = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(seed.randint(2**31 - 1))
        return Options(self.max_pairs, self.max_triples, self.time_limit, 0 if seed is None else int(seed))

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
        self._options()
        if data.get("form") != FORM:
            raise ModelFileError("its evidence was counted in a form that this version does not read; fit it anew")
        summary = read_summary(data["summary"], reader)
        stale, empty = data["stale"], not len(self.classes_)
        counted = summary.classes.labels.tolist() == self.classes_.tolist() and type(stale) is bool
        if not counted or not (summary.classes.weights.sum() > 0.0 or (empty and stale)):
            raise DataError("its counts are not those of its classes")
        if set(summary.parts) != set(count_plan(self.schema_, texts=True)):
            raise DataError("its counts are not those of its columns")
        evidence = read_evidence(data["evidence"], reader, len(self.classes_), len(self.schema_.text))
        names = [column.name for column in evidence.encoding.columns]
        if [*names, *self.schema_.text] != sorted(self.schema_.features, key=[*names, *self.schema_.text].index):
            raise DataError("its evidence is not about the columns of its schema")
        for column in evidence.encoding.columns:
            code_counts(column, summary)  # refuses counts that do not fall into its bins
        last, n_texts = data["corrected"], evidence.text_weights.size
        self._corrected = None if last is None else read_evidence(last, reader, len(self.classes_), n_texts)
        self._remember(evidence, summary, stale=stale)

    def _settings_kept(self) -> dict[str, Any]:
        return {**super()._settings_kept(), "progress": None}  # a function cannot be saved
