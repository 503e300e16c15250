"""The direction of a quasi-Newton step."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@numba.njit(nogil=True, cache=True)
def inner(a: Array, b: Array) -> float:
    """Σ a b, always in the same order: four sums side by side."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    n = len(a) - len(a) % 4
    for i in range(0, n, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(n, len(a)):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


@numba.njit(nogil=True, cache=True)
def direction(slope: Array, moves: Array, turns: Array, order: NDArray[np.int64], inverse: Array) -> Array:
    """Down the slope, bent by the last moves and what they did to the slope; `inverse` is a diagonal to begin with.

    All arrays are flat; `order` lists the places of remembered moves, the oldest first.
    """
    out = -slope
    kept = len(order)
    alpha = np.empty(kept)
    rho = np.empty(kept)
    for place in range(kept - 1, -1, -1):
        k = order[place]
        rho[place] = 1.0 / inner(moves[k], turns[k])
        alpha[place] = rho[place] * inner(moves[k], out)
        for i in range(len(out)):
            out[i] -= alpha[place] * turns[k, i]
    scale = 1.0
    if kept > 0:  # the diagonal knows no correlations: the last move tells how much shorter steps must be
        k = order[kept - 1]
        bent = 0.0
        for i in range(len(out)):
            bent += turns[k, i] * turns[k, i] * inverse[i]
        scale = 1.0 / (rho[kept - 1] * bent)
    for i in range(len(out)):
        out[i] *= scale * inverse[i]
    for place in range(kept):
        k = order[place]
        beta = rho[place] * inner(turns[k], out)
        for i in range(len(out)):
            out[i] += (alpha[place] - beta) * moves[k, i]
    return out
