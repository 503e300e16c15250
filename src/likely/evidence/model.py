"""A learned model: one table per column and per chosen pair or triple; a score is their sum."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likely.evidence.columns import Small
from likely.evidence.experts import Expert
from likely.evidence.frame import Frame, Terms
from likely.evidence.kernels.codes import add_evidence
from likely.evidence.ways import Ways
from likely.evidence.weighing import Weighted

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """score = base + Σ tables of columns + Σ tables of pairs and triples + Σ share of a text · what it says.

    Two classes have one score, the log odds of the second.
    """

    frame: Frame
    terms: Terms
    starts: NDArray[np.int32]
    base: Array
    tables: Array
    texts: Array
    ways: Ways

    @classmethod
    def empty(cls, frame: Frame, terms: Terms, n_scores: int, n_texts: int, ways: Ways) -> Evidence:
        """Tables of these terms that say nothing yet."""
        starts = table_starts(frame, terms)
        tables = np.zeros((int(starts[-1]), n_scores))
        return cls(frame, terms, starts[:-1], np.zeros(n_scores), tables, np.zeros(n_texts), ways)

    def plus(self, expert: Expert, share: float) -> Evidence:
        """With a share of what an expert says; its tables are the first of ours, in the same order."""
        tables = self.tables.copy()
        more = expert.tables()
        tables[: len(more)] += share * more
        return replace(self, tables=tables, base=self.base + share * expert.base)

    def plus_weighted(self, found: Weighted, share: float) -> Evidence:
        """With a share of weighted naive Bayes, whose coarse cells are spread over the fine ones."""
        tables = self.tables.copy()
        coarse, _ = self.frame.coarse.starts()
        for place, column in enumerate(self.frame.columns):
            fine = slice(int(self.starts[place]), int(self.starts[place]) + column.size)
            tables[fine] += share * found.tables[coarse[place] + column.coarse.astype(np.intp)]
        weights = found.weights[len(self.frame.columns) :]
        return replace(self, tables=tables, base=self.base + share * found.base, texts=self.texts + share * weights)

    def plus_texts(self, shares: Array) -> Evidence:
        """With more trust in texts."""
        return replace(self, texts=self.texts + shares)

    def add(self, codes: Small, block: slice, out: Array) -> None:
        """Add what some rows say, apart from the base and from texts."""
        coarse, tiny = self.frame.coarse, self.frame.tiny
        add_evidence(
            codes, self.starts, self.tables, self.terms.pairs, coarse.lookup, coarse.widths,
            self.terms.triples, tiny.lookup, tiny.widths, block.start, block.stop, out,
        )  # fmt: skip


def table_starts(frame: Frame, terms: Terms) -> NDArray[np.int32]:
    """Where the table of each column, pair and triple begins, and where the last one ends."""
    sizes = [column.size for column in frame.columns]
    sizes += [int(np.prod(frame.coarse.widths[pair])) for pair in terms.pairs]
    sizes += [int(np.prod(frame.tiny.widths[triple])) for triple in terms.triples]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def by_class(scores: Array, n_classes: int) -> Array:
    """Rows × classes of rows × scores: one score is shared out evenly, for the second class and against the first."""
    return np.concatenate([-0.5 * scores, 0.5 * scores], axis=1) if n_classes == 2 else scores
