"""scikit-learn's reading of rows, in our words where a cell is no number."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from likely.arrays import is_sparse
from likely.errors import About, DataError, LikelyError, SchemaError
from likely.table import RowsLike
from likely.table.read import as_table


def validated(clf: BaseEstimator, X: RowsLike, *, reset: bool, **wanted: object) -> Any:
    """The rows as scikit-learn's `validate_data` gives them; a word among them is told with its column."""
    try:
        return validate_data(clf, X, reset=reset, **wanted)
    except ValueError as error:
        column, word = _first_word(X)
        if column is None:
            raise
        raise DataError(
            About("no number", column, word),
            f"Column {column!r} holds {word!r}, but {type(clf).__name__} counts numbers: BayesClassifier takes words "
            "as they are, or encode them first.",
        ) from error


def _first_word(X: RowsLike) -> tuple[str | None, str]:
    """The first column that holds a string which is no number, and that string; None where there is no such column."""
    if is_sparse(X):
        return None, ""
    try:
        table = as_table(X)
    except (LikelyError, ValueError, TypeError):
        return None, ""
    for name in table.names:
        try:
            table.numbers(name)
        except SchemaError as refused:
            about = refused.about
            if about is not None and about.kind == "no number":
                return name, str(about.facts[1])
    return None, ""
