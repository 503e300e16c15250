"""A belief that counts for more or less than it says: its evidence times a weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from likely.arrays import Array
from likely.families.protocol import BlockScorer
from likely.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Tempered:
    """weight · log P(columns | class); a weight of 0 silences the columns, whatever they say."""

    belief: Any
    weight: float

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.belief.columns)

    @property
    def name(self) -> str:
        return str(getattr(self.belief, "name", ""))

    def bind(self, table: Table) -> BlockScorer:
        if self.weight == 0.0:
            return lambda block, joint: None
        add_evidence = self.belief.bind(table)

        def score(block: slice, joint: Array) -> None:
            evidence = np.zeros_like(joint)
            add_evidence(block, evidence)
            joint += self.weight * evidence

        return score

    def only(self, column: str) -> Tempered:
        return Tempered(self.belief.only(column), self.weight)


def bare(belief: Any) -> Any:
    """The belief itself, without the weight that it may have."""
    return belief.belief if isinstance(belief, Tempered) else belief
