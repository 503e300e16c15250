"""Pictures: each is a function that returns a `Picture`, which shows and saves itself. Needs the extra `plot`."""

from __future__ import annotations

from likely.render.charts import heat_map, quality, ranking
from likely.render.factors import bars, odds
from likely.render.nomogram import nomogram
from likely.render.picture import Picture
from likely.render.regions import regions

__all__ = ["Picture", "bars", "heat_map", "nomogram", "odds", "quality", "ranking", "regions"]
