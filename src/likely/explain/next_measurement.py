"""Which missing value to measure next: what it is expected to tell, and what it is expected to save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from likely.arrays import AnyArray, Array, Index
from likely.decide import LossLike, LossMatrix, as_loss
from likely.errors import SettingsError
from likely.explain.explanation import Explanation
from likely.explain.factors import COARSE, outcomes_of, speaks_together
from likely.families.outcomes import Outcomes
from likely.families.protocol import GivenOthers
from likely.families.tempered import weight_of
from likely.measures import information_gains
from likely.numerics import log_of, normalise
from likely.scorer import Model
from likely.table import Table

if TYPE_CHECKING:
    import pandas as pd

CELLS_AT_ONCE = 1 << 21

ROUNDING = 1e-12
"""Of the largest cost: a saving below this is none."""


def next_measurement(model: Model, table: Table, loss: LossLike | None = None) -> pd.DataFrame:
    """One line per gap: row, column, expected information in bits, and with a loss the expected saving.

    Best first within each row. Given what is known of the row, a measurement is expected to lower the entropy
    of the class by *information*; it is exact for categories and integrated for numbers. *saving* is the least
    risk now less the expected least risk afterwards, in the units of the loss: what a measurement may cost. Where
    columns have weights, values are expected as they were counted, and move the class as far as their weights say.
    """
    why = Explanation.of(model, table)
    costs = None if loss is None else costs_of(loss, model.classes, len(why))
    lines = []
    for place, name in enumerate(why.columns):
        rows = np.array([row for row in range(len(why)) if why.status(row, place) == "gap"], dtype=np.intp)
        now = _without(why, rows, place)
        for some, outcomes, weight in _expected(model, table, name, rows):
            gains = _by_block(rows[some], now[some], outcomes, costs, weight)
            lines += [(int(row), place, name, *gain) for row, gain in zip(rows[some], gains, strict=True)]
    return best_first(lines, with_saving=costs is not None)


def best_first(lines: Sequence[tuple[object, ...]], *, with_saving: bool) -> pd.DataFrame:
    """Lines of row, place of the column, its name, information and perhaps saving: the best of each row first."""
    import pandas as pd

    names = ["row", "place", "column", "information", *(["saving"] if with_saving else [])]
    order = ["row", *(["saving"] if with_saving else []), "information", "place"]
    ascending = [name in ("row", "place") for name in order]
    frame = pd.DataFrame(lines, columns=names).sort_values(order, ascending=ascending, kind="stable")
    return frame.drop(columns="place").reset_index(drop=True)


def costs_of(loss: LossLike, classes: AnyArray, n_rows: int) -> Array:
    """Costs of every option under every class, perhaps for each row: a `Loss`, or an array in the classes' order."""
    if isinstance(loss, (np.ndarray, list, tuple)):
        costs = np.asarray(loss, dtype=np.float64)
        if costs.ndim != 2 or costs.shape[1] != len(classes) or not np.isfinite(costs).all():
            raise SettingsError(
                f"The loss has the shape {costs.shape}, but it has a line for each decision and a finite cost "
                f"for each of the {len(classes)} classes in it."
            )
        return costs
    matrix = LossMatrix.of(as_loss(loss), classes, n_rows)
    costs, price = np.asarray(matrix.loss.costs, dtype=np.float64)[..., matrix.places], matrix.loss.refuse
    if price is None:
        return costs
    return np.concatenate([costs, np.full((*costs.shape[:-2], 1, len(classes)), price)], axis=-2)


def _expected(model: Model, table: Table, column: str, rows: Index) -> Iterator[tuple[Index, Outcomes, float]]:
    """Places among some rows, what the column may turn out to be in them, and how much it counts."""
    n_classes, everywhere = len(model.classes), np.arange(len(rows))
    for belief in model.beliefs:
        if not len(rows) or column not in belief.columns:
            continue
        if isinstance(belief, GivenOthers) and speaks_together(belief):
            for place, alone in zip(everywhere, belief.given_others(table, column, rows), strict=True):
                outcomes = outcomes_of(alone, column, n_classes, COARSE)
                if outcomes is not None:
                    yield everywhere[place : place + 1], outcomes, 1.0
            return
        outcomes = outcomes_of(belief, column, n_classes, COARSE)
        if outcomes is not None:
            yield everywhere, outcomes, weight_of(belief)
            return


def _without(why: Explanation, rows: Index, place: int) -> Array:
    """P(class | the other cells): an empty cell that counts as evidence will not be empty any more."""
    others = np.delete(why.contributions[rows], place, axis=1)
    joint = np.asarray(log_of(why.prior) + others.sum(axis=1))
    out = np.empty_like(joint)
    normalise(joint, why.prior, False, out)
    return out


def _by_block(
    rows: Index, now: Array, outcomes: Outcomes, costs: Array | None, weight: float
) -> Iterator[tuple[float, ...]]:
    step = max(CELLS_AT_ONCE // max(outcomes.shares.size, 1), 1)
    for start in range(0, len(rows), step):
        some = slice(start, start + step)
        tables = _classes_and_values(now[some], outcomes.shares, weight)
        yield from gains(tables, costs if costs is None or costs.ndim == 2 else costs[rows[some]])


def gains(tables: Array, costs: Array | None) -> Iterator[tuple[float, ...]]:
    """Information, and with costs (perhaps by row) the saving, of P(class, value | row): rows × classes × values."""
    bits = information_gains(tables)
    if costs is None:
        yield from ((float(gain),) for gain in bits)
        return
    before = (costs @ tables.sum(axis=2, keepdims=True)).min(axis=(1, 2))
    after = (costs @ tables).min(axis=1).sum(axis=1)
    saving = np.where(before - after > ROUNDING * np.abs(costs).max(), before - after, 0.0)
    yield from zip(bits.tolist(), saving.tolist(), strict=True)


def _classes_and_values(now: Array, shares: Array, weight: float) -> Array:
    """P(class, value | row), as rows × classes × values.

    With a weight, the class after a value is as probable as the classifier will say then.
    """
    tables = now[:, :, None] * shares.T[None]
    if weight == 1.0:
        return tables
    after = now[:, :, None] * (shares.T**weight)[None]
    total = after.sum(axis=1, keepdims=True)
    seen = tables.sum(axis=1, keepdims=True)
    return np.asarray(seen * np.divide(after, total, out=np.zeros_like(after), where=total > 0.0))
