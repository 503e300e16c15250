"""What a classifier says about rows, block by block: all that a decision needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numba
import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.errors import SettingsError
from likely.numerics import most_probable, normalise
from likely.parallel import row_blocks, run


class Block(Protocol):
    """Some rows, scored."""

    def posterior(self) -> Array:
        """P(class | row)."""
        ...

    def choose(self, out: NDArray[np.intp]) -> None:
        """The most probable class of each row, just as `predict` chooses it."""
        ...

    def log_evidence(self, out: Array) -> None:
        """log P(row), whatever its class."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Rows with their log joint: a classifier that believes something about the rows themselves."""

    log_joint: Array
    prior: Array

    def posterior(self) -> Array:
        out = np.empty_like(self.log_joint)
        normalise(self.log_joint, self.prior, False, out)
        return out

    def choose(self, out: NDArray[np.intp]) -> None:
        most_probable(self.log_joint, self.prior, out)

    def log_evidence(self, out: Array) -> None:
        log_evidence(self.log_joint, out)


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Rows with their posterior only."""

    shares: Array

    def posterior(self) -> Array:
        return self.shares

    def choose(self, out: NDArray[np.intp]) -> None:
        out[:] = self.shares.argmax(axis=1)

    def log_evidence(self, out: Array) -> None:
        raise SettingsError(
            "This classifier tells classes apart but has no density of rows, so it cannot say which are novel."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The number of rows, and a way to see all of their blocks; rows × classes need not be there at once."""

    n_rows: int
    each: Callable[[Callable[[slice, Block], None]], None]

    @classmethod
    def of_posterior(cls, posterior: Array, n_jobs: int | None = None) -> Scores:
        """From posteriors that are there as a whole."""
        shares = np.ascontiguousarray(posterior, dtype=np.float64)

        def each(use: Callable[[slice, Block], None]) -> None:
            blocks = row_blocks(len(shares), shares.shape[1])
            run(lambda block: use(block, Shares(shares[block])), blocks, n_jobs)

        return cls(len(shares), each)

    def log_evidence(self) -> Array:
        """log P(row) of every row."""
        out = np.empty(self.n_rows)
        self.each(lambda block, rows: rows.log_evidence(out[block]))
        return out


# Expected costs of rows, compiled. Every row is summed class by class, so blocks do not change a bit.

TILE = 8
"""Rows that share one reading of a line of costs: with a thousand classes the costs do not fit a cache."""


@numba.njit(nogil=True, cache=True)
def expect(posterior: Array, costs: Array, out: Array) -> None:
    """Σ P(truth | row) · cost of each decision; `costs` is truths × decisions."""
    n_rows, n_truths = posterior.shape
    out[:] = 0.0
    for first in range(0, n_rows, TILE):
        for k in range(n_truths):
            for i in range(first, min(first + TILE, n_rows)):
                share = posterior[i, k]
                if share > 0.0:
                    for d in range(costs.shape[1]):
                        out[i, d] += share * costs[k, d]


@numba.njit(nogil=True, cache=True)
def expect_by_row(posterior: Array, costs: Array, places: NDArray[np.int64], out: Array) -> None:
    """The same where each row has its own costs (rows × decisions × truths); class k is truth `places[k]`."""
    for i in range(posterior.shape[0]):
        for d in range(costs.shape[1]):
            total = 0.0
            for k in range(posterior.shape[1]):
                if posterior[i, k] > 0.0:
                    total += posterior[i, k] * costs[i, d, places[k]]
            out[i, d] = total


@numba.njit(nogil=True, cache=True)
def expect_mistakes(posterior: Array, cost: float, out: Array) -> None:
    """The same where every mistake costs as much: Σ P(other class | row), not 1 − P, which would round to 0."""
    n_classes = posterior.shape[1]
    for i in range(posterior.shape[0]):
        before = 0.0
        for k in range(n_classes):
            out[i, k] = before
            before += posterior[i, k]
        after = 0.0
        for k in range(n_classes - 1, -1, -1):
            out[i, k] = cost * (out[i, k] + after)
            after += posterior[i, k]


@numba.njit(nogil=True, cache=True)
def expect_mistake(posterior: Array, cost: float, chosen: NDArray[np.intp], out: Array) -> None:
    """The same for one class of each row."""
    for i in range(posterior.shape[0]):
        before, after = 0.0, 0.0
        for k in range(chosen[i]):
            before += posterior[i, k]
        for k in range(posterior.shape[1] - 1, chosen[i], -1):
            after += posterior[i, k]
        out[i] = cost * (before + after)


@numba.njit(nogil=True, cache=True)
def cheapest(expected: Array, best: NDArray[np.intp], least: Array) -> None:
    """The smallest of each row, the first of equals."""
    for i in range(expected.shape[0]):
        best[i] = 0
        for d in range(1, expected.shape[1]):
            if expected[i, d] < expected[i, best[i]]:
                best[i] = d
        least[i] = expected[i, best[i]]


@numba.njit(nogil=True, cache=True)
def log_evidence(log_joint: Array, out: Array) -> None:
    """log Σ exp of each row, shifted by its peak; −inf for a row that is impossible under every class."""
    for i in range(log_joint.shape[0]):
        peak = -np.inf
        for k in range(log_joint.shape[1]):
            peak = max(peak, log_joint[i, k])
        total = 0.0
        if peak > -np.inf:
            for k in range(log_joint.shape[1]):
                total += np.exp(log_joint[i, k] - peak)
        out[i] = peak + np.log(total) if peak > -np.inf else -np.inf
