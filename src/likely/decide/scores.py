"""What a classifier says about rows, block by block: all that a decision needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from likely.decide.kernels import log_evidence
from likely.errors import SettingsError
from likely.numerics import most_probable, normalise
from likely.threads import row_blocks, side_by_side

Array = NDArray[np.float64]


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
            for _ in side_by_side(lambda block: use(block, Shares(shares[block])), blocks, n_jobs):
                pass

        return cls(len(shares), each)

    def log_evidence(self) -> Array:
        """log P(row) of every row."""
        out = np.empty(self.n_rows)
        self.each(lambda block, rows: rows.log_evidence(out[block]))
        return out
