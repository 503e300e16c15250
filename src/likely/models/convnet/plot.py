"""Pictures of a network: the filters that it has learned, and what they make of an image."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from likely.arrays import Array
from likely.render.picture import Picture, drawing, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from likely.models.convnet.classifier import ConvNetClassifier

SIDE = 1.05
MOST_ACROSS = 8


def filters(classifier: ConvNetClassifier, layer: int = 1) -> Picture:
    """The filters of a layer of a `ConvNetClassifier`: purple says "bright here", orange "dark here"."""
    learned = classifier.filters(layer)
    tiles = [(f"map {m + 1}" + (f" of {k + 1}" if learned.shape[1] > 1 else ""), learned[m, k])
             for m in range(len(learned)) for k in range(learned.shape[1])]  # fmt: skip
    most = float(np.abs(learned).max())
    title = f"Filters of layer {layer}"
    return _tiles(tiles, title, "Purple responds to bright pixels, orange to dark ones.", "PuOr", -most, most)


def maps(classifier: ConvNetClassifier, image: ArrayLike, layer: int = -1) -> Picture:
    """An image, and what the maps of a layer make of it after pooling."""
    given = np.asarray(image)
    seen = classifier.feature_maps(given[None] if given.ndim in (2, 3) else given, layer)[0]
    tiles = [(f"map {m + 1}", seen[:, :, m]) for m in range(seen.shape[2])]
    if given.ndim == 2:
        most = float(given.max()) or 1.0
        tiles.insert(0, ("image", given / most * float(seen.max())))
    return _tiles(
        tiles, "What the filters see", "Bright: a strong response; dark: none.", "gray", 0.0, float(seen.max())
    )


def _tiles(tiles: list[tuple[str, Array]], title: str, note: str, colours: str, low: float, high: float) -> Picture:
    across = min(len(tiles), MOST_ACROSS)
    down = -(-len(tiles) // across)
    with drawing():
        figure = new_figure(SIDE * across + 0.4, (SIDE + 0.25) * down + 0.7)
        panels = figure.subplots(down, across, squeeze=False).ravel()
        for axes in panels:
            axes.set_axis_off()
        for axes, (name, cells) in zip(panels, tiles, strict=False):
            _tile(axes, name, cells, colours, low, high)
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
        figure.text(0.01, 0.0, note, fontsize=8, color="0.35", va="bottom")
    return Picture(figure, title, note)


def _tile(axes: Axes, name: str, cells: Array, colours: str, low: float, high: float) -> None:
    axes.imshow(cells, cmap=colours, vmin=low, vmax=high if high > low else low + 1.0, interpolation="nearest")
    axes.set_title(name, fontsize=8)
