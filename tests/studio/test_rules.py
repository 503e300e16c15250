"""What the page says of a row is what the classifier says: to 1e-9, for every kind of model, on thousands of rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

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
from likely.studio.document import cells_of
from likely.studio.rules import scoring_rules
from likely.table import as_table
from likely.text.tokenizer import Tokenizer
from tests.studio.conftest import Open

N_ROWS = 2_000
SCORE = """([names, rows]) => rows.map((row) =>
    likely.posterior(names.map((name, k) => [name, row[k]])))"""

WORDS = (
    "free", "money", "now", "meeting", "lunch", "agenda", "straße", "ÉCLAIR", "cafe\u0301", "2024", "x_1", "don't",
    "ΟΔΟΣ", "会議", "naïve", "offer", "win",
)  # fmt: skip


def people(n: int = N_ROWS, n_classes: int = 3) -> tuple[dict[str, Any], list[str]]:
    """Numbers, counts, categories of several types, and gaps in all of them."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, n_classes, n)
    gap = rng.random((n, 5)) < 0.12
    table: dict[str, Any] = {
        "age": np.where(gap[:, 0], np.nan, rng.normal(35 + 6 * y, 9, n)),
        "height in m": np.where(gap[:, 1], np.nan, rng.normal(1.7 + 0.05 * y, 0.1, n)),
        "visits": np.where(gap[:, 2], np.nan, rng.poisson(1.0 + 2.0 * y, n).astype(float)),
        "town": [None if g else t for g, t in zip(gap[:, 3], rng.choice(["Ulm", "Bonn", "Köln"], n), strict=True)],
        "member": [None if g else bool(b) for g, b in zip(gap[:, 4], rng.random(n) < 0.3 + 0.2 * y, strict=True)],
        "code": rng.integers(1, 5, n),
    }
    return table, [f"class {k}" for k in y]


