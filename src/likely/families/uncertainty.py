"""How sure a family is of what it believes: mean and variance of its log-likelihood over all parameters it may have.

Counts leave the parameters open. Given the counts, shares have a Dirichlet distribution (counts and pseudo-counts are
its parameters), mean and variance of a bell curve a normal-inverse-gamma one (with the prior that says nothing), a
rate a gamma one. Under these, logarithms of shares and densities have means and variances in closed form, which
each family has in its own file; what they share is the logarithm of a gamma variable.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import digamma, polygamma

from likely.arrays import Array

Certainty = Callable[[slice, Array, Array], None]
"""Adds shift and variance of the log-likelihood of a block of rows under every class (each rows × classes).

The shift is the mean less what was settled; it vanishes as rows become many.
"""


def trigamma(a: Array) -> Array:
    """Variance of the logarithm of a gamma variable; 0 where there is nothing, for what is impossible is certain."""
    return np.asarray(polygamma(1, np.where(a > 0.0, a, 1.0)) * (a > 0.0))


def log_bias(a: Array) -> Array:
    """Mean of the logarithm of a gamma variable less the logarithm of its mean."""
    known = np.where(a > 0.0, a, 1.0)
    return np.asarray((digamma(known) - np.log(known)) * (a > 0.0))
