"""Leave-one-out: every row judged by the model that has not seen it, without learning anything twice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.engines.memory import READINGS, Rows
from likely.engines.plan import Task
from likely.errors import DataError, SettingsError
from likely.families import BlockScorer, Family, Settings
from likely.families.categorical import GapFactor
from likely.families.protocol import LeavesMostOut, LeavesOneOut, LeftOut
from likely.numerics import log_of, normalise, sums_of_others
from likely.parallel import row_blocks, run
from likely.scorer import Priors, class_prior, evidence_for
from likely.stats import Statistic, Summary, moments_of
from likely.stats.protocol import less


class LeaveOneOut:
    """The summary of all rows, from which each row in turn is taken out: one counting pass, one scoring pass."""

    def __init__(self, task: Task, summary: Summary, priors: Priors, settings: Settings) -> None:
        if summary.n_rows < 2:
            raise DataError("Leaving one row out of one leaves nothing to learn from; two rows are the least.")
        rows = task.rows
        self.classes, self.settings, self.summary = rows.classes, settings, summary
        self.rows = LeftOut(rows.table, rows.y, rows.weight, summary.classes.weights)
        self.assigned, self.preprocessing = task.assigned, rows.preprocessing
        self.counted = _is_counted(priors)
        self.smoothed = isinstance(priors, str) and priors == "smoothed"
        self.others = sums_of_others(summary.classes.weights)
        self.prior = class_prior(priors, summary.classes)
        self.lines = self._lines_by_class()

    def each_block(self, use: Callable[[slice, Array], None], n_jobs: int | None) -> None:
        """Hand P(class | row) of every block of rows to `use`; a class without another row gets 0."""
        scorers = [
            scorer
            for family, columns, seen in evidence_for(self.assigned, self.summary)
            for scorer in self.scorers(family, columns, seen)
        ]

        nothing = np.full(len(self.classes), np.nan)  # marks rows that are impossible; each has its own prior

        def judge(block: slice) -> None:
            y, weight = self.rows.y[block], self.rows.weight[block]
            joint = self._log_priors(y, weight) if self.lines is None else self.lines.take(y, axis=0)
            for add_evidence in scorers:
                add_evidence(block, joint)
            alone = np.flatnonzero(self.summary.classes.rows[y] == 1)
            joint[alone, y[alone]] = -np.inf
            normalise(joint, nothing, False, joint)
            impossible = np.flatnonzero(np.isnan(joint[:, 0]))
            joint[impossible] = np.exp(self._log_priors(y[impossible], weight[impossible]))
            use(block, joint)

        width = len(self.classes) + len(self.assigned)
        run(judge, row_blocks(self.rows.table.n_rows, 4 * width), n_jobs)

    def _lines_by_class(self) -> Array | None:
        """Where all rows weigh the same, the log priors without a row depend on its class alone."""
        weight = self.rows.one_weight
        if weight is None:
            return None
        there = np.flatnonzero(self.summary.classes.rows > 0).astype(np.int32)
        lines = np.zeros((len(self.classes), len(self.classes)))
        lines[there] = self._log_priors(there, np.full(len(there), weight))
        return lines

    def _log_priors(self, y: NDArray[np.int32], weight: Array) -> Array:
        """log P(class) without each of some rows, given their classes and weights; −inf for a class that is gone."""
        alone, here = self.summary.classes.rows[y] == 1, np.arange(len(y))
        if not (self.counted or self.smoothed):
            lines, left = np.tile(log_of(self.prior), (len(y), 1)), sums_of_others(self.prior)[y[alone]]
            if not (left > 0.0).all():
                raise SettingsError("priors gives everything to a class that has one row, so it cannot be left out.")
            lines[here[alone], y[alone]] = -np.inf
            lines[alone] -= np.log(left)[:, None]
            return lines
        weights, more = self.rows.classes, 1.0 if self.smoothed else 0.0
        own = np.where(alone, 0.0, less(weights[y], weight) + more)
        total = self.others[y] + more * (len(weights) - 1) + own
        if not (total > 0.0).all():
            raise DataError("All rows but one have weight zero, so that one cannot be left out.")
        lines = np.tile(log_of(weights + more), (len(y), 1))
        lines[here, y] = log_of(own)
        lines -= np.log(total)[:, None]
        return lines

    def scorers(self, family: type[Family], columns: tuple[str, ...], seen: Statistic) -> list[BlockScorer]:
        """What adds the evidence of some columns to rows, each judged without itself."""
        if issubclass(family, LeavesOneOut):
            scorers = [family.leave_one_out(columns, seen, self.rows, self.settings)]
        else:
            scorers = [self._left_over(family, columns, seen)]
        moments = moments_of(seen)
        if self.settings.missing == "value" and moments is not None:
            scorers.append(GapFactor.leave_one_out(columns, moments, self.rows, self.settings))
        return scorers

    def _left_over(self, family: type[Family], columns: tuple[str, ...], seen: Statistic) -> BlockScorer:
        """Where a family has no closed form, or none for some rows: total − row, settled again for each of them."""
        most = None
        if issubclass(family, LeavesMostOut):
            most = family.leave_most_out(columns, seen, self.rows, self.settings)

        def score(block: slice, joint: Array) -> None:
            rows = range(len(joint)) if most is None else most(block, joint).tolist()
            for row in rows:
                self._settle_anew(family, columns, seen, block.start + row, joint[row])

        return score

    def _settle_anew(
        self, family: type[Family], columns: tuple[str, ...], seen: Statistic, row: int, line: Array
    ) -> None:
        own = slice(row, row + 1)
        alone, y, weight = self.rows.table.slice(row, row + 1), self.rows.y[own], self.rows.weight[own]
        counted = READINGS[family.statistic](Rows(alone, self.classes, y, weight, 1, self.preprocessing), columns)
        weights = self.rows.classes.copy()
        weights[y] -= weight
        belief = family.settle(columns, seen - counted, np.maximum(weights, 0.0), self.settings)
        belief.bind(alone)(slice(0, 1), line[None])


def _is_counted(priors: Priors) -> bool:
    return priors is None or (isinstance(priors, str) and priors == "counted")
