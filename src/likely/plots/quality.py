"""A picture of a report: confusion, calibration, ROC and precision–recall curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likely.plots.library import drawing, new_figure
from likely.plots.picture import Picture
from likely.plots.style import BLUE, FAINT, INK, colour, dashes, in_legend, named

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MOST_CLASSES = 12
"""Curves that are drawn at most: those of the most frequent classes."""

MOST_CELLS = 15
"""Rows and columns of a confusion matrix whose counts are written out."""

POINTS = 500


def quality(report: Any) -> Picture:
    """Four panels; without posteriors only the confusion matrix."""
    curves = report.roc_auc is not None
    with drawing():
        figure = new_figure(9.6, 8.4) if curves else new_figure(5.2, 4.6)
        panels = figure.subplots(2, 2) if curves else None
        confusion(panels[0, 0] if panels is not None else figure.subplots(), report.confusion)
        if panels is not None:
            calibration(panels[0, 1], report.calibration())
            shown = report.confusion.sum(axis=1).sort_values(ascending=False, kind="stable").index[:MOST_CLASSES]
            sides = ("false_positive_rate", "true_positive_rate"), ("recall", "precision")
            names = ("false alarms (share of the rest)", "found (share of the class)"), ("recall", "precision")
            for axes, points, side, labels in zip(
                panels[1], (report.roc(POINTS), report.precision_recall(POINTS)), sides, names, strict=True
            ):
                _curves(axes, points[points["class"].isin(shown)], *side, *labels)
            panels[1, 0].plot([0, 1], [0, 1], color=FAINT, linewidth=1, zorder=0)
            panels[1, 0].set_title(f"ROC, one class against the rest: mean area {report.roc_auc:.3f}")
            panels[1, 1].set_title(f"Precision and recall: mean of average precision {report.average_precision:.3f}")
            if len(shown) > 1:
                panels[1, 1].legend(fontsize=8, loc="lower left")
        title = f"{named(report.classifier, 40)}, {named(report.how, 60)}"
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    return Picture(figure, title, f"Accuracy {report.accuracy:.4g} on {report.n_rows} rows.")


def confusion(axes: Axes, table: pd.DataFrame) -> None:
    """Truths down, decisions across, shaded by the share of the truth's rows."""
    counts = table.to_numpy(dtype=np.float64)
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    if max(counts.shape) <= MOST_CELLS:
        for (row, column), count in np.ndenumerate(counts):
            shade = "white" if shares[row, column] > 0.6 else INK
            axes.annotate(f"{count:,.6g}", (column, row), ha="center", va="center", color=shade, fontsize=8)
    axes.set_xticks(range(counts.shape[1]), [named(label, 14) for label in table.columns], rotation=40, ha="right")
    axes.set_yticks(range(counts.shape[0]), [named(label, 14) for label in table.index])
    axes.set_xlabel("decision")
    axes.set_ylabel("truth")
    axes.set_title("Confusion: rows, shaded by share of the truth")


def calibration(axes: Axes, bins: pd.DataFrame) -> None:
    """What was given to the most probable class against how often it was right; dots grow with the rows."""
    weight = bins["weight"].to_numpy(dtype=np.float64)
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, zorder=0)
    axes.plot(bins["predicted"], bins["observed"], color=BLUE, linewidth=1)
    axes.scatter(
        bins["predicted"], bins["observed"], s=12 + 160 * weight / max(weight.max(initial=0.0), 1.0), color=BLUE
    )
    axes.set_xlim(-0.02, 1.04)
    axes.set_ylim(-0.02, 1.04)
    axes.set_xlabel("probability given to the most probable class")
    axes.set_ylabel("share that was right")
    axes.set_title("Calibration: on the line, probabilities can be believed")


def _curves(axes: Axes, points: pd.DataFrame, across: str, up: str, across_label: str, up_label: str) -> None:
    for place, (label, curve) in enumerate(points.groupby("class", sort=False)):
        axes.plot(
            curve[across], curve[up], color=colour(place), linestyle=dashes(place), label=in_legend(named(label, 24))
        )
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.04)
    axes.set_xlabel(across_label)
    axes.set_ylabel(up_label)
