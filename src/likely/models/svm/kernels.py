"""Kernels: scalar products in a feature space that is never computed. They add, scale and multiply.

All that a kernel asks of the data are scalar products of rows, dense or sparse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from likely.arrays import Array
from likely.errors import DataError, SettingsError, did_you_mean, listed
from likely.models.settings import whole
from likely.numerics import is_between, refuse_many
from likely.store.plain import TAGGED, Tag, from_plain, to_plain

Matrix = Any
"""Rows × features: a dense array, or a sparse one in CSR."""

DENSE_CELLS = 1 << 25
"""Sparse rows of at most this many cells (256 MiB) are made dense for products with many others."""

NARROWEST = 1e-80
"""A variance below this is taken for none: its inverse would not go with the limits of kernels."""

LARGEST = 1e150
"""Beyond this a power says no more, and sums of it would overflow."""

WIDEST = 1e100
"""Widths and factors beyond this, or below one part of it, would overflow."""

NUMBER = (int, float, np.integer, np.floating)
"""Numbers that an array of floats can be multiplied with."""

HIGHEST = 100
"""The highest degree of a polynomial."""

LOWEST = -700.0
"""e to less than this is a number that processors are slow with, and that adds nothing."""


def inner_products(a: Matrix, b: Matrix) -> Array:
    """The scalar product of every row of one matrix with every row of another."""
    if sparse.issparse(a) and sparse.issparse(b):
        return np.ascontiguousarray((a @ b.T).toarray())
    if sparse.issparse(b):
        return np.ascontiguousarray((b @ a.T).T)
    return np.ascontiguousarray(a @ b.T)


def squared_norms(a: Matrix) -> Array:
    """The scalar product of every row with itself."""
    if sparse.issparse(a):
        return np.asarray(a.multiply(a).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", a, a), dtype=np.float64)


def densified(a: Matrix) -> Matrix:
    """A dense copy of sparse rows if it is small enough: products with it are faster.

    It lies column by column, so that its transpose is read row by row, as products of sparse rows want it.
    """
    if sparse.issparse(a) and a.shape[0] * a.shape[1] <= DENSE_CELLS:
        return a.toarray(order="F")
    return a


def with_int32_indices(a: Matrix) -> Matrix:
    """The same rows for scikit-learn's solvers, which read sparse ones with 32-bit indices."""
    if not sparse.issparse(a):
        return a
    refuse_many(int(a.indptr[-1]), "cells that are not zero")
    return sparse.csr_matrix((a.data, a.indices.astype(np.int32), a.indptr.astype(np.int32)), shape=a.shape)


def total_variance(a: Matrix, weight: Array | None = None) -> float:
    """Number of features times their variance over all cells: about how far apart rows lie, squared and halved."""
    each = np.full(a.shape[0], 1.0 / a.shape[0]) if weight is None else weight / weight.sum()
    mean = float(each @ np.asarray(a.sum(axis=1)).ravel()) / a.shape[1]
    if sparse.issparse(a):
        variance = float(each @ squared_norms(a)) / a.shape[1] - mean * mean
    else:
        variance = float(each @ squared_norms(a - mean)) / a.shape[1]
    return a.shape[1] * variance if NARROWEST < variance < np.inf else 1.0


