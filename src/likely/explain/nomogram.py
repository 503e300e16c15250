"""A classifier on one sheet: points for every value of every column, and a scale from points to probability."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import AnyArray, Array, Index
from likely.errors import SettingsError, listed, missing_columns
from likely.explain.contrast import target_and_rivals
from likely.explain.factors import COARSE, beliefs_about, evidence, expected, speaks_together
from likely.families.protocol import HasTokens
from likely.families.tempered import bare
from likely.numerics import log_of
from likely.render.nomogram import RowPoints, Scale, Sheet, nomogram
from likely.render.page import fragment
from likely.render.table import ColumnHead, Grid, number, signed
from likely.scorer import Model
from likely.table import as_table

if TYPE_CHECKING:
    import pandas as pd

    from likely.render.picture import Picture

MASS = 0.99
"""Of each class's values, what a scale for numbers covers."""

CURVE = 61
"""Values at which a scale for numbers is drawn."""

OCCURRENCES = (0.0, 1.0, 2.0, 3.0)
"""What a scale shows of a column that counts words."""


Worth = Callable[[str, Sequence[object] | Array], Array]
"""Points of some values of a column (or of a term of several columns), as values × rivals."""


@dataclass(frozen=True, slots=True, eq=False)
class Nomogram:
    """Points are log-odds of `target` against each rival, in nats.

    Read the points of each cell, add them to `start`, and turn the total into a probability: with one rival it
    is 1 / (1 + e^−total); with several, each total gives the odds of its rival, e^−total, and the probability is
    1 / (1 + their sum). That is `predict_proba`, whatever the number of classes. `terms` are columns that have points
    together, by the name of their scale: their value is the tuple of their cells.
    """

    columns: tuple[str, ...]
    target: object
    rivals: tuple[object, ...]
    start: Array
    scales: tuple[Scale, ...]
    worth: Worth
    terms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model, target: object = None) -> Nomogram:
        """A class (or a pair, as in a contrast); of two classes the second if none is named."""
        tied = [belief for belief in model.beliefs if speaks_together(belief)]
        if tied:
            raise SettingsError(
                f"A nomogram adds points column by column, but {listed(tied[0].columns)} speak together: "
                "use the naive classifier for one."
            )
        refuse_texts(
            [belief.columns[0] for belief in model.beliefs if belief.columns and isinstance(bare(belief), HasTokens)]
        )
        place, rivals = sides(target, model.classes)
        labels, log_prior = model.classes.tolist(), log_of(model.prior)
        start = _less(log_prior[place], log_prior[rivals])

        def worth(column: str, values: Sequence[object] | Array) -> Array:
            cells = as_table({column: values if isinstance(values, np.ndarray) else list(values)})
            logs = evidence(beliefs_about(model, column), cells, len(model.classes))
            return _less(logs[:, [place]], logs[:, rivals])

        scales = tuple(_scale(model, name, worth) for name in model.columns)
        return cls(model.columns, labels[place], tuple(labels[k] for k in rivals), start, scales, worth)

    def points(self, column: str, value: object) -> Array:
        """Points of one cell against each rival; None is a missing value, and a value may be an unseen one."""
        if column not in self.columns and column not in self.terms:
            raise missing_columns([column], self.columns)
        return np.asarray(self.worth(column, [value])[0])

    def total(self, row: Mapping[str, object]) -> Array:
        """Start plus the points of all cells; a column that is left out is missing."""
        return np.asarray(self.start + sum(self._cells(row).values()))

    def _cells(self, row: Mapping[str, object]) -> dict[str, Array]:
        """The points of every column and term of a row."""
        strange = [name for name in row if name not in self.columns]
        if strange:
            raise missing_columns(strange, self.columns)
        found = {name: self.points(name, row.get(name)) for name in self.columns}
        return found | {
            term: self.points(term, tuple(row.get(name) for name in columns)) for term, columns in self.terms.items()
        }

    def probability(self, total: Array | float) -> float:
        """From a total (one number for each rival) to P(target)."""
        with np.errstate(over="ignore"):
            return float(1.0 / (1.0 + np.exp(-np.atleast_1d(total)).sum()))

    def to_frame(self) -> pd.DataFrame:
        """All numbers of the sheet: column, value, and the points against each rival."""
        import pandas as pd

        lines: list[tuple[object, ...]] = [("start", "", *self.start)]
        for scale in self.scales:
            lines += [(scale.column, value, *points) for value, points in zip(scale.values, scale.points, strict=True)]
        names = ["column", "value", *(f"against {rival}" for rival in self.rivals)]
        # Values stay what they are: pandas would make strings of them, and fail where one is no text.
        return pd.DataFrame(lines, columns=names, dtype=object).astype(dict.fromkeys(names[2:], float))

    def plot(self, row: Mapping[str, object] | None = None) -> Picture:
        """The sheet as a picture, with the points of one row marked if one is given."""
        missing = {name: self.points(name, None) for name in self.columns}
        missing = {name: points for name, points in missing.items() if points.any()}
        scales = [s if s.is_numeric else _with_missing(s, missing.get(s.column)) for s in self.scales]
        sheet = Sheet(self.target, self.rivals, self.start, scales, missing)
        return nomogram(sheet, None if row is None else self._read(row))

    def _read(self, row: Mapping[str, object]) -> RowPoints:
        points = self._cells(row)
        known: dict[str, object] = {name: value for name, value in row.items() if value is not None}
        known |= {term: None for term, columns in self.terms.items() if known.keys() & set(columns)}
        total = self.total(row)
        return RowPoints(known, points, total, self.probability(total))

    def _repr_html_(self) -> str:
        columns = [ColumnHead("column", "left"), ColumnHead("value", "left", number)]
        columns += [ColumnHead(f"against {rival}", form=signed) for rival in self.rivals]
        rows = self.to_frame().itertuples(index=False)
        return fragment(Grid(columns, [list(row) for row in rows]).html())


