"""What a family says about itself: what every family must, and what it may offer on top.

A family is one file and one registration. What it must say is `Family`; each further protocol here is a question that
another part of the house asks (`isinstance` for a fitted family, `issubclass` for a family), and that a family answers
by having the method. A method that returns None has no answer in that case.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np

from likely.arrays import Array, Flags, Index, Int32, Int64
from likely.families.export import SQL as SQL
from likely.families.export import SQLNode as SQLNode
from likely.families.outcomes import BlockScorer, Outcomes
from likely.families.smoothing import Laplace, Smoothing
from likely.stats import Histogram
from likely.table import Table

Columns: TypeAlias = tuple[str, ...]
"""Names of the columns that a family believes something about at once."""

Seen: TypeAlias = Any
"""What was seen of some columns: a statistic of the kind that the family names, as each family types it."""

Covariance = Literal["full", "pooled", "diagonal", "shrunk"]
"""How columns of one block depend on each other within a class; see `families.multivariate`."""

Reads = Literal["numeric", "nominal", "text", "any"]
"""How the columns of a family are read; "any": as they are, numbers and categories."""


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


class Domain(Enum):
    """The cells that a family stands for."""

    ANY = "values of any kind"
    REAL = "numbers"
    POSITIVE = "numbers above zero"
    COUNTS = "whole numbers from zero up"

    def outside(self, cells: Array) -> Flags:
        """Numbers about which the family says nothing; a fraction among counts is scored like its neighbours."""
        if self is Domain.POSITIVE:
            return np.asarray(cells <= 0.0)
        return np.asarray(cells < 0.0) if self is Domain.COUNTS else np.zeros(len(cells), dtype=np.bool_)

    def suits(self, values: Array) -> bool:
        """Whether a column of these numbers is one that the family was made for."""
        is_whole = self is not Domain.COUNTS or bool((values % 1.0 == 0.0).all())
        return is_whole and not bool(self.outside(values).any())


class FittedFamily(Protocol):
    """A settled belief about some columns, whatever it was settled from."""

    @property
    def name(self) -> str: ...

    @property
    def columns(self) -> Columns: ...

    def bind(self, table: Table) -> BlockScorer:
        """Read the columns of a table; the result adds their evidence, block by block."""
        ...

    def only(self, column: str) -> Self:
        """The belief about one of the columns: its evidence alone, and all of them add up to the whole.

        Where columns depend on each other (`Chained`), it is the evidence of the column given the known ones before
        it, and reads these, too.
        """
        ...


class Family(FittedFamily, Protocol):
    """A settled belief. Smoothing has entered, once; rows have not.

    `statistic` names what it is settled from (a key of `engines.memory.READINGS`), `reads` how its columns are read,
    `domain` the cells it stands for, and `has_density` whether it says how probable a row is, so that novel rows can be
    told: weights that only compare classes do not.
    """

    name: ClassVar[str]
    statistic: ClassVar[str]
    reads: ClassVar[Reads]
    domain: ClassVar[Domain]
    has_density: ClassVar[bool]

    @classmethod
    def settle(cls, columns: Columns, seen: Seen, weights: Array, settings: Settings) -> Self:
        """From what was seen of the columns, and the weight of each class."""
        ...


# What a family may offer before it is settled.


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows that were all learned, each to be judged as if it had not been.

    `y` and `weight` are the class and the weight of each row, `classes` the weight of each class with all rows.
    """

    table: Table
    y: Int32
    weight: Array
    classes: Array

    @cached_property
    def one_weight(self) -> float | None:
        """The weight of a row if all have the same."""
        first = float(self.weight[0]) if len(self.weight) else 1.0
        return first if bool((self.weight == first).all()) else None

    @cached_property
    def by_class(self) -> tuple[Int64, Int64]:
        """Numbers of the rows class by class, and where each class begins among them."""
        order = np.argsort(self.y, kind="stable").astype(np.int64)
        return order, np.searchsorted(self.y[order], np.arange(len(self.classes) + 1)).astype(np.int64)


@runtime_checkable
class LeavesOneOut(Protocol):
    """Judges every learned row without that row, in closed form.

    The scorer adds what the beliefs settled from `seen` less the row itself would add. What it adds for a class
    that has no other row does not count. A family without this is settled again for every row.
    """

    @classmethod
    def leave_one_out(cls, columns: Columns, seen: Seen, rows: LeftOut, settings: Settings) -> BlockScorer: ...


MostScored = Callable[[slice, Array], Int64]
"""Adds the evidence of a block of rows, and says which of them (counted from the start of the block) it could not."""


