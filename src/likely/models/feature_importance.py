"""Which columns matter to any classifier: what they tell, what they do to rows, what is lost without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely.arrays import AnyArray, Array
from likely.errors import SettingsError, did_you_mean, listed
from likely.explain.rank import contribution_by_column
from likely.models.prediction import HasExplanation, with_cells
from likely.table import Labelling, RowsLike, Table, as_table, index_levels, labels_of
from likely.table.images import flattened
from likely.table.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

ORDERS = ("held_out", "permutation", "contribution", "information")
"""What columns may be ranked by; the first that a classifier has is the usual one."""

SHUFFLED_ROWS = 2_000
"""Rows whose cells are shuffled, drawn fairly from more; fewer rows are shuffled several times."""

MOST_SHUFFLES = 10
LEAST = 1e-15
"""A probability below this one is taken for it, as everywhere where losses are compared."""


class Ranked(Protocol):
    """What a ranking needs to know of a classifier."""

    @property
    def classes_(self) -> AnyArray: ...

    @property
    def schema_(self) -> Schema: ...

    def predict_proba(self, X: RowsLike) -> Array: ...

    def _read(self, X: RowsLike) -> Table: ...

    def _column_information(self) -> pd.DataFrame | None: ...


def rank(
    classifier: Ranked, X: RowsLike | None = None, y: Labelling | None = None, *, by: str | None = None
) -> pd.DataFrame:
    """Columns by what they tell about the class, best first; with rows, also by what they did to them.

    *held_out* is what a column tells about the class in rows that were not learned, in bits, *share* its part of all
    there is to know, *gaps* what it tells alone whether a cell is missing, *information* the mutual information as
    counted. With rows `X`, *contribution* is the mean size of the log-odds, in nats, by which a column moved them, if
    the classifier is a sum; with labels `y`, or if nothing was counted, *permutation* is how much log loss grows, in
    bits, when the cells of the column are shuffled among the rows (without labels: as the classifier expects it).
    `by` names the column of the result to sort by.
    """
    import pandas as pd

    check_is_fitted(classifier)
    told = classifier._column_information()
    if told is None and X is None:
        name = type(classifier).__name__
        raise SettingsError(
            f"{name} has counted nothing by column, so it needs rows to rank by: rank(X), or rank(X, y)."
        )
    frame = pd.DataFrame({"column": list(classifier.schema_.features)}) if told is None else told
    if X is not None and isinstance(classifier, HasExplanation):
        frame["contribution"] = frame["column"].map(contribution_by_column(classifier._explanation(X))).fillna(0.0)
    if X is not None and (y is not None or told is None):
        frame["permutation"] = frame["column"].map(permutation_bits(classifier, X, y)).fillna(0.0)
    there = [name for name in ORDERS if name in frame.columns]
    if by is not None and by not in there:
        extra = " Give rows to rank by contribution." if by == "contribution" and X is None else did_you_mean(by, there)
        raise SettingsError(f"by is {by!r}, but it is one of {listed(there)}.{extra}")
    return frame.sort_values(by or there[0], ascending=False, kind="stable", ignore_index=True)


def feature_importances(classifier: Ranked) -> Array:
    """What each column tells about the class, in the order of the table, scaled to sum to one."""
    check_is_fitted(classifier)
    told = classifier._column_information()
    if told is None:
        name = type(classifier).__name__
        raise AttributeError(f"{name} has no feature_importances_: it has counted nothing by column; see rank(X, y).")
    bits = dict(zip(told["column"], told["held_out"], strict=True))
    found = np.array([bits.get(name, 0.0) for name in classifier.schema_.names], dtype=np.float64)
    total = float(found.sum())
    return found / total if total > 0.0 else found


def permutation_bits(classifier: Ranked, X: RowsLike, y: Labelling | None = None) -> dict[str, float]:
    """By how many bits log loss grows, on average over rows, when the cells of one column are shuffled."""
    random = np.random.default_rng(0)
    whole = as_table(flattened(X, None)[0])
    codes = None if y is None else _codes(classifier, whole, y)
    rows = np.arange(whole.n_rows) if codes is None else np.flatnonzero(codes >= 0)
    if not len(rows):
        raise SettingsError("None of the labels is a class that was learned, so there is no loss to compare.")
    if len(rows) > SHUFFLED_ROWS:
        rows = np.sort(random.choice(rows, SHUFFLED_ROWS, replace=False))
    table = classifier._read(whole.take(rows))
    before = np.log2(np.maximum(classifier.predict_proba(table), LEAST))
    truth = np.exp2(before) if codes is None else np.eye(len(classifier.classes_))[codes[rows]]
    repeats = int(np.clip(SHUFFLED_ROWS // len(rows), 1, MOST_SHUFFLES))
    orders = [random.permutation(len(rows)) for _ in range(repeats)]
    found = {}
    for name in classifier.schema_.features:
        lost = 0.0
        for order in orders:
            shuffled = with_cells(table, name, table.take(order).cells(name))
            after = np.log2(np.maximum(classifier.predict_proba(shuffled), LEAST))
            lost += float((truth * (before - after)).sum())
        found[name] = lost / (repeats * len(rows))
    return found


def _codes(classifier: Ranked, table: Table, y: Labelling) -> AnyArray:
    labels = labels_of(y, table)
    return np.asarray(index_levels(labels.classes.tolist(), classifier.classes_.tolist())[labels.codes])
