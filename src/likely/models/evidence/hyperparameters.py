"""How a model was made, beside its tables: enough to make it again from other rows without looking for anything."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Index, UInt8
from likely.models.evidence.encoding import Terms

EXPERTS = 3
"""Weighted naive Bayes, corrected columns, columns with pairs and triples."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Some of the rows that a model was fitted to: their codes, and how strongly each bends the loss by score.

    `bend` stands for all rows, `weight` is each row's own; `y` is its class, `before` the log-odds of each class (of
    two classes, the second) that it had beforehand, by prior and texts.
    """

    codes: UInt8
    bend: Array
    y: NDArray[np.int32]
    weight: Array
    before: Array

    @classmethod
    def nothing(cls, n_columns: int, n_scores: int) -> Seen:
        codes, none = np.zeros((0, n_columns), dtype=np.uint8), np.zeros((0, n_scores))
        return cls(codes, none, np.zeros(0, dtype=np.int32), np.zeros(0), none)


@dataclass(frozen=True, slots=True, eq=False)
class Hyperparameters:
    """Weights of the columns and, behind them, of texts; what was chosen on held-out rows; classes as they were then.

    `offsets` is what speaks for each class beside weighted columns, apart from how common it is; `counted` is how
    common the classes were in the rows of the last fit, some of which are `seen`; `shares` and `spreads` belong to the
    experts.
    """

    weights: Array
    offsets: Array
    counted: Array
    terms: Terms
    shares: Array
    spreads: Array
    seen: Seen

    @classmethod
    def usual(cls, n_columns: int, n_texts: int, classes: Array, spread: float) -> Hyperparameters:
        """Where nothing was chosen: corrected columns alone, and weights that shrink with their number."""
        spreads = np.zeros((EXPERTS - 1, EXPERTS))
        spreads[:, 0] = spread
        n_weights, n_scores = n_columns + n_texts, 1 if len(classes) == 2 else len(classes)
        weights, seen = np.full(n_weights, usual_weight(n_weights)), Seen.nothing(n_columns, n_scores)
        counted = classes / max(float(classes.sum()), 1e-300)
        shares = np.array([0.0, 1.0, 0.0])
        return cls(weights, np.zeros(len(classes)), counted, Terms.none(), shares, spreads, seen)

    def of_classes(self, places: Index, classes: Array) -> Hyperparameters:
        """The same for other classes: `places` is where each of them was (−1: it is new), with their weights now.

        Rows that were seen belong to the last fit, so they are left out.
        """
        offsets, n_scores = np.append(self.offsets, 0.0)[places], 1 if len(classes) == 2 else len(classes)
        seen = Seen.nothing(self.seen.codes.shape[1], n_scores)
        return replace(self, offsets=offsets, counted=classes / max(float(classes.sum()), 1e-300), seen=seen)


def usual_weight(n_weights: int) -> float:
    """What a column counts before anything is learned about that: the less, the more columns there are."""
    return min(1.0, 3.0 / float(np.sqrt(max(n_weights, 1))))
