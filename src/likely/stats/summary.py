"""Everything a model remembers: class weights, and one statistic per group of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from likely.errors import NotMergeable, SchemaError, TooLarge, did_you_mean, listed
from likely.stats.class_weights import ClassWeights
from likely.stats.protocol import Statistic, require

S = TypeVar("S", bound=Statistic)


class Part(NamedTuple):
    """Which statistic is kept (a key of `stats.STATISTICS`), and of which columns."""

    kind: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """What was seen in a set of rows, and nothing that is believed about it.

    `a + b` is the summary of the rows of both, `a - b` takes the rows of `b` out of `a` again.
    """

    classes: ClassWeights
    parts: Mapping[Part, Statistic]

    @property
    def n_rows(self) -> int:
        return int(self.classes.rows.sum())

    def validate(self, *, parts: bool = True) -> None:
        """Raise a `DataError` where something in it is not sound, or does not fit the classes and columns.

        Statistics that were validated one by one need not be asked again (`parts`).
        """
        self.classes.validate()
        for part, seen in self.parts.items():
            if parts:
                seen.validate()
            fits = seen.shape == (len(self.classes), len(part.columns))
            require(fits, f"The {seen.stored_as} of {listed(part.columns)} do not fit the classes and columns.")

    def __add__(self, other: Summary) -> Summary:
        self._refuse_other_columns(other)
        _, mine, theirs = self.classes.union(other.classes)
        classes, parts = self.classes + other.classes, {}
        for part, seen in self.parts.items():
            try:
                parts[part] = seen.take_classes(mine) + other.parts[part].take_classes(theirs)
            except TooLarge as large:
                raise large.named(part.columns) from None
        return Summary(classes, parts)

    def __sub__(self, other: Summary) -> Summary:
        self._refuse_other_columns(other)
        theirs = self.classes.where(other.classes)
        classes = self.classes - other.classes
        still = np.flatnonzero(self.classes.where(classes) >= 0)
        parts = {
            part: (seen - other.parts[part].take_classes(theirs)).take_classes(still)
            for part, seen in self.parts.items()
        }
        return Summary(classes, parts)

    def __getitem__(self, column: str) -> Statistic:
        """What was seen of one column."""
        for part, seen in self.parts.items():
            if column in part.columns:
                return seen.select(np.array([part.columns.index(column)]))
        names = [name for part in self.parts for name in part.columns]
        raise SchemaError(f"Nothing was counted for {column!r}.{did_you_mean(column, names)}")

    def parts_of(self, statistic: type[S]) -> dict[Part, S]:
        """The parts that are kept as one statistic."""
        return {part: seen for part, seen in self.parts.items() if isinstance(seen, statistic)}

    def __repr__(self) -> str:
        n_columns = sum(len(part.columns) for part in self.parts)
        return f"Summary of {self.n_rows:,} rows, {len(self.classes)} classes, {n_columns} columns"

    def _refuse_other_columns(self, other: Summary) -> None:
        strange = sorted(set(self.parts) ^ set(other.parts))
        if strange:
            names = sorted({name for part in strange for name in part.columns})
            raise NotMergeable(
                f"The two summaries do not describe the same columns in the same way: see {listed(names)}."
            )
