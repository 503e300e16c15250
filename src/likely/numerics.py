"""Small pure functions on arrays: from log joints to posteriors."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def normalise(log_joint: Array, prior: Array, in_logs: bool, out: Array) -> None:
    """Posterior (or its logarithm) of each row, shifted by the row's peak so that nothing overflows.

    A row that is impossible under every class (all −inf) says nothing about them: it gets the prior.
    `out` may be `log_joint` itself. NumPy's exponential, which takes several cells at once, stands
    between two compiled loops.
    """
    _lower(log_joint, out)
    with np.errstate(under="ignore"):
        shares = np.exp(out) if in_logs else np.exp(out, out=out)
    _share(shares, prior, in_logs, out)


@numba.njit(nogil=True, cache=True)
def _lower(log_joint: Array, out: Array) -> None:
    """Put the peak of each row at zero; a row without one is marked by NaN."""
    n_classes = log_joint.shape[1]
    for i in range(log_joint.shape[0]):
        peak = -np.inf
        for c in range(n_classes):
            peak = max(peak, log_joint[i, c])
        if peak == -np.inf:
            out[i, :] = np.nan
            continue
        for c in range(n_classes):
            out[i, c] = log_joint[i, c] - peak


@numba.njit(nogil=True, cache=True)
def _share(shares: Array, prior: Array, in_logs: bool, out: Array) -> None:
    """Divide each row by its sum, in logarithms if these are asked for."""
    n_classes = shares.shape[1]
    for i in range(shares.shape[0]):
        total = 0.0
        for c in range(n_classes):
            total += shares[i, c]
        if np.isnan(total):
            for c in range(n_classes):
                out[i, c] = np.log(prior[c]) if in_logs else prior[c]
        elif in_logs:
            log_total = np.log(total)
            for c in range(n_classes):
                out[i, c] -= log_total
        else:
            for c in range(n_classes):
                out[i, c] = shares[i, c] / total


def log_of(probabilities: Array) -> Array:
    """Logarithm in which zero is an honest −inf, without a warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities), dtype=np.float64)


@numba.njit(nogil=True, cache=True)
def most_probable(log_joint: Array, prior: Array, out: NDArray[np.intp]) -> None:
    """The class with the largest log joint of each row; the first of equals, by the prior if all are impossible."""
    for i in range(log_joint.shape[0]):
        best, peak = -1, -np.inf
        for c in range(log_joint.shape[1]):
            if log_joint[i, c] > peak:
                best, peak = c, log_joint[i, c]
        out[i] = best if best >= 0 else np.argmax(prior)


def sums_of_others(table: Array) -> Array:
    """The sum of all rows of a table but each one, without subtracting anything."""
    nothing = np.zeros_like(table[:1])
    before = np.concatenate([nothing, np.cumsum(table[:-1], axis=0)])
    after = np.concatenate([np.cumsum(table[:0:-1], axis=0)[::-1], nothing])
    return np.asarray(before + after)
