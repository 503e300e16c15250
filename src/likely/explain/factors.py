"""Asking every belief about its columns one by one: the factors that a log joint is the sum of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from likely.arrays import Array, Flags
from likely.families.outcomes import Outcomes, log_likelihood
from likely.families.protocol import (
    Chained,
    Domain,
    FittedFamily,
    HasDomain,
    HasMargins,
    HasOutcomes,
    KnowsValues,
    Positional,
    Whole,
)
from likely.families.tempered import bare
from likely.render.factors import Status
from likely.scorer import Model
from likely.table import Table, as_table

WIDE = 1000
"""A sparse table with more columns than this is explained by those that its rows hold; the others make one factor."""


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """One contribution to every row: of a column, or of several that speak together."""

    label: str
    cells: Sequence[object]
    status: Sequence[Status]
    evidence: Array


def factors_of(model: Model, table: Table) -> list[Factor]:
    """All factors in the order of the model's columns; their evidence sums to log joint less log prior."""
    if table.sparse is not None and len(model.columns) > WIDE:
        return _wide_factors(model, table)
    each = beliefs_by_factor(model)
    return [_factor(columns, beliefs, table, len(model.classes)) for columns, beliefs in each.items()]


def beliefs_by_factor(model: Model) -> dict[tuple[str, ...], list[FittedFamily]]:
    """The beliefs that make each factor, cut down to its column; by the columns, if several speak together."""
    together = {name: belief.columns for belief in model.beliefs if is_whole(belief) for name in belief.columns}
    beliefs_of: dict[tuple[str, ...], list[FittedFamily]] = {together.get(name, (name,)): [] for name in model.columns}
    for belief in model.beliefs:
        if is_whole(belief):
            beliefs_of[together[belief.columns[0]]].append(belief)
            continue
        for name in belief.columns:
            beliefs_of[together.get(name, (name,))].append(belief.only(name))
    return beliefs_of


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


def _factor(columns: tuple[str, ...], beliefs: Sequence[FittedFamily], table: Table, n_classes: int) -> Factor:
    cells = [read_cells(table, name) for name in columns]
    status = [_status(table, name, known, beliefs) for name, known in zip(columns, cells, strict=True)]
    added = evidence(beliefs, table, n_classes)
    if len(columns) == 1:
        return Factor(columns[0], cells[0], status[0], added)
    joined: list[Status] = [parts[0] if len(set(parts)) == 1 else "partly" for parts in zip(*status, strict=True)]
    return Factor(", ".join(columns), list(zip(*cells, strict=True)), joined, added)


def read_cells(table: Table, name: str) -> list[object]:
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


def _mark(found: list[Status], where: Flags, status: Status) -> None:
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
    factors.append(Factor(others, [0.0] * table.n_rows, ["known"] * table.n_rows, rest))
    return factors


# What a column may turn out to be under each class, whatever the row's other cells hold.

FINE, COARSE = 8192, 1024
"""Values for one integral, and where there is one for every row."""

MOST_CELLS, FEWEST_POINTS = 1 << 22, 256
"""Values × classes of one integral: with thousands of classes there are fewer values."""


def outcomes_of(belief: FittedFamily, column: str, n_classes: int, points: int = FINE) -> Outcomes | None:
    """What a belief expects of a column; a weight that it may have is left aside.

    None where it is no distribution of single cells, as counts of words, or where all rows have been forgotten.
    """
    if not n_classes or column not in belief.columns or not isinstance(belief, HasOutcomes):
        return None
    return belief.outcomes(column, min(points, max(MOST_CELLS // n_classes, FEWEST_POINTS)))


def expected(model: Model, column: str, points: int = FINE) -> tuple[FittedFamily, Outcomes] | None:
    """The belief that says what a column may turn out to be, and what that is."""
    for belief in model.beliefs:
        outcomes = outcomes_of(belief, column, len(model.classes), points)
        if outcomes is not None:
            return belief, outcomes
    return None


def density(belief: FittedFamily, column: str, values: Array, n_classes: int) -> Array:
    """log P(value | class) at some values, as values × classes."""
    whole = bare(belief)
    alone = (whole.margins if isinstance(whole, HasMargins) else whole).only(column)
    return log_likelihood(alone.bind, column, values, n_classes)
