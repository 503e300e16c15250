"""Data that the tests of explanations share: every kind of column, gaps, and more than two classes."""

from __future__ import annotations

import numpy as np
import pandas as pd

FAMILIES = {"calls": "poisson", "income": "lognormal", "late": "bernoulli"}


def weather(
    n_rows: int = 240, classes: tuple[str, ...] = ("dry", "rain", "snow"), seed: int = 3
) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    place = rng.integers(0, len(classes), n_rows)
    sky = np.array(["blue", "grey", "white", "red"], dtype=object)[(place + rng.integers(0, 2, n_rows)) % 4]
    sky[rng.random(n_rows) < 0.1] = None
    pressure = 1000.0 + 5.0 * place + rng.normal(0.0, 4.0 + place, n_rows)
    pressure[rng.random(n_rows) < 0.1] = np.nan
    table = pd.DataFrame(
        {
            "pressure": pressure,
            "sky": sky,
            "calls": rng.poisson(2.0 + place),
            "income": np.exp(rng.normal(0.5 * place, 0.7)),
            "late": (rng.random(n_rows) < 0.2 + 0.2 * place).astype(float),
        }
    )
    return table, np.array(classes)[place]
