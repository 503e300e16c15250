"""What each row counts for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import AtRow, DataError
from likely.numerics import refuse_heavy
from likely.table.table import Table


def row_weights(given: Any, table: Table, column: str | None = None) -> NDArray[np.float64] | None:
    """One weight from zero up per row, from an argument or from the table's weight column; None for ones.

    Their sum is a weight that can be counted, see `limits.HEAVIEST`.
    """
    if given is None and column is None:
        return None
    weights = np.asarray(table.numbers(str(column)) if given is None else given, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(table.n_rows, float(weights))
    if weights.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if len(weights) != table.n_rows:
        raise DataError(f"sample_weight.shape == {weights.shape}, expected {(table.n_rows,)}: one weight per row.")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if len(bad):
        raise DataError(
            "The weight", AtRow(bad[0], f" of row {bad[0]}"),
            f" is {weights[bad[0]]:g}, but weights are finite and not negative.",
        )  # fmt: skip
    refuse_heavy(weights)
    return np.ascontiguousarray(weights)