def posts(n: int = N_ROWS) -> tuple[dict[str, Any], list[str]]:
    """Texts with letters of all kinds, and a number beside them."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n)
    chance = np.linspace(0.2, 2.0, len(WORDS))
    texts: list[str | None] = []
    for label in y:
        weight = chance if label else chance[::-1]
        words = rng.choice(WORDS, rng.integers(0, 12), p=weight / weight.sum())
        texts.append(None if rng.random() < 0.05 else " ".join(w.upper() if rng.random() < 0.2 else w for w in words))
    return {"body": texts, "length": rng.normal(20 + y, 3, n)}, np.where(y, "spam", "ham").tolist()


def compared(show: Open, clf: Any, table: dict[str, Any], most: float = 1e-9) -> None:
    """Both posteriors of all rows."""
    read = clf.schema_.align(as_table(table), "")
    names = list(clf.schema_.features)
    columns = [cells_of(read, name, clf.schema_.kinds[name]) for name in names]
    rows = [list(row) for row in zip(*columns, strict=True)]
    tab = show(clf)
    told = np.array(json.loads(tab.evaluate(f"(given) => JSON.stringify(({SCORE})(given))", [names, rows])))
    wanted = clf.predict_proba(table)
    assert told.shape == wanted.shape
    assert np.abs(told - wanted).max() < most


NUMERIC = ["gaussian", "lognormal", "poisson", "bins", "tree-bins", "bernoulli", "multinomial", "complement"]


@pytest.mark.parametrize("family", NUMERIC)
def test_families_of_numbers(show: Open, family: str) -> None:
    table, y = people()
    counts = {name: np.nan_to_num(np.abs(np.asarray(table[name], dtype=float))) for name in ("age", "visits")}
    known = {"visits": table["visits"], "age": table["age"]}
    if family == "lognormal":
        known["age"] = np.abs(known["age"])
        known["visits"] = np.asarray(known["visits"]) + 1.0
    given = counts if family in ("multinomial", "complement") else known
    compared(show, BayesClassifier(families={name: family for name in given}).fit(given, y), given)


MODELS: dict[str, Callable[[], Any]] = {
    "naive Bayes": BayesClassifier,
    "gaps as values": lambda: BayesClassifier(missing="value", unseen="smooth"),
    "learned weights": lambda: BayesClassifier(weights="learned"),
    "families chosen": lambda: BayesClassifier(families="auto"),
    "full": FullBayesClassifier,
    "pooled": lambda: FullBayesClassifier(covariance="pooled"),
    "AODE": AODEClassifier,
    "evidence": lambda: EvidenceClassifier(max_triples=2),
    "tree": TreeClassifier,
    "tree with stand-ins": lambda: TreeClassifier(missing="surrogates"),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_mixed_tables(show: Open, name: str) -> None:
    table, y = people()
    compared(show, MODELS[name]().fit(table, y), table)


@pytest.mark.parametrize("kernel", ["gauss", "linear", "polynomial", "sigmoid"])
@pytest.mark.filterwarnings("ignore:The kernel")
def test_support_vector_machines(show: Open, kernel: str) -> None:
    table, y = people(400)
    clf = SVMClassifier(kernel=kernel).fit({k: v[:250] for k, v in table.items()}, y[:250])
    compared(show, clf, table)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["temperature", "isotonic", "venn-abers"])
def test_calibrated_models(show: Open, method: Any, n_classes: int) -> None:
    table, y = people(N_ROWS, n_classes)
    inner = TreeClassifier() if method == "isotonic" else BayesClassifier()
    compared(show, CalibratedClassifier(inner, method=method).fit(table, y), table)


def test_what_calibration_adds_is_a_term_of_its_own(show: Open) -> None:
    table, y = people(300, 2)
    clf = CalibratedClassifier(BayesClassifier()).fit(table, y)
    row = [cells[3].item() if isinstance(cells[3], np.generic) else cells[3] for cells in table.values()]
    told = show(clf).evaluate(
        """([names, row]) => { const w = likely.explain(names.map((name, k) => [name, row[k]]));
        return [w.terms.at(-1).name, w.joint[1] - w.joint[0], [...w.posterior]]; }""",
        [list(table), row],
    )
    share = clf.predict_proba({name: [cells[3]] for name, cells in table.items()})[0]
    assert told[0] == "calibration"
    assert told[1] == pytest.approx(np.log(share[1] / share[0]), abs=1e-9)
    assert told[2] == pytest.approx(share, abs=1e-9)


@pytest.mark.parametrize("pool", ["mean", "max"])
def test_networks(show: Open, pool: Any) -> None:
    """Keras works in single precision, the page in double."""
    rng = np.random.default_rng(2)
    images, y = rng.random((120, 9, 7)), rng.integers(0, 3, 120)
    images[y == 1, 2:5, 1:4] += 0.8
    clf = ConvNetClassifier(maps=(3, 5), filter=3, pool=pool, epochs=2).fit(images, y)
    compared(show, clf, {n: images.reshape(120, -1)[:, k] for k, n in enumerate(clf.schema_.features)}, 1e-5)


@pytest.mark.parametrize("why", ["words", "size"])
def test_what_only_python_scores_says_why(show: Open, why: str) -> None:
    table, y = posts(200)
    if why == "words":
        clf = BayesClassifier(schema={"body": "text"}, text=Tokenizer(analyzer="char", ngram_range=(2, 3)))
        clf.fit(table, y)
    else:
        clf = SVMClassifier(kernel="gauss").fit({f"x{k}": np.random.default_rng(k).random(200) for k in range(700)}, y)
    tab = show(clf, "case")
    assert tab.evaluate("likely.scorer") is None
    assert {"words": "stems", "size": "too large"}[why] in tab.inner_text("#main")
    assert "likely studio model" in tab.inner_text("#main code")


def test_foreign_models_are_left_to_the_service() -> None:
    clf = CalibratedClassifier(LogisticRegression()).fit(np.arange(20.0)[:, None], ["a", "b"] * 10)
    assert scoring_rules(clf) == {"form": "service", "why": "kind"}


def test_two_classes_by_evidence_with_pairs(show: Open) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, 1500), rng.normal(0, 1, 1500)
    y = np.where((a == 1) ^ (b > 0.3), "yes", "no")
    clf = EvidenceClassifier().fit({"a": a.astype(str), "b": b}, y)
    assert clf.pairs_
    compared(show, clf, {"a": a.astype(str), "b": b})


@pytest.mark.parametrize("kind", [BayesClassifier, EvidenceClassifier, TreeClassifier])
def test_dates_are_scored_by_their_parts(show: Open, kind: Any) -> None:
    rng = np.random.default_rng(4)
    days = np.datetime64("2025-01-01T08:00") + rng.integers(0, 700 * 24 * 60, 600).astype("timedelta64[m]")
    table = {"when": days.astype("datetime64[us]"), "x": rng.normal(size=600)}
    weekday = (days.astype("datetime64[D]").astype(int) + 3) % 7
    y = np.where((weekday > 4) ^ (rng.random(600) < 0.1), "rest", "work").tolist()
    clf = kind().fit(table, y)
    assert "when: weekday" in clf.schema_.features
    compared(show, clf, table)


TEXTS: dict[str, Callable[[], Any]] = {
    "multinomial": lambda: BayesClassifier(families={"body": "text multinomial"}),
    "complement": lambda: BayesClassifier(families={"body": "text complement"}),
    "bernoulli": lambda: BayesClassifier(families={"body": "text bernoulli"}),
    "tf-idf": lambda: BayesClassifier(weighting="tf-idf"),
    "evidence": EvidenceClassifier,
    "tree": lambda: TreeClassifier(text_tokens=20),
    "SVM": lambda: SVMClassifier(kernel="linear"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_models_of_texts(show: Open, name: str) -> None:
    table, y = posts(600 if name == "SVM" else N_ROWS)
    clf = TEXTS[name]()
    clf.set_params(schema={"body": "text"})
    compared(show, clf.fit(table, y), table)


def test_what_is_added_adds_up(show: Open) -> None:
    """Prior and terms are the classifier's own explanation."""
    table, y = people(300)
    for clf in (FullBayesClassifier(), AODEClassifier(), BayesClassifier(), EvidenceClassifier(depth="triples")):
        clf.fit(table, y)
        why, names = clf.explain(table), list(clf.schema_.features)
        read = clf.schema_.align(as_table(table), "")
        row = [cells_of(read, name, clf.schema_.kinds[name])[5] for name in names]
        told = show(clf).evaluate(
            """([names, row]) => { const w = likely.explain(names.map((name, k) => [name, row[k]]));
            return { start: Array.from(w.start), terms: w.terms.map((t) => [t.columns, Array.from(t.add)]) }; }""",
            [names, row],
        )
        mine = {" × ".join(columns): np.array(add) for columns, add in told["terms"]}
        for place, label in enumerate(why.columns):
            key = "" if label.startswith("intercept") else label
            difference = mine[key] - why.contributions[5, place]
            assert np.ptp(difference) < 1e-9, (type(clf).__name__, label)  # what all classes share does not count
