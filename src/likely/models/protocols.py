"""What a classifier may be able to do beside predicting, as types that code can ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from likely.arrays import AnyArray, Array
from likely.engines.plan import Task
from likely.scorer import Scorer
from likely.stats import Summary
from likely.store import Reader, Writer
from likely.store.container import Document
from likely.table import Labelling, RowsLike, Weights
from likely.table.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


class Fitted(Protocol):
    """A fitted classifier that counts: what it has read and counted, and what it believes."""

    classes_: AnyArray
    schema_: Schema
    summary_: Summary
    families_: dict[str, str]

    @property
    def model_(self) -> Scorer: ...

    def get_params(self, deep: bool = True) -> dict[str, object]: ...

    def rank(self) -> pd.DataFrame: ...


@runtime_checkable
class Counts(Protocol):
    """All that it knows follows from a summary: folds are added up, rows are taken out, files are counted."""

    def _task(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Task: ...

    def _learned(self, task: Task, summary: Summary) -> Self: ...

    def _leave_one_out(self, task: Task, use: Callable[[slice, Array], None]) -> None: ...

    def _restore(
        self, summary: Summary, families: Mapping[str, str], weights: Mapping[str, object] | None = None
    ) -> Self: ...

    def _weights_kept(self) -> dict[str, object] | None: ...


@runtime_checkable
class KeepsLearned(Protocol):
    """It puts away what it has learned in a form of its own, as JSON and named arrays."""

    def _rows_learned(self) -> int:
        """How many rows it has learned, which the file tells its readers."""
        ...

    def _write_learned(self, writer: Writer) -> object:
        """What was learned, as JSON that names the arrays put into `writer`."""
        ...

    def _read_learned(self, data: Document, reader: Reader) -> None:
        """Take on what `_write_learned` wrote: parameters, `classes_` and `schema_` are there already.

        The file may be hostile: sizes, types and ranges are checked before anything is built from them
        (`Reader.get` does so for arrays), and what is wrong raises `ModelFileError`.
        """
        ...


@runtime_checkable
class Updates(Protocol):
    """It learns on, forgets and merges, by its counts."""

    def partial_fit(self, X: RowsLike, y: Labelling, classes: object = None, sample_weight: Weights = None) -> Self: ...

    def forget(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self: ...

    def merge(self, other: Self) -> Self: ...


@runtime_checkable
class Refreshes(Protocol):
    """Part of what it knows needs rows, and can be learned again from them."""

    def refresh(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self: ...

    def _is_stale(self) -> bool: ...


@runtime_checkable
class Ranks(Protocol):
    """It ranks its columns."""

    def rank(self) -> pd.DataFrame: ...


@runtime_checkable
class HasTerms(Protocol):
    """It hears some of its columns together, and says which values tell most."""

    @property
    def pairs_(self) -> list[tuple[str, ...]]: ...

    def telling_values(self, per_class: int = 5) -> pd.DataFrame: ...

    def plot_table(self, *columns: str) -> Savable: ...


class Savable(Protocol):
    """A picture that writes itself."""

    def save(self, path: str) -> object: ...


@runtime_checkable
class Exports(Protocol):
    """It is written whole as text, JSON and a graph, as a tree is."""

    def to_text(self, max_depth: int | None = None) -> str: ...

    def to_json(self, indent: int | None = None) -> str: ...

    def to_dot(self, max_depth: int | None = None) -> str: ...

    def plot(self, X: RowsLike | None = None, row: int = 0, max_depth: int | None = None) -> Savable: ...


@runtime_checkable
class Learns(Protocol):
    """A classifier of whatever kind: it learns and predicts, as scikit-learn's do."""

    def fit(self, X: Any, y: Any) -> object: ...

    def predict(self, X: Any) -> AnyArray: ...


@runtime_checkable
class Calibrates(Protocol):
    """Its probabilities are worked out after `fit`."""

    def calibrate(self) -> Self: ...
