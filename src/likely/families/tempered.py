"""A family to a power: its evidence times a weight, and all else that it says with that weight in mind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from likely.arrays import Array
from likely.families.on_device import DeviceTerm, ScoresOnDevice
from likely.families.outcomes import BlockScorer, Outcomes
from likely.families.protocol import (
    SQL,
    Columns,
    Costly,
    Described,
    FittedFamily,
    HasOutcomes,
    HasParameters,
    HasTokens,
    Parameter,
    Positional,
    SQLNode,
    Token,
    WritesSQL,
)
from likely.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Tempered:
    """weight · log P(columns | class); a weight of 0 silences the columns, whatever they say."""

    belief: FittedFamily
    weight: float

    @property
    def name(self) -> str:
        return self.belief.name

    @property
    def columns(self) -> Columns:
        return self.belief.columns

    @property
    def work(self) -> int:
        """Cells that are looked at for a row."""
        return self.belief.work if isinstance(self.belief, Costly) else len(self.columns)

    def device_terms(self) -> list[DeviceTerm] | None:
        if not isinstance(self.belief, ScoresOnDevice):
            return None
        terms = [] if self.weight == 0.0 else self.belief.device_terms()
        return None if terms is None else [term.times(self.weight) for term in terms]

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

    def at(self, place: int) -> Tempered:
        """The same of one column by its place."""
        if isinstance(self.belief, Positional):
            return Tempered(self.belief.at(place), self.weight)
        return self.only(self.columns[place])

    def parameters(self) -> Iterable[Parameter] | None:
        """The weight of every column, and what the family itself lists."""
        found = self.belief.parameters() if isinstance(self.belief, HasParameters) else None
        return None if found is None else self._with_weights(found)

    def _with_weights(self, found: Iterable[Parameter]) -> Iterator[Parameter]:
        weighed = False
        for each in found:
            if not weighed:
                weighed = True
                for name in self.columns:
                    yield Parameter(name, "weight of the column", None, np.full(len(each.numbers), self.weight))
            yield each

    def sql_terms(self, sql: SQL, place: int) -> Iterable[SQLNode] | None:
        if self.weight == 0.0:
            return ()
        terms = self.belief.sql_terms(sql, place) if isinstance(self.belief, WritesSQL) else None
        return None if terms is None else (sql.times(sql.number(self.weight), term) for term in terms)

    def described(self) -> Mapping[str, object] | None:
        """What the family says of itself, and the weight."""
        told = self.belief.described() if isinstance(self.belief, Described) else None
        return None if told is None else {**told, "weight": self.weight}

    def outcomes(self, column: str, points: int) -> Outcomes | None:
        """What the family expects: the weight says how much that counts, not what to expect."""
        return self.belief.outcomes(column, points) if isinstance(self.belief, HasOutcomes) else None

    def tokens(self, table: Table) -> list[list[Token]] | None:
        """The words of a text, with the weight that the column has."""
        texts = self.belief.tokens(table) if isinstance(self.belief, HasTokens) else None
        if texts is None:
            return None
        return [[Token(word, weight, self.weight * told) for word, weight, told in text] for text in texts]


def bare(belief: FittedFamily) -> FittedFamily:
    """The belief itself, without the weight that it may have."""
    return belief.belief if isinstance(belief, Tempered) else belief


def weight_of(belief: FittedFamily) -> float:
    """The power of a belief."""
    return belief.weight if isinstance(belief, Tempered) else 1.0
