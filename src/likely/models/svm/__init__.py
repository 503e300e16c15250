"""Support vector machines: kernels that add up, rows made ready for them, solvers, and probabilities.

>>> from likely.models.svm import Gauss, Polynomial
>>> 0.7 * Gauss(sigma=2.0) + 0.3 * Polynomial(degree=2, offset=1.0)
0.7 * Gauss(sigma=2.0) + 0.3 * Polynomial(degree=2, offset=1.0)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likely.models.svm.features import FarWarning
    from likely.models.svm.gram import KernelWarning, smallest_eigenvalue
    from likely.models.svm.kernels import Gauss, Kernel, Linear, Polynomial, Sigmoid

_HOME = {
    "FarWarning": "likely.models.svm.features",
    "Gauss": "likely.models.svm.kernels",
    "Kernel": "likely.models.svm.kernels",
    "KernelWarning": "likely.models.svm.gram",
    "Linear": "likely.models.svm.kernels",
    "Polynomial": "likely.models.svm.kernels",
    "Sigmoid": "likely.models.svm.kernels",
    "smallest_eigenvalue": "likely.models.svm.gram",
}

__all__ = ["FarWarning", "Gauss", "Kernel", "KernelWarning", "Linear", "Polynomial", "Sigmoid", "smallest_eigenvalue"]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'likely.models.svm' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
