"""What PMML's naive Bayes model can say of a column: shares of values or bins, a bell curve, a rate."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from likely.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """P(value | class) of a nominal column (values × classes)."""

    column: str
    values: tuple[Hashable, ...]
    shares: Array


@dataclass(frozen=True, slots=True, eq=False)
class BinShares:
    """P(bin | class) of a number (bins × classes); a bin begins at its cut."""

    column: str
    cuts: Array
    shares: Array


@dataclass(frozen=True, slots=True, eq=False)
class Bells:
    """Mean and deviation of a number in each class."""

    column: str
    mean: Array
    deviation: Array


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """The rate of a count in each class; what is below zero says nothing."""

    column: str
    rate: Array


BayesInput = Shares | BinShares | Bells | Rates


@runtime_checkable
class HasBayesInputs(Protocol):
    """Says what it believes in PMML's words, column by column; None where it has more to say than these."""

    def bayes_inputs(self) -> Iterable[BayesInput] | None: ...
