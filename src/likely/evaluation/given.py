"""What is to be evaluated: a classifier and its rows, read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import DataError, SchemaError, missing_columns
from likely.evaluation.ledger import Array, Ints, Ledger
from likely.evaluation.subtraction import Counting
from likely.nets.images import as_images
from likely.plan import Task
from likely.table import Labels, as_table, encode_column, encode_labels
from likely.threads import n_threads
from likely.weights import row_weights


@dataclass(frozen=True, eq=False)
class Given:
    """Rows with their classes, weights and groups; `task` is there for a classifier that counts.

    All folds share the kinds of the columns: they are guessed from all rows, but never from labels.
    """

    clf: Any
    X: Any
    task: Task | None
    classes: NDArray[Any]
    y: Ints
    weight: Array | None
    groups: Ints | None
    n_jobs: int | None
    progress: bool | None

    @classmethod
    def read(
        cls, clf: Any, X: Any, y: Any, weight: Any, groups: Any, n_jobs: int | None, progress: bool | None, learns: bool
    ) -> Given:
        """Look at everything before any work is done; a classifier that is not to learn takes the rows as they are."""
        n_threads(n_jobs)
        if learns and isinstance(clf, Counting) and getattr(clf, "adds_up", True):
            task = clf.task(X, y, weight)
            rows = task.rows
            rows.n_jobs = rows.n_jobs if n_jobs is None else n_jobs
            weights = rows.weight if task.weighted else None
            codes = _group_codes(groups, len(rows.y))
            return cls(clf, X, task, rows.classes, rows.y, weights, codes, rows.n_jobs, progress)
        X, labels = labelled(clf, X, y)
        n_rows = len(labels)
        weights = None if weight is None else row_weights(weight, as_table(np.zeros((n_rows, 1))))
        codes = _group_codes(groups, n_rows)
        return cls(clf, X, None, labels.classes, labels.codes, weights, codes, n_jobs, progress)

    def ledger(self, loss: Any, repeats: int = 1) -> Ledger:
        """Room for the predictions of all repetitions: each row counts once, so each of its entries for a part."""
        n = len(self.y)
        weight = np.ones(n) if self.weight is None else self.weight
        unit = np.arange(n) if self.groups is None else self.groups.astype(np.intp)
        entries = np.tile(self.y, repeats), np.tile(weight / repeats, repeats), np.tile(unit, repeats)
        return Ledger(self.classes, *entries, loss)


def _group_codes(groups: Any, n_rows: int) -> Ints | None:
    if groups is None:
        return None
    codes = encode_labels(groups).codes
    if len(codes) != n_rows:
        raise DataError(f"There are {len(codes)} groups for {n_rows} rows: give one label per row.")
    return codes


def labelled(clf: Any, X: Any, y: Any) -> tuple[Any, Labels]:
    """A table and its labels, which may also be a column of it."""
    if not isinstance(y, str):
        images = as_images(X)  # whether they can be read, the classifier knows
        rows, labels = X if images is None else images, encode_labels(y)
        n_rows = as_table(X, allow_empty=False).n_rows if images is None or not len(images) else len(images)
        if len(labels) != n_rows:
            raise DataError(f"X has {n_rows} rows, but y has {len(labels)} labels: give one label per row.")
        return rows, labels
    table = as_table(X, allow_empty=False)
    if y not in table:
        raise missing_columns([y], table.names)
    labels = encode_column(table.cells(y))
    if isinstance(clf, Counting):
        return table, labels
    if isinstance(X, dict):
        return {name: cells for name, cells in X.items() if name != y}, labels
    if not hasattr(X, "drop"):
        raise SchemaError(f"{type(clf).__name__} would learn from the column {y!r}, too: give X and y apart.")
    return X.drop(columns=[y]) if hasattr(X, "iloc") else X.drop(y), labels
