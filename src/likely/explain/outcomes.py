"""What a model expects of a column under each class, whatever the row's other cells hold."""

from __future__ import annotations

from likely.arrays import Array
from likely.families.outcomes import Outcomes, log_likelihood
from likely.families.protocol import FittedFamily, HasMargins, HasOutcomes
from likely.families.tempered import bare

FINE, COARSE = 8192, 1024
"""Values for one integral, and where there is one for every row."""

MOST_CELLS, FEWEST_POINTS = 1 << 22, 256
"""Values × classes of one integral: with thousands of classes there are fewer values."""


def outcomes_of(belief: FittedFamily, column: str, n_classes: int, points: int = FINE) -> Outcomes | None:
    """What a belief expects of a column; a weight that it may have is left aside.

    None where it is no distribution of single cells, as counts of words.
    """
    if column not in belief.columns or not isinstance(belief, HasOutcomes):
        return None
    return belief.outcomes(column, min(points, max(MOST_CELLS // n_classes, FEWEST_POINTS)))


def density(belief: FittedFamily, column: str, values: Array, n_classes: int) -> Array:
    """log P(value | class) at some values, as values × classes."""
    whole = bare(belief)
    alone = (whole.margins if isinstance(whole, HasMargins) else whole).only(column)
    return log_likelihood(alone.bind, column, values, n_classes)
