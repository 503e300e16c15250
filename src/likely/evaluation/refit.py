"""Any other classifier: a copy is fitted for every fold, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.arrays import Array, Index, Int32
from likely.errors import SettingsError
from likely.evaluation.fold_sums import Counting, among, places_among
from likely.evaluation.predictions import Predictions
from likely.table import Table, as_table, encode_labels
from likely.table.sparse import as_csr


class RefitCV:
    """A scikit-learn classifier and the rows that it is to be fitted on, as it likes to have them."""

    def __init__(self, clf: Any, X: Any, classes: NDArray[Any], y: Int32, weight: Array | None) -> None:
        self.clf, self.classes, self.y, self.weight = clf, classes, y, weight
        self.X = readable(clf, X)
        if weight is not None:
            from sklearn.utils.validation import has_fit_parameter

            if not has_fit_parameter(clf, "sample_weight"):
                raise SettingsError(f"{type(clf).__name__} learns without sample_weight: leave it out here, too.")

    def fitted(self, rows: Index | None = None) -> Any:
        """A copy that has learned some rows."""
        from sklearn.base import clone

        weight = {} if self.weight is None else {"sample_weight": self.weight if rows is None else self.weight[rows]}
        X, y = (self.X, self.y) if rows is None else (_taken(self.X, rows), self.y[rows])
        return clone(self.clf).fit(X, self.classes[y], **weight)

    def judge(self, train: Index, test: Index, ledger: Predictions, first: int) -> None:
        """Fit a copy on some rows and write down what it says about others."""
        enter(self.fitted(train), _taken(self.X, test), test, ledger, first)


def readable(clf: Any, X: Any) -> Any:
    """Our classifiers of tables read any; others get a frame for a dict of columns or a list of dicts."""
    if sparse.issparse(X):
        return as_csr(X)  # not every format gives some of its rows, and one is a dict
    if isinstance(X, Mapping) or (isinstance(X, list) and X and isinstance(X[0], Mapping)):
        if isinstance(clf, Counting):
            return as_table(X)
        import pandas as pd

        return pd.DataFrame(X)
    return X


def enter(model: Any, X: Any, rows: Index, ledger: Predictions, first: int = 0) -> None:
    """Write down what a fitted classifier says about rows."""
    known = np.asarray(model.classes_)
    if hasattr(model, "predict_proba"):
        posterior = np.asarray(model.predict_proba(X), dtype=np.float64)
        wide = among(posterior, known, ledger.classes)
        if ledger.loss is not None:
            ledger.enter(rows, wide, first=first)
            return
        ledger.enter(rows, wide, _codes(model.predict(X), ledger.classes), first)
    elif ledger.loss is not None:
        raise SettingsError(f"{type(model).__name__} gives no probabilities, so no loss can be weighed with them.")
    else:
        ledger.enter_labels(rows, _codes(model.predict(X), ledger.classes), first)


def _codes(labels: Any, classes: NDArray[Any]) -> Int32:
    encoded = encode_labels(np.asarray(labels))
    return places_among(encoded.classes, classes).astype(np.int32)[encoded.codes]


def _taken(X: Any, rows: Index) -> Any:
    if isinstance(X, Table):
        return X.take(rows)
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, rows)
