"""A model under the names of classes and columns: tables in, log joint, posterior and contributions out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.bayes import Judging
from likely.evidence.columns import NumericColumn, Small, coded
from likely.evidence.model import Evidence, by_class
from likely.evidence.texts import Words, as_scores
from likely.numerics import log_of
from likely.table import Table
from likely.threads import row_blocks, side_by_side

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Settled(Judging):
    """Evidence that adds up, beside a prior."""

    classes: NDArray[Any]
    columns: tuple[str, ...]
    prior: Array
    evidence: Evidence
    words: tuple[Words, ...]

    def each_block(self, table: Table, use: Callable[[slice, Array], None], n_jobs: int | None) -> None:
        """Hand the log joint of every block of rows to `use`."""
        codes = self.codes(table, n_jobs)
        said = [words.evidence(table, n_jobs) for words in self.words]
        begin = log_of(self.prior) + self.beyond_prior()

        def score(block: slice) -> None:
            scores = np.zeros((block.stop - block.start, len(self.evidence.base)))
            self.evidence.add(codes, block, scores)
            for share, evidence in zip(self.evidence.texts, said, strict=True):
                scores += share * as_scores(evidence[block])
            use(block, begin + by_class(scores, len(self.classes)))

        blocks = row_blocks(table.n_rows, len(self.classes) + len(self.evidence.starts))
        for _ in side_by_side(score, blocks, n_jobs):
            pass

    def codes(self, table: Table, n_jobs: int | None = None) -> Small:
        """Rows × columns of codes."""
        return coded(self.evidence.frame.columns, table, n_jobs)

    def beyond_prior(self) -> Array:
        """What speaks for each class before any column does, apart from how common it was."""
        logs = log_of(np.maximum(self.evidence.ways.counted, np.finfo(np.float64).tiny))
        known = logs[1:] - logs[:1] if len(logs) == 2 else logs
        return np.asarray(by_class((self.evidence.base - known)[None], len(logs))[0])

    def contributions(self, table: Table) -> tuple[list[tuple[str, ...]], Array]:
        """Columns of each term (none for what is said beforehand), and rows × terms × classes: they add up."""
        evidence, frame = self.evidence, self.evidence.frame
        names, n_classes = [column.name for column in frame.columns], len(self.classes)
        terms: list[tuple[str, ...]] = [(name,) for name in names]
        terms += [tuple(names[place] for place in term) for term in evidence.terms.tuples()]
        cells = frame.codes(self.codes(table), evidence.terms).astype(np.int64) + evidence.starts
        parts = [np.tile(self.beyond_prior(), (table.n_rows, 1))]
        parts += [by_class(evidence.tables[cells[:, k]], n_classes) for k in range(cells.shape[1])]
        for share, words in zip(evidence.texts, self.words, strict=True):
            terms.append((words.column,))
            parts.append(by_class(share * as_scores(words.evidence(table, 1)), n_classes))
        return [(), *terms], np.stack(parts, axis=1)

    def strangers(self, table: Table) -> dict[str, NDArray[np.bool_]]:
        """By column, the cells that hold something never seen."""
        found = {}
        for column in self.evidence.frame.columns:
            if not isinstance(column, NumericColumn):
                found[column.name] = (column.codes(table) == 0) & (table.codes(column.name).codes >= 0)
        return found
