"""German credit with its official costs: deciding by risk pays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from likely import REFUSED, BayesClassifier, Loss


def test_deciding_by_risk_costs_less_than_deciding_by_probability(data_dir: Path) -> None:
    files = data_dir / "credit_g.csv.gz", data_dir / "credit_g_cost_matrix.csv"
    if not all(file.is_file() for file in files):
        pytest.skip("the German credit data are not there")
    table = pd.read_csv(files[0])
    truth = table.pop("class").to_numpy()
    loss = Loss.from_csv(files[1])
    assert loss == Loss({"good": {"good": 0, "bad": 5}, "bad": {"good": 1, "bad": 0}})
    refusing = loss.refusing(0.4)
    paid: dict[str, list[float]] = {"probability": [], "risk": [], "refusing": []}
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(table, truth):
        clf = BayesClassifier().fit(table.iloc[train], truth[train])
        rows, labels = table.iloc[test], truth[test]
        paid["probability"] += loss.paid(clf.predict(rows), labels).tolist()
        paid["risk"] += loss.paid(clf.decide(rows, loss), labels).tolist()
        decided = clf.decide(rows, refusing)
        paid["refusing"] += refusing.paid(decided, labels).tolist()
        assert 0.2 < (decided == REFUSED).mean() < 0.7
    costs = {name: float(np.mean(each)) for name, each in paid.items()}
    # All bad costs 0.70, all good 1.50.
    assert costs["risk"] < 0.6 < 0.7 < costs["probability"]
    assert costs["refusing"] < costs["risk"]
