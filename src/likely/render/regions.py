"""Two columns as a plane: the rows, the mean and spread of each class, and who decides what where."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from likely.arrays import AnyArray, Array, ColumnLike, Int64, TableLike
from likely.errors import DataError, SettingsError, missing_columns
from likely.render.picture import (
    COLOURS,
    Picture,
    colour,
    drawing,
    in_legend,
    legend_columns,
    marker,
    named,
    new_figure,
)
from likely.render.theme import INK, MUTED
from likely.table import as_table, encode_labels, index_levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

GRID = 240
MOST_ROWS = 2000
"""Rows that are drawn; of more, evenly chosen ones."""

MOST_IN_LEGEND = 21


class ProbabilisticClassifier(Protocol):
    """A fitted classifier of whatever kind that gives probabilities."""

    @property
    def classes_(self) -> AnyArray: ...

    def predict_proba(self, X: TableLike) -> AnyArray: ...


Panels: TypeAlias = Mapping[str, ProbabilisticClassifier] | Sequence[ProbabilisticClassifier] | ProbabilisticClassifier


def regions(classifiers: Panels, X: TableLike, y: ColumnLike, columns: tuple[str, str]) -> Picture:
    """Decision regions of fitted classifiers over two columns, side by side, with the rows that you give.

    All other columns are left empty, which for classifiers of this package means: integrated out. Squares are
    the class means that a classifier believes in, ellipses one and two standard deviations around them.
    """
    panels = _named(classifiers)
    table, labels = as_table(X), encode_labels(y)
    missing = [name for name in columns if name not in table]
    if missing or len(columns) != 2:
        raise missing_columns(missing, table.names) if missing else SettingsError("Name two columns for a plane.")
    if len(labels) != table.n_rows:
        raise DataError(f"There are {table.n_rows} rows, but {len(labels)} labels.")
    across, up = (np.asarray(table.numbers(name)) for name in columns)
    known = np.flatnonzero(np.isfinite(across) & np.isfinite(up))
    if not len(known):
        raise DataError(f"No row has a number in both {columns[0]!r} and {columns[1]!r}.")
    rows = known[np.unique(np.linspace(0, len(known) - 1, MOST_ROWS).astype(int))] if len(known) > MOST_ROWS else known
    classes = _all_classes(panels.values(), labels.classes)
    codes = index_levels(labels.classes.tolist(), classes)[labels.codes[rows]]
    with drawing():
        figure = new_figure(3.9 * len(panels) + 0.4, 4.8)
        drawn = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        limits = _limits(across[known]), _limits(up[known])
        for axes, (title, classifier) in zip(drawn, panels.items(), strict=True):
            places = index_levels(np.asarray(classifier.classes_).tolist(), classes)
            _decisions(axes, classifier, columns, limits, places, by_name=table.named)
            _points(axes, across[rows], up[rows], codes)
            _spread(axes, classifier, columns, places, [named(classes[k], 16) for k in places])
            axes.set_title(named(title, 40))
            axes.set_xlim(*limits[0])
            axes.set_ylim(*limits[1])
            axes.set_xlabel(named(columns[0], 40))
        drawn[0].set_ylabel(named(columns[1], 40))
        _write_around(figure, [named(label, 24) for label in classes])
    description = f"{len(rows)} of {table.n_rows} rows; {', '.join(panels)}."
    return Picture(figure, f"{columns[0]} and {columns[1]}", description)


def _all_classes(classifiers: Iterable[ProbabilisticClassifier], seen: AnyArray) -> list[Hashable]:
    """Every class that is known or drawn, each once: a class has one colour in all panels."""
    found: list[Hashable] = []
    for labels in (*(np.asarray(classifier.classes_).tolist() for classifier in classifiers), seen.tolist()):
        found += [label for label, place in zip(labels, index_levels(labels, found), strict=True) if place < 0]
    return found


def _write_around(figure: Figure, classes: Sequence[str]) -> None:
    legend = [in_legend(name) for name in classes[:MOST_IN_LEGEND]]
    ncols = legend_columns(legend, figure.get_figwidth())
    figure.legend([_handle(k) for k in range(len(legend))], legend, loc="outside lower left", ncols=ncols)
    note = "Squares: class means. Ellipses: one and two standard deviations. Lines: equally probable classes."
    if len(classes) > MOST_IN_LEGEND:
        note += f" {len(classes) - MOST_IN_LEGEND} classes are drawn, but not named below."
    lines = wrap(note, int(19.0 * figure.get_figwidth()))
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=7.5, color=MUTED)


def _named(classifiers: Panels) -> dict[str, ProbabilisticClassifier]:
    if isinstance(classifiers, Mapping):
        return dict(classifiers)
    panels: dict[str, ProbabilisticClassifier] = {}
    for classifier in classifiers if isinstance(classifiers, Sequence) else [classifiers]:
        name = type(classifier).__name__
        panels[name if name not in panels else f"{name} {len(panels) + 1}"] = classifier
    return panels


def _limits(values: Array) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    margin = 0.08 * (high - low) or 1.0
    return low - margin, high + margin


def _decisions(
    axes: Axes,
    classifier: ProbabilisticClassifier,
    columns: tuple[str, str],
    limits: Sequence[tuple[float, float]],
    places: Int64,
    *,
    by_name: bool,
) -> None:
    """Tint each place by the class that wins there, the stronger the surer; lines where two are equal."""
    from matplotlib.colors import to_rgb

    across, up = (np.linspace(*limit, GRID) for limit in limits)
    where = [part.ravel() for part in np.meshgrid(across, up)]
    shares = np.asarray(classifier.predict_proba(_grid(classifier, columns, where, by_name)))
    winner, sure = shares.argmax(axis=1), shares.max(axis=1)
    tint = np.array([to_rgb(colour(int(k))) for k in places])[winner]
    depth = (0.08 + 0.22 * sure)[:, None]
    picture = (1.0 - depth) + depth * tint
    axes.imshow(
        picture.reshape(GRID, GRID, 3), extent=(*limits[0], *limits[1]), origin="lower", aspect="auto",
        interpolation="nearest", zorder=0,
    )  # fmt: skip
    for k in range(shares.shape[1]):
        others = np.delete(shares, k, axis=1).max(axis=1, initial=0.0)
        lead = (shares[:, k] - others).reshape(GRID, GRID)
        if lead.min() < 0.0 < lead.max():
            axes.contour(across, up, lead, levels=[0.0], colors=INK, linewidths=0.9, zorder=1)


def _grid(
    classifier: ProbabilisticClassifier, columns: tuple[str, str], where: Sequence[Array], by_name: bool
) -> TableLike:
    """The plane as a table that the classifier takes; columns beyond the two are gaps."""
    schema = vars(classifier).get("schema_")
    names = schema.features if schema is not None else getattr(classifier, "feature_names_in_", None)
    empty = np.full(len(where[0]), np.nan)
    if by_name and names is not None:
        import pandas as pd

        cells = dict(zip(columns, where, strict=True))
        frame: TableLike = pd.DataFrame({name: cells.get(name, empty) for name in names})
        return frame
    width = int(getattr(classifier, "n_features_in_", 2))
    places = [int(name[1:]) for name in columns] if width > 2 else [0, 1]
    return np.column_stack([where[places.index(k)] if k in places else empty for k in range(width)])


def _points(axes: Axes, across: Array, up: Array, codes: Int64) -> None:
    for k in np.unique(codes):
        mine, shade, shape = codes == k, colour(int(k)), marker(int(k))
        axes.scatter(across[mine], up[mine], 14.0, shade, marker=shape, alpha=0.75, linewidths=0.0, zorder=2)


def _spread(
    axes: Axes, classifier: ProbabilisticClassifier, columns: tuple[str, str], places: Int64, names: Sequence[str]
) -> None:
    """Mean squares and sigma ellipses of what the classifier believes, where it believes in bells.

    Where there are more classes than colours, the names stand beside the means.
    """
    from matplotlib.patches import Ellipse

    for k, name, (mean, covariance) in zip(places.tolist(), names, bells(classifier, columns), strict=False):
        if not np.isfinite(covariance).all():
            continue
        values, vectors = np.linalg.eigh(covariance)
        angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
        for sigmas, width in ((1.0, 1.6), (2.0, 1.0)):
            size = 2.0 * sigmas * np.sqrt(np.maximum(values, 0.0))
            outline = {"edgecolor": colour(k), "facecolor": "none", "linewidth": width, "zorder": 3}
            axes.add_patch(Ellipse((mean[0], mean[1]), size[1], size[0], angle=angle, **outline))
        axes.scatter([mean[0]], [mean[1]], 42.0, colour(k), marker="s", edgecolors="white", linewidths=1.2, zorder=4)
        if len(names) > len(COLOURS):
            label = axes.annotate(name, (mean[0], mean[1]), (5, 5), textcoords="offset points", fontsize=7, zorder=5)
            label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8})
            label.set_clip_on(True)


def bells(classifier: ProbabilisticClassifier, columns: tuple[str, str]) -> list[tuple[Array, Array]]:
    """Mean and covariance of the two columns in each class, as the classifier's families have them."""
    from likely.families.protocol import HasBells
    from likely.scorer import Model

    model = vars(classifier).get("model_")
    for belief in model.beliefs if isinstance(model, Model) else ():
        if isinstance(belief, HasBells) and set(columns) <= set(belief.columns):
            return belief.bells(columns)
    return []


def _handle(k: int) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour(k), marker=marker(k), linestyle="none", markersize=5)
