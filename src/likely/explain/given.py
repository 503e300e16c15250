"""What a numeric column may turn out to be, given the row's other cells: for columns that depend on each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from likely.families.gaussian import Gaussian
from likely.families.multivariate import MultivariateGaussian
from likely.numbers import Numbers
from likely.table import Table

LEAST_SHARE = 1e-9
"""Of its variance, what stays of a column that the others determine."""


def bells_given(belief: MultivariateGaussian, table: Table, column: str, rows: NDArray[np.intp]) -> Iterator[Gaussian]:
    """For each row a bell curve per class: the column's own, narrowed and moved by what is known of the others."""
    cells = Numbers.of(table, belief.columns).rows(slice(0, table.n_rows))[rows]
    margins, place = belief.margins, belief.columns.index(column)
    varying = np.asarray(np.isfinite(margins.deviation).all(axis=0))
    correlation = np.broadcast_to(belief.correlation, (len(margins.mean), *belief.correlation.shape[1:]))
    for row in cells:
        known = np.flatnonzero(~np.isnan(row) & varying & (np.arange(len(row)) != place))
        mean, deviation = margins.mean[:, place].copy(), margins.deviation[:, place].copy()
        if len(known) and varying[place]:
            for k, matrix in enumerate(correlation):
                gap = (row[known] - margins.mean[k, known]) / margins.deviation[k, known]
                pull = np.linalg.lstsq(matrix[np.ix_(known, known)], matrix[known, place], rcond=None)[0]
                left = max(1.0 - float(pull @ matrix[known, place]), LEAST_SHARE)
                mean[k] += deviation[k] * float(pull @ gap)
                deviation[k] *= np.sqrt(left)
        yield Gaussian((column,), mean[:, None], deviation[:, None])
