"""The fitted model: one table per column and per chosen pair or triple, an intercept, and weights of texts.

All experts are additive over the same bins, so their weighted sum is one table per term, and a prediction is a sum of
table entries. `AdditiveModel` knows codes, `AdditivePredictor` names of classes and columns; `Hyperparameters` are what
was chosen by inner cross-validation, enough to fit other rows without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from likely.arrays import AnyArray, Array, Flags, Index, Int32, UInt8
from likely.families.export import Tensor
from likely.models.evidence.discriminant import (
    NO_DISCRIMINANT,
    USUAL_SETTINGS,
    DiscriminantSettings,
    QuadraticDiscriminant,
)
from likely.models.evidence.encoding import BinnedNumber, Encoding, Terms, encode_table
from likely.models.evidence.ensemble import NO_TREES, TreeEnsemble
from likely.models.evidence.fitter import Expert
from likely.models.evidence.kernels import add_term_scores
from likely.models.evidence.onnx import evidence_scores
from likely.models.evidence.text_fit import TextFit
from likely.models.evidence.text_scores import CorrectedText, CountedText, TextExpert, TextScorer
from likely.models.evidence.text_scores import class_scores as class_scores
from likely.models.evidence.weighted_nb import WeightedNaiveBayes
from likely.models.feature_weights import default_feature_weight
from likely.numerics import log_of
from likely.scorer import LogJoint, Scorer
from likely.stats import Summary
from likely.store.onnx import OnnxGraph
from likely.table import Table

N_EXPERTS = 3
"""Weighted naive Bayes, main effects, main effects with interactions."""


@dataclass(frozen=True, slots=True, eq=False)
class LaplaceRows:
    """A sample of the training rows, from which predictive intervals are computed (see `laplace`).

    `hessian` is rows × scores, weight · p (1 − p) at the fitted model, scaled to stand for all rows; `weight` is each
    row's own; `prior_log_odds` are the log odds of each class (of two classes, the second) by class prior and texts.
    """

    codes: UInt8
    hessian: Array
    y: Int32
    weight: Array
    prior_log_odds: Array

    @classmethod
    def empty(cls, n_columns: int, n_scores: int) -> LaplaceRows:
        codes, none = np.zeros((0, n_columns), dtype=np.uint8), np.zeros((0, n_scores))
        return cls(codes, none, np.zeros(0, dtype=np.int32), np.zeros(0), none)


@dataclass(frozen=True, slots=True, eq=False)
class Hyperparameters:
    """What was chosen on held-out rows, and what weighted naive Bayes needs to be made from counts alone.

    `feature_weights` are those of weighted naive Bayes, columns first, then texts; `class_offsets` are its intercepts
    beyond the log prior. `class_shares` are those of the last fit. `stacking_weights` has one weight per expert,
    `variances` the prior variances of main effects, pairs and triples (columns) for the last two experts (lines).
    `tree_weight` is the weight of the trees, of which there are `n_rounds`; `discriminant_weight` that of the quadratic
    discriminant.
    """

    feature_weights: Array
    class_offsets: Array
    class_shares: Array
    terms: Terms
    stacking_weights: Array
    variances: Array
    laplace_rows: LaplaceRows
    tree_weight: float = 0.0
    n_rounds: int = 0
    discriminant_weight: float = 0.0
    discriminant: DiscriminantSettings = USUAL_SETTINGS

    @classmethod
    def default(cls, n_columns: int, n_texts: int, class_weights: Array, variance: float) -> Hyperparameters:
        """Where nothing can be cross-validated: main effects alone, under one prior variance."""
        variances = np.zeros((N_EXPERTS - 1, N_EXPERTS))
        variances[:, 0] = variance
        n_weights, n_scores = n_columns + n_texts, 1 if len(class_weights) == 2 else len(class_weights)
        feature_weights = np.full(n_weights, default_feature_weight(n_weights))
        class_shares = class_weights / max(float(class_weights.sum()), 1e-300)
        main_effects, no_rows = np.array([0.0, 1.0, 0.0]), LaplaceRows.empty(n_columns, n_scores)
        offsets = np.zeros(len(class_weights))
        return cls(feature_weights, offsets, class_shares, Terms.none(), main_effects, variances, no_rows)

    def for_classes(self, places: Index, class_weights: Array) -> Hyperparameters:
        """The same for other classes: `places` is where each of them was (−1: it is new), with their weights now.

        Laplace rows belong to the last fit, so they are left out.
        """
        n_scores = 1 if len(class_weights) == 2 else len(class_weights)
        return replace(
            self,
            class_offsets=np.append(self.class_offsets, 0.0)[places],
            class_shares=class_weights / max(float(class_weights.sum()), 1e-300),
            laplace_rows=LaplaceRows.empty(self.laplace_rows.codes.shape[1], n_scores),
        )


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveModel:
    """score = intercept + Σ_terms tables[start of term + cell] + Σ_texts text weight · score of text + rest.

    `tables` is cells × scores, `starts` where the table of each term begins. Two classes have one score, the log odds
    of the second. `texts` has an expert for each text column, and none where naive Bayes scores them from counts. The
    rest is what `trees` and the `discriminant` say; there may be none.
    """

    encoding: Encoding
    terms: Terms
    starts: Int32
    intercept: Array
    tables: Array
    text_weights: Array
    hyperparameters: Hyperparameters
    trees: TreeEnsemble = NO_TREES
    discriminant: QuadraticDiscriminant = NO_DISCRIMINANT
    texts: tuple[TextExpert, ...] = ()

    @classmethod
    def empty(
        cls, encoding: Encoding, terms: Terms, n_scores: int, n_texts: int, hyperparameters: Hyperparameters
    ) -> AdditiveModel:
        """All entries 0."""
        starts = table_starts(encoding, terms)
        tables = np.zeros((int(starts[-1]), n_scores))
        intercept, trees = np.zeros(n_scores), TreeEnsemble.empty(n_scores)
        discriminant, text_weights = QuadraticDiscriminant.empty(n_scores), np.zeros(n_texts)
        return cls(encoding, terms, starts[:-1], intercept, tables, text_weights, hyperparameters, trees, discriminant)

    @property
    def whole_intercept(self) -> Array:
        """The intercept, and those of the texts."""
        texts = zip(self.text_weights.tolist(), self.texts, strict=False)
        return np.asarray(sum((weight * text.intercept for weight, text in texts), self.intercept))

    def plus(self, expert: Expert, weight: float) -> AdditiveModel:
        """With weight · an expert added, whose terms are the first of ours, in the same order."""
        tables = self.tables.copy()
        more = expert.tables()
        tables[: len(more)] += weight * more
        return replace(self, tables=tables, intercept=self.intercept + weight * expert.intercept)

    def plus_weighted_nb(self, fitted: WeightedNaiveBayes, weight: float) -> AdditiveModel:
        """With weight · weighted naive Bayes added; the entry of a coarse bin goes to all of its fine bins."""
        tables = self.tables.copy()
        coarse, _ = self.encoding.coarse.starts()
        for k, column in enumerate(self.encoding.columns):
            fine = slice(int(self.starts[k]), int(self.starts[k]) + column.size)
            tables[fine] += weight * fitted.tables[coarse[k] + column.coarse.astype(np.intp)]
        intercept = self.intercept + weight * fitted.intercept
        text_weights = self.text_weights + weight * fitted.feature_weights[len(self.encoding.columns) :]
        return replace(self, tables=tables, intercept=intercept, text_weights=text_weights)

    def plus_texts(self, weight: float, texts: TextFit) -> AdditiveModel:
        """With weight · the score of every text added."""
        more = weight if texts.experts else weight * texts.nb_weights
        return replace(self, text_weights=self.text_weights + more, texts=texts.experts)

    def plus_trees(self, trees: TreeEnsemble, weight: float, intercept: Array) -> AdditiveModel:
        """With weight · the scores of trees added, which begin at an intercept."""
        return replace(self, trees=trees.scaled(weight), intercept=self.intercept + weight * intercept)

    def plus_discriminant(self, more: QuadraticDiscriminant, weight: float, intercept: Array) -> AdditiveModel:
        """With weight · the scores of a quadratic discriminant added, which begin at an intercept."""
        return replace(self, discriminant=more.scaled(weight), intercept=self.intercept + weight * intercept)

    def rest_columns(self) -> list[str]:
        """The names of the columns of which something beside the tables speaks."""
        names = self.encoding.names
        return [names[k] for k in self._rest_places()]

    def _rest_places(self) -> Index:
        return np.union1d(self.trees.used_columns(), self.discriminant.columns).astype(np.intp)

    def rest_contributions(self, codes: UInt8) -> tuple[Array, Array]:
        """Mean scores of the rest, and rows × its columns × scores: with these they add up to the rest."""
        places = self._rest_places()
        out = np.zeros((len(codes), len(places), len(self.intercept)))
        base, of_trees = self.trees.contributions(codes)
        out[:, np.searchsorted(places, self.trees.used_columns())] += of_trees
        mean, of_discriminant = self.discriminant.contributions(codes)
        out[:, np.searchsorted(places, self.discriminant.columns)] += of_discriminant
        return base + mean, out

    def term_names(self) -> list[tuple[str, ...]]:
        """The names of the columns of every interaction."""
        names = self.encoding.names
        return [tuple(names[k] for k in term) for term in self.terms.tuples()]

    def add_scores(self, codes: UInt8, block: slice, out: Array) -> None:
        """Add the tables and the rest of a block of rows to their scores, given the codes of all rows."""
        coarse, tiny = self.encoding.coarse, self.encoding.tiny
        add_term_scores(
            codes, self.starts, self.tables, self.terms.pairs, coarse.lookup, coarse.widths,
            self.terms.triples, tiny.lookup, tiny.widths, block.start, block.stop, out,
        )  # fmt: skip
        self.trees.add_scores(codes, block, out)
        self.discriminant.add_scores(codes, block, out)


def table_starts(encoding: Encoding, terms: Terms) -> Int32:
    """Where the table of each column, pair and triple begins, and where the last one ends."""
    sizes = [prod(encoding.table_shape(term)) for term in terms.tuples(len(encoding.columns))]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def text_scorers(columns: tuple[str, ...], evidence: AdditiveModel, summary: Summary) -> tuple[TextScorer, ...]:
    """What scores each text column: its expert, or naive Bayes where there are only counts."""
    n_classes = len(summary.classes)
    if evidence.texts:
        experts = zip(columns, evidence.texts, strict=True)
        return tuple(CorrectedText(name, expert, n_classes) for name, expert in experts)
    return tuple(CountedText.settle(name, summary) for name in columns if n_classes)


@dataclass(frozen=True, slots=True, eq=False)
class AdditivePredictor(Scorer):
    """Log joint of rows of a table: log prior + intercepts beyond it + contributions of columns, terms and texts."""

    classes: AnyArray
    columns: tuple[str, ...]
    prior: Array
    evidence: AdditiveModel
    text_models: tuple[TextScorer, ...]

    def log_joint(self, table: Table, n_jobs: int | None = None) -> LogJoint:
        """Log prior and what columns, terms and texts add, of every row and class."""
        codes = self.codes(table, n_jobs)
        text_scores = [text_model.scores(table, n_jobs) for text_model in self.text_models]

        def add_evidence(block: slice, joint: Array) -> None:
            scores = np.zeros((block.stop - block.start, len(self.evidence.intercept)))
            self.evidence.add_scores(codes, block, scores)
            for weight, of_text in zip(self.evidence.text_weights, text_scores, strict=True):
                scores += weight * of_text[block]
            joint += class_scores(scores, len(self.classes))

        width = len(self.classes) + len(self.evidence.starts)
        start = log_of(self.prior) + self.beyond_prior()
        return LogJoint(table.n_rows, self.prior, start, [add_evidence], width, n_jobs)

    def graph_joint(self, graph: OnnxGraph) -> Tensor:
        """The same as a tensor of ONNX (rows × classes); it has no words of a text."""
        evidence = self.evidence
        score = evidence_scores(
            graph, evidence.encoding, evidence.terms, evidence.starts, evidence.tables, evidence.trees,
            evidence.discriminant,
        )  # fmt: skip
        if len(self.classes) == 2:
            score = graph.apply("Mul", score, graph.constant(np.array([[-0.5, 0.5]])))
        return graph.apply("Add", score, graph.constant((log_of(self.prior) + self.beyond_prior())[None]))

    def codes(self, table: Table, n_jobs: int | None = None) -> UInt8:
        """Rows × columns of codes."""
        return encode_table(self.evidence.encoding.columns, table, n_jobs)

    def beyond_prior(self) -> Array:
        """Intercept of each class minus the log share that it had in the training rows."""
        shares = self.evidence.hyperparameters.class_shares
        logs = log_of(np.maximum(shares, np.finfo(np.float64).tiny))
        known = logs[1:] - logs[:1] if len(logs) == 2 else logs
        return np.asarray(class_scores((self.evidence.whole_intercept - known)[None], len(logs))[0])

    def contributions(self, table: Table) -> tuple[list[tuple[str, ...]], Array]:
        """Columns of each term (none for the intercept beyond the prior), and rows × terms × classes: they add up.

        Last come the columns of the rest, each with its Shapley value; their mean goes to the intercept.
        """
        evidence, encoding = self.evidence, self.evidence.encoding
        n_classes = len(self.classes)
        terms: list[tuple[str, ...]] = [*((name,) for name in encoding.names), *evidence.term_names()]
        codes = self.codes(table)
        cells = encoding.codes(codes, evidence.terms).astype(np.int64) + evidence.starts
        base, of_rest = evidence.rest_contributions(codes)
        parts = [np.tile(self.beyond_prior() + class_scores(base[None], n_classes)[0], (table.n_rows, 1))]
        parts += [class_scores(evidence.tables[cells[:, k]], n_classes) for k in range(cells.shape[1])]
        for weight, text_model in zip(evidence.text_weights, self.text_models, strict=True):
            terms.append((text_model.column,))
            parts.append(class_scores(weight * text_model.scores(table, 1), n_classes))
        terms += [(name,) for name in evidence.rest_columns()]
        parts += [class_scores(of_rest[:, k], n_classes) for k in range(of_rest.shape[1])]
        return [(), *terms], np.stack(parts, axis=1)

    def unseen(self, table: Table) -> dict[str, Flags]:
        """By nominal column, the cells that hold a category that was never seen."""
        found = {}
        for column in self.evidence.encoding.columns:
            if not isinstance(column, BinnedNumber):
                found[column.name] = (column.codes(table) == 0) & (table.codes(column.name).codes >= 0)
        return found
