"""Pictures: each is a function that returns a `Picture`, which shows and saves itself. Needs the extra `plot`."""

from __future__ import annotations

from likely.plots import nets
from likely.plots.conditionals import conditionals
from likely.plots.dependence import heat_map
from likely.plots.evidence import evidence, together
from likely.plots.factors import bars, odds
from likely.plots.nomogram import nomogram
from likely.plots.picture import Picture
from likely.plots.quality import quality
from likely.plots.ranking import ranking
from likely.plots.regions import regions

__all__ = [
    "Picture",
    "bars",
    "conditionals",
    "evidence",
    "heat_map",
    "nets",
    "nomogram",
    "odds",
    "quality",
    "ranking",
    "regions",
    "together",
]
