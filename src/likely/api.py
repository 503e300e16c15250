"""From a table to a fitted classifier in one call."""

from __future__ import annotations

from typing import Any, Unpack

from likely.errors import missing_columns
from likely.io.sources import looks_like_files
from likely.io.table import FileTable
from likely.models.bayes.classifier import BayesClassifier
from likely.models.settings import Choices
from likely.table import as_table
from likely.table.schema import Schema


def train(table: Any, target: str, *, weight: str | None = None, **settings: Unpack[Choices]) -> BayesClassifier:
    """Learn a table with its target column; `settings` are those of `BayesClassifier`.

    The table may also be a file of any length: a path, a glob, a folder, or what `open_table` gives.

    >>> clf = train({"sky": ["grey", "grey", "blue"], "day": ["wet", "wet", "dry"]}, target="day")
    >>> clf.predict({"sky": ["blue"]}).tolist()
    ['dry']
    """
    if isinstance(table, FileTable) or looks_like_files(table):
        from likely.streaming.train import train_file

        return train_file(table, target, weight=weight, **settings)
    rows = as_table(table, allow_empty=False)
    if target not in rows:
        raise missing_columns([target], rows.names)
    if weight is not None:
        given = settings.get("schema")
        kinds = given.kinds if isinstance(given, Schema) else given or {}
        settings["schema"] = {**kinds, weight: "weight"}
    return BayesClassifier(**settings).fit(rows, target)
