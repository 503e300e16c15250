"""The whole recipe: experts on inner folds, variances chosen there, a mixture, and the final fit on all rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.models.evidence.columns import MANY_ROWS
from likely.models.evidence.encoding import Resolution, Terms
from likely.models.evidence.fitter import FINAL, EncodedData, Expert, Fitter, stack
from likely.models.evidence.folds import inner_folds
from likely.models.evidence.hyperparameters import EXPERTS, Hyperparameters, Seen
from likely.models.evidence.interactions import candidates, unexplained_by
from likely.models.evidence.laplace import seen_by
from likely.models.evidence.predictor import Evidence, by_class
from likely.models.evidence.row_source import MOST_TRIED, RowSource
from likely.models.evidence.search import GRID, InnerCV, Spreads, Trial, VarianceSearch
from likely.models.evidence.solver import log_prior

FIRST_SPREAD, FIRST_PAIR_SPREAD, FIRST_TRIPLE_SPREAD = 4, 3, 4
"""Places in the grid: about 0.3, 0.1 and 0.3."""

WORTH_MORE = {False: (0.02, 2.0), True: (0.005, 0.0)}
"""For few and for many rows: share of the loss, and standard errors, that more terms must have gained before their
number is doubled once more."""

WORTH_TRIPLES = 0.02
LEAST_GAIN = 5e-4
"""A loss that is lower by less than this is as good as the same."""

MOST_SCORES_OF_TRIPLES = 8
FEWEST_ROWS = 10
SCREENED_ROWS = 50_000
"""Rows that terms are looked for in: it is better to see all terms in some rows than some terms in all."""


@dataclass(frozen=True)
class Options:
    """What a user may say about learning."""

    max_pairs: int | None = None
    max_triples: int | None = None
    time_limit: float | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """The best trial so far: its terms in each fold, its variances, and the terms for all rows."""

    trial: Trial
    terms: list[Terms]
    spreads: Spreads
    chosen: Terms


class Learning:
    """One run of the recipe."""

    def __init__(
        self,
        whole: EncodedData[RowSource],
        wishes: Options,
        progress: Callable[[str], None] = lambda text: None,
        began: float | None = None,
    ) -> None:
        self.whole, self.wishes, self.progress = whole, wishes, progress
        self.data = whole.sampled(MOST_TRIED, wishes.seed)
        self.began = time.monotonic() if began is None else began
        self.passes = 0

    def in_time(self) -> bool:
        """Whether there is time for one more trial: a part of it is kept for the final fit."""
        limit = self.wishes.time_limit
        return limit is None or time.monotonic() - self.began < 0.6 * limit

    def run(self) -> Evidence:
        """Learn."""
        rows, frame = self.data.rows, self.data.frame
        if rows.n_classes < 2 or not frame.columns:
            return self._by_texts()
        if len(rows) < FEWEST_ROWS:
            return self._by_columns()
        self.held = InnerCV(self.data, inner_folds(rows.y, self.wishes.seed))
        self.progress("weighing columns")
        weighted, weights, offsets = self._weighted()
        self.progress("correcting columns")
        columns = self._columns()
        self.progress("looking for pairs")
        place = FIRST_PAIR_SPREAD + (GRID.index(columns.spreads[0]) - FIRST_SPREAD) // 2
        stage = self._more(columns, 2, self._usual(self.wishes.max_pairs), place)
        gain, error = self.held.gain(columns.trial.losses, stage.trial.losses)
        few = self.data.rows.n_scores <= MOST_SCORES_OF_TRIPLES
        if few and gain > max(2.0 * error, WORTH_TRIPLES * stage.trial.mean, LEAST_GAIN):
            self.progress("looking for triples")
            triples = self._more(stage, 3, self._usual(self.wishes.max_triples), FIRST_TRIPLE_SPREAD)
            gain, error = self.held.gain(stage.trial.losses, triples.trial.losses)
            if gain > max(error, WORTH_TRIPLES * triples.trial.mean, LEAST_GAIN):
                stage = triples
        self.progress("fitting all rows")
        return self._final(weighted, columns, stage, (weights, offsets))

    def _by_texts(self) -> Evidence:
        """Where no column has anything to say: the prior, and texts if there are any."""
        rows = self.whole.rows
        model = Evidence.empty(self.data.frame, Terms.none(), rows.n_scores, len(self.data.trust), self._usual_ways())
        return replace(model, base=log_prior(rows.class_weights())).plus_texts(self.data.trust)

    def _by_columns(self) -> Evidence:
        """Where there are too few rows to hold any out: columns alone, under the usual variance."""
        return made(self.whole, self._usual_ways())[0]

    def _usual_ways(self) -> Hyperparameters:
        n_columns, classes = len(self.data.frame.columns), self.whole.rows.class_weights()
        return Hyperparameters.usual(n_columns, len(self.data.trust), classes, GRID[FIRST_SPREAD])

    def _usual(self, wished: int | None) -> int:
        """How many terms are worth trying."""
        n_rows, n_columns = len(self.data.rows), len(self.data.frame.columns)
        if wished is not None:
            return wished
        return min(60, 4 * n_columns) if n_rows >= MANY_ROWS else min(30, 2 * n_columns)

    def _weighted(self) -> tuple[Array, Array, Array]:
        """What weighted naive Bayes says of held-out rows; means over the folds of its weights and offsets."""
        frame, scores, weights, offsets = self.data.frame, [], [], []
        starts, _ = frame.coarse.starts()
        for bench, test in zip(self.held.benches, self.held.tests, strict=True):
            found = bench.weighted()
            scores.append(found.scores(test.rows.viewed(frame.coarse.codes, len(starts)).without_offset(), starts))
            weights.append(found.weights)
            offsets.append(found.base - log_prior(bench.data.rows.class_weights()))
        return np.concatenate(scores), np.mean(weights, axis=0), np.mean(offsets, axis=0)

    def _columns(self) -> Stage:
        terms = [Terms.none()] * len(self.held.benches)
        climb = VarianceSearch(self.held, lambda v, warm: self.held.trial(terms, (v, 0.0, 0.0), warm), None)
        place = climb.modest(climb.best(FIRST_SPREAD, self.in_time))
        return Stage(climb.at(place), terms, (GRID[place], 0.0, 0.0), Terms.none())

    def _more(self, before: Stage, order: int, count: int, start: int) -> Stage:
        """The best stage with pairs (2) or triples (3) beside what there was before; that itself if none helps."""
        if not count or not self.in_time():
            return before
        grain = self.data.frame.coarse if order == 2 else self.data.frame.tiny
        options, by_fold = self._options(before, grain, order)
        if not len(options):
            return before
        wished = self.wishes.max_pairs if order == 2 else self.wishes.max_triples
        overall = options[np.argsort(-np.sum(by_fold, axis=0), kind="stable")]
        ranked = [options[np.argsort(-scores, kind="stable")] for scores in by_fold]
        best, place = before, start
        many = len(self.data.rows) >= MANY_ROWS
        share, errors = WORTH_MORE[many]
        while True:
            terms = [_with(old, order, few[:count]) for old, few in zip(before.terms, ranked, strict=True)]
            climb = self._climb(before, order, terms, best.trial)
            place = climb.modest(climb.best(start, self.in_time)) if best is before else place
            trial = climb.at(place)
            chosen = _with(before.chosen, order, overall[:count])
            found = Stage(trial, terms, _at(before, order, GRID[place]), chosen)
            gain, error = self.held.gain(best.trial.losses, trial.losses)
            if gain > 0.0 or best is before:
                best = found
            more = wished is None and (order == 2 or many) and count < len(options) and self.in_time()
            if not more or gain <= max(share * trial.mean, errors * error, LEAST_GAIN):
                return best
            count = min(2 * count, len(options))

    def _climb(self, before: Stage, order: int, terms: list[Terms], warm: Trial) -> VarianceSearch:
        return VarianceSearch(self.held, lambda p, near: self.held.trial(terms, _at(before, order, p), near), warm)

    def _options(self, before: Stage, grain: Resolution, order: int) -> tuple[NDArray[np.int32], list[Array]]:
        """Terms that can be tried, and how promising each is in each fold."""
        n_columns, rows = len(self.data.frame.columns), self.data.rows
        importance = np.sum([expert.importance(n_columns) for expert in before.trial.experts], axis=0)
        looked_at = [bench.rows.sampled(SCREENED_ROWS, self.wishes.seed) for bench in self.held.benches]
        options = candidates(grain, importance, order, rows.n_scores * sum(len(some) for some in looked_at))
        by_fold = []
        for some, expert in zip(looked_at, before.trial.experts, strict=True):
            by_fold.append(unexplained_by(some, grain, options, expert.scores(self.data.frame, some)))
        return options, by_fold

    def _final(self, weighted: Array, columns: Stage, stage: Stage, known: tuple[Array, Array]) -> Evidence:
        held, rows = self.held, self.whole.rows
        scores = [weighted, columns.trial.scores, *([stage.trial.scores] if stage is not columns else [])]
        means = [float(held.share @ held.losses(score)) for score in scores]
        shares = np.zeros(EXPERTS)
        shares[: len(scores)] = stack(scores, held.y, held.share, int(np.argmin(means)))
        classes, (weights, offsets) = rows.class_weights(), known
        spreads = np.array([columns.spreads, stage.spreads])
        terms = stage.chosen if shares[-1] > 0.0 else Terms.none()
        by_label = by_class(offsets[None], rows.n_classes)[0]
        nothing = Seen.nothing(len(self.data.frame.columns), rows.n_scores)
        ways = Hyperparameters(weights, by_label, classes / classes.sum(), terms, shares, spreads, nothing)
        model, passes = made(self.whole, ways, (columns.trial.experts, stage.trial.experts))
        self.passes = held.passes + passes
        return model


def made(
    data: EncodedData[RowSource], ways: Hyperparameters, warm: tuple[Sequence[Expert], Sequence[Expert]] = ((), ())
) -> tuple[Evidence, int]:
    """A model of all rows in ways that are known, and the passes that it took; `warm` says where to begin."""
    bench = Fitter(data, FINAL)
    model = Evidence.empty(data.frame, ways.terms, data.rows.n_scores, len(data.trust), ways)
    if ways.shares[0] > 0.0:
        model = model.plus_weighted(bench.weighted(), float(ways.shares[0]))
    for share, terms, spreads, begin in zip(
        ways.shares[1:], (Terms.none(), ways.terms), ways.spreads.tolist(), warm, strict=True
    ):
        if share > 0.0:
            model = model.plus(bench.expert(terms, spreads, begin), float(share))
    model = model.plus_texts(ways.shares[1:].sum() * data.trust)
    return replace(model, ways=replace(ways, seen=seen_by(model, data))), bench.passes


def _with(terms: Terms, order: int, more: NDArray[np.int32]) -> Terms:
    return replace(terms, pairs=more) if order == 2 else replace(terms, triples=more)


def _at(stage: Stage, order: int, spread: float) -> Spreads:
    v, p, _ = stage.spreads
    return (v, spread, 0.0) if order == 2 else (v, p, spread)
