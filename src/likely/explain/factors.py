"""Asking every belief about its columns one by one: the factors that a log joint is the sum of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.families.protocol import Chained, Domain, FittedFamily, HasDomain, KnowsValues, Positional, Whole
from likely.families.tempered import bare
from likely.render.factors import Status
from likely.scorer import Model
from likely.table import Table, as_table

WIDE = 1000
"""A sparse table with more columns than this is explained by those that its rows hold; the others make one factor."""


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """One contribution to every row: of a column, or of several that speak together."""

    columns: tuple[str, ...]
    cells: Sequence[object]
    status: Sequence[Status]
    evidence: Array

    @property
    def label(self) -> str:
        return ", ".join(self.columns)


def factors_of(model: Model, table: Table) -> list[Factor]:
    """All factors in the order of the model's columns; their evidence sums to log joint less log prior."""
    if table.sparse is not None and len(model.columns) > WIDE:
        return _wide_factors(model, table)
    beliefs_of: dict[tuple[str, ...], list[FittedFamily]] = {}
    group_of = {name: group for belief in model.beliefs for group in _groups(belief) for name in group}
    # The largest group that a column belongs to: what is asked of a part is told with the whole.
    for belief in model.beliefs:
        for group in _groups(belief):
            if len(group) > 1:
                group_of |= dict.fromkeys(group, group)
    for name in model.columns:
        beliefs_of.setdefault(group_of[name], [])
    for belief in model.beliefs:
        for group in _groups(belief):
            beliefs_of[group_of[group[0]]].append(belief if len(group) > 1 else belief.only(group[0]))
    return [_factor(group, beliefs, table, len(model.classes)) for group, beliefs in beliefs_of.items()]


def evidence(beliefs: Sequence[FittedFamily], table: Table, n_classes: int) -> Array:
    """What some beliefs add to the log joint of each row."""
    joint = np.zeros((table.n_rows, n_classes))
    for belief in beliefs:
        belief.bind(table)(slice(0, table.n_rows), joint)
    return joint


def beliefs_about(model: Model, column: str) -> list[FittedFamily]:
    """The beliefs that take part in a column's factor, cut down to that column."""
    return [belief.only(column) for belief in model.beliefs if column in belief.columns]


def is_whole(belief: FittedFamily) -> bool:
    """Whether no share of a belief's evidence belongs to one column."""
    about = bare(belief)
    return isinstance(about, Whole) and about.whole and len(belief.columns) > 1


def speaks_together(belief: FittedFamily) -> bool:
    """Whether what one column of a belief says depends on the row's other cells."""
    about = bare(belief)
    return is_whole(belief) or (isinstance(about, Chained) and about.chained)


def _groups(belief: FittedFamily) -> list[tuple[str, ...]]:
    return [belief.columns] if is_whole(belief) else [(name,) for name in belief.columns]


def _factor(columns: tuple[str, ...], beliefs: Sequence[FittedFamily], table: Table, n_classes: int) -> Factor:
    cells = [_cells(table, name) for name in columns]
    status = [_status(table, name, known, beliefs) for name, known in zip(columns, cells, strict=True)]
    added = evidence(beliefs, table, n_classes)
    if len(columns) == 1:
        return Factor(columns, cells[0], status[0], added)
    together = [_joined(parts) for parts in zip(*status, strict=True)]
    return Factor(columns, list(zip(*cells, strict=True)), together, added)


def _joined(parts: Sequence[Status]) -> Status:
    kinds = set(parts)
    return kinds.pop() if len(kinds) == 1 else "partly"


def _cells(table: Table, name: str) -> list[object]:
    """What a person reads in a column: numbers as they are, categories by name, None for a gap."""
    if table.sparse is not None:
        return [None if np.isnan(cell) else float(cell) for cell in table.numbers(name)]
    column = table.codes(name)
    return [column.levels[code] if code >= 0 else None for code in column.codes]


def _status(table: Table, name: str, cells: Sequence[object], beliefs: Sequence[FittedFamily]) -> list[Status]:
    found: list[Status] = ["gap" if cell is None else "known" for cell in cells]
    for belief in beliefs:
        about = bare(belief)
        if isinstance(about, KnowsValues):
            _mark(found, about.unseen(table), "unseen")
        elif isinstance(about, HasDomain) and about.domain in (Domain.POSITIVE, Domain.COUNTS):
            _mark(found, about.domain.outside(table.numbers(name)), "outside")
    return found


def _mark(found: list[Status], where: NDArray[np.bool_], status: Status) -> None:
    for row in np.flatnonzero(where):
        if found[row] == "known":
            found[row] = status


def _at(belief: FittedFamily, place: int) -> FittedFamily:
    """A belief cut down to one of its columns, without a search for its name where the family knows how."""
    return belief.at(place) if isinstance(belief, Positional) else belief.only(belief.columns[place])


def _wide_factors(model: Model, table: Table) -> list[Factor]:
    """Columns that some row holds, one by one; all the others, which are zero everywhere, as one factor."""
    held = np.unique(table.sparse.indices)  # type: ignore[union-attr]
    by_column = table.sparse.tocsc()  # type: ignore[union-attr]
    place = {name: position for position, name in enumerate(table.names)}
    holds = np.zeros(table.n_columns, dtype=bool)
    holds[held] = True
    present = [name for name in model.columns if holds[place[name]]]
    n_classes = len(model.classes)
    among = [{name: k for k, name in enumerate(belief.columns)} for belief in model.beliefs]
    factors = []
    for name in present:
        alone = as_table({name: by_column[:, [place[name]]].toarray()[:, 0]})
        about = [_at(belief, own[name]) for belief, own in zip(model.beliefs, among, strict=True) if name in own]
        factors.append(_factor((name,), about, alone, n_classes))
    spoken = np.sum([factor.evidence for factor in factors], axis=0) if factors else 0.0
    rest = evidence(model.beliefs, table, n_classes)
    with np.errstate(invalid="ignore"):
        rest = np.where(np.isfinite(rest), rest - spoken, 0.0)
    others = f"{len(model.columns) - len(present)} columns that are zero in these rows"
    factors.append(Factor((others,), [0.0] * table.n_rows, ["known"] * table.n_rows, rest))
    return factors
