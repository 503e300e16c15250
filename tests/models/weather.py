"""A table with everything, for tests of classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

NAN = float("nan")


def weather(n: int = 600, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A table with everything: numbers, counts, strings, truth values, gaps."""
    rng = np.random.default_rng(seed)
    rain = rng.random(n) < 0.4
    table = pd.DataFrame(
        {
            "pressure": np.where(rng.random(n) < 0.1, NAN, 1013 + 8 * rng.normal(size=n) - 10 * rain),
            "calls": rng.poisson(2 + 3 * rain),
            "sky": np.where(rng.random(n) < 0.05, None, np.where(rain, "grey", rng.choice(["grey", "blue"], n))),
            "weekend": rng.random(n) < 0.3,
        }
    )
    return table, np.where(rain, "rain", "dry")


MIXED: dict[str, Any] = {"families": {"calls": "poisson"}}
