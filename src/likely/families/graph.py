"""What graphs of ONNX are made with: families and models need not know by which library.

A family that writes SQL (`protocol.WritesSQL`) is put into a graph by its expressions, for nothing. One whose columns
depend on each other would need a node for every two of them, and writes its tensors itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NewType, Protocol, runtime_checkable

from likely.arrays import AnyArray, Array

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
