"""Four columns that speak only together, such as the parity of four bits.

No question about one of them gains anything, so a tree that is grown question by question meets them by chance alone.
Cut in two halves, with standard scores s, four columns have the contrast Σ g · s_a s_b s_c s_d with the gradients g;
by chance it is normal with variance Σ g². Products of two columns give all of them in one product of matrices.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from likely.arrays import Array, Index, UInt8
from likely.models.evidence.encoding import N_CODES, BinnedNumber, CodedCategories, Encoding

MAX_COLUMNS = 30
MAX_ROWS = 5000
LEAST_SHARE = 0.2
"""A half that has a smaller share of the rows says too little for products of four."""

BEYOND_CHANCE = 3.0
"""By so many standard deviations a contrast is above the largest that chance would show."""


class Contrasts:
    """The columns of some rows cut in two, ready for a search by any gradients. `codes` is columns × rows."""

    def __init__(self, encoding: Encoding, codes: UInt8) -> None:
        self.sides = np.zeros((len(codes), N_CODES), dtype=np.uint8)
        for column, line, sides in zip(encoding.columns, codes, self.sides, strict=True):
            _cut_in_two(column, line, sides)
        self.step = max(-(-codes.shape[1] // MAX_ROWS), 1)
        halves = np.take_along_axis(self.sides, codes[:, :: self.step].astype(np.intp), axis=1).astype(np.float32)
        shares = halves.mean(axis=1)
        even = np.flatnonzero((shares > LEAST_SHARE) & (shares < 1.0 - LEAST_SHARE))
        self.columns = even if 4 <= len(even) <= MAX_COLUMNS else even[:0]
        share = shares[self.columns, None]
        scores = (halves[self.columns] - share) / np.sqrt(share * (1.0 - share))
        self.scores = np.zeros((len(codes), halves.shape[1]), dtype=np.float32)
        self.scores[self.columns] = scores
        self.left, self.right = np.triu_indices(len(self.columns), 1)
        self.products = scores[self.left] * scores[self.right]
        self.apart = _apart(self.left, self.right)

    def strongest(self, gradient: Array) -> Index:
        """The four columns of the largest contrast with one of the gradients; none where chance would do as well, or
        where fewer of them say more.
        """
        largest, found = np.sqrt(2.0 * np.log(max(self.apart.sum() / 6.0, 1.0))) + BEYOND_CHANCE, self.columns[:0]
        for line in gradient[:: self.step].T.astype(np.float32) if len(self.columns) else ():
            contrasts = np.abs((self.products * line) @ self.products.T) * self.apart
            a, b = np.unravel_index(int(contrasts.argmax()), contrasts.shape)
            strength = float(contrasts[a, b]) / max(float(np.linalg.norm(line)), 1e-30)
            four = self.columns[[self.left[a], self.right[a], self.left[b], self.right[b]]]
            if strength > largest:
                largest, found = strength, four if self._only_together(four, line) else four[:0]
        return found

    def _only_together(self, four: Index, gradient: Array) -> bool:
        """Whether no three, two or one of these columns have a larger contrast, which question by question is found."""
        products = [np.prod(self.scores[list(some)], axis=0) for n in (1, 2, 3, 4) for some in combinations(four, n)]
        contrasts = np.abs(np.array(products) @ gradient)
        return int(contrasts.argmax()) == len(contrasts) - 1


def _cut_in_two(column: BinnedNumber | CodedCategories, codes: UInt8, sides: UInt8) -> None:
    """Write 1 for the codes of a number above its median, or for the most frequent category."""
    counts = np.bincount(codes, minlength=N_CODES)
    if isinstance(column, BinnedNumber):
        bins = counts[1 : len(column.means) + 1]
        sides[1 : len(bins) + 1] = np.cumsum(bins) - 0.5 * bins > 0.5 * bins.sum()
    else:
        sides[int(counts.argmax())] = 1


def _apart(left: Index, right: Index) -> Array:
    """Pairs × pairs: 1 where two pairs of columns share none."""
    shared = np.zeros((len(left), len(left)), dtype=np.bool_)
    for one in (left, right):
        for other in (left, right):
            shared |= one[:, None] == other[None, :]
    return (~shared).astype(np.float32)
