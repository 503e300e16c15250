"""What expressions of SQL are made with: families need not know by which library, nor in which dialect."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol, Self

from likely.arrays import Array
from likely.text.tokenizer import Tokenizer


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

    def code(self, name: str, codes: Mapping[Hashable, int], unseen: int, gap: int) -> SQLNode:
        """The code of a category."""
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
