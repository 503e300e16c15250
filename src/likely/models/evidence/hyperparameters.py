"""Hyperparameters of a fitted model: what was chosen by inner cross-validation, enough to fit other rows without it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Index, UInt8
from likely.models.evidence.encoding import Terms
from likely.models.feature_weights import default_feature_weight

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
    y: NDArray[np.int32]
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
    """

    feature_weights: Array
    class_offsets: Array
    class_shares: Array
    terms: Terms
    stacking_weights: Array
    variances: Array
    laplace_rows: LaplaceRows

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
