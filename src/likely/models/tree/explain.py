"""Why a row got its class: the tests that it passed, and the leaf, or leaves, that it came to."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from likely.arrays import Array, Int32
from likely.errors import SettingsError
from likely.markup import tag
from likely.models.tree.plot import TreePicture
from likely.models.tree.predict import Flat, TreeRows, branch_at, flatten, surrogate_branch
from likely.models.tree.tree import Tree, cases, condition, label, number, shortened
from likely.render.page import fragment, more

if TYPE_CHECKING:
    import pandas as pd

SHOWN_ROWS = 10

How = Literal["known", "surrogate", "majority", "spread", "leaf"]


@dataclass(frozen=True, slots=True)
class Visit:
    """A node that a row came to with this part of its weight, and how it went on."""

    node: int
    weight: float
    depth: int
    value: Hashable
    how: How
    branch: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """The paths of some rows down a tree, their posteriors, and what was decided, if a loss did that."""

    tree: Tree
    visits: tuple[tuple[Visit, ...], ...]
    posterior: Array
    decided: Sequence[Hashable] | None = None

    @classmethod
    def of(cls, rows: TreeRows, shares: Array, decided: Sequence[Hashable] | None = None) -> Paths:
        """Walk all rows down the tree."""
        numbers, codes = rows.block(slice(0, rows.n_rows))
        flat = flatten(rows.tree)
        walked = tuple(tuple(_walk(rows.tree, flat, numbers, codes, i)) for i in range(rows.n_rows))
        return cls(rows.tree, walked, rows.posterior(shares), decided)

    def __len__(self) -> int:
        """How many rows are explained."""
        return len(self.visits)

    def leaves(self, row: int = 0) -> dict[int, float]:
        """The leaves that a row came to, with the part of its weight in each; they sum to 1."""
        self._refuse_row(row)
        return {visit.node: visit.weight for visit in self.visits[row] if visit.how == "leaf"}

    def nodes(self, row: int = 0) -> list[int]:
        """All nodes on the path of a row, from the root on."""
        self._refuse_row(row)
        return [visit.node for visit in self.visits[row]]

    def to_frame(self) -> pd.DataFrame:
        """One line per row and node: weight, column, value, what was tested, and the class weights of the node."""
        import pandas as pd

        lines = [
            (row, visit.node, visit.weight, *self._test(visit), visit.how, *self.tree.counts[visit.node])
            for row, visits in enumerate(self.visits)
            for visit in visits
        ]
        names = ["row", "node", "weight", "column", "value", "test", "how", *self.tree.classes.tolist()]
        return pd.DataFrame(lines, columns=names)

    def plot(self, row: int = 0, max_depth: int | None = None) -> TreePicture:
        """The tree with the path of one row highlighted."""
        return TreePicture(self.tree, frozenset(self.nodes(row)), max_depth)

    def text(self, row: int = 0) -> str:
        """The path of one row, test by test."""
        self._refuse_row(row)
        return "\n".join("  " * depth + line for depth, line in self._lines(row))

    def __str__(self) -> str:
        return self.listed()

    def listed(self, first: int = 0) -> str:
        """All rows one below the other, counted from `first`."""
        some = range(min(len(self), SHOWN_ROWS))
        shown = [f"row {first + row}: {self._title(row)}\n{self.text(row)}" for row in some]
        more = len(self) - len(shown)
        return "\n\n".join([*shown, *([f"… and {more} more rows"] if more > 0 else [])])

    def _repr_html_(self, first: int = 0) -> str:
        parts = []
        for row in range(min(len(self), SHOWN_ROWS)):
            body = [tag("div", line, style=f"padding-left:{1.5 * depth}em") for depth, line in self._lines(row)]
            parts += [tag("p", tag("strong", f"row {first + row}: {self._title(row)}")), *body]
        return fragment(*parts, more(len(self) - SHOWN_ROWS, "rows"))

    def _title(self, row: int) -> str:
        best = int(self.posterior[row].argmax())
        probable = f"{self.tree.classes.tolist()[best]}, P = {self.posterior[row, best]:.4f}"
        return probable if self.decided is None else f"{self.decided[row]} is decided; most probable is {probable}"

    def _lines(self, row: int) -> list[tuple[int, str]]:
        lines = []
        for visit in self.visits[row]:
            part = f" ({visit.weight:.3f} of the row)" if visit.weight < 1.0 else ""
            if visit.how == "leaf":
                lines.append((visit.depth, f"→ {label(self.tree, visit.node)} ({cases(self.tree, visit.node)}){part}"))
                continue
            column, value, test = self._test(visit)
            if visit.how == "known":
                numeric = self.tree.features[self.tree.column[visit.node]].is_numeric
                lines.append((visit.depth, f"{test} (it is {value})" if numeric else test))
            elif visit.how == "spread":
                lines.append((visit.depth, f"{column} is not known: all branches{part}"))
            else:
                why = "by a surrogate" if visit.how == "surrogate" else "as most cases"
                lines.append((visit.depth, f"{column} is not known: {test}, {why}"))
        return lines

    def _test(self, visit: Visit) -> tuple[str, Hashable, str]:
        if visit.how == "leaf":
            return "", None, ""
        name = self.tree.features[self.tree.column[visit.node]].name
        said = "" if visit.branch < 0 else condition(self.tree, visit.node, visit.branch)
        value = number(visit.value) if isinstance(visit.value, float) else visit.value
        return name, value, shortened(said, 120)

    def _refuse_row(self, row: int) -> None:
        if not -len(self) <= row < len(self):
            raise SettingsError(f"There is no row {row}: {len(self)} rows are explained, counted from 0.")


def _walk(tree: Tree, flat: Flat, numbers: Array, codes: Int32, i: int) -> Sequence[Visit]:
    found, pending = list[Visit](), [(0, 1.0, 0)]
    while pending:
        node, weight, depth = pending.pop()
        if tree.is_leaf[node]:
            found.append(Visit(node, weight, depth, None, "leaf"))
            continue
        value, how = _value(tree, flat, int(tree.column[node]), numbers, codes, i), "known"
        branch = int(branch_at(flat, node, numbers, codes, i))
        if branch < 0 and tree.missing == "surrogates":
            branch, by_surrogate = surrogate_branch(flat, node, numbers, codes, i)
            how = "surrogate" if by_surrogate else "majority"
        children = list(tree.children(node))
        if branch >= 0:
            found.append(Visit(node, weight, depth, value, how, branch))  # type: ignore[arg-type]
            pending.append((children[branch], weight, depth + 1))
            continue
        found.append(Visit(node, weight, depth, value, "spread"))
        total = sum(tree.sizes[child] for child in children)
        shares = [(child, weight * float(tree.sizes[child] / total), depth + 1) for child in children]
        pending += [entry for entry in reversed(shares) if entry[1] > 0.0]
    return found


def _value(tree: Tree, flat: Flat, column: int, numbers: Array, codes: Int32, i: int) -> Hashable:
    """What a row holds in a column, None for a gap."""
    levels, slot = tree.features[column].levels, flat.slot[column]
    if levels is None:
        return None if np.isnan(numbers[i, slot]) else float(numbers[i, slot])
    return None if codes[i, slot] < 0 else levels[codes[i, slot]]
