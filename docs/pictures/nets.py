"""Draws docs/pictures/filters.svg and maps.svg: run it from the root of the repository."""

from __future__ import annotations

from pathlib import Path

from likely import ConvNetClassifier
from likely.models.convnet import plot
from likely.teaching.letters import draw_letters

HERE = Path(__file__).parent

if __name__ == "__main__":
    images, letters = draw_letters(4000)
    clf = ConvNetClassifier(epochs=15).fit(images, letters)
    plot.filters(clf).save(HERE / "filters.svg")
    plot.maps(clf, images[5], layer=1).save(HERE / "maps.svg")
