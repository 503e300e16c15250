"""Draws which.svg: four small problems, and what each classifier makes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import LinearSegmentedColormap
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss

from likely import (
    AODEClassifier,
    BayesClassifier,
    EvidenceClassifier,
    FullBayesClassifier,
    SVMClassifier,
    TreeClassifier,
)

CLASSIFIERS = {
    "naive Bayes": BayesClassifier,
    "full Bayes": FullBayesClassifier,
    "AODE": AODEClassifier,
    "evidence (default)": EvidenceClassifier,
    "tree": TreeClassifier,
    "SVM": SVMClassifier,
}
COLOURS = ("#E69F00", "#0072B2")
BETWEEN = LinearSegmentedColormap.from_list("between", [COLOURS[0], "white", COLOURS[1]])
ROWS, STEPS, DOTS_PER_INCH = 600, 60, 110


def problems() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Points of two classes, half of them to learn and half to judge."""
    rng = np.random.default_rng(0)
    side = rng.integers(0, 2, ROWS)
    lean = rng.normal(size=ROWS)[:, None] * [1.0, 0.9] + 0.45 * rng.normal(size=(ROWS, 2))
    square = rng.uniform(-2.0, 2.0, (ROWS, 2))
    return {
        "independent columns": (rng.normal(size=(ROWS, 2)) + 1.6 * side[:, None], side),
        "correlated columns": (lean + np.where(side, 0.5, -0.5)[:, None] * [1.0, -1.0], side),
        "an interaction": (square, ((square[:, 0] > 0) ^ (square[:, 1] > 0) ^ (rng.random(ROWS) < 0.05)).astype(int)),
        "a curved border": make_moons(ROWS, noise=0.25, random_state=0),
    }


def main() -> None:
    """A line for each problem, a column for each classifier, and the log loss on rows that were not learned."""
    plt.rcParams.update({"svg.hashsalt": "likely", "font.size": 9})
    found = problems()
    figure, axes = plt.subplots(len(found), len(CLASSIFIERS), figsize=(11, 7.4), layout="constrained")
    for line, (problem, (points, side)) in zip(axes, found.items(), strict=True):
        half, (low, high) = ROWS // 2, (points.min(axis=0) - 0.3, points.max(axis=0) + 0.3)
        across, up = np.meshgrid(np.linspace(low[0], high[0], STEPS), np.linspace(low[1], high[1], STEPS))
        grid = np.column_stack([across.ravel(), up.ravel()])
        losses = []
        for axis, (name, make) in zip(line, CLASSIFIERS.items(), strict=True):
            clf = make().fit(points[:half], side[:half])
            losses.append(log_loss(side[half:], clf.predict_proba(points[half:])))
            shares = clf.predict_proba(grid)[:, 1].reshape(STEPS, STEPS)
            box = (low[0], high[0], low[1], high[1])
            axis.imshow(shares, extent=box, origin="lower", aspect="auto", cmap=BETWEEN, vmin=0, vmax=1, alpha=0.6)
            for value, colour in enumerate(COLOURS):
                chosen = points[:half][side[:half] == value][:110]
                axis.scatter(*chosen.T, s=5, color=colour, edgecolors="white", linewidths=0.3, rasterized=True)
            axis.set(xticks=[], yticks=[], xlim=box[:2], ylim=box[2:])
            if problem == next(iter(found)):
                axis.set_title(name)
        for axis, loss in zip(line, losses, strict=True):
            weight = "bold" if loss <= min(losses) + 0.01 else "normal"
            place = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
            axis.text(0.97, 0.05, f"{loss:.2f}", transform=axis.transAxes, ha="right", weight=weight, bbox=place)
        line[0].set_ylabel(problem)
    figure.savefig(Path(__file__).with_suffix(".svg"), dpi=DOTS_PER_INCH, metadata={"Date": None})


if __name__ == "__main__":
    main()
