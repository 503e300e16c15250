"""The whole fit: experts in inner folds, hyperparameters by their out-of-fold log loss, stacking, refit on all rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from likely.arrays import Array, Int32
from likely.models.evidence.discriminant import USUAL_SETTINGS
from likely.models.evidence.encoding import Resolution, Terms
from likely.models.evidence.ensemble import TreeEnsemble
from likely.models.evidence.fitter import FINAL_TOLERANCE, EncodedData, Expert, Fitter
from likely.models.evidence.laplace import laplace_rows
from likely.models.evidence.predictor import N_EXPERTS, AdditiveModel, Hyperparameters, LaplaceRows, class_scores
from likely.models.evidence.prepare import MANY_ROWS
from likely.models.evidence.rest import (
    TREE_RIDGE,
    DiscriminantCandidate,
    TreeCandidate,
    discriminant_candidate,
    gains_enough,
    plus_rest,
    stacked,
    tree_candidate,
)
from likely.models.evidence.row_source import RowSource, log_prior, max_search_rows
from likely.models.evidence.search import (
    VARIANCE_GRID,
    CVResult,
    InnerCV,
    Variances,
    VarianceSearch,
    candidate_terms,
    inner_folds,
    screening_scores,
)
from likely.progress import StepBar

STEPS = (
    "weighing columns", "correcting columns", "growing trees", "looking for pairs", "looking for triples",
    "fitting all rows",
)  # fmt: skip

START_MAIN, START_PAIR, START_TRIPLE = 4, 3, 4
"""Where the search for each variance begins in the grid: about 0.3, 0.1 and 0.3."""

MIN_GAIN_TO_DOUBLE = {False: (0.02, 2.0), True: (0.005, 0.0)}
"""For few and for many rows: share of the log loss, and standard errors, that more terms must have gained before their
number is doubled once more."""

FIRST_TERMS_PER_COLUMN, MAX_FIRST_TERMS = 2, 30
"""How many interactions are tried first."""

MAX_TERMS_PER_COLUMN = 4
"""To so many interactions for each column their number may be doubled: beside the rest, more gain little for their
time."""

MIN_TRIPLE_GAIN = 0.02
MIN_GAIN = 5e-4
"""A log loss that is lower by less than this is as good as the same."""

MAX_SCORES_WITH_TRIPLES = 8
"""With more scores no triples are looked for. Nor are they beside trees, which see three columns at once anyway, unless
a number of them is wished."""

MAX_SCORES_WITH_PAIRS = 64
"""With more scores a pair has more coefficients than most tables have rows; no pairs are looked for unless a number of
them is wished."""

MIN_ROWS_FOR_CV = 10
MAX_SCREENED_ROWS = 50_000
"""Rows by which interactions are screened: it is better to screen all terms in some rows than some terms in all."""


Depth = Literal["columns", "pairs", "triples", "rest"]
DEPTHS: tuple[Depth, ...] = ("columns", "pairs", "triples", "rest")


@dataclass(frozen=True)
class Options:
    """Options of the user."""

    max_pairs: int | None = None
    max_triples: int | None = None
    time_limit: float | None = None
    seed: int = 0
    rest: bool = True

    @classmethod
    def for_depth(
        cls, depth: Depth, max_pairs: int | None, max_triples: int | None, time_limit: float | None, seed: int
    ) -> Options:
        """As deep as is wished: nothing of more columns is looked for."""
        order = 1 + DEPTHS.index(depth)
        pairs, triples = max_pairs if order > 1 else 0, max_triples if order > 2 else 0
        return cls(pairs, triples, time_limit, seed, depth == "rest")


@dataclass(frozen=True, slots=True, eq=False)
class TermSelection:
    """Terms and variances with their cross-validation; terms are chosen anew in each fold, and once for all rows."""

    cv_result: CVResult
    fold_terms: list[Terms]
    variances: Variances
    terms: Terms


class EvidenceFit:
    """One run of the whole fit on encoded rows."""

    def __init__(
        self,
        data: EncodedData[RowSource],
        options: Options,
        progress: StepBar | None = None,
        started: float | None = None,
    ) -> None:
        self.data, self.options, self.progress = data, options, progress or StepBar(len(STEPS), "step", False, STEPS)
        self.search_data = data.sample(max_search_rows(max(1, data.rows.n_scores)), options.seed)
        self.started = time.monotonic() if started is None else started

    def has_time(self) -> bool:
        """Whether one more candidate may be tried: 40 % of the time limit is kept for the final fit."""
        limit = self.options.time_limit
        return limit is None or time.monotonic() - self.started < 0.6 * limit

    def run(self) -> AdditiveModel:
        """Fit."""
        rows, encoding = self.search_data.rows, self.search_data.encoding
        if rows.n_classes < 2 or not encoding.columns:
            return self._prior_and_texts()
        if len(rows) < MIN_ROWS_FOR_CV:
            return fit_experts(self.data, self._default_hyperparameters())[0]
        self.cv = InnerCV(self.search_data, inner_folds(rows.y, self.options.seed))
        nb_scores, feature_weights, offsets = self._weighted_nb()
        self.progress.step()
        main = self._main_effects()
        self.progress.step()
        discriminant, trees = self._rest()
        self.progress.step()
        self.others = [nb_scores, main.cv_result.scores, *(one.scores for one in (discriminant, trees) if one)]
        start = START_PAIR + (VARIANCE_GRID.index(main.variances[0]) - START_MAIN) // 2
        chosen = self._interactions(main, 2, self._n_terms(self.options.max_pairs), start)
        self.progress.step()
        gain, error = self.cv.paired_gain(self._stacked_losses(main), self._stacked_losses(chosen))
        least = max(2.0 * error, MIN_TRIPLE_GAIN * chosen.cv_result.mean_log_loss, MIN_GAIN)
        if self._looks_for_triples(trees) and gain > least:
            triples = self._interactions(chosen, 3, self._n_terms(self.options.max_triples), START_TRIPLE)
            gain, error = self.cv.paired_gain(chosen.cv_result.log_losses, triples.cv_result.log_losses)
            if gain > max(error, MIN_TRIPLE_GAIN * triples.cv_result.mean_log_loss, MIN_GAIN):
                chosen = triples
        self.progress.step()
        experts = [nb_scores, main.cv_result.scores, *([chosen.cv_result.scores] if chosen is not main else [])]
        found = self._hyperparameters(experts, main, chosen, (feature_weights, offsets), (discriminant, trees))
        questions = () if trees is None else trees.trees
        model = fit_experts(self.data, found, (main.cv_result.experts, chosen.cv_result.experts), questions)[0]
        self.progress.step()
        return model

    def _rest(self) -> tuple[DiscriminantCandidate | None, TreeCandidate | None]:
        """What may stand beside the tables."""
        if not self.options.rest or not self.has_time():
            return None, None
        encoding = self.search_data.encoding
        return discriminant_candidate(self.cv, encoding), tree_candidate(self.cv, encoding, self.has_time)

    def _looks_for_triples(self, trees: TreeCandidate | None) -> bool:
        wished = trees is None or self.options.max_triples is not None
        return wished and self.search_data.rows.n_scores <= MAX_SCORES_WITH_TRIPLES

    def _stacked_losses(self, selection: TermSelection) -> Array:
        """Log losses of held-out rows by these terms together with all other experts."""
        return self.cv.log_losses(stacked(self.cv, [*self.others, selection.cv_result.scores]).scores)

    def _prior_and_texts(self) -> AdditiveModel:
        """Without columns: the prior, and texts if there are any."""
        data, rows = self.data, self.data.rows
        hyperparameters = self._default_hyperparameters()
        model = AdditiveModel.empty(data.encoding, Terms.none(), rows.n_scores, data.n_texts, hyperparameters)
        return replace(model, intercept=log_prior(rows.class_weights())).plus_texts(1.0, data.texts)

    def _default_hyperparameters(self) -> Hyperparameters:
        n_columns, class_weights = len(self.data.encoding.columns), self.data.rows.class_weights()
        default = Hyperparameters.default(n_columns, self.data.n_texts, class_weights, VARIANCE_GRID[START_MAIN])
        if not self.data.n_texts:
            return default
        weights = np.append(default.feature_weights[:n_columns], self.data.texts.nb_weights)
        return replace(default, feature_weights=weights, class_offsets=self.data.texts.nb_offsets)

    def _n_terms(self, limit: int | None) -> int:
        """How many interactions are tried first."""
        n_columns = len(self.search_data.encoding.columns)
        if limit is not None:
            return limit
        if self.search_data.rows.n_scores > MAX_SCORES_WITH_PAIRS:
            return 0
        return min(MAX_FIRST_TERMS, FIRST_TERMS_PER_COLUMN * n_columns)

    def _weighted_nb(self) -> tuple[Array, Array, Array]:
        """Out-of-fold scores of weighted naive Bayes, and means over folds of its feature weights and class offsets."""
        coarse, scores, weights, offsets = self.search_data.encoding.coarse, [], [], []
        starts, _ = coarse.starts()
        for fitter, test in zip(self.cv.fitters, self.cv.held_out, strict=True):
            fitted = fitter.weighted_nb()
            scores.append(fitted.scores(test.rows.recode(coarse.codes, len(starts)).without_offset(), starts))
            weights.append(fitted.feature_weights)
            offsets.append(fitted.intercept - log_prior(fitter.data.rows.class_weights()))
        return np.concatenate(scores), np.mean(weights, axis=0), np.mean(offsets, axis=0)

    def _main_effects(self) -> TermSelection:
        """Main effects, with the variance of the one-standard-error rule."""
        terms = [Terms.none()] * len(self.cv.fitters)
        search = VarianceSearch(self.cv, lambda v, start: self.cv.evaluate(terms, (v, 0.0, 0.0), start), None)
        k = search.one_se(search.climb(START_MAIN, self.has_time))
        return TermSelection(search.result(k), terms, (VARIANCE_GRID[k], 0.0, 0.0), Terms.none())

    def _interactions(self, before: TermSelection, order: int, count: int, start: int) -> TermSelection:
        """The best selection with pairs (order 2) or triples (3) added; the old one if none helps.

        Their number is doubled while that gains enough; their variance is chosen for the first number.
        """
        if not count or not self.has_time():
            return before
        encoding = self.search_data.encoding
        candidates, by_fold = self._screen(before, encoding.coarse if order == 2 else encoding.tiny, order)
        if not len(candidates):
            return before
        limit = self.options.max_pairs if order == 2 else self.options.max_triples
        ranked = candidates[np.argsort(-np.sum(by_fold, axis=0), kind="stable")]
        ranked_by_fold = [candidates[np.argsort(-scores, kind="stable")] for scores in by_fold]
        best, k, best_losses = before, start, self._stacked_losses(before)
        many_rows = len(self.search_data.rows) >= MANY_ROWS
        min_share, min_errors = MIN_GAIN_TO_DOUBLE[many_rows]
        while True:
            terms = [
                _with_terms(old, order, few[:count]) for old, few in zip(before.fold_terms, ranked_by_fold, strict=True)
            ]
            search = self._variance_search(before, order, terms, best.cv_result)
            k = search.one_se(search.climb(start, self.has_time)) if best is before else k
            result = search.result(k)
            variances = _with_variance(before.variances, order, VARIANCE_GRID[k])
            found = TermSelection(result, terms, variances, _with_terms(before.terms, order, ranked[:count]))
            losses = self._stacked_losses(found)
            gain, error = self.cv.paired_gain(best_losses, losses)
            if gain > 0.0 or best is before:
                best, best_losses = found, losses
            most = min(len(candidates), max(count, MAX_TERMS_PER_COLUMN * len(encoding.columns)))
            may_double = limit is None and (order == 2 or many_rows) and count < most and self.has_time()
            if not may_double or gain <= max(min_share * result.mean_log_loss, min_errors * error, MIN_GAIN):
                return best
            count = min(2 * count, most)

    def _variance_search(
        self, before: TermSelection, order: int, terms: list[Terms], warm_start: CVResult
    ) -> VarianceSearch:
        def evaluate(variance: float, start: CVResult | None) -> CVResult:
            return self.cv.evaluate(terms, _with_variance(before.variances, order, variance), start)

        return VarianceSearch(self.cv, evaluate, warm_start)

    def _screen(self, before: TermSelection, resolution: Resolution, order: int) -> tuple[Int32, list[Array]]:
        """Candidate terms, and the screening score of each in each fold."""
        encoding, experts = self.search_data.encoding, before.cv_result.experts
        importance = np.sum([expert.importance(len(encoding.columns)) for expert in experts], axis=0)
        samples = [fitter.rows.sample(MAX_SCREENED_ROWS, self.options.seed) for fitter in self.cv.fitters]
        work_per_term = self.search_data.rows.n_scores * sum(len(rows) for rows in samples)
        candidates = candidate_terms(resolution, importance, order, work_per_term)
        by_fold = [
            screening_scores(rows, resolution, candidates, expert.scores(encoding, rows))
            for rows, expert in zip(samples, experts, strict=True)
        ]
        return candidates, by_fold

    def _hyperparameters(
        self,
        experts: list[Array],
        main: TermSelection,
        chosen: TermSelection,
        weighted_nb: tuple[Array, Array],
        rest: tuple[DiscriminantCandidate | None, TreeCandidate | None],
    ) -> Hyperparameters:
        """Stack the out-of-fold scores of the experts; what stands beside the tables has a weight if it gains."""
        cv, rows, (discriminant, trees) = self.cv, self.data.rows, rest
        best, weights = stacked(cv, experts), np.zeros(N_EXPERTS)
        discriminant_weight = tree_weight = 0.0
        if discriminant is not None:
            more = stacked(cv, [*experts, discriminant.scores])
            if gains_enough(cv, best.scores, more.scores):
                best, discriminant_weight = more, float(more.weights[-1])
        weights[: len(experts)] = best.weights[: len(experts)]
        if trees is not None:
            both = stacked(cv, [best.scores, trees.scores], TREE_RIDGE)
            if gains_enough(cv, best.scores, both.scores):
                share, tree_weight = both.weights.tolist()
                weights, discriminant_weight = share * weights, share * discriminant_weight
        class_weights, (feature_weights, offsets) = rows.class_weights(), weighted_nb
        from_counts = np.append(np.ones(len(self.data.encoding.columns)), self.data.texts.nb_weights)
        return Hyperparameters(
            feature_weights * from_counts,
            class_scores(offsets[None], rows.n_classes)[0],
            class_weights / class_weights.sum(),
            chosen.terms if weights[-1] > 0.0 else Terms.none(),
            weights,
            np.array([main.variances, chosen.variances]),
            LaplaceRows.empty(len(self.data.encoding.columns), rows.n_scores),
            tree_weight,
            trees.n_rounds if trees is not None and tree_weight > 0.0 else 0,
            discriminant_weight,
            USUAL_SETTINGS if discriminant is None else discriminant.settings,
        )


def fit_experts(
    data: EncodedData[RowSource],
    hyperparameters: Hyperparameters,
    warm_start: tuple[Sequence[Expert], Sequence[Expert]] = ((), ()),
    questions: Sequence[TreeEnsemble] = (),
) -> tuple[AdditiveModel, int]:
    """Fit all experts with known hyperparameters to all rows and add them up; also the number of passes over rows.

    `warm_start` has the experts from which main effects and interactions start, `questions` trees of inner folds.
    """
    fitter, h = Fitter(data, FINAL_TOLERANCE), hyperparameters
    model = AdditiveModel.empty(data.encoding, h.terms, data.rows.n_scores, data.n_texts, h)
    nb_weight, *expert_weights = h.stacking_weights.tolist()
    if nb_weight > 0.0:
        model = model.plus_weighted_nb(fitter.weighted_nb(), nb_weight)
    for weight, terms, variances, start in zip(
        expert_weights, (Terms.none(), h.terms), h.variances.tolist(), warm_start, strict=True
    ):
        if weight > 0.0:
            model = model.plus(fitter.expert(terms, variances, start), weight)
    model = plus_rest(model, data.rows, h, questions)
    model = model.plus_texts(h.stacking_weights[1:].sum() + h.tree_weight, data.texts)
    return replace(model, hyperparameters=replace(h, laplace_rows=laplace_rows(model, data))), fitter.passes


def _with_terms(terms: Terms, order: int, more: Int32) -> Terms:
    return replace(terms, pairs=more) if order == 2 else replace(terms, triples=more)


def _with_variance(variances: Variances, order: int, variance: float) -> Variances:
    main, pairs, _ = variances
    return (main, variance, 0.0) if order == 2 else (main, pairs, variance)
