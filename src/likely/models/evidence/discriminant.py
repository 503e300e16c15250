"""The quadratic discriminant: full Bayes over the numbers, one covariance matrix per class, as one more expert.

A code of a number has a standard score z, so a score is a polynomial of second degree in the z of a few columns,

    score(x) = Σ_a linear[a] · z_a + Σ_(a ≤ b) products[a, b] · z_a z_b

and a product of two columns is shared evenly between them when a prediction is explained.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from likely.arrays import Array, Index, Int32, UInt8
from likely.jit import kernel
from likely.models.evidence.encoding import N_CODES


@dataclass(frozen=True, slots=True)
class DiscriminantSettings:
    """Whether z are normal scores of ranks rather than standardised means; k and s of the covariances (see the fit)."""

    by_rank: bool = True
    pooling: float = 10.0
    shrinkage: float = 0.1


USUAL_SETTINGS = DiscriminantSettings()


@dataclass(frozen=True, slots=True, eq=False)
class QuadraticDiscriminant:
    """`columns` are those that take part, `values` is columns × codes (gaps and unknown codes have 0).

    `linear` is columns × scores; `products` is pairs × scores, with the pairs a ≤ b in the order of the upper triangle
    of a matrix; `base` is columns × scores, what a column adds in the mean of the training rows.
    """

    columns: Int32
    values: Array
    linear: Array
    products: Array
    base: Array

    @classmethod
    def empty(cls, n_scores: int) -> QuadraticDiscriminant:
        none = np.zeros((0, n_scores))
        return cls(np.zeros(0, dtype=np.int32), np.zeros((0, N_CODES)), none, none, none)

    def __len__(self) -> int:
        return len(self.columns)

    def scaled(self, weight: float) -> QuadraticDiscriminant:
        return replace(self, linear=weight * self.linear, products=weight * self.products, base=weight * self.base)

    def pairs(self) -> tuple[Index, Index]:
        """The places of both columns of each product."""
        return np.triu_indices(len(self))

    def standard_scores(self, codes: UInt8) -> Array:
        """Rows × columns of z."""
        return self.values[np.arange(len(self)), codes[:, self.columns]]

    def add_scores(self, codes: UInt8, block: slice, out: Array) -> None:
        """Add the polynomial of a block of rows to their scores, given the codes of all rows."""
        if len(self):
            add_polynomial(self.standard_scores(codes[block]), self.linear, self.products, out)

    def contributions(self, codes: UInt8) -> tuple[Array, Array]:
        """Mean scores of the training rows, and rows × columns × scores that add up to the rest."""
        z, (left, right) = self.standard_scores(codes), self.pairs()
        out = z[:, :, None] * self.linear[None] - self.base[None]
        for row, of_row in enumerate(z):
            halves = 0.5 * (of_row[left] * of_row[right])[:, None] * self.products
            np.add.at(out[row], left, halves)
            np.add.at(out[row], right, halves)
        return self.base.sum(axis=0), out


NO_DISCRIMINANT = QuadraticDiscriminant.empty(1)


@kernel(interpretable=True)
def add_polynomial(z: Array, linear: Array, products: Array, out: Array) -> None:
    """Add Σ_a linear[a] · z_a + Σ_(a ≤ b) products[a, b] · z_a z_b of each row to its scores."""
    n_columns, n_scores = linear.shape
    for i in range(len(z)):
        place = 0
        for a in range(n_columns):
            for c in range(n_scores):
                out[i, c] += z[i, a] * linear[a, c]
            for b in range(a, n_columns):
                product = z[i, a] * z[i, b]
                for c in range(n_scores):
                    out[i, c] += product * products[place, c]
                place += 1
