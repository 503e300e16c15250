"""Two models that were fitted apart: what each has found out about weighing columns goes into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.evidence.frame import Terms
from likely.evidence.ways import Index, Seen, Ways
from likely.table import index_levels

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """How one of the models was made: from so many rows, of these columns (texts last), with these classes."""

    ways: Ways
    columns: tuple[str, ...]
    classes: NDArray[np.object_]
    n_rows: int


def merged_ways(a: Side, b: Side, classes: NDArray[np.object_], weights: Array) -> Ways:
    """Weights and offsets are means by the rows of both; terms, variances and shares are those of more rows.

    Columns stand in the order that `a` has. Where only one of the two has learned the offset of a class, it is that.
    """
    share = a.n_rows / (a.n_rows + b.n_rows) if a.n_rows + b.n_rows else 0.5
    places = np.array([b.columns.index(name) for name in a.columns], dtype=np.intp)
    by_column = share * a.ways.weights + (1.0 - share) * b.ways.weights[places]
    more = a.ways if a.n_rows >= b.n_rows else b.ways
    terms = more.terms if more is a.ways else _moved(more.terms, np.argsort(places))
    offsets = _mean_offsets([(share, a), (1.0 - share, b)], classes.tolist())
    counted = weights / max(float(weights.sum()), 1e-300)
    seen = Seen.nothing(a.ways.seen.codes.shape[1], 1 if len(classes) == 2 else len(classes))
    return Ways(by_column, offsets, counted, terms, more.shares, more.spreads, seen)


def _mean_offsets(sides: Sequence[tuple[float, Side]], classes: Sequence[object]) -> Array:
    total, heard = np.zeros(len(classes)), np.zeros(len(classes))
    for share, side in sides:
        offsets = np.append(side.ways.offsets, 0.0)[index_levels(classes, side.classes.tolist())]
        total += share * offsets
        heard += np.where(offsets != 0.0, share, 0.0)  # what was learned is never exactly 0
    return np.divide(total, heard, out=total, where=heard > 0.0)


def _moved(terms: Terms, places: Index) -> Terms:
    """The same terms where columns stand at other places."""
    pairs, triples = (np.sort(places[some], axis=1).astype(np.int32) for some in (terms.pairs, terms.triples))
    return Terms(pairs, triples)
