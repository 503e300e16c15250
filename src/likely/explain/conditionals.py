"""The distribution of each column given the class: densities of numbers, tables of categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from likely.arrays import Array, Index
from likely.errors import SettingsError, missing_columns
from likely.explain.factors import COARSE, density, expected
from likely.families.outcomes import Outcomes
from likely.render.picture import (
    Picture,
    colour,
    dashes,
    drawing,
    in_legend,
    legend_columns,
    marker,
    named,
    named_apart,
    new_figure,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from likely.families.protocol import FittedFamily
    from likely.scorer import Model

MOST_COLUMNS, MOST_CLASSES, MOST_VALUES = 12, 7, 10
ACROSS = 3
MASS = 0.998
CURVE = 400


class RanksColumns(Protocol):
    """A fitted classifier that says which columns tell most."""

    @property
    def model_(self) -> Model: ...

    def rank(self) -> pd.DataFrame: ...


def conditionals(classifier: RanksColumns, columns: Sequence[str] | None = None, most: int = MOST_COLUMNS) -> Picture:
    """P(column | class) of a fitted classifier, a panel per column: those that you name, or the most telling ones."""
    model = classifier.model_
    strange = [name for name in columns or () if name not in model.columns]
    if strange:
        raise missing_columns(strange, model.columns)
    found = {name: told for name in model.columns if (told := expected(model, name, COARSE)) is not None}
    chosen = list(columns) if columns is not None else _most_telling(classifier, found)
    shown = [name for name in chosen if name in found][:most]
    if not shown:
        raise SettingsError("None of these columns has a distribution of its own: counts of words are drawn together.")
    classes = np.sort(np.argsort(-model.prior, kind="stable")[:MOST_CLASSES])
    with drawing():
        across = 2 if len(shown) == 4 else min(ACROSS, len(shown))
        down = -(-len(shown) // across)
        figure = new_figure(max(3.1 * across + 0.4, 4.5), 2.3 * down + 0.8)
        panels = figure.subplots(down, across, squeeze=False).ravel()
        for axes, name in zip(panels, shown, strict=False):
            _panel(axes, model, name, *found[name], classes)
        for axes in panels[len(shown) :]:
            axes.set_visible(False)
        _legend(figure, named_apart([model.classes[k] for k in classes], 24))
        title = _title(len(chosen) - len(shown), len(model.classes) - len(classes))
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    return Picture(figure, title, f"Columns: {', '.join(shown)}.")


def _most_telling(classifier: RanksColumns, found: dict[str, tuple[FittedFamily, Outcomes]]) -> list[str]:
    if len(found) <= MOST_COLUMNS:
        return list(found)
    return [name for name in classifier.rank()["column"] if name in found]


def _title(columns: int, classes: int) -> str:
    left = [f"{n} {what}" for n, what in ((columns, "further columns"), (classes, "rarer classes")) if n > 0]
    return "Distribution of each column given the class" + (f" (not shown: {', '.join(left)})" if left else "")


def _panel(axes: Axes, model: Model, name: str, belief: FittedFamily, outcomes: Outcomes, classes: Index) -> None:
    axes.set_title(named(name, 34))
    if outcomes.edges is not None and outcomes.density is not None:
        _stairs(axes, outcomes.edges, outcomes.density[::2], classes)
    elif outcomes.density is not None:
        low, high = _range(outcomes, classes)
        values = np.linspace(low, high, CURVE)
        curves = np.exp(density(belief, name, values, len(model.classes)))
        for place, k in enumerate(classes):
            axes.plot(values, curves[:, k], color=colour(place), linestyle=dashes(place))
            axes.fill_between(values, curves[:, k], color=colour(place), alpha=0.08, linewidth=0)
        axes.set_ylabel("density")
        axes.set_ylim(bottom=0.0)
    elif outcomes.is_numeric and len(outcomes.values) > 2:
        low, high = _range(outcomes, classes)
        counts = np.asarray(outcomes.values)
        inside = (counts >= low) & (counts <= high)
        for place, k in enumerate(classes):
            told = outcomes.shares[inside, k]
            axes.plot(counts[inside], told, color=colour(place), linewidth=0.8, marker=marker(place), markersize=3.0)
        axes.set_ylabel("P(count | class)")
        axes.locator_params(axis="x", integer=True)
        axes.set_ylim(bottom=0.0)
    else:
        _table(axes, outcomes, classes, model.prior)


def _stairs(axes: Axes, edges: Array, heights: Array, classes: Index) -> None:
    for place, k in enumerate(classes):
        axes.stairs(heights[:, k], edges, color=colour(place), linestyle=dashes(place), linewidth=1.6)
        axes.stairs(heights[:, k], edges, color=colour(place), alpha=0.08, fill=True)
    axes.set_ylabel("density")
    axes.set_ylim(bottom=0.0)


def _range(outcomes: Outcomes, classes: Index) -> tuple[float, float]:
    some = Outcomes(outcomes.values, outcomes.shares[:, classes])
    low, high = some.central(np.ones(len(classes)), MASS)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _table(axes: Axes, outcomes: Outcomes, classes: Index, prior: Array) -> None:
    values = list(outcomes.values)
    order = np.argsort(-(outcomes.shares @ prior), kind="stable")[:MOST_VALUES]
    kept = np.sort(order)
    height = 0.8 / len(classes)
    for place, k in enumerate(classes):
        where = np.arange(len(kept)) + (place - (len(classes) - 1) / 2) * height
        axes.barh(where, outcomes.shares[kept, k], height=0.9 * height, color=colour(place))
    left = len(values) - len(kept)
    labels = named_apart([_plain(values[k]) for k in kept], 18)
    axes.set_yticks(range(len(kept)), labels)
    axes.set_ylim(len(kept) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("P(value | class)" + (f"; {left} rarer values not shown" if left else ""))
    axes.set_xlim(0.0, None)


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _legend(figure: Figure, labels: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=colour(k), linestyle=dashes(k), linewidth=3.0) for k in range(len(labels))]
    ncols = legend_columns(labels, figure.get_figwidth())
    figure.legend(handles, [in_legend(label) for label in labels], loc="outside lower left", ncols=ncols)
