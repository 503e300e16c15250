"""Ticks: round numbers in a range, and probabilities along a scale of log-odds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_CHANCES = (
    1e-9,
    1e-6,
    1e-4,
    1e-3,
    0.01,
    0.05,
    0.1,
    0.25,
    0.5,
    0.75,
    0.9,
    0.95,
    0.99,
    0.999,
    0.9999,
    1 - 1e-6,
    1 - 1e-9,
)
_NAMES = dict(zip(_CHANCES[-2:], ("1 − 10⁻⁶", "1 − 10⁻⁹"), strict=True)) | {1e-9: "10⁻⁹", 1e-6: "10⁻⁶", 1e-4: "10⁻⁴"}


def round_values(low: float, high: float, most: int) -> Array:
    """At most so many round numbers from low to high, a step of 1, 2 or 5 times a power of ten apart."""
    if not high > low:
        return np.array([low])
    rough = (high - low) / max(most, 1)
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough * (1.0 - 1e-9))
    first = np.ceil(low / step - 1e-9)
    last = np.floor(high / step + 1e-9)
    return np.asarray(np.arange(first, last + 1.0) * step + 0.0)


def written(value: float) -> str:
    """A round number, shortly."""
    return f"{value:.6g}".replace("-", "−")


def chances(low: float, high: float, apart: float) -> list[tuple[float, str]]:
    """Places on a scale of log-odds and the probabilities there; the middle ones first, no two too near."""
    kept: list[tuple[float, str]] = []
    for chance in sorted(_CHANCES, key=lambda c: abs(c - 0.5)):
        place = float(np.log(chance) - np.log1p(-chance))
        if low <= place <= high and all(abs(place - other) > apart * (high - low) for other, _ in kept):
            kept.append((place, _NAMES.get(chance, f"{chance:g}")))
    return sorted(kept)
