"""The answer of a classifier that declines to decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.errors import DataError, SettingsError


@final
class Refusal:
    """A value of its own: equal to itself and to no label, the same after pickling, last in any order.

    >>> sorted([REFUSED, "grant", "deny"])
    ['deny', 'grant', REFUSED]
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "REFUSED"

    def __reduce__(self) -> str:
        return "REFUSED"  # copies and pickles find this one again, by name

    # Labels sort before it, so that tools that sort what they are given (np.unique, groupby) work.
    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __le__(self, other: object) -> bool:
        return other is self

    def __ge__(self, other: object) -> bool:
        return True


REFUSED: Final = Refusal()
"""No decision: none was cheap enough, or the row is like none that was learned."""


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

    def found_in(self, evidence: Array) -> NDArray[np.bool_]:
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
