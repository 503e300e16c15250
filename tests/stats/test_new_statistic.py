"""A statistic that is not in the package: one class, one registration, and it is counted, added, saved and loaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from likely.arrays import Array, Index
from likely.engines.memory import READINGS, Rows
from likely.errors import ModelFileError
from likely.stats import STATISTICS, Part, Statistic, Summary
from likely.stats.protocol import leave, pad, require, require_counts, take_rows
from likely.store import Reader, Writer, codec
from likely.store.summaries import read_summary, write_summary
from likely.table import as_table


@dataclass(frozen=True, slots=True, eq=False)
class Signs:
    """Weight of the cells below, at and above zero: classes × columns × 3."""

    stored_as: ClassVar[str] = "signs"
    by_column: ClassVar[bool] = False

    counts: Array

    @classmethod
    def observe(cls, rows: Array, y: np.ndarray, weight: Array, n_classes: int) -> Signs:
        counts = np.zeros((n_classes, rows.shape[1], 3))
        for row, c, w in zip(rows, y, weight, strict=True):
            for column in np.flatnonzero(~np.isnan(row)):
                counts[c, column, int(np.sign(row[column])) + 1] += w
        return cls(counts)

    @property
    def shape(self) -> tuple[int, int]:
        return self.counts.shape[0], self.counts.shape[1]

    @property
    def known_weights(self) -> Array:
        return np.asarray(self.counts.sum(axis=2))

    def validate(self) -> None:
        require(self.counts.ndim == 3, "Signs have classes, columns and three cells.")
        require_counts(self.counts, *self.shape, 3)

    def __add__(self, other: Signs) -> Signs:
        n_classes = max(len(self.counts), len(other.counts))
        size = (n_classes, *self.counts.shape[1:])
        return Signs(pad(self.counts, *size) + pad(other.counts, *size))

    def __sub__(self, other: Signs) -> Signs:
        return Signs(leave(self.counts, pad(other.counts, *self.counts.shape)))

    def take_classes(self, source: Index) -> Signs:
        return Signs(take_rows(self.counts, source))

    def select(self, columns: Index) -> Signs:
        return Signs(self.counts[:, columns])


def count_signs(rows: Rows, columns: tuple[str, ...]) -> Statistic:
    cells = np.stack([rows.table.numbers(name) for name in columns], axis=1)
    return Signs.observe(cells, rows.y, rows.weight, len(rows.classes))


PART = Part("signs", ("a", "b"))


@pytest.fixture
def summary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Summary]:
    monkeypatch.setitem(STATISTICS, "signs", Signs)
    monkeypatch.setitem(READINGS, "signs", count_signs)
    table = as_table({"a": [-1.0, 0.0, 2.0, np.nan], "b": [3.0, 3.0, -3.0, -3.0]})
    rows = Rows(table, np.array(["no", "yes"]), np.array([0, 0, 1, 1], dtype=np.int32), None, 1)
    yield rows.summarise([PART])
    codec.FORMS.pop(Signs, None)


def test_it_is_counted_added_and_taken_out(summary: Summary) -> None:
    seen = summary.parts_of(Signs)[PART]
    assert seen.counts.tolist() == [[[1, 1, 0], [0, 0, 2]], [[0, 0, 1], [2, 0, 0]]]
    assert seen.known_weights.tolist() == [[2.0, 2.0], [1.0, 2.0]]
    twice = summary + summary
    assert twice.n_rows == 8
    assert ((twice - summary).parts_of(Signs)[PART].counts == seen.counts).all()


def test_it_is_saved_and_loaded(summary: Summary) -> None:
    writer = Writer()
    document = write_summary(summary, writer)
    assert document["parts"][0]["statistic"] == "signs"
    again = read_summary(document, Reader(writer.arrays))
    assert (again.parts_of(Signs)[PART].counts == summary.parts_of(Signs)[PART].counts).all()


@pytest.mark.parametrize("bad", [np.full((2, 2, 3), -1.0), np.full((2, 2, 3), np.nan), np.ones((2, 3, 3)), np.ones(3)])
def test_what_no_rows_have_is_refused(summary: Summary, bad: Array) -> None:
    writer = Writer()
    document = write_summary(summary, writer)
    writer.arrays[document["parts"][0]["counts"]] = bad
    with pytest.raises(ModelFileError):
        read_summary(document, Reader(writer.arrays))


def test_a_statistic_that_nobody_registered_is_refused(summary: Summary, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer()
    document = write_summary(summary, writer)
    monkeypatch.delitem(STATISTICS, "signs")
    with pytest.raises(ModelFileError, match="does not know"):
        read_summary(document, Reader(writer.arrays))