@dataclass(frozen=True)
class Kernel(ABC):
    """A function of two rows that depends on their scalar products x·y, x·x and y·y alone.

    A width or scale that is None is left open, for the data to settle.
    """

    @abstractmethod
    def of(self, dots: Array, a: Array, b: Array) -> Array:
        """The kernel of rows from their products (rows × rows) and their squares; a new array."""

    @property
    def parts(self) -> dict[str, Kernel]:
        """The kernels that it is made of, by field."""
        return {name: part for name, part in vars(self).items() if isinstance(part, Kernel)}

    @property
    def is_positive(self) -> bool:
        """Whether it is positive semidefinite on any data, so that the problem has one best solution."""
        return all(part.is_positive for part in self.parts.values())

    @property
    def is_open(self) -> bool:
        """Whether a width or scale is left to the data."""
        return None in vars(self).values() or any(part.is_open for part in self.parts.values())

    def settled(self, typical: float) -> Kernel:
        """The same with every width that was left open; `typical` is `total_variance` of the rows."""
        return replace(self, **{name: part.settled(typical) for name, part in self.parts.items()})

    def __call__(self, A: ArrayLike, B: ArrayLike | None = None) -> Array:
        """The Gram matrix of rows and rows.

        >>> Polynomial(degree=2, offset=1.0)([[1.0, 2.0]], [[3.0, 1.0]]).tolist()
        [[36.0]]
        """
        left = as_rows(A)
        right = left if B is None else as_rows(B)
        if left.shape[1] != right.shape[1]:
            raise DataError(f"Rows of {left.shape[1]} and of {right.shape[1]} numbers have no scalar product.")
        return gram(self.settled(1.0), left, right)

    def __add__(self, other: object) -> Kernel:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: object) -> Kernel:
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(float(other), self) if isinstance(other, Real) else NotImplemented

    def __rmul__(self, other: object) -> Kernel:
        return Scaled(float(other), self) if isinstance(other, Real) else NotImplemented


def gram(kernel: Kernel, a: Matrix, b: Matrix) -> Array:
    """The kernel of every row of one matrix with every row of another."""
    own = squared_norms(a)
    return kernel.of(inner_products(a, b), own, own if b is a else squared_norms(b))


def as_rows(given: ArrayLike) -> Array:
    """Rows of finite numbers; one row may come alone."""
    try:
        rows = np.atleast_2d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise DataError("A kernel is of rows of numbers, all of one length.") from error
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise DataError("A kernel is of rows of finite numbers: fill gaps first.")
    return rows


