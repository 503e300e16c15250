"""From a table to rows of codes, ready for learning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.evidence.columns import MANY_ROWS, Column, Fineness, NominalColumn, NumericColumn, coded
from likely.evidence.counted import count_codes, with_counts
from likely.evidence.crew import Crew
from likely.evidence.experts import Prepared
from likely.evidence.frame import Frame
from likely.evidence.mixing import mixture
from likely.evidence.rows import Rows
from likely.evidence.solver import log_prior
from likely.evidence.texts import honest_scores
from likely.schema import Schema
from likely.stats import ClassWeights, Summary
from likely.table import Labels, Table
from likely.threads import side_by_side

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """Rows to learn from, and what was counted of them: class × bin, class × word."""

    data: Prepared
    summary: Summary


def make_ready(
    table: Table, schema: Schema, labels: Labels, weight: Array, recipes: Mapping[str, Any], seed: int,
    crew: Crew, n_jobs: int | None, known: Frame | None = None,
) -> Ready:  # fmt: skip
    """Cut numbers into bins, number the categories, judge texts by the words of other rows.

    Where a frame is known, its bins and categories are kept, with the weight that they have in these rows.
    """
    fineness = Fineness.of(int(np.count_nonzero(weight)))
    given = None if (weight == 1.0).all() else weight
    names = [name for name in schema.features if schema.kinds[name] != "text"]

    def learned(name: str) -> Column:
        kind = NumericColumn if schema.kinds[name] == "numeric" else NominalColumn
        return kind.learn(table, name, given, fineness)

    if known is None:
        columns = tuple(side_by_side(learned, names, n_jobs if table.n_rows > MANY_ROWS else 1))
        frame = Frame(columns, 7 if table.n_rows >= MANY_ROWS else 5)
    else:
        columns, frame = known.columns, known
    codes = coded(columns, table, n_jobs)
    classes = ClassWeights.observe(labels.classes, labels.codes, weight)
    summary = Summary(classes, dict(count_codes(columns, codes, labels, weight)))
    if known is not None:
        frame = with_counts(known, summary)
    n_scores = 1 if len(labels.classes) == 2 else len(labels.classes)
    texts, trust, offset = np.zeros((table.n_rows, 0)), np.zeros(0), np.zeros((0, n_scores))
    if schema.text:
        words, texts = honest_scores(table, labels.classes, labels.codes, weight, schema.text, recipes, seed, n_jobs)
        summary = Summary(classes, {**summary.parts, **words.parts})
        trust, offset = _trusted(texts, labels.codes, weight, classes.weights, n_scores)
    rows = Rows(codes, labels.codes, weight, len(labels.classes), offset, crew)
    return Ready(Prepared(frame, rows, texts, trust), summary)


def _trusted(texts: Array, y: NDArray[np.int32], weight: Array, classes: Array, n_scores: int) -> tuple[Array, Array]:
    """How far each text is to be trusted beside the prior, and the scores of rows that follow from it."""
    prior = np.tile(log_prior(classes), (len(y), 1))
    parts = [texts[:, k : k + n_scores] for k in range(0, texts.shape[1], n_scores)]
    trust = mixture([prior, *parts], y, weight, 0)[1:]
    return trust, np.asarray(sum(share * part for share, part in zip(trust, parts, strict=True)))
