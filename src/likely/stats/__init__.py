"""What was seen: sufficient statistics that can be added and taken out again."""

from __future__ import annotations

from likely.stats.class_weights import ClassWeights
from likely.stats.feature_counts import FeatureCounts, Presence
from likely.stats.histogram import Histogram
from likely.stats.moments import Moments, moments_of_blocks
from likely.stats.pair_counts import Cuts, PairCounts
from likely.stats.protocol import HasInformation, HasResolutions, HasTables, HasValues, Statistic
from likely.stats.scatter import Scatter, moments_of
from likely.stats.summary import Part, Summary
from likely.stats.token_counts import TokenCounts
from likely.stats.value_counts import ValueCounts

__all__ = [
    "STATISTICS",
    "ClassWeights",
    "Cuts",
    "FeatureCounts",
    "HasInformation",
    "HasResolutions",
    "HasTables",
    "HasValues",
    "Histogram",
    "Moments",
    "PairCounts",
    "Part",
    "Presence",
    "Scatter",
    "Statistic",
    "Summary",
    "TokenCounts",
    "ValueCounts",
    "moments_of",
    "moments_of_blocks",
]

STATISTICS: dict[str, type[Statistic]] = {
    "values": ValueCounts,
    "tokens": TokenCounts,
    "moments": Moments,
    "log moments": Moments,
    "scatter": Scatter,
    "histogram": Histogram,
    "pairs": PairCounts,
    "counts": FeatureCounts,
    "presence": Presence,
}
"""Every statistic under the names by which families ask for it. A new one is one more line."""
