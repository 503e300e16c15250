"""Two columns as a plane: the rows, the boundary, the edges of the margin, and the support vectors in circles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from likely.arrays import Array, ColumnLike, Flags, Int64
from likely.errors import DataError, missing_columns
from likely.models.svm.explain import FittedMachine
from likely.models.svm.kernels import Matrix
from likely.render.picture import Picture, colour, drawing, in_legend, legend_columns, marker, named, new_figure
from likely.render.theme import FAINT, INK
from likely.table import Table, as_table, index_levels, labels_of
from likely.table.table import RowsLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 240
MOST_ROWS = 2000
"""Rows that are drawn besides support vectors; of more, evenly chosen ones."""

MOST_IN_LEGEND = 20


def margins(classifier: FittedMachine, X: RowsLike, y: ColumnLike, columns: tuple[str, str]) -> Picture:
    """What a fitted support vector machine makes of two columns; all others are left empty, as for a row with gaps.

    Two classes: lines where f is −1, 0 and 1. More: the borders between the classes.
    """
    table = classifier.schema_.align(as_table(X), type(classifier).__name__)
    missing = [name for name in columns if name not in table]
    if missing:
        raise missing_columns(missing, table.names)
    labels = labels_of(y, table)
    across, up = (np.asarray(table.numbers(name)) for name in columns)
    known = np.isfinite(across) & np.isfinite(up)
    if not known.any():
        raise DataError(f"No row has a number in both {columns[0]!r} and {columns[1]!r}.")
    is_vector = _support_vector_mask(classifier, table) & known
    classes = classifier.classes_.tolist()
    codes = index_levels(labels.classes.tolist(), classes)[labels.codes]
    limits = _limits(columns[0], across[known]), _limits(columns[1], up[known])
    vectors = classifier.machine_.vectors_are
    with drawing():
        figure = new_figure(6.2, 5.0)
        axes = figure.subplots()
        _borders(axes, classifier, columns, limits, len(classes))
        _rows(axes, across, up, codes, known, is_vector)
        axes.set_xlim(*limits[0])
        axes.set_ylim(*limits[1])
        axes.set_xlabel(named(columns[0], 40))
        axes.set_ylabel(named(columns[1], 40))
        axes.set_title(f"{int(is_vector.sum())} {vectors} of {table.n_rows} rows, {_settings(classifier)}")
        _legend(axes, classes, vectors.removesuffix("s"), figure.get_figwidth())
    note = f"{int(is_vector.sum())} of {table.n_rows} rows are {vectors}; {_settings(classifier)}."
    return Picture(figure, f"{columns[0]} and {columns[1]}", note)


def _settings(classifier: FittedMachine) -> str:
    price = "no slack" if np.isinf(classifier.C_) else f"C = {classifier.C_:g}"
    return f"{named(repr(classifier.kernel_), 48)}, {price}"


def _support_vector_mask(classifier: FittedMachine, table: Table) -> Flags:
    """Which rows are support vectors: they are known by their prepared cells."""
    rows, vectors = classifier.preparation_.rows(table), classifier.machine_.vectors
    known = set(_lines(vectors))
    return np.fromiter((line in known for line in _lines(rows)), np.bool_, table.n_rows)


def _lines(rows: Matrix) -> list[bytes]:
    if not sparse.issparse(rows):
        return [line.tobytes() for line in np.ascontiguousarray(rows) + 0.0]
    ends = rows.indptr
    return [rows.indices[a:b].astype(np.int64).tobytes() + rows.data[a:b].tobytes() for a, b in pairwise(ends)]


def _limits(column: str, values: Array) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    margin = 0.12 * (high - low) or 1.0
    if not np.isfinite(1.3 * (high - low)):
        raise DataError(f"Column {column!r} reaches from {low:g} to {high:g}: too far to draw. Name other columns.")
    return low - margin, high + margin


def _borders(
    axes: Axes,
    classifier: FittedMachine,
    columns: tuple[str, str],
    limits: Sequence[tuple[float, float]],
    n_classes: int,
) -> None:
    """Tint each place by the class that wins there, and draw where f is −1, 0, 1."""
    across, up = (np.linspace(*limit, GRID) for limit in limits)
    where = [part.ravel() for part in np.meshgrid(across, up)]
    empty = np.full(len(where[0]), np.nan)
    cells = dict(zip(columns, where, strict=True))
    grid = {name: cells.get(name, empty) for name in classifier.schema_.names}
    value = classifier.decision_function(grid)
    best = (value > 0.0).astype(np.intp) if n_classes == 2 else value.argmax(axis=1)
    tint = np.array([[int(colour(k)[i : i + 2], 16) / 255.0 for i in (1, 3, 5)] for k in range(max(n_classes, 1))])
    picture = 0.82 + 0.18 * tint[best]
    extent = (*limits[0], *limits[1])
    axes.imshow(picture.reshape(GRID, GRID, 3), extent=extent, origin="lower", aspect="auto", zorder=0)
    if n_classes == 2:
        plane = value.reshape(GRID, GRID)
        for level, width, dashes in ((-1.0, 1.0, "dashed"), (0.0, 1.6, "solid"), (1.0, 1.0, "dashed")):
            if plane.min() < level < plane.max():
                axes.contour(across, up, plane, levels=[level], colors=INK, linewidths=width, linestyles=dashes)
        return
    for k in range(n_classes):
        own = (best == k).astype(float).reshape(GRID, GRID)
        if own.min() < 0.5 < own.max():
            axes.contour(across, up, own, levels=[0.5], colors=INK, linewidths=0.9, zorder=1)


def _rows(
    axes: Axes,
    across: Array,
    up: Array,
    codes: Int64,
    known: Flags,
    is_vector: Flags,
) -> None:
    others = np.flatnonzero(known & ~is_vector)
    if len(others) > MOST_ROWS:
        others = others[np.linspace(0, len(others) - 1, MOST_ROWS).astype(np.intp)]
    shown = np.concatenate([others, np.flatnonzero(is_vector)])
    for k in np.unique(codes[shown]):
        mine = shown[codes[shown] == k]
        shade = colour(int(k)) if k >= 0 else FAINT
        axes.scatter(across[mine], up[mine], 18.0, shade, marker=marker(int(k)), linewidths=0.0, zorder=3)
    axes.scatter(across[is_vector], up[is_vector], 70.0, "none", edgecolors=INK, linewidths=0.9, zorder=4)


def _legend(axes: Axes, classes: list[object], vector: str, width: float) -> None:
    from matplotlib.lines import Line2D

    names = [in_legend(named(label, 24)) for label in classes[:MOST_IN_LEGEND]]
    points = [Line2D([], [], color=colour(k), marker=marker(k), linestyle="none") for k in range(len(names))]
    circle = Line2D([], [], color=INK, marker="o", markerfacecolor="none", markersize=8, linestyle="none")
    lines = [(circle, vector)]
    if len(classes) == 2:
        lines += [(Line2D([], [], color=INK), "f = 0"), (Line2D([], [], color=INK, linestyle="dashed"), "f = ±1")]
    handles, labels = [*points, *(line for line, _ in lines)], [*names, *(label for _, label in lines)]
    ncols = legend_columns(labels, width)
    assert axes.figure is not None
    axes.figure.legend(handles, labels, loc="outside lower left", ncols=ncols)
