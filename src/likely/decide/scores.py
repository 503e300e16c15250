"""What a classifier says about rows, block by block: all that a decision needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from likely.arrays import Array, Flags, Index
from likely.errors import DataError, SettingsError
from likely.jit import kernel
from likely.numerics import most_probable, normalise
from likely.parallel import row_blocks, run


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Rows with their log joint: a classifier that believes something about the rows themselves."""

    log_joint: Array
    prior: Array

    def posterior(self) -> Array:
        """P(class | row)."""
        out = np.empty_like(self.log_joint)
        normalise(self.log_joint, self.prior, False, out)
        return out

    def choose(self, out: Index) -> None:
        """The most probable class of each row, just as `predict` chooses it."""
        most_probable(self.log_joint, self.prior, out)

    def log_evidence(self, out: Array) -> None:
        """log P(row), whatever its class."""
        log_evidence(self.log_joint, out)


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Rows with their posterior only."""

    shares: Array

    def posterior(self) -> Array:
        return self.shares

    def choose(self, out: Index) -> None:
        out[:] = self.shares.argmax(axis=1)

    def log_evidence(self, out: Array) -> None:
        raise SettingsError(
            "This classifier tells classes apart but has no density of rows, so it cannot say which are novel."
        )


Block = Joint | Shares
"""Some rows, scored."""


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


@kernel
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


# Rows like none that were learned: a threshold for how little evidence is too little.


@dataclass(frozen=True, slots=True)
class Novelty:
    """A row is novel if its log evidence, log P(row), is below that of all but a small share of ordinary rows.

    `ordinary` holds what a known cell of each column adds to the log evidence on average. A gap is credited with
    it, so a gap counts as an ordinary cell: neither novel nor reassuring, whichever columns a row knows.
    """

    quantile: float
    threshold: float
    n_rows: int
    ordinary: Mapping[str, float]

    @classmethod
    def settle(cls, evidence: Array, quantile: float, ordinary: Mapping[str, float]) -> Novelty:
        """From the evidence of ordinary rows: at most the share `quantile` of them is below the threshold."""
        if not 0.0 <= quantile < 1.0:
            raise SettingsError(f"quantile is {quantile!r}, but it is a share of rows: from 0 up to, not including, 1.")
        if len(evidence) == 0:
            raise DataError("Novelty is measured against ordinary rows: give at least one.")
        # No mean of two neighbours: one of them may be −inf.
        threshold = float(np.sort(evidence)[int(quantile * len(evidence))])
        return cls(float(quantile), threshold, len(evidence), dict(ordinary))

    def found_in(self, evidence: Array) -> Flags:
        """Which rows are novel; one that is impossible under every class always is."""
        return np.asarray((evidence < self.threshold) | (evidence == -np.inf))

    def __repr__(self) -> str:
        return f"Novelty: log P(row) < {self.threshold:.4g}, as in {self.quantile:g} of {self.n_rows:,} ordinary rows"


def checked_novelty(novelty: object) -> Novelty | None:
    """A novelty or None; a mere number lacks the rows that it would be a quantile of."""
    if novelty is None or isinstance(novelty, Novelty):
        return novelty
    raise SettingsError(
        f"novelty is {novelty!r}, but it is measured against ordinary rows: "
        "pass what clf.novelty(rows, quantile=0.01) returns."
    )
