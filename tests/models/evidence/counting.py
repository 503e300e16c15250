"""Tables counted as a classifier of evidence counts them."""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.engines.memory import Rows
from likely.models.evidence.prepare import count_rows
from likely.stats import Summary
from likely.table import as_table, labels_of
from likely.table.schema import Schema


def counted(table: Any, y: Any = None, weight: Any = None, kinds: Any = None) -> tuple[Summary, Schema]:
    """The summary of a table and what its columns are; one class unless labels are given."""
    rows = as_table(table)
    schema = Schema.infer(rows, None, overrides=kinds)
    labels = labels_of(np.zeros(rows.n_rows, dtype=np.int64) if y is None else np.asarray(y), rows)
    weights = np.ones(rows.n_rows) if weight is None else np.asarray(weight, dtype=np.float64)
    return count_rows(Rows(rows, labels.classes, labels.codes, weights, 1), schema), schema
