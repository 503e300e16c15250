"""Convolutional networks: the two operations by hand, the shapes of the layers, and images that are read and drawn."""

from __future__ import annotations

from likely.models.convnet.layers import Layers, convolve, pool

__all__ = ["Layers", "convolve", "pool"]
