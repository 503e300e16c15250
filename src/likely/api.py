"""From a table to a fitted classifier in one call."""

from __future__ import annotations

from typing import Any

from likely.errors import missing_columns
from likely.estimators import BayesClassifier
from likely.table import as_table


def train(table: Any, target: str, *, weight: str | None = None, **settings: Any) -> BayesClassifier:
    """Learn a table with its target column; `settings` are those of `BayesClassifier`.

    >>> clf = train({"sky": ["grey", "grey", "blue"], "day": ["wet", "wet", "dry"]}, target="day")
    >>> clf.predict({"sky": ["blue"]}).tolist()
    ['dry']
    """
    rows = as_table(table, allow_empty=False)
    if target not in rows:
        raise missing_columns([target], rows.names)
    schema = settings.pop("schema", None)
    if weight is not None:
        schema = {**dict(schema or {}), weight: "weight"}
    return BayesClassifier(schema=schema, **settings).fit(rows, target)
