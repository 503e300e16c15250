"""The tables of a report that a person reads: measures beside their baseline, classes, and which are confused."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluation.metrics import majority, spoken
from likely.render.picture import named_apart
from likely.render.table import Cell, ColumnHead, Grid, count, figure, shortened

if TYPE_CHECKING:
    import pandas as pd

    from likely.evaluation.intervals import Interval

FIRST = ("accuracy", "coverage", "expected_cost", "log_loss", "calibration_error", "roc_auc", "f_macro")
"""The measures that are shown unless all are wanted."""

SHOWN_CLASSES = 20
SHOWN_MISTAKES = 10
LONGEST_NAME = 30
WIDTH = 80
"""Characters of a line: a confusion matrix that is wider becomes a list of the most frequent mistakes."""


def measures(
    figures: Mapping[str, float], intervals: Mapping[str, Interval], truths: pd.DataFrame, beta: float, every: bool
) -> Grid:
    """The measures that matter most, or every one of them, each with its interval and what it must beat."""
    shown = figures if every else [name for name in FIRST if name in figures]
    often, accuracy, log_loss = majority(truths)
    to_beat = {"accuracy": accuracy, "error_rate": 1.0 - accuracy, "log_loss": log_loss}
    rows: list[list[object]] = []
    for name in shown:
        ends = intervals.get(name)
        line = [
            spoken(name, beta),
            figures[name],
            to_beat.get(name),
            *([ends.low, ends.high] if ends else [None, None]),
        ]
        rows.append([*line, ends.method if ends else ""] if every else line)
    numbers = [ColumnHead(head, form=figure) for head in ("value", "baseline", "95 % from", "to")]
    columns = [ColumnHead("measure", "left"), *numbers, *([ColumnHead("interval", "left")] if every else [])]
    of_log_loss = "; for the log loss, the class proportions" if figures.get("log_loss") is not None else ""
    return Grid(columns, rows, "Measures", notes=[f"Baseline: always {_names([often])[0]!r}{of_log_loss}."])


def classes(by_class: pd.DataFrame, beta: float) -> Grid:
    """Precision, recall and F of each class."""
    per_class = by_class[["precision", "recall", "f", "weight"]].head(SHOWN_CLASSES)
    heads = [ColumnHead(name, form=figure) for name in ("precision", "recall", spoken("f", beta))]
    rows = [[label, *row] for label, row in zip(_names(per_class.index), per_class.to_numpy(), strict=True)]
    columns = [ColumnHead("class", "left"), *heads, ColumnHead("rows", form=count)]
    return Grid(columns, rows, f"Classes{_cut(by_class)}")


def confusion(truths: pd.DataFrame) -> Grid:
    """Truths in rows, decisions in columns, shaded by proportions of the truth."""
    table = truths.iloc[:SHOWN_CLASSES, :SHOWN_CLASSES]
    counts = table.to_numpy(dtype=float)
    shares = np.divide(counts, counts.sum(axis=1, keepdims=True), out=np.zeros_like(counts), where=counts > 0.0)
    rows = [
        [label, *(Cell(n, shade=share) for n, share in zip(*line, strict=True))]
        for label, *line in zip(_names(table.index), counts, shares, strict=True)
    ]
    heads = [ColumnHead(name, form=count) for name in _names(table.columns)]
    return Grid([ColumnHead("truth \\ decision", "left"), *heads], rows, f"Confusion{_cut(truths)}")


def confusion_that_fits(truths: pd.DataFrame) -> Grid:
    """The same for a terminal: the most frequent mistakes where the matrix would be too wide."""
    matrix = confusion(truths)
    fits = len(truths) <= SHOWN_CLASSES and max(map(len, matrix.text().splitlines())) <= WIDTH
    return matrix if fits else mistakes(truths)


def mistakes(truths: pd.DataFrame) -> Grid:
    """The most frequent wrong decisions."""
    cells = [
        (float(n), truth, decision)
        for truth, row in zip(truths.index, truths.to_numpy(), strict=True)
        for decision, n in zip(truths.columns, row, strict=True)
        if decision != truth and n
    ]
    cells.sort(key=lambda cell: -cell[0])
    shown = cells[:SHOWN_MISTAKES]
    names = _names([label for _, *pair in shown for label in pair])
    rows = [[truth, decision, n] for (n, _, _), truth, decision in zip(shown, names[::2], names[1::2], strict=True)]
    columns = [ColumnHead("truth", "left"), ColumnHead("decision", "left"), ColumnHead("rows", form=count)]
    return Grid(columns, rows, "Most frequent mistakes", left_out=len(cells) - len(rows), what="kinds of mistake")


def _names(labels: Iterable[object]) -> list[str]:
    """Names of classes; if some are too long, all are cut in a way that leaves them different."""
    told = [shortened(str(label), sys.maxsize) for label in labels]
    return told if max(map(len, told), default=0) <= LONGEST_NAME else named_apart(told, LONGEST_NAME)


def _cut(frame: pd.DataFrame) -> str:
    return f" (the first {SHOWN_CLASSES} of {len(frame)})" if len(frame) > SHOWN_CLASSES else ""
