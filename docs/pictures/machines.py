"""Draws the picture of docs/svm.md: run it again after a change to `likely.render`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons

from likely import SVMClassifier

HERE = Path(__file__).parent


def main() -> None:
    """Two half-moons that overlap a little."""
    X, y = make_moons(160, noise=0.22, random_state=0)
    rows, side = {"across": X[:, 0], "up": X[:, 1]}, np.where(y == 1, "lower", "upper")
    SVMClassifier(C=2.0).fit(rows, side).plot(rows, side).save(HERE / "margin.svg")


if __name__ == "__main__":
    main()
