"""Distances from class means as matrix products: rows are turned so that their columns no longer know of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.families.gaussian import LOG_ROOT_TAU, Gaussian
from likely.families.marginals import add_plain, squared_distances, squared_lengths, standardise
from likely.families.protocol import Array
from likely.families.triangles import inverse_lower

TILE_CELLS = 1 << 15
"""Cells of a tile of rows: it stays in the cache while all classes look at it (256 KiB, and as much for the result)."""


@dataclass(frozen=True, slots=True, eq=False)
class Whitening:
    """Means and precisions (classes × columns), one turn per class or one for all, and the log density at the mean."""

    mean: Array
    precision: Array
    turn: Array
    log_peak: Array

    @classmethod
    def of(cls, margins: Gaussian, lower: Array, *, last: bool) -> Whitening:
        """From deviations and the lower factors of correlations; `last` asks for the last column given the others.

        Row by row, the inverse of a lower factor is the chain rule: each column given the ones before it.
        """
        wanted = slice(-1, None) if last else slice(None)
        inverse = [inverse_lower(np.ascontiguousarray(factor))[wanted].T for factor in lower]
        own = np.log(margins.deviation) + np.log(np.diagonal(lower, axis1=1, axis2=2)) + LOG_ROOT_TAU
        own[np.isinf(margins.deviation)] = 0.0  # a column that is constant over all rows adds nothing
        return cls(margins.mean, 1.0 / margins.deviation, np.array(inverse, order="C"), -own[:, wanted].sum(axis=1))

    def add(self, rows: Array, joint: Array) -> NDArray[np.bool_]:
        """Add the log densities of rows; which of them are left out, because they are not plain numbers nearby."""
        odd = np.empty(len(rows), dtype=np.bool_)
        size = max(TILE_CELLS // max(rows.shape[1], 1), 16)
        cells = np.empty((min(size, len(rows)), rows.shape[1]))
        turned = np.empty((len(cells), self.turn.shape[2]))
        distances = np.empty((len(cells), len(self.mean)))
        with np.errstate(all="ignore"):  # gaps and extreme values are marked, not reported
            for start in range(0, len(rows), size):
                some = slice(start, min(start + size, len(rows)))
                n = some.stop - start
                self._measure(rows[some], cells[:n], turned[:n], distances[:n])
                add_plain(distances[:n], self.log_peak, joint[some], odd[some])
        return odd

    def _measure(self, rows: Array, cells: Array, turned: Array, distances: Array) -> None:
        """Squared distance of each row from each class; one product for all classes if they share a turn."""
        if len(self.turn) == 1:
            centre = self.mean[0]
            points = (self.mean - centre) * self.precision[0] @ self.turn[0]
            standardise(rows, centre, self.precision[0], cells)
            np.matmul(cells, self.turn[0], out=turned)
            squared_distances(turned, points, distances)
            return
        of_class = np.empty(len(rows))
        for c, turn in enumerate(self.turn):
            standardise(rows, self.mean[c], self.precision[c], cells)
            np.matmul(cells, turn, out=turned)
            squared_lengths(turned, of_class)
            distances[:, c] = of_class
