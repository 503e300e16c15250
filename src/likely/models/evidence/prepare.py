"""From a table to encoded training rows: count, fit the encoding, encode, and score texts out of fold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from likely.arrays import Array
from likely.models.evidence.binning import fit_encoding
from likely.models.evidence.columns import encode_table
from likely.models.evidence.counts import count_rows
from likely.models.evidence.encoding import Encoding
from likely.models.evidence.fitter import EncodedData
from likely.models.evidence.row_source import MAX_SEARCH_ROWS, Rows, RowSource
from likely.models.evidence.solver import log_prior, stack
from likely.models.evidence.text_scores import out_of_fold_scores
from likely.parallel import WorkerPool
from likely.stats import Part, Statistic, Summary
from likely.table import Labels, Table
from likely.table.schema import Schema

Source = TypeVar("Source", bound=RowSource)


@dataclass(frozen=True, slots=True, eq=False)
class FitContext:
    """What the rows of one fit are read with: schema, tokenizers of texts, random seed, threads."""

    schema: Schema
    recipes: Mapping[str, Any]
    seed: int
    pool: WorkerPool
    n_jobs: int | None


Preparation = Callable[[FitContext], tuple[EncodedData[RowSource], Summary]]
"""Makes rows ready to be learned from, wherever they are kept, and says what was counted of them."""


def prepare_rows(table: Table, labels: Labels, weight: Array, context: FitContext) -> tuple[EncodedData[Rows], Summary]:
    """Encoded rows under an encoding that is fitted to them, and what was counted."""
    summary = count_rows(table, context.schema, labels, weight, context.recipes, context.n_jobs, texts=False)
    data, words = encode_rows(fit_encoding(summary, context.schema), table, labels, weight, context)
    return data, Summary(summary.classes, {**summary.parts, **words})


def encode_rows(
    encoding: Encoding, table: Table, labels: Labels, weight: Array, context: FitContext
) -> tuple[EncodedData[Rows], Mapping[Part, Statistic]]:
    """Encoded rows under a known encoding, with out-of-fold scores of their texts; and the words counted."""
    codes = encode_table(encoding.columns, table, context.n_jobs)
    n_scores = 1 if len(labels.classes) == 2 else len(labels.classes)
    rows = Rows(codes, labels.codes, weight, len(labels.classes), np.zeros((0, n_scores)), context.pool)
    if not context.schema.text:
        return EncodedData(encoding, rows, np.zeros(0)), {}
    counted, text_scores = out_of_fold_scores(
        table, labels.classes, labels.codes, weight, context.schema.text, context.recipes, context.seed, context.n_jobs
    )
    rows = replace(rows, text_scores=text_scores)
    return with_text_offset(encoding, rows, counted.classes.weights, context.seed), counted.parts


def with_text_offset(encoding: Encoding, rows: Source, class_weights: Array, seed: int) -> EncodedData[Source]:
    """Rows whose offset is Σ weight · scores of texts; the weights come from stacking texts beside the prior."""
    sample = rows.sample(MAX_SEARCH_ROWS, seed)
    n_scores = sample.n_scores
    prior = np.tile(log_prior(class_weights), (len(sample), 1))
    by_text = [sample.text_scores[:, k : k + n_scores] for k in range(0, sample.text_scores.shape[1], n_scores)]
    text_weights = stack([prior, *by_text], sample.y, sample.weight, 0)[1:]
    return EncodedData(encoding, rows.with_offset(text_weights), text_weights)