def _with_missing(scale: Scale, points: Array | None) -> Scale:
    """A scale of categories on which a missing value is one of them, if it has points."""
    if points is None:
        return scale
    return Scale(scale.column, [*scale.values, "missing"], np.vstack([scale.points, points]))


def sides(target: object, classes: AnyArray) -> tuple[int, Index]:
    """The class that a nomogram is for, and its rivals; of two classes the second if none is named."""
    labels = classes.tolist()
    if target is None and len(labels) != 2:
        raise SettingsError(f"Say which class the nomogram is for: target is one of {listed(labels)}.")
    return target_and_rivals(labels[1] if target is None else target, classes)


def refuse_texts(columns: Sequence[str]) -> None:
    """A nomogram has no scale for the words of a text."""
    if columns:
        raise SettingsError(f"A text has no scale of values, so a nomogram cannot show {listed(columns)}.")


def _scale(model: Model, column: str, worth: Worth) -> Scale:
    _, outcomes = expected(model, column, COARSE) or (None, None)
    if outcomes is None:
        values: Sequence[Hashable] | Array = np.array(OCCURRENCES)
    elif not outcomes.is_numeric or len(outcomes.values) <= 2:
        values = outcomes.values
    else:
        low, high = outcomes.central(model.prior, MASS)
        values = np.linspace(low, high, CURVE) if high > low else np.array([low])
        if outcomes.density is None:
            values = np.unique(np.round(values))
    return Scale(column, values, worth(column, values))


def _less(own: Array, theirs: Array) -> Array:
    """own − theirs, where two impossible things leave the odds as they were."""
    own, theirs = np.broadcast_arrays(own, theirs)
    both = np.isneginf(own) & np.isneginf(theirs)
    return np.subtract(own, theirs, out=np.zeros(own.shape), where=~both)
