"""Convolutional networks: the two operations by hand, the shapes of the layers, and images that are read and drawn."""

from __future__ import annotations

from likely.nets.filters import convolve, pool
from likely.nets.layers import Layers

__all__ = ["Layers", "convolve", "pool"]
