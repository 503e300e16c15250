"""Where the classes change along a number: cuts that follow from its class × cell counts alone.

A small tree of one column: the cut that gains most log likelihood is made first, up to eight leaves. A cut must gain
what any of the places could gain by chance, so a number that says nothing has none.
"""

from __future__ import annotations

import math

import numpy as np

from likely.arrays import Array, Index
from likely.jit import kernel

MAX_LEAVES = 8
MIN_LEAF_ROWS = 5.0
MIN_GAIN = 3.0
"""Log likelihood that a cut must gain beyond what the best of all places is expected to gain by chance."""

MAX_CLASSES = 64
"""Above so many classes no cuts are looked for: it would take longer than all of the rest."""


def informative_cuts(counts: Array, rows_per_weight: float) -> Index:
    """The cells, in ascending order, at which a new leaf begins; `counts` is classes × cells.

    What a cut gains is log likelihood, Σ n_c log(n_c / n) over both sides less that of the whole. By chance
    it is about (classes − 1)/2 at one place, and grows with the logarithm of the number of places.
    """
    n_classes, n_cells = counts.shape
    if not 2 <= n_classes <= MAX_CLASSES or n_cells < 2:
        return np.zeros(0, dtype=np.intp)
    running = np.zeros((n_cells + 1, n_classes))
    np.cumsum(rows_per_weight * counts.T, axis=0, out=running[1:])
    least = MIN_GAIN + np.log(n_cells) + 0.5 * (n_classes - 1)
    edges = [0, n_cells]
    candidates = {(0, n_cells): _best_cut(running, 0, n_cells, MIN_LEAF_ROWS)}
    while len(edges) <= MAX_LEAVES:
        (first, last), (place, gain) = max(candidates.items(), key=lambda item: item[1][1])
        if gain < least:
            break
        del candidates[first, last]
        edges.append(place)
        for low, high in ((first, place), (place, last)):
            candidates[low, high] = _best_cut(running, low, high, MIN_LEAF_ROWS)
    return np.array(sorted(edges)[1:-1], dtype=np.intp)


@kernel(interpretable=True)
def _best_cut(running: Array, first: int, last: int, least: float) -> tuple[int, float]:
    """The place between two cells at which the log likelihood gains most, and that gain; 0 where nothing fits."""
    n_classes = running.shape[1]
    whole = _log_likelihood(running[last] - running[first])
    best, place = 0.0, 0
    left, right = np.empty(n_classes), np.empty(n_classes)
    for cell in range(first + 1, last):
        n_left, n_right = 0.0, 0.0
        for c in range(n_classes):
            left[c] = running[cell, c] - running[first, c]
            right[c] = running[last, c] - running[cell, c]
            n_left += left[c]
            n_right += right[c]
        if n_left < least or n_right < least:
            continue
        gain = _log_likelihood(left) + _log_likelihood(right) - whole
        if gain > best:
            best, place = gain, cell
    return place, best


@kernel
def _log_likelihood(counts: Array) -> float:
    """Σ n_c log(n_c / n)."""
    total, found = 0.0, 0.0
    for n in counts:
        if n > 0.0:
            found += n * math.log(n)
            total += n
    return found - total * math.log(total) if total > 0.0 else 0.0
