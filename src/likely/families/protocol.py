"""What every family is: a belief about some columns given the class, settled from a statistic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from likely.families.smoothing import Laplace, Smoothing
from likely.table import Table

Array = NDArray[np.float64]

Scorer = Callable[[slice, Array], None]
"""Adds the log-likelihood of a block of rows under every class to the log joint of that block."""


@dataclass(frozen=True)
class Settings:
    """What a user may decide about beliefs, apart from the data."""

    smoothing: Mapping[str, Smoothing] = field(default_factory=dict)
    missing: Literal["ignore", "value"] = "ignore"
    unseen: Literal["ignore", "smooth"] = "ignore"
    unbiased: bool = True
    variance_floor: float = 1e-9

    def smoothing_of(self, column: str) -> Smoothing:
        return self.smoothing.get(column, Laplace())


class Family(Protocol):
    """A settled belief. Smoothing has entered, once; rows have not.

    `statistic` names what it is settled from (a key of `engines.memory.READINGS`), `reads` how its columns
    are read, and `together` whether its columns share one statistic.
    """

    name: ClassVar[str]
    statistic: ClassVar[str]
    reads: ClassVar[Literal["numeric", "nominal"]]

    @property
    def columns(self) -> tuple[str, ...]: ...

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: Any, weights: Array, settings: Settings) -> Self:
        """From what was seen of the columns, and the weight of each class."""
        ...

    def bind(self, table: Table) -> Scorer:
        """Read the columns of a table; the result adds their evidence, block by block."""
        ...

    def only(self, column: str) -> Self:
        """The belief about one of the columns: its evidence alone."""
        ...
