"""Draws the picture of docs/evidence.md: run it again after a change to `likely.render`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from likely import EvidenceClassifier

HERE = Path(__file__).parent


def main() -> None:
    """Trips by bicycle: fewer in the cold and in the rain, and on weekends only where the way is a pleasure."""
    rng = np.random.default_rng(0)
    n = 2000
    table = pd.DataFrame(
        {
            "temperature": rng.normal(12.0, 8.0, n).round(1),
            "sky": rng.choice(["clear", "cloudy", "rain"], n, p=[0.4, 0.4, 0.2]),
            "day": rng.choice(["workday", "weekend"], n, p=[5 / 7, 2 / 7]),
            "way": rng.choice(["river", "road"], n),
        }
    )
    table.loc[rng.random(n) < 0.06, "temperature"] = np.nan
    warm = np.minimum(np.nan_to_num(table["temperature"], nan=12.0), 24.0)
    score = 0.2 * (warm - 10.0) - 2.0 * (table["sky"] == "rain") - 0.6
    score += 1.4 * np.where((table["day"] == "weekend") == (table["way"] == "river"), 1.0, -1.0)
    took = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-score)), "bicycle", "car")
    clf = EvidenceClassifier(max_pairs=1).fit(table, took)
    clf.plot_table("temperature", "sky").save(HERE / "evidence.svg")


if __name__ == "__main__":
    main()
