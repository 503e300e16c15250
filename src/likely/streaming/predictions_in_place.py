"""Rows that an engine judges itself: what a report needs comes home as sums over cells, whatever the number of rows.

A cell is a fold, a true class, the class that was most probable, what was decided, and a bin of the share that it was
given. Its sums say all that is measured but the curves, which need single rows: of these a bounded number is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from likely.arrays import AnyArray, Array
from likely.decide import LossMatrix
from likely.decide.loss import Loss
from likely.engines.relation import Expression, Relation
from likely.engines.term_counts import refuse_letters
from likely.errors import DataError, SettingsError
from likely.evaluation.metrics import EPSILON, N_BINS
from likely.evaluation.predictions import REFUSAL, PosteriorTerms, Predictions
from likely.models.in_sql import ScoresInSQL, expression, query_of
from likely.sql.nodes import Node
from likely.sql.posterior import Posterior, decision
from likely.sql.query import Query

KEYS = ("likely_truth", "likely_top", "likely_decided", "likely_bin")
SUMS = ("likely_loss", "likely_distance", "likely_confidence", "likely_cost")


@dataclass(frozen=True, eq=False)
class Evaluated:
    """All rows as cells, with how many rows each has, and some of the rows themselves."""

    cells: Predictions
    rows: AnyArray
    drawn: Predictions


@dataclass(frozen=True, eq=False)
class EngineEvaluation:
    """What is to be judged: rows with labels, perhaps weights, in an engine, and all their classes."""

    relation: Relation
    target: str
    weight: str | None
    classes: AnyArray
    loss: Loss | None

    def run(self, models: Sequence[ScoresInSQL], folds: Sequence[Expression], share: float, seed: int) -> Evaluated:
        """Each model judges the rows of its fold; `share` of the rows are also fetched one by one."""
        found, single = [], []
        for k, (model, table) in enumerate(zip(models, folds, strict=True)):
            part = replace(self.relation, table=table)
            found.append((k, self.relation.run(self._cells(self._judged(model, part)))))
            self.relation.seed(seed)
            few = replace(part, table=self.relation.sample(table, share, seed))
            single.append((k, self.relation.run(self._judged(model, few, with_shares=True))))
        return Evaluated(*self._of_cells(found), self._of_rows(single))

    def _judged(self, model: ScoresInSQL, part: Relation, *, with_shares: bool = False) -> Expression:
        """One line per row: keys and measures."""
        kept = [self.target, *([] if self.weight is None else [self.weight])]
        query = query_of(model, part, kept)
        known = model._sql_posterior(query, explain=False)
        place = {label: k for k, label in enumerate(model.classes_.tolist())}
        shares = [known.shares[place[c]] if c in place else query.number(0.0) for c in self.classes.tolist()]
        columns = self._measures(query, known, shares)
        types = {name: "int64" if name in KEYS else "float64" for name in columns}
        if with_shares:
            columns |= {f"likely_share_{k}": share.copy() for k, share in enumerate(shares)}
            types |= {name: "float64" for name in columns if name not in types}
        return expression(part, query.written(columns), types, kept)

    def _measures(self, query: Query, known: Posterior, shares: Sequence[Node]) -> dict[str, Node]:
        labels = self.classes.tolist()
        truth = query.code(self.target, labels, range(len(labels)), REFUSAL, REFUSAL)
        top = query.kept(_place(query, known.prediction, labels))
        confidence = query.kept(query.greatest([share.copy() for share in shares]))
        own = query.kept(
            query.case([(query.equal(truth.copy(), query.whole(k)), s.copy()) for k, s in enumerate(shares)])
        )
        least = query.greatest([own.copy(), query.number(EPSILON)])
        clipped = query.case(
            [(query.at_most(query.number(1.0 - EPSILON), own.copy()), query.number(1.0 - EPSILON))], least
        )
        squares = query.sum([query.times(share.copy(), share.copy()) for share in shares])
        doubled = query.times(query.number(2.0), own.copy())
        edges = [query.number(edge) for edge in np.linspace(0.0, 1.0, N_BINS + 1)[1:-1].tolist()]
        bins = query.by_halves(confidence, edges, [query.whole(k) for k in range(N_BINS)], query.at_most)
        decided, cost = top.copy(), query.number(0.0)
        if self.loss is not None:
            decided, cost = self._decided(query, replace(known, shares=list(shares)), truth, self.loss)
        distance = query.minus(query.sum([squares, query.number(1.0)]), doubled)
        loss = query.times(query.number(-1.0), query.ln(clipped))
        return dict(
            zip((*KEYS, *SUMS), (truth, top, decided, bins, loss, distance, confidence.copy(), cost), strict=True)
        )

    def _decided(self, query: Query, known: Posterior, truth: Node, loss: Loss) -> tuple[Node, Node]:
        """The place of the decision, and what it costs; a class that a model never met costs what the loss says."""
        matrix = LossMatrix.of(loss, self.classes, 1)
        told = decision(query, self.classes, known, loss)["decision"]
        names = matrix.labels.tolist()
        names = [str(name) for name in names] if loss.refuse is not None else names
        decided = query.kept(_place(query, told, names))
        costs = np.asarray(loss.costs, dtype=np.float64)[:, matrix.places]
        at = query.sum([query.times(decided.copy(), query.whole(costs.shape[1])), truth.copy()])
        paid = query.number_at(
            costs.ravel().tolist(), query.kept(query.case([(query.at_most(query.whole(0), decided.copy()), at)]))
        )
        price = query.number(loss.refuse or 0.0)
        return decided, query.case([(query.equal(decided.copy(), query.whole(REFUSAL)), price)], paid)

    def _cells(self, judged: Expression) -> Expression:
        weight = judged[self.weight].cast("float64") if self.weight is not None else None
        sums = {name: (judged[name] if weight is None else judged[name] * weight).sum() for name in SUMS}
        total = judged.count().cast("float64") if weight is None else weight.sum()
        return judged.group_by(list(KEYS)).aggregate(**sums, likely_weight=total, likely_rows=judged.count())

    def _of_cells(self, found: Sequence[tuple[int, pa.Table]]) -> tuple[Predictions, AnyArray]:
        """One entry for each cell that has a known truth: its means in place of the measures of single rows."""
        fold = np.concatenate([np.full(table.num_rows, k) for k, table in found])
        table = pa.concat_tables([table for _, table in found])
        keys = [_column(table, name).astype(np.int32) for name in KEYS]
        weight, rows = _column(table, "likely_weight"), _column(table, "likely_rows").astype(np.int64)
        known = keys[0] >= 0
        heavy = np.where(weight > 0.0, weight, 1.0)[known]  # rows without weight are counted, and measure nothing
        means = [_column(table, name)[known] / heavy for name in SUMS]
        likelihood = np.exp(-means[0])
        noted = PosteriorTerms(likelihood, means[1] + 2.0 * likelihood - 1.0, means[2])
        return self._entries(keys, weight, fold, known, None, noted, means[3]), rows[known]

    def _of_rows(self, found: Sequence[tuple[int, pa.Table]]) -> Predictions:
        fold = np.concatenate([np.full(table.num_rows, k) for k, table in found])
        table = pa.concat_tables([table for _, table in found])
        keys = [_column(table, name).astype(np.int32) for name in KEYS]
        weight = np.ones(len(fold)) if self.weight is None else _column(table, self.weight)
        shares = np.column_stack([_column(table, f"likely_share_{k}") for k in range(len(self.classes))])
        known = keys[0] >= 0
        return self._entries(keys, weight, fold, known, shares[known], None, _column(table, "likely_cost")[known])

    def _entries(
        self, keys: Sequence[AnyArray], weight: Array, fold: AnyArray, known: AnyArray, posterior: Array | None,
        noted: PosteriorTerms | None, cost: Array,
    ) -> Predictions:  # fmt: skip
        truth, top, decided, _ = (key[known] for key in keys)
        decisions = self.classes if self.loss is None else LossMatrix.of(self.loss, self.classes, 1).labels
        refuses = self.loss is not None and self.loss.refuse is not None
        unit = np.arange(len(truth))
        return Predictions(
            self.classes, decisions, truth, top, decided, weight[known], unit, fold[known].astype(np.int32),
            posterior, noted, None if self.loss is None else cost, refuses,
        )  # fmt: skip


def can_be_written(model: ScoresInSQL, relation: Relation) -> bool:
    """Whether a classifier can judge rows in that engine."""
    try:
        query = query_of(model, relation, [])
        model._sql_posterior(query, explain=False)
        for name, tokenizer in query.cut.items():
            refuse_letters(relation, name, tokenizer)
    except (SettingsError, DataError):
        return False
    return True


def _place(query: Query, node: Node, labels: Sequence[object]) -> Node:
    """The place of a label among some, or −1."""
    whens = [(query.equal(node.copy(), query.value(label)), query.whole(k)) for k, label in enumerate(labels)]
    return query.case(whens, query.whole(REFUSAL))


def _column(table: pa.Table, name: str) -> AnyArray:
    return np.asarray(table.column(name).cast("float64").to_numpy(zero_copy_only=False))
