"""How far to trust each expert: shares from zero up that make held-out rows most probable."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RIDGE = 0.01
MOST_STEPS = 50


def mixture(scores: list[Array], y: NDArray[np.int32], weight: Array, towards: int) -> Array:
    """Minimise mean log loss of Σ share · scores + ridge · |share − 1 of the expert `towards`|², shares ≥ 0."""
    stacked = np.stack(scores)
    if stacked.shape[2] == 1:
        stacked = np.concatenate([np.zeros_like(stacked), stacked], axis=2)
    target = np.zeros(len(scores))
    target[towards] = 1.0
    mass = weight / max(float(weight.sum()), 1e-300)
    here = np.arange(len(y))

    def look(shares: Array) -> tuple[float, Array, Array]:
        joint = np.tensordot(shares, stacked, axes=1)
        joint -= joint.max(axis=1, keepdims=True)
        p = np.exp(joint)
        total = p.sum(axis=1)
        loss = float(mass @ (np.log(total) - joint[here, y]))
        p /= total[:, None]
        expected = np.einsum("knc,nc->kn", stacked, p)
        slope = (expected - stacked[:, here, y]) @ mass
        bend = np.einsum("knc,lnc,nc,n->kl", stacked, stacked, p, mass, optimize=True) - (expected * mass) @ expected.T
        gap = shares - target
        return loss + RIDGE * float(gap @ gap), slope + 2 * RIDGE * gap, bend + 2 * RIDGE * np.eye(len(shares))

    shares = target.copy()
    value, slope, bend = look(shares)
    for _ in range(MOST_STEPS):
        free = (shares > 0.0) | (slope < 0.0)
        step = np.zeros_like(shares)
        step[free] = -np.linalg.solve(bend[np.ix_(free, free)], slope[free])
        length = 1.0
        while length > 1e-6:
            tried = np.maximum(shares + length * step, 0.0)
            found = look(tried)
            if found[0] <= value:
                break
            length *= 0.5
        else:
            break
        gained = value - found[0]
        shares, (value, slope, bend) = tried, found
        if gained < 1e-7:
            break
    return shares
