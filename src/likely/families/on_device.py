"""What a settled family adds to a log joint, as tables that a device without Python can add up."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self, runtime_checkable

import numpy as np

from likely.arrays import Array
from likely.families.protocol import Columns


@dataclass(frozen=True, slots=True, eq=False)
class BellTerm:
    """height − ½ ((x − mean) · precision)² of each column (classes × columns); a gap says nothing.

    With `of_logs` the bell is that of log x, and weight · log x is taken off; what is not above zero says nothing.
    """

    columns: Columns
    mean: Array
    precision: Array
    height: Array
    of_logs: bool = False
    weight: float = 1.0

    def times(self, weight: float) -> Self:
        """The same with a weight."""
        precision, height = self.precision * np.sqrt(weight), self.height * weight
        return replace(self, precision=precision, height=height, weight=self.weight * weight)


@dataclass(frozen=True, slots=True, eq=False)
class RateTerm:
    """weight · (x log rate − rate − log x!) of each column (classes × columns); what is below zero says nothing."""

    columns: Columns
    rate: Array
    weight: float = 1.0

    def times(self, weight: float) -> Self:
        """The same with a weight."""
        return replace(self, weight=self.weight * weight)


@dataclass(frozen=True, slots=True, eq=False)
class ValueTerm:
    """A line of numbers for each value of a column (values × classes), one for a gap and one for any other value."""

    columns: Columns
    values: tuple[Hashable, ...]
    lines: Array
    gap: Array
    other: Array

    def times(self, weight: float) -> Self:
        """The same with a weight."""
        return replace(self, lines=self.lines * weight, gap=self.gap * weight, other=self.other * weight)


@dataclass(frozen=True, slots=True, eq=False)
class IntervalTerm:
    """A line for each interval of a number; one that lies at a cut belongs to the interval above it."""

    columns: Columns
    cuts: Array
    lines: Array
    gap: Array

    def times(self, weight: float) -> Self:
        """The same with a weight."""
        return replace(self, lines=self.lines * weight, gap=self.gap * weight)


@dataclass(frozen=True, slots=True, eq=False)
class CountTerm:
    """Σ count · line of its column (columns × classes), and `bias` for every row; a gap counts as nothing."""

    columns: Columns
    lines: Array
    bias: Array

    def times(self, weight: float) -> Self:
        """The same with a weight."""
        return replace(self, lines=self.lines * weight, bias=self.bias * weight)


@dataclass(frozen=True, slots=True, eq=False)
class WhitenedTerm:
    """height − ½ |(x − mean) · precision · turn|² of all columns together; classes may share one turn."""

    columns: Columns
    mean: Array
    precision: Array
    turn: Array
    height: Array

    def times(self, weight: float) -> Self:
        """The same with a weight."""
        return replace(self, precision=self.precision * np.sqrt(weight), height=self.height * weight)


DeviceTerm = BellTerm | RateTerm | ValueTerm | IntervalTerm | CountTerm | WhitenedTerm


@runtime_checkable
class ScoresOnDevice(Protocol):
    """A settled family that says what it adds as such tables; None where it cannot."""

    def device_terms(self) -> Sequence[DeviceTerm] | None: ...
