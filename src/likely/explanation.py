"""Why a row got its posterior: a prior and one contribution per column, which add up."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likely.bayes import Model
from likely.numerics import log_of, normalise
from likely.table import Table

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

SHOWN_ROWS = 3
"""Rows written out where a person looks at an explanation of many."""


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """log prior + contributions = log joint; normalised, the posterior.

    `contributions` is rows × columns × classes, in nats; a gap or a value never seen contributes nothing.
    """

    classes: NDArray[Any]
    columns: tuple[str, ...]
    cells: tuple[tuple[object, ...], ...]
    prior: Array
    contributions: Array

    @classmethod
    def of(cls, model: Model, table: Table) -> Explanation:
        """Ask every belief about every one of its columns alone."""
        rows = slice(0, table.n_rows)
        shape = table.n_rows, len(model.columns), len(model.classes)
        contributions = np.zeros(shape)
        place = {name: position for position, name in enumerate(model.columns)}
        for belief in model.beliefs:
            for name in belief.columns:
                joint = np.zeros((table.n_rows, len(model.classes)))
                belief.only(name).bind(table)(rows, joint)
                contributions[:, place[name]] += joint
        cells = tuple(zip(*(_cells(table, name) for name in model.columns), strict=True))
        return cls(model.classes, model.columns, cells, model.prior, contributions)

    @property
    def joint(self) -> Array:
        """Log joint of each row and class."""
        return np.asarray(log_of(self.prior) + self.contributions.sum(axis=1))

    @property
    def posterior(self) -> Array:
        """P(class | row)."""
        out = np.empty_like(self.joint)
        normalise(self.joint, self.prior, False, out)
        return out

    def to_frame(self) -> pd.DataFrame:
        """One line per row and factor: the factor, its value, and log P of it under each class."""
        import pandas as pd

        lines = []
        for row, posterior in enumerate(self.posterior):
            lines.append((row, "prior", "", *log_of(self.prior)))
            for place, name in enumerate(self.columns):
                lines.append((row, name, self.cells[row][place], *self.contributions[row, place]))
            lines.append((row, "log joint", "", *self.joint[row]))
            lines.append((row, "posterior", "", *posterior))
        return pd.DataFrame(lines, columns=["row", "factor", "value", *self.classes.tolist()])

    def __str__(self) -> str:
        shown = [self._blackboard(row) for row in range(min(len(self.contributions), SHOWN_ROWS))]
        more = len(self.contributions) - len(shown)
        return "\n\n".join([*shown, *([f"… and {more} more rows"] if more > 0 else [])])

    def _blackboard(self, row: int) -> str:
        """The row as a worked example: every factor as a probability (or density), their product, the posterior."""
        head = ["factor", *(str(label) for label in self.classes)]
        body = [["prior", *(f"{share:.4g}" for share in self.prior)]]
        for place, name in enumerate(self.columns):
            cell = self.cells[row][place]
            label = f"{name} = {cell}" if cell is not None else f"{name} (gap)"
            body.append([label, *map(_factor, self.contributions[row, place])])
        body.append(["product", *map(_factor, self.joint[row])])
        body.append(["posterior", *(f"{share:.4f}" for share in self.posterior[row])])
        widths = [max(len(line[k]) for line in [head, *body]) for k in range(len(head))]
        lines = [
            "  ".join(
                text.ljust(w) if k == 0 else text.rjust(w) for k, (text, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in [head, *body]
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _factor(log_factor: float) -> str:
    """A factor as a number, or as a power of e where it is no float any more."""
    return f"{np.exp(log_factor):.4g}" if log_factor == -np.inf or abs(log_factor) < 700.0 else f"e^{log_factor:.4g}"


def _cells(table: Table, name: str) -> list[object]:
    """What a person reads in a column: numbers as they are, categories by name, None for a gap."""
    if table.sparse is not None:
        return list(table.numbers(name))
    column = table.codes(name)
    return [column.levels[code] if code >= 0 else None for code in column.codes]
