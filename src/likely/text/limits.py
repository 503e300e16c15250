"""Which words are kept: not too rare, not too common, not too many. The rules are scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import DataError, SettingsError
from likely.text.counting import Rows
from likely.text.kernels.rows import keep_columns
from likely.text.parts import Numbers


def limited(rows: Rows, min_df: float, max_df: float, max_features: int | None, binary: bool) -> Rows:
    """The rows without the columns of words outside of the limits; document frequencies may be shares (floats)."""
    n_docs = len(rows.starts) - 1
    low, high = document_limits(min_df, max_df, n_docs)
    _check_most(max_features)
    if low <= 1 and high >= n_docs and (max_features is None or max_features >= len(rows.words)):
        return rows
    frequency = np.bincount(rows.columns, minlength=len(rows.words))
    kept: NDArray[np.bool_] = (frequency >= low) & (frequency <= high)
    if max_features is not None and np.count_nonzero(kept) > max_features:
        # The same expression on the same numbers as scikit-learn's, so that ties end alike.
        totals = frequency if binary else np.bincount(rows.columns, weights=rows.counts, minlength=len(rows.words))
        best = (-totals.astype(np.int64)[kept]).argsort()[:max_features]
        chosen = np.zeros_like(kept)
        chosen[np.flatnonzero(kept)[best]] = True
        kept = chosen
    if not kept.any():
        raise DataError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
    new: Numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    return Rows(rows.words.take(np.flatnonzero(kept)), *keep_columns(rows.columns, rows.counts, rows.starts, new))


def document_limits(min_df: float, max_df: float, n_docs: int) -> tuple[float, float]:
    """Least and largest number of documents, from numbers or shares."""
    low = _documents("min_df", min_df, n_docs)
    high = _documents("max_df", max_df, n_docs)
    if high < low:
        raise SettingsError(f"max_df corresponds to < documents than min_df ({high:g} and {low:g} of {n_docs}).")
    return low, high


def _documents(name: str, limit: Any, n_docs: int) -> float:
    if isinstance(limit, int | np.integer) and not isinstance(limit, bool) and limit >= 1:
        return int(limit)
    if isinstance(limit, float | np.floating) and 0.0 <= limit <= 1.0:
        return float(limit) * n_docs
    raise SettingsError(f"{name} is {limit!r}, but it is a number of documents (1 or more) or a share (0.0 to 1.0).")


def _check_most(max_features: Any) -> None:
    if max_features is not None and not (isinstance(max_features, int | np.integer) and max_features >= 1):
        raise SettingsError(f"max_features is {max_features!r}, but it is None or a whole number from 1 up.")