@dataclass(frozen=True)
class Linear(Kernel):
    """x·y."""

    def of(self, dots: Array, a: Array, b: Array) -> Array:
        return dots.copy()


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(scale · x·y + offset)^degree. A scale of None is left to the data."""

    degree: int = 3
    offset: float = 1.0
    scale: float | None = 1.0

    def __post_init__(self) -> None:
        whole("The degree of a polynomial kernel", self.degree, 1, HIGHEST)
        _finite("The offset of a polynomial kernel", self.offset)
        _positive("The scale of a polynomial kernel", self.scale)

    def __repr__(self) -> str:
        scale = "" if self.scale == 1.0 else f", scale={self.scale}"
        return f"Polynomial(degree={self.degree}, offset={self.offset}{scale})"

    def of(self, dots: Array, a: Array, b: Array) -> Array:
        base = dots * (self.scale or 1.0)
        base += self.offset
        with np.errstate(over="ignore"):
            powers = np.power(base, self.degree, out=base)
        return np.clip(powers, -LARGEST, LARGEST, out=powers)

    @property
    def is_positive(self) -> bool:
        return self.offset >= 0.0

    def settled(self, typical: float) -> Kernel:
        return replace(self, scale=1.0 / typical) if self.scale is None else self


@dataclass(frozen=True)
class Gauss(Kernel):
    """exp(−‖x − y‖² / 2σ²). A width σ of None is left to the data."""

    sigma: float | None = None

    def __post_init__(self) -> None:
        _positive("The width sigma of a Gauss kernel", self.sigma)

    @property
    def gamma(self) -> float:
        """1 / 2σ², as others write it."""
        return 0.5 / (self.sigma or 1.0) ** 2

    def of(self, dots: Array, a: Array, b: Array) -> Array:
        gamma = self.gamma
        exponents = dots * (2.0 * gamma)
        exponents -= (gamma * a)[:, None]
        exponents -= gamma * b
        np.clip(exponents, LOWEST, 0.0, out=exponents)
        return np.exp(exponents, out=exponents)

    def settled(self, typical: float) -> Kernel:
        return Gauss(float(np.sqrt(0.5 * typical))) if self.sigma is None else self


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """tanh(slope · x·y + offset); on many data it is no scalar product. A slope of None is left to the data."""

    slope: float | None = None
    offset: float = 0.0

    def __post_init__(self) -> None:
        _finite("The offset of a sigmoid kernel", self.offset)
        if self.slope is not None:
            _finite("The slope of a sigmoid kernel", self.slope)

    def of(self, dots: Array, a: Array, b: Array) -> Array:
        slopes = dots * (1.0 if self.slope is None else self.slope)
        slopes += self.offset
        return np.tanh(slopes, out=slopes)

    @property
    def is_positive(self) -> bool:
        return False

    def settled(self, typical: float) -> Kernel:
        return replace(self, slope=1.0 / typical) if self.slope is None else self


@dataclass(frozen=True)
class Scaled(Kernel):
    """A kernel times a number above zero."""

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        _positive("The factor of a kernel", self.factor, may_be_open=False)

    def __repr__(self) -> str:
        inner = f"({self.kernel!r})" if isinstance(self.kernel, Sum) else repr(self.kernel)
        return f"{self.factor} * {inner}"

    def of(self, dots: Array, a: Array, b: Array) -> Array:
        cells = self.kernel.of(dots, a, b)
        cells *= self.factor
        return cells


@dataclass(frozen=True, repr=False)
class Sum(Kernel):
    """Two kernels added: the features of both, side by side."""

    first: Kernel
    second: Kernel

    def __repr__(self) -> str:
        return f"{self.first!r} + {self.second!r}"

    def of(self, dots: Array, a: Array, b: Array) -> Array:
        cells = self.first.of(dots, a, b)
        cells += self.second.of(dots, a, b)
        return cells


@dataclass(frozen=True, repr=False)
class Product(Kernel):
    """Two kernels multiplied: every feature of the one with every feature of the other."""

    first: Kernel
    second: Kernel

    def __repr__(self) -> str:
        return " * ".join(f"({k!r})" if isinstance(k, Sum | Scaled) else repr(k) for k in (self.first, self.second))

    def of(self, dots: Array, a: Array, b: Array) -> Array:
        cells = self.first.of(dots, a, b)
        with np.errstate(over="ignore"):
            cells *= self.second.of(dots, a, b)
        return np.clip(cells, -LARGEST, LARGEST, out=cells)


def _finite(what: str, number: object) -> None:
    if not isinstance(number, NUMBER) or not is_between(number, -LARGEST, LARGEST):
        raise SettingsError(f"{what} is {number!r}, but it is a finite number.")


def _positive(what: str, number: object, *, may_be_open: bool = True) -> None:
    if may_be_open and number is None:
        return
    if not (isinstance(number, NUMBER) and is_between(number, 1.0 / WIDEST, WIDEST)):
        raise SettingsError(f"{what} is {number!r}, but it is a number above 0.")


KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "polynomial": Polynomial(scale=None),
    "gauss": Gauss(),
    "sigmoid": Sigmoid(),
}
"""Kernels by name; what they leave open is settled from the data."""

ALIASES = {"rbf": "gauss", "gaussian": "gauss", "poly": "polynomial", "tanh": "sigmoid"}
"""What others call them."""


def as_kernel(given: object) -> Kernel:
    """A kernel, or one of a few names."""
    if isinstance(given, Kernel):
        return given
    if isinstance(given, str) and given in KERNELS:
        return KERNELS[given]
    name = str(given)
    hint = f" Did you mean {ALIASES[name]!r}?" if name in ALIASES else did_you_mean(name, list(KERNELS))
    raise SettingsError(
        f"kernel is {given!r}, but it is a Kernel of likely.models.svm or one of {listed(list(KERNELS))}.{hint}"
    )


# Kernels are settings: in a model file each is its name and its fields.

STORED: dict[str, Callable[..., Kernel]] = {
    kind.__name__: kind for kind in (Linear, Polynomial, Gauss, Sigmoid, Scaled, Sum, Product)
}


def _write(kernel: Kernel, depth: int) -> list[object]:
    return [type(kernel).__name__, *(to_plain(part, depth) for part in vars(kernel).values())]


def _read(of: list[str], depth: int) -> Kernel:
    kernel = STORED[of[0]](*(from_plain(part, depth) for part in of[1:]))
    if len(kernel.parts) != {Scaled: 1, Sum: 2, Product: 2}.get(type(kernel), 0):
        raise TypeError("a kernel is made of kernels")
    return kernel


TAGGED[Kernel] = Tag("kernel", _write, _read)
