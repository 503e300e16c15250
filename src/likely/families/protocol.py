"""What every family is: a belief about some columns given the class, settled from a statistic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.families.smoothing import Laplace, Smoothing
from likely.table import Table

BlockScorer = Callable[[slice, Array], None]
"""Adds the log-likelihood of a block of rows under every class to the log joint of that block."""

Covariance = Literal["full", "pooled", "diagonal", "shrunk"]
"""How columns of one block depend on each other within a class; see `families.multivariate`."""


@dataclass(frozen=True)
class Settings:
    """What a user may decide about beliefs, apart from the data."""

    smoothing: Mapping[str, Smoothing] = field(default_factory=dict)
    missing: Literal["ignore", "value"] = "ignore"
    unseen: Literal["ignore", "smooth"] = "ignore"
    unbiased: bool = True
    variance_floor: float = 1e-9
    covariance: Covariance = "full"
    shrinkage: float | Literal["auto"] = "auto"
    weighting: Literal["counts", "tf-idf"] = "counts"
    normalise: bool = False
    bins: int = 10
    fewest: float = 1.0

    def smoothing_of(self, column: str) -> Smoothing:
        found = self.smoothing.get(column)
        return Laplace() if found is None else found


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows that were all learned, each to be judged as if it had not been.

    `y` and `weight` are the class and the weight of each row, `classes` the weight of each class with all rows.
    """

    table: Table
    y: NDArray[np.int32]
    weight: Array
    classes: Array

    @cached_property
    def one_weight(self) -> float | None:
        """The weight of a row if all have the same."""
        first = float(self.weight[0]) if len(self.weight) else 1.0
        return first if bool((self.weight == first).all()) else None

    @cached_property
    def by_class(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of the rows class by class, and where each class begins among them."""
        order = np.argsort(self.y, kind="stable").astype(np.int64)
        return order, np.searchsorted(self.y[order], np.arange(len(self.classes) + 1)).astype(np.int64)


Reads = Literal["numeric", "nominal", "text", "any"]
"""How the columns of a family are read; "any": as they are, numbers and categories."""


class Family(Protocol):
    """A settled belief. Smoothing has entered, once; rows have not.

    `statistic` names what it is settled from (a key of `engines.memory.READINGS`), `reads` how its columns
    are read, and `together` whether its columns share one statistic.
    """

    name: ClassVar[str]
    statistic: ClassVar[str]
    reads: ClassVar[Reads]

    @property
    def columns(self) -> tuple[str, ...]: ...

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: Any, weights: Array, settings: Settings) -> Self:
        """From what was seen of the columns, and the weight of each class."""
        ...

    def bind(self, table: Table) -> BlockScorer:
        """Read the columns of a table; the result adds their evidence, block by block."""
        ...

    def only(self, column: str) -> Self:
        """The belief about one of the columns: its evidence alone, and all of them add up to the whole.

        Where columns depend on each other (the family says so by `chained`), it is the evidence of the column
        given the known ones before it, and reads these, too.
        """
        ...


class LeavesOneOut(Protocol):
    """What a family may offer on top: to judge every learned row without that row, in closed form.

    The scorer adds what the beliefs settled from `seen` less the row itself would add. What it adds for a class
    that has no other row does not count. A family without this is settled again for every row.
    """

    @classmethod
    def leave_one_out(cls, columns: tuple[str, ...], seen: Any, rows: LeftOut, settings: Settings) -> BlockScorer: ...


class LeavesMostOut(Protocol):
    """The same where the closed form does not hold for every row, or not with all settings (None).

    The scorer says which rows of the block, counted from its start, it has left alone.
    """

    @classmethod
    def leave_most_out(
        cls, columns: tuple[str, ...], seen: Any, rows: LeftOut, settings: Settings
    ) -> Callable[[slice, Array], NDArray[np.int64]] | None: ...
