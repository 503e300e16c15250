"""From the probabilities of pairs to those of all classes (the second way of Wu, Lin and Weng, 2004).

Of p = P(class | row) is asked that r_ji · p_i = r_ij · p_j for every pair, as nearly as all of them can be met, where
r_ij is the share of class i among i and j: minimise Σ (r_ji p_i − r_ij p_j)² with Σ p = 1. That is one small linear
system for each row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.svm.pairs import pairs_of

Array = NDArray[np.float64]

LEAST = 1e-7
"""No pair is surer than this."""

BLOCK_CELLS = 1 << 20


def coupled(for_later: Array, n_classes: int) -> Array:
    """P(class | row) from P(later class | row, one of the two) of every pair.

    >>> coupled(np.array([[0.2]]), 2).tolist()
    [[0.8, 0.2]]
    >>> coupled(np.array([[0.5, 0.8, 0.8]]), 3).round(4).tolist()
    [[0.1667, 0.1667, 0.6667]]
    """
    shares = np.clip(for_later, LEAST, 1.0 - LEAST)
    if n_classes == 1:
        return np.ones((len(for_later), 1))
    if n_classes == 2:
        return np.column_stack([1.0 - shares[:, 0], shares[:, 0]])
    out = np.empty((len(shares), n_classes))
    size = max(BLOCK_CELLS // (n_classes + 1) ** 2, 1)
    for start in range(0, len(shares), size):
        out[start : start + size] = _solved(shares[start : start + size], n_classes)
    return out


def _solved(shares: Array, n_classes: int) -> Array:
    earlier, later = pairs_of(n_classes)
    r = np.zeros((len(shares), n_classes, n_classes))
    r[:, later, earlier], r[:, earlier, later] = shares, 1.0 - shares
    system = np.zeros((len(shares), n_classes + 1, n_classes + 1))
    inner = system[:, :n_classes, :n_classes]
    inner[:] = -r * r.transpose(0, 2, 1)
    own = np.arange(n_classes)
    inner[:, own, own] = np.square(r).sum(axis=1)
    system[:, n_classes, :n_classes] = system[:, :n_classes, n_classes] = 1.0
    wanted = np.zeros((len(shares), n_classes + 1, 1))
    wanted[:, n_classes] = 1.0
    found = np.linalg.solve(system, wanted)[:, :n_classes, 0]
    found = np.maximum(found, LEAST * LEAST)
    return np.asarray(found / found.sum(axis=1, keepdims=True))
