"""Correcting a classifier anew by the rows of files: all of them, or by chance as many as fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from likely.errors import DataError, SettingsError
from likely.files import gathering
from likely.files.forgetting import target_of, wanted_by
from likely.files.table import FileTable, open_table
from likely.files.training import Progress, Report

if TYPE_CHECKING:
    from likely.estimators import BayesClassifier
    from likely.estimators.evidence import EvidenceClassifier

Refreshed = TypeVar("Refreshed", bound="BayesClassifier | EvidenceClassifier")


def refresh_file(
    classifier: Refreshed,
    source: Any,
    target: str | None = None,
    *,
    memory: int | None = None,
    progress: Report | None = None,
) -> tuple[Refreshed, int]:
    """Correct a classifier by the rows of a table in files, which it has counted; and by how many of them.

    Rows that need more than `memory` bytes (None for 512 MiB) are drawn by chance, each as likely as any other.
    """
    if not hasattr(classifier, "refresh"):
        raise SettingsError(f"A {type(classifier).__name__} has nothing to refresh: all it knows follows from counts.")
    table = source if isinstance(source, FileTable) else open_table(source)
    label = target_of(classifier, target)
    drawn = Draw(gathering.BUDGET if memory is None else memory, len(classifier.schema_.features))
    rows = 0
    for piece in table.pieces(wanted_by(classifier, table, label)):
        drawn.add(piece.read())
        rows += piece.n_rows
        if progress is not None:
            before, own = table.share_before(piece.after.file)
            progress(Progress(rows, before + own * piece.share))
    whole = drawn.rows()
    if whole is None:
        raise DataError(f"{table.sources[0].name}: no row is left to refresh with.")
    classifier.refresh(whole, label)
    return classifier, int(whole.num_rows)


class Draw:
    """Rows of pieces, thinned out by half whenever they need more memory than there is."""

    def __init__(self, memory: int, n_columns: int) -> None:
        self.memory, self.n_columns, self.share = memory, n_columns, 1.0
        self.parts: list[tuple[pa.Table, np.ndarray[Any, np.dtype[np.float64]]]] = []
        self.random = np.random.default_rng(0)

    def add(self, rows: pa.Table) -> None:
        """More rows, of which those stay whose lot is below the share that is kept."""
        if not rows.num_rows:
            return
        self.parts.append(self._below(rows, self.random.random(rows.num_rows)))
        while self._need() > self.memory and self._kept() > 1:
            self.share *= 0.5
            self.parts = [self._below(*part) for part in self.parts]

    def rows(self) -> pa.Table | None:
        """All that were kept; None if there are none."""
        parts = [rows for rows, _ in self.parts if rows.num_rows]
        return pa.concat_tables(parts, promote_options="permissive").unify_dictionaries() if parts else None

    def _below(self, rows: pa.Table, lots: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
        stays = lots < self.share
        return (rows, lots) if stays.all() else (rows.filter(pa.array(stays)), lots[stays])

    def _each(self) -> Iterator[pa.Table]:
        return (rows for rows, _ in self.parts)

    def _kept(self) -> int:
        return sum(rows.num_rows for rows in self._each())

    def _need(self) -> int:
        return sum(rows.nbytes + gathering.PER_CELL * rows.num_rows * self.n_columns for rows in self._each())
