"""From a table to rows of codes, ready for learning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from likely.arrays import Array
from likely.models.evidence.binning import frame_of
from likely.models.evidence.columns import coded
from likely.models.evidence.counts import count_rows
from likely.models.evidence.encoding import Encoding
from likely.models.evidence.fitter import EncodedData, stack
from likely.models.evidence.row_source import MOST_TRIED, Rows, RowSource
from likely.models.evidence.solver import log_prior
from likely.models.evidence.text_scores import honest_scores
from likely.parallel import WorkerPool
from likely.stats import Part, Statistic, Summary
from likely.table import Labels, Table
from likely.table.schema import Schema

Kept = TypeVar("Kept", bound=RowSource)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What it takes to read rows of a table: recipes of its texts, chance, and hands to do it with."""

    schema: Schema
    recipes: Mapping[str, Any]
    seed: int
    crew: WorkerPool
    n_jobs: int | None


def make_ready(table: Table, labels: Labels, weight: Array, how: Reading) -> tuple[EncodedData[Rows], Summary]:
    """Count rows, cut numbers into bins by these counts, number the categories: rows to learn from, and the counts."""
    summary = count_rows(table, how.schema, labels, weight, how.recipes, how.n_jobs, texts=False)
    data, words = make_ready_under(frame_of(summary, how.schema), table, labels, weight, how)
    return data, Summary(summary.classes, {**summary.parts, **words})


def make_ready_under(
    frame: Encoding, table: Table, labels: Labels, weight: Array, how: Reading
) -> tuple[EncodedData[Rows], Mapping[Part, Statistic]]:
    """Rows to learn from under bins that are known, texts judged by the words of other rows; and the words counted."""
    codes = coded(frame.columns, table, how.n_jobs)
    n_scores = 1 if len(labels.classes) == 2 else len(labels.classes)
    rows = Rows(codes, labels.codes, weight, len(labels.classes), np.zeros((0, n_scores)), how.crew)
    if not how.schema.text:
        return EncodedData(frame, rows, np.zeros(0)), {}
    counted, texts = honest_scores(
        table, labels.classes, labels.codes, weight, how.schema.text, how.recipes, how.seed, how.n_jobs
    )
    return hearing(frame, replace(rows, texts=texts), counted.classes.weights, how.seed), counted.parts


def hearing(frame: Encoding, rows: Kept, classes: Array, seed: int) -> EncodedData[Kept]:
    """Rows that know beforehand what their texts say, as far as these are to be trusted beside the prior."""
    some = rows.sampled(MOST_TRIED, seed)
    n_scores = some.n_scores
    prior = np.tile(log_prior(classes), (len(some), 1))
    parts = [some.texts[:, k : k + n_scores] for k in range(0, some.texts.shape[1], n_scores)]
    trust = stack([prior, *parts], some.y, some.weight, 0)[1:]
    return EncodedData(frame, rows.trusting(trust), trust)
