"""What a user may choose for a classifier: the names and types of its settings, said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from likely.families.smoothing import Smoothing
from likely.schema import Schema

Missing = Literal["ignore", "value"]
Unseen = Literal["ignore", "smooth"]
Variance = Literal["unbiased", "ml"]

CHOICES: dict[str, tuple[str, ...]] = {
    "missing": ("ignore", "value"),
    "unseen": ("ignore", "smooth"),
    "variance": ("unbiased", "ml"),
}
"""Settings that are one of a few words."""


class Changes(TypedDict, total=False):
    """Settings that can be changed after training: they are about beliefs, not about what was seen."""

    smoothing: float | Smoothing | Mapping[str, float | Smoothing]
    priors: str | Mapping[Any, float] | Sequence[float] | None
    families: str | Mapping[str, str] | None
    missing: Missing
    unseen: Unseen
    variance: Variance
    variance_floor: float
    n_jobs: int | None


class Choices(Changes, total=False):
    """All settings of a classifier for tables."""

    schema: Schema | Mapping[str, str] | None