@runtime_checkable
class LeavesMostOut(Protocol):
    """The same where the closed form does not hold for every row, or not with all settings (None)."""

    @classmethod
    def leave_most_out(cls, columns: Columns, seen: Seen, rows: LeftOut, settings: Settings) -> MostScored | None: ...


Certainty = Callable[[slice, Array, Array], None]
"""Adds shift and variance of the log-likelihood of a block of rows under every class (each rows × classes).

The shift is the mean less what was settled; it vanishes as rows become many.
"""


@runtime_checkable
class Uncertain(Protocol):
    """Says how sure it is of its parameters, given the counts: `predict_interval` needs it of every column."""

    @classmethod
    def uncertainty(
        cls, columns: Columns, seen: Seen, weights: Array, settings: Settings, table: Table
    ) -> Certainty: ...


@runtime_checkable
class Competes(Protocol):
    """Takes part where a column's family is chosen ("auto"), provided that its domain suits the numbers."""

    @classmethod
    def histogram_likelihood(cls, column: str, seen: Histogram, settings: Settings) -> float:
        """Σ log density of all rows, each judged without itself, as far as the histogram tells them apart."""
        ...


CountTable = tuple[tuple[str, ...], Array]
"""Columns that share one smoothing, and the classes × values that it is added to."""


@runtime_checkable
class Smooths(Protocol):
    """Adds pseudo-counts to tables of counts, so that "auto" can choose how many: it says which tables these are."""

    @classmethod
    def smoothed_counts(
        cls, columns: Columns, seen: Seen, weights: Array, settings: Settings
    ) -> Iterable[CountTable]: ...


# What a settled family may offer.


class Parameter(NamedTuple):
    """One number for each class: of which column, what it is, and for which value or word, if for one."""

    column: str
    name: str
    value: Hashable
    numbers: Array


@runtime_checkable
class HasParameters(Protocol):
    """Lists its settled numbers under names that a person understands."""

    def parameters(self) -> Iterable[Parameter] | None: ...


@runtime_checkable
class WritesSQL(Protocol):
    """Writes what it adds to the log joint of one class (by its place) as expressions, column by column."""

    def sql_terms(self, sql: SQL, place: int) -> Iterable[SQLNode] | None: ...


@runtime_checkable
class Described(Protocol):
    """Says as plain values and arrays how it scores a row, where an expression for each column does not do.

    Whoever scores rows without this package, as a page does, finds under "is" which of a few rules to follow.
    """

    def described(self) -> Mapping[str, object] | None: ...


@runtime_checkable
class HasOutcomes(Protocol):
    """Says what a column may turn out to be, whatever the others hold, at about so many points."""

    def outcomes(self, column: str, points: int) -> Outcomes | None: ...


class Token(NamedTuple):
    """One word of a text: what it weighs there, and what it adds to the log joint of each class."""

    word: str
    weight: float
    evidence: Array


@runtime_checkable
class HasTokens(Protocol):
    """Splits the evidence of texts into that of their words."""

    def tokens(self, table: Table) -> list[list[Token]] | None: ...


@runtime_checkable
class HasMargins(Protocol):
    """Columns that may depend on each other, and what is believed of each whatever the others hold."""

    @property
    def margins(self) -> FittedFamily: ...


@runtime_checkable
class HasBells(Protocol):
    """Believes in bell curves: of each class the mean of some columns, and their covariance matrix."""

    @property
    def columns(self) -> Columns: ...

    def bells(self, columns: Sequence[str]) -> list[tuple[Array, Array]]: ...


@runtime_checkable
class Chained(Protocol):
    """Says whether what a column adds depends on other cells of the row."""

    @property
    def chained(self) -> bool: ...


@runtime_checkable
class Whole(Protocol):
    """Says whether no share of its evidence belongs to one column, so that `only` has no answer."""

    @property
    def whole(self) -> bool: ...


@runtime_checkable
class GivenOthers(Protocol):
    """For each of some rows what is believed of a column given the row's other cells, as a family of that column."""

    def given_others(self, table: Table, column: str, rows: Index) -> Iterator[FittedFamily]: ...


@runtime_checkable
class HasDomain(Protocol):
    """Says for which cells it stands, as every family does."""

    @property
    def domain(self) -> Domain: ...


@runtime_checkable
class KnowsValues(Protocol):
    """Marks the cells of its column that hold a value never seen."""

    def unseen(self, table: Table) -> Flags: ...


@runtime_checkable
class Positional(Protocol):
    """Finds a column by its place: to find a name among a million takes its time."""

    def at(self, place: int) -> FittedFamily: ...


@runtime_checkable
class Costly(Protocol):
    """Says how many cells it looks at for a row, where these are more than its columns."""

    @property
    def work(self) -> int: ...
