"""Support vector machines: kernels that add up, rows made ready for them, solvers, and probabilities.

>>> from likely.models.svm import Gauss, Polynomial
>>> 0.7 * Gauss(sigma=2.0) + 0.3 * Polynomial(degree=2, offset=1.0)
0.7 * Gauss(sigma=2.0) + 0.3 * Polynomial(degree=2, offset=1.0)
"""

from __future__ import annotations

from likely.models.svm.features import FarWarning
from likely.models.svm.kernels import Gauss, Kernel, Linear, Polynomial, Sigmoid
from likely.models.svm.machine import KernelWarning, smallest_eigenvalue

__all__ = ["FarWarning", "Gauss", "Kernel", "KernelWarning", "Linear", "Polynomial", "Sigmoid", "smallest_eigenvalue"]
