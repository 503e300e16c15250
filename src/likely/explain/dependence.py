"""Which columns say the same thing given the class: what naive Bayes would count twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import Array
from likely.measures import information_gains
from likely.render.charts import heat_map
from likely.render.page import fragment
from likely.render.table import Column, Grid, figure
from likely.stats import PairCounts

if TYPE_CHECKING:
    import pandas as pd

    from likely.render.picture import Picture

BITS = ("bits", "by_chance", "excess")


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """I(column; other column | class) of every pair, in bits: columns × columns, the diagonal zero.

    `by_chance` is about what columns without any connection would show in as few rows: (values − 1)(other values − 1)
    / (2 ln 2 · rows), for each class in which both were seen. What exceeds it is worth a thought.
    """

    columns: tuple[str, ...]
    bits: Array
    by_chance: Array

    @classmethod
    def of(cls, columns: tuple[str, ...], seen: PairCounts) -> Dependence:
        """From the counts of pairs, over the rows that know both columns."""
        bits, by_chance = np.zeros((2, len(columns), len(columns)))
        for j in range(len(columns)):
            for k in range(j + 1, len(columns)):
                bits[j, k], by_chance[j, k] = _of_pair(seen.pair(j, k))
        return cls(columns, bits + bits.T, by_chance + by_chance.T)

    def to_frame(self) -> pd.DataFrame:
        """One line per pair, the most dependent first: column, other, bits, by_chance, excess."""
        import pandas as pd

        first, second = np.triu_indices(len(self.columns), 1)
        bits, chance = self.bits[first, second], self.by_chance[first, second]
        frame = pd.DataFrame(
            {
                "column": [self.columns[j] for j in first],
                "other": [self.columns[k] for k in second],
                "bits": bits,
                "by_chance": chance,
                "excess": np.maximum(bits - chance, 0.0),
            }
        )
        return frame.sort_values("excess", ascending=False, kind="stable", ignore_index=True)

    def plot(self, most: int = 30) -> Picture:
        """A heat map of the excess over chance, for the columns that depend most on others."""
        return heat_map(self.columns, np.maximum(self.bits - self.by_chance, 0.0), most)

    def _repr_html_(self) -> str:
        columns = [Column("column", "left"), Column("other", "left"), *(Column(h, form=figure) for h in BITS)]
        return fragment(Grid(columns, [list(row) for row in self.to_frame().itertuples(index=False)]).html())


def _of_pair(tables: Array) -> tuple[float, float]:
    """Σ P(class) · I(column; other | class), and what chance would make of it."""
    rows = tables.sum(axis=(1, 2))
    total = float(rows.sum())
    if total <= 0.0:
        return 0.0, 0.0
    seen = ((tables.sum(axis=2) > 0.0).sum(axis=1) - 1.0) * ((tables.sum(axis=1) > 0.0).sum(axis=1) - 1.0)
    bits = float((rows / total) @ np.where(rows > 0.0, information_gains(tables), 0.0))
    return max(bits, 0.0), float(np.maximum(seen, 0.0).sum() / (2.0 * np.log(2.0) * total))
