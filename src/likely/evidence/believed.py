"""What is believed of the scores of rows before anything is learned: how they vary together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.evidence.columns import Small
from likely.evidence.frame import Frame, Grain, Terms
from likely.evidence.ways import Ways

Array = NDArray[np.float64]


class Believed:
    """Covariances of scores, for one unit of the variance of columns.

    Columns add up. So do all pairs of columns, whether they were chosen or not: together these may say as much as the
    columns do, for a pair that was not found in few rows may still be there. Pairs and triples that were chosen come on
    top, with the variance that was chosen for them beside that of columns.
    """

    def __init__(self, frame: Frame, ways: Ways) -> None:
        self.frame = frame
        self.fine, self.coarse, self.tiny = frame.covariances
        self.by_pair = 2.0 / max(len(frame.columns) - 1, 1)
        chosen = ways.shares[2] > 0.0 and ways.spreads[1, 0] > 0.0
        self.terms = ways.terms if chosen else Terms.none()
        self.beside = ways.spreads[1, 1:] / ways.spreads[1, 0] if chosen else np.zeros(2)

    def between(self, a: Small, b: Small) -> Array:
        """Rows × other rows."""
        fine = [table[np.ix_(a[:, k], b[:, k])] for k, table in enumerate(self.fine)]
        x, y = self.frame.coarse.codes(a), self.frame.coarse.codes(b)
        coarse = [table[np.ix_(x[:, k], y[:, k])] for k, table in enumerate(self.coarse)]
        out = self._columns_and_pairs(fine, coarse, (len(a), len(b)))
        for terms, beside, grain, tables in self._chosen():
            x, y = grain.codes(a), grain.codes(b)
            used = {int(k): tables[k][np.ix_(x[:, k], y[:, k])] for k in np.unique(terms)}
            for term in terms.tolist():
                out += beside * np.prod([used[k] for k in term], axis=0)
        return out

    def alone(self, codes: Small) -> Array:
        """Variance of each row."""
        x = self.frame.coarse.codes(codes)
        fine = [table.diagonal()[codes[:, k]] for k, table in enumerate(self.fine)]
        coarse = [table.diagonal()[x[:, k]] for k, table in enumerate(self.coarse)]
        out = self._columns_and_pairs(fine, coarse, (len(codes),))
        for terms, beside, grain, tables in self._chosen():
            x = grain.codes(codes)
            for term in terms.tolist():
                out += beside * np.prod([tables[k].diagonal()[x[:, k]] for k in term], axis=0)
        return out

    def _columns_and_pairs(self, fine: list[Array], coarse: list[Array], shape: tuple[int, ...]) -> Array:
        """Σ columns + Σ products of two different ones, which are half of (Σ)² − Σ of squares."""
        own, total, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for alone, paired in zip(fine, coarse, strict=True):
            own += alone
            total += paired
            squares += paired**2
        return np.asarray(own + self.by_pair * 0.5 * (total**2 - squares))

    def _chosen(self) -> list[tuple[NDArray[np.int32], float, Grain, list[Array]]]:
        pairs = (self.terms.pairs, float(self.beside[0]), self.frame.coarse, self.coarse)
        triples = (self.terms.triples, float(self.beside[1]), self.frame.tiny, self.tiny)
        return [some for some in (pairs, triples) if len(some[0])]
