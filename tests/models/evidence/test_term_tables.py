"""How two models of evidence differ: in what they say at a value, and in what they hear together."""

from __future__ import annotations

import numpy as np
import pandas as pd

from likely import EvidenceClassifier
from likely.models.difference import differences
from likely.models.evidence.explain import table_differences


def rows(seed: int, slope: float, n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"x": rng.normal(size=n), "c": rng.choice(["u", "v"], n)})
    return table, np.where(slope * table["x"] + 0.5 * rng.normal(size=n) > 0.0, "high", "low")


def test_the_same_rows_say_the_same() -> None:
    table, y = rows(0, 1.0)
    a, b = (EvidenceClassifier(max_pairs=pairs).fit(table, y) for pairs in (0, 0))
    assert differences(a, b) == []


def test_a_slope_that_turns_round_is_told_at_an_end() -> None:
    up, down = (EvidenceClassifier(max_pairs=0).fit(*rows(seed, slope)) for seed, slope in ((0, 1.0), (1, -1.0)))
    told = {
        where.split(",")[0]: (where, float(a), float(b)) for _, where, a, b in table_differences(up.model_, down.model_)
    }
    where, a, b = told["x"]
    assert where.startswith("x, high: ")
    point = float(where.split(": ")[1])
    assert abs(point) > 1.0
    assert np.sign(a) == np.sign(point) == -np.sign(b)
    shares = [d for d in differences(up, down) if d.what == "share" and d.where.startswith("x, high")]
    assert len(shares) == 1
    limit = float(shares[0].where.split("≤ ")[1])
    table, y = rows(0, 1.0)
    assert abs(float(shares[0].a) - (table["x"][y == "high"] <= limit + 1e-5).mean()) < 0.01  # type: ignore[arg-type]


def test_pairs_that_only_one_hears() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.choice(["p", "q"], (2, 200))
    table = pd.DataFrame({"a": a, "b": b})
    alone, together = (EvidenceClassifier(max_pairs=k, max_triples=0).fit(table, a == b) for k in (0, 1))
    assert ("heard together", "a × b", "—", "yes") in list(table_differences(alone.model_, together.model_))
    other = EvidenceClassifier(max_pairs=1, max_triples=0).fit(table, a != b)
    found = [told for told in table_differences(together.model_, other.model_) if told[1].startswith("a × b")]
    assert found[0][0] == "says"
    assert float(str(found[0][2])) * float(str(found[0][3])) < 0.0
