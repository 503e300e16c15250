"""A model as it was at one moment, under its name: whoever holds one gets all parts of an answer from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.models.protocols import Updates
from likely.serve.rows import Columns, RowReader
from likely.table import Table
from likely.table.schema import Schema

PLAIN_LABELS = (str, int, float, bool)


class Judged(NamedTuple):
    """P(class | row), and the place of the class that is predicted."""

    posterior: Array
    chosen: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A classifier that nobody changes any more; `revision` differs from one content to the next."""

    name: str
    version: str
    revision: str
    classifier: Any
    quick: bool = True
    reader: RowReader = field(init=False)
    labels: list[Any] = field(init=False)
    counts: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reader", RowReader(self.schema))
        object.__setattr__(self, "labels", [json_label(label) for label in self.classifier.classes_.tolist()])
        object.__setattr__(self, "counts", isinstance(self.classifier, Updates))

    @property
    def schema(self) -> Schema:
        """The columns that it reads."""
        found: Schema = self.classifier.schema_
        return found

    @property
    def about(self) -> dict[str, str]:
        """What every answer says of where it comes from."""
        return {"model": self.name, "version": self.version, "revision": self.revision}

    def judge(self, rows: Any) -> Judged:
        """Probabilities of a table, and predictions: the most probable class unless the classifier has another rule."""
        posterior = np.asarray(self.classifier.predict_proba(rows), dtype=np.float64)
        if self.counts:
            return Judged(posterior, posterior.argmax(axis=1))
        predicted = self.classifier.predict(rows).tolist()
        places = {label: place for place, label in enumerate(self.classifier.classes_.tolist())}
        return Judged(posterior, np.array([places[label] for label in predicted], dtype=np.intp))

    def judge_columns(self, parts: Sequence[Columns]) -> Judged:
        """The same for rows of one or several requests, one after the other."""
        return self.judge(self.table(parts))

    def table(self, parts: Sequence[Columns]) -> Table:
        """Rows as a table of the columns that it reads."""
        return self.reader.table(parts)


def json_label(label: Any) -> Any:
    """A class as JSON has it; what JSON has no word for is written as text."""
    if isinstance(label, PLAIN_LABELS):
        return label
    return label.isoformat() if isinstance(label, date) else str(label)
