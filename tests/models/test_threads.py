"""A fitted classifier is read-only while it predicts: many threads share one, and each gets what it would get alone."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from likely import BayesClassifier, FullBayesClassifier

THREADS = 64


def mails(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    words = np.array(["free", "prize", "meet", "noon", "call", "me", "now", "später", "tomorrow", "win"])
    rows = pd.DataFrame(
        {
            "body": [" ".join(rng.choice(words, rng.integers(1, 9))) for _ in range(n)],
            "sender": rng.choice(["friend", "shop", "bank", "stranger"], n),
            "links": rng.poisson(2.0, n).astype(float),
            "hour": rng.normal(12.0, 4.0, n),
        }
    )
    rows.loc[rng.random(n) < 0.1, "hour"] = np.nan
    return rows


def classifiers() -> dict[str, tuple[BayesClassifier | FullBayesClassifier, pd.DataFrame]]:
    learned, y = mails(500, 0), np.random.default_rng(1).choice(["ham", "spam", "news"], 500)
    mixed = BayesClassifier(schema={"body": "text"}, families={"links": "poisson"}).fit(learned, y)
    numbers = pd.DataFrame(np.random.default_rng(2).normal(size=(500, 6)), columns=list("abcdef"))
    numbers = numbers.mask(np.random.default_rng(3).random(numbers.shape) < 0.05)
    return {"mixed": (mixed, mails(3000, 4)), "full": (FullBayesClassifier().fit(numbers, y), numbers)}


@pytest.mark.parametrize("kind", ["mixed", "full"])
def test_64_threads_are_bit_equal_to_one(kind: str) -> None:
    clf, rows = classifiers()[kind]
    expected = clf.predict_proba(rows), clf.predict(rows), clf.predict_joint_log_proba(rows[:50])
    before = {name: id(value) for name, value in vars(clf).items()}
    gate = threading.Barrier(THREADS)

    def ask(_: int) -> bool:
        gate.wait()
        found = clf.predict_proba(rows), clf.predict(rows), clf.explain(rows[:50]).joint
        same = [np.array_equal(a, b) for a, b in zip(found[:2], expected[:2], strict=True)]
        return all(same) and np.allclose(found[2], expected[2], rtol=1e-9)

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(ask, range(THREADS)))
    assert {name: id(value) for name, value in vars(clf).items()} == before, "predicting changes nothing"
