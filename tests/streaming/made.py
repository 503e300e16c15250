"""Tables for the tests of files: a mixed one, as a frame and as text."""

from __future__ import annotations

import numpy as np
import pandas as pd


def mixed(rows: int, seed: int = 0) -> pd.DataFrame:
    """Numbers, whole numbers, words, gaps and a label that depends on them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    frame = pd.DataFrame(
        {
            "height": (rng.normal(size=rows) + y).round(4),
            "visits": rng.poisson(2 + y),
            "town": np.array(["Ulm", "Bonn", "Kiel", "Köln"])[(rng.integers(0, 4, rows) + y) % 4],
            "paid": np.array(["true", "false"])[(rng.random(rows) < 0.3 + 0.2 * y).astype(int)],
            "code": [f"{n:07d}" for n in range(rows)],
            "label": np.array(["low", "mid", "high"])[y],
        }
    )
    frame.loc[rng.random(rows) < 0.1, "height"] = None
    frame["town"] = frame["town"].where(rng.random(rows) > 0.1, None)
    return frame
