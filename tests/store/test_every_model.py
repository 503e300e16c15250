"""Whatever is fitted, saved and loaded predicts the same, bit for bit: every classifier, family and statistic, at sizes
at which narrow integers, blocks and chunks have long been left behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import likely
from likely import (
    AODEClassifier,
    BayesClassifier,
    CalibratedClassifier,
    ConvNetClassifier,
    EvidenceClassifier,
    FullBayesClassifier,
    SVMClassifier,
    TreeClassifier,
)
from likely.families import FAMILIES
from likely.models.registry import entries
from likely.stats import STATISTICS

FULL = os.environ.get("LIKELY_TORTURE") == "full"
SIZES = [60, 20_000, 70_000]
NUMBERS = ["number", "income", "visits", "tail"]
MIXED = [*NUMBERS, "town", "member", "day", "never"]
COUNTS = [f"count {place}" for place in range(12)]


@cache
def world(n: int) -> pd.DataFrame:
    """Rows of every kind, with gaps, a text, a date, weights, two labels: one of two classes, one of forty."""
    rng = np.random.default_rng(n)
    two = rng.integers(0, 2, n)
    words = np.array(["grey", "blue", "rain ☂", "sun", "wind", "snow", "hail", "fog"])
    told = words[(rng.integers(0, 6, (n, 5)) + 2 * two[:, None]) % len(words)]
    columns: dict[str, Any] = {
        "number": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + two),
        "income": np.exp(rng.normal(size=n) + 0.3 * two),
        "visits": rng.poisson(2 + two).astype(float),
        "tail": rng.standard_cauchy(n),
        "town": np.where(rng.random(n) < 0.05, None, rng.choice([f"town {i}" for i in range(300)], n)),  # type: ignore[call-overload]
        "member": rng.random(n) < 0.4 + 0.2 * two,
        "day": np.datetime64("2020-01-01") + rng.integers(0, 900, n).astype("m8[D]"),
        "never": np.full(n, np.nan),
        "note": [" ".join(row) for row in told],
        "weight": rng.gamma(2.0, 1.0, n),
        "two": np.array(["no", "yes"])[two],
        "forty": rng.integers(0, 40, n),
    }
    counts = rng.poisson(0.5 + two[:, None], (n, len(COUNTS))).astype(float)
    return pd.DataFrame({**columns, **dict(zip(COUNTS, counts.T, strict=True))})


@dataclass(frozen=True)
class Case:
    """A classifier, the columns it reads, and what its coverage counts for."""

    make: Callable[[], Any]
    columns: list[str] = field(default_factory=lambda: [*MIXED, "note"])
    target: str = "two"
    families: tuple[str, ...] = ()
    largest: int = SIZES[-1]
    weighted: bool = False

    def rows(self, n: int) -> Any:
        return world(n)[self.columns]


def of_family(name: str, columns: list[str], **settings: Any) -> Case:
    return Case(lambda: BayesClassifier(families=name, **settings), columns, families=(name,))


NOTE = {"note": "text"}
CASES: dict[str, Case] = {
    "naive": Case(lambda: BayesClassifier(schema=NOTE), families=("gaussian", "categorical", "text multinomial")),
    "naive, chosen": Case(lambda: BayesClassifier(families="auto", smoothing="auto", weights="learned"), MIXED),
    "naive, weighted rows": Case(lambda: BayesClassifier(schema=NOTE, missing="value"), weighted=True),
    "naive, forty classes": Case(lambda: BayesClassifier(schema=NOTE), target="forty"),
    "gaussian": of_family("gaussian", NUMBERS),
    "lognormal": of_family("lognormal", ["income"]),
    "poisson": of_family("poisson", ["visits", *COUNTS]),
    "bins": of_family("bins", NUMBERS),
    "tree bins": of_family("tree-bins", NUMBERS),
    "categorical": of_family("categorical", ["town", "member"]),
    "bernoulli": of_family("bernoulli", COUNTS),
    "multinomial": of_family("multinomial", COUNTS),
    "complement": of_family("complement", COUNTS),
    "complement texts": Case(
        lambda: BayesClassifier(families={"note": "complement"}, schema=NOTE), ["note"], families=("text complement",)
    ),
    "bernoulli texts": Case(
        lambda: BayesClassifier(families={"note": "bernoulli"}, schema=NOTE), ["note"], families=("text bernoulli",)
    ),
    "full": Case(FullBayesClassifier, [*NUMBERS, "town"], families=("multivariate",)),
    "full, shrunk": Case(lambda: FullBayesClassifier(covariance="shrunk"), NUMBERS, weighted=True),
    "aode": Case(AODEClassifier, MIXED, families=("aode",)),
    "aode, weighted rows": Case(AODEClassifier, MIXED, weighted=True),
    "evidence": Case(lambda: EvidenceClassifier(schema=NOTE, random_state=0), largest=70_000 if FULL else 60),
    "evidence, forty classes": Case(
        lambda: EvidenceClassifier(random_state=0), [*NUMBERS, "member"], "forty", largest=20_000 if FULL else 60
    ),
    "tree": Case(lambda: TreeClassifier(schema=NOTE, text_tokens=5)),
    "tree, surrogates": Case(lambda: TreeClassifier(missing="surrogates", max_depth=6), MIXED, weighted=True),
    "tree, forty classes": Case(lambda: TreeClassifier(max_depth=8), NUMBERS, "forty"),
    "machine": Case(lambda: SVMClassifier(kernel="gauss"), NUMBERS, largest=20_000 if FULL else 60),
    "linear machine": Case(lambda: SVMClassifier(kernel="linear", schema=NOTE), largest=70_000 if FULL else 20_000),
    "calibrated": Case(lambda: CalibratedClassifier(BayesClassifier()), MIXED),
    "isotonic": Case(lambda: CalibratedClassifier(TreeClassifier(max_depth=4), method="isotonic"), NUMBERS),
}
"""At least one for each classifier, family and statistic; `make torture` takes the slow ones to their largest size."""


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_saved_and_loaded_it_predicts_the_same_bit_for_bit(name: str, n: int, tmp_path: Path) -> None:
    case = CASES[name]
    if n > case.largest:
        pytest.skip("too slow for every run; make torture does it")
    X, y = case.rows(n), world(n)[case.target].to_numpy()
    given = {"sample_weight": world(n)["weight"].to_numpy()} if case.weighted else {}
    clf = case.make().fit(X, y, **given)
    clf.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    asked = pd.concat([X.head(2_000), X.tail(50)])
    np.testing.assert_array_equal(again.predict_proba(asked), clf.predict_proba(asked))
    np.testing.assert_array_equal(again.predict(asked), clf.predict(asked))
    assert again.classes_.dtype == clf.classes_.dtype


@pytest.mark.parametrize("n", [60, 2_000])
def test_networks_predict_the_same_bit_for_bit(n: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.random((n, 8, 8)), rng.integers(0, 3, n)
    clf = ConvNetClassifier(maps=(2,), filter=3, epochs=1, pad_to=8, progress=False).fit(X, y)
    clf.save(tmp_path / "m.likely")
    np.testing.assert_array_equal(likely.load(tmp_path / "m.likely").predict_proba(X), clf.predict_proba(X))


def test_no_classifier_family_or_statistic_is_left_out() -> None:
    made = {type(case.make()).__name__ for case in CASES.values()} | {"ConvNetClassifier"}
    assert made == {entry.kind for entry in entries()}
    assert {family for case in CASES.values() for family in case.families} == set(FAMILIES)
    assert {family.statistic for family in FAMILIES.values()} >= set(STATISTICS) - {"presence"}
