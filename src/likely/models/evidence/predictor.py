"""A learned model: one table per column and per chosen pair or triple; a score is their sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, UInt8
from likely.models.evidence.columns import NumericColumn, coded
from likely.models.evidence.encoding import Encoding, Terms
from likely.models.evidence.fitter import Expert
from likely.models.evidence.hyperparameters import Hyperparameters
from likely.models.evidence.kernels import add_evidence
from likely.models.evidence.text_scores import Words, as_scores
from likely.models.evidence.weighted_nb import Weighted
from likely.numerics import log_of
from likely.parallel import row_blocks, run
from likely.scorer import Scorer
from likely.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """score = base + Σ tables of columns + Σ tables of pairs and triples + Σ share of a text · what it says.

    Two classes have one score, the log odds of the second.
    """

    frame: Encoding
    terms: Terms
    starts: NDArray[np.int32]
    base: Array
    tables: Array
    texts: Array
    ways: Hyperparameters

    @classmethod
    def empty(cls, frame: Encoding, terms: Terms, n_scores: int, n_texts: int, ways: Hyperparameters) -> Evidence:
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

    def add(self, codes: UInt8, block: slice, out: Array) -> None:
        """Add what some rows say, apart from the base and from texts."""
        coarse, tiny = self.frame.coarse, self.frame.tiny
        add_evidence(
            codes, self.starts, self.tables, self.terms.pairs, coarse.lookup, coarse.widths,
            self.terms.triples, tiny.lookup, tiny.widths, block.start, block.stop, out,
        )  # fmt: skip


def table_starts(frame: Encoding, terms: Terms) -> NDArray[np.int32]:
    """Where the table of each column, pair and triple begins, and where the last one ends."""
    sizes = [column.size for column in frame.columns]
    sizes += [int(np.prod(frame.coarse.widths[pair])) for pair in terms.pairs]
    sizes += [int(np.prod(frame.tiny.widths[triple])) for triple in terms.triples]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def by_class(scores: Array, n_classes: int) -> Array:
    """Rows × classes of rows × scores: one score is shared out evenly, for the second class and against the first."""
    return np.concatenate([-0.5 * scores, 0.5 * scores], axis=1) if n_classes == 2 else scores


# A model under the names of classes and columns: tables in, log joint, posterior and contributions out.


@dataclass(frozen=True, slots=True, eq=False)
class AdditivePredictor(Scorer):
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
        run(score, blocks, n_jobs)

    def codes(self, table: Table, n_jobs: int | None = None) -> UInt8:
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
