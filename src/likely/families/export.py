"""What families write themselves down with: expressions of SQL, tensors of ONNX, inputs of PMML.

Families need not know which library makes these, nor in which dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NewType, Protocol, Self, runtime_checkable

from likely.arrays import AnyArray, Array
from likely.text.tokenizer import Tokenizer

# SQL.


class SQLNode(Protocol):
    """An expression."""

    def copy(self) -> Self: ...


class SQL(Protocol):
    """Makes expressions from names, numbers and other expressions; whatever comes from data is quoted by it.

    `likely.sql.query.Query` is one. What many classes ask for (a cell as a number, the code of a category) it works out
    once; a gap is null.
    """

    def real(self, name: str) -> SQLNode:
        """A cell as a number, null for a gap."""
        ...

    def missing(self, name: str) -> SQLNode:
        """Whether a number is not there."""
        ...

    def code(self, name: str, values: Sequence[Hashable], codes: Sequence[int], unseen: int, gap: int) -> SQLNode:
        """The code of a category, one for each value; True and 1 are two values, so that these are no keys."""
        ...

    def interval(self, name: str, cuts: Array, first: int, gap: int, *, at_most: bool) -> SQLNode:
        """The code of the interval that a number lies in; one that equals a cut lies below it with `at_most`."""
        ...

    def words(
        self, name: str, tokenizer: Tokenizer, words: Sequence[str], lines: Array, *, distinct: bool = False
    ) -> list[SQLNode]:
        """For each column of `lines` its sum over the words of a text; null if no word is known."""
        ...

    def kept(self, node: SQLNode, key: Hashable = None) -> SQLNode:
        """An expression that is worked out once, whoever asks for the same key."""
        ...

    def number(self, number: float) -> SQLNode: ...

    def whole(self, number: int) -> SQLNode: ...

    def whole_at(self, numbers: Sequence[int], place: SQLNode) -> SQLNode:
        """One of some whole numbers, by its place from 0 up."""
        ...

    def number_at(self, numbers: Sequence[float], place: SQLNode) -> SQLNode:
        """One of some numbers, by its place from 0 up."""
        ...

    def log_bell(self, x: SQLNode, mean: Array, deviation: Array, place: int) -> SQLNode:
        """The log density of a number under the bell curve of one class; 0 for a gap."""
        ...

    def sum(self, terms: Sequence[SQLNode]) -> SQLNode: ...

    def minus(self, a: SQLNode, b: SQLNode) -> SQLNode: ...

    def times(self, a: SQLNode, b: SQLNode) -> SQLNode: ...

    def over(self, a: SQLNode, b: SQLNode) -> SQLNode: ...

    def ln(self, a: SQLNode) -> SQLNode: ...

    def power(self, a: SQLNode) -> SQLNode:
        """e to the power of a."""
        ...

    def size(self, a: SQLNode) -> SQLNode:
        """|a|."""
        ...

    def root(self, a: SQLNode) -> SQLNode:
        """√a."""
        ...

    def greatest(self, a: Sequence[SQLNode]) -> SQLNode: ...

    def equal(self, a: SQLNode, b: SQLNode) -> SQLNode: ...

    def below(self, a: SQLNode, b: SQLNode) -> SQLNode: ...

    def at_most(self, a: SQLNode, b: SQLNode) -> SQLNode: ...

    def either(self, a: SQLNode, b: SQLNode) -> SQLNode: ...

    def both(self, a: SQLNode, b: SQLNode) -> SQLNode: ...

    def null(self, a: SQLNode) -> SQLNode:
        """Whether a is not there."""
        ...

    def known_or(self, a: SQLNode, otherwise: SQLNode) -> SQLNode:
        """a, or something else where it is null."""
        ...

    def case(self, whens: Sequence[tuple[SQLNode, SQLNode]], otherwise: SQLNode | None = None) -> SQLNode:
        """The first result whose condition holds; else null, if nothing is said."""
        ...

    def unless(self, condition: SQLNode, result: SQLNode) -> SQLNode:
        """A result, or 0 where a condition holds."""
        ...


# ONNX. A family that writes SQL is put into a graph by its expressions, for nothing. One whose columns depend on
# each other would need a node for every two of them, and writes its tensors itself.

Tensor = NewType("Tensor", str)
"""A tensor of a graph, by its name; the first axis of those that come from columns are the rows."""

Attributes = Mapping[str, int | list[int]]


class Graph(Protocol):
    """Makes tensors from columns, constants and other tensors; numbers are double, whatever the inputs are."""

    def numbers(self, names: Sequence[str]) -> Tensor:
        """Columns of numbers side by side (rows × columns), NaN for a gap."""
        ...

    def codes(self, name: str, values: Sequence[Hashable], *, unseen: int, gap: int) -> Tensor:
        """The place of each category among some values (rows × 1)."""
        ...

    def constant(self, values: AnyArray | Sequence[float] | float) -> Tensor: ...

    def apply(self, operator: str, *inputs: Tensor, attributes: Attributes | None = None) -> Tensor:
        """What an operator of ONNX makes of its inputs; the same question is asked once."""
        ...

    def sum(self, terms: Sequence[Tensor]) -> Tensor: ...

    def where(self, condition: Tensor, yes: Tensor, no: Tensor) -> Tensor: ...

    def count_cuts(self, numbers: Tensor, cuts: Sequence[Array], *, inclusive: bool) -> Tensor:
        """How many ascending cuts lie below each number (rows × columns); if `inclusive`, also those at it."""
        ...

    def column(self, matrix: Tensor, place: int) -> Tensor:
        """One column of a matrix (rows)."""
        ...

    def columns(self, matrix: Tensor, places: Sequence[int]) -> Tensor:
        """Some columns of a matrix."""
        ...

    def reduce(self, operator: Literal["Max", "Sum"], tensor: Tensor, axis: int, *, keep: bool = True) -> Tensor:
        """The greatest of an axis, or its sum."""
        ...

    def rows_of(self, table: AnyArray, places: Tensor) -> Tensor:
        """Lines of a constant table by their places."""
        ...

    def repeat(
        self, times: Tensor, states: Sequence[Tensor], step: Callable[[Graph, Tensor, list[Tensor]], list[Tensor]]
    ) -> list[Tensor]:
        """States after so many steps, each of which makes new ones from its number and the old ones."""
        ...


@runtime_checkable
class WritesGraph(Protocol):
    """Adds what it says to a graph: tensors of rows × classes that add up to its share of the log joint."""

    def graph_terms(self, graph: Graph) -> Iterable[Tensor] | None: ...


# PMML's naive Bayes model: shares of values or bins, a bell curve, a rate.


@dataclass(frozen=True, slots=True, eq=False)
class ValueShares:
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
class PoissonRates:
    """The rate of a count in each class; what is below zero says nothing."""

    column: str
    rate: Array


BayesInput = ValueShares | BinShares | Bells | PoissonRates


@runtime_checkable
class HasBayesInputs(Protocol):
    """Says what it believes in PMML's words, column by column; None where it has more to say than these."""

    def bayes_inputs(self) -> Iterable[BayesInput] | None: ...
