"""The JSON of a model: it obeys the published schema, and a few lines of plain Python score rows by it."""

from __future__ import annotations

import io
import json
import math
from bisect import bisect_left, bisect_right
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

from likely import AODEClassifier, BayesClassifier, EvidenceClassifier, FullBayesClassifier, TreeClassifier
from likely.errors import SettingsError
from likely.models.classifier import Classifier
from likely.models.export import FORMAT, export_file
from likely.models.tree.export import FORMAT as FORMAT_OF_TREES
from tests.models.test_onnx import CLASSIFIERS, mixed, unfamiliar

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "model.schema.json").read_text())
CHECKED = jsonschema.Draft202012Validator(SCHEMA)

Row = dict[str, Any]


def written(clf: Classifier) -> Any:
    out = io.BytesIO()
    export_file(clf, out, kind="json")
    return json.loads(out.getvalue(), parse_constant=lambda text: pytest.fail(f"{text} is no JSON"))


def records(rows: pd.DataFrame) -> list[Row]:
    return [{k: None if v is None or v != v else v for k, v in row.items()} for row in rows.to_dict("records")]


# A scorer that knows nothing but the document.


def numbers(line: list[float | None]) -> list[float]:
    return [-math.inf if number is None else number for number in line]


def line_of(code: Row, cell: Any) -> int:
    if cell is None:
        return int(code["gap"])
    if "cuts" in code:
        return int(code["lines"][(bisect_right if code["closed"] == "left" else bisect_left)(code["cuts"], cell)])
    place = place_of(cell, code["values"])
    return int(code["unseen"] if place is None else code["lines"][place])


def place_of(cell: Any, values: list[Any]) -> int | None:
    """To Python true equals 1, which in JSON it does not."""
    kind = isinstance(cell, bool)
    return next((k for k, each in enumerate(values) if each == cell and isinstance(each, bool) is kind), None)


OPERATIONS: dict[str, Any] = {
    "sum": lambda *parts: sum(parts), "minus": lambda a, b: a - b, "times": lambda a, b: a * b,
    "over": lambda a, b: a / b, "ln": math.log, "equal": lambda a, b: a == b,
    "below": lambda a, b: a < b, "at_most": lambda a, b: a <= b, "either": lambda a, b: a or b,
}  # fmt: skip


def value(told: Row, row: Row, c: int) -> Any:
    kind, of = next(iter(told.items()))
    if kind == "number":
        return numbers(of)[c % len(of)]
    if kind == "column":
        return math.nan if row[of] is None else row[of]
    if kind == "missing":
        return row[of] is None
    if kind == "case":
        return value(next((result for when, result in of if value(when, row, c)), told["else"]), row, c)
    if kind == "by_class":
        return value(of[c], row, 0)
    if kind == "codes":
        return looked_up(told, row)[c % len(told["table"][0])]
    return OPERATIONS[kind](*(value(part, row, c) for part in of))


def looked_up(term: Row, row: Row) -> list[float]:
    at = 0
    for code in term["codes"]:
        at = at * code["size"] + line_of(code, row[code["column"]])
    return numbers(term["table"][at])


def polynomial(term: Row, row: Row) -> list[float]:
    z = [each["value"][line_of(each["code"], row[each["code"]["column"]])] for each in term["values"]]
    factors = [*z, *(a * b for k, a in enumerate(z) for b in z[k:])]
    lines = zip(factors, [*term["linear"], *term["products"]], strict=True)
    return [sum(column) for column in zip(*([factor * each for each in line] for factor, line in lines), strict=True)]


def posterior(model: Row, row: Row) -> list[float]:
    joint = numbers(model["scoring"]["start"])
    for term in model["scoring"]["terms"]:
        if "expression" in term:
            more = [value(term["expression"], row, c) for c in range(len(joint))]
        else:
            more = polynomial(term, row) if "products" in term else looked_up(term, row)
        joint = [a + b for a, b in zip(joint, more, strict=True)]
    peak = max(joint)
    shares = [math.exp(each - peak) for each in joint] if peak > -math.inf else model["scoring"]["prior"]
    return [share / sum(shares) for share in shares]


def walk(model: Row, row: Row, node: int = 0) -> list[float]:
    here = model["nodes"][node]
    if "children" not in here:
        counts = [count + model["smoothing"] for count in here["counts"]]
        return [count / sum(counts) for count in counts]
    branch = branch_of(model, here, row, 0, 1)
    if branch < 0 and model["missing"] == "surrogates":
        tried = (
            branch_of(model, each, row, each.get("below", 0), each.get("from", 0)) for each in here.get("stand_ins", ())
        )
        branch = next((found for found in tried if found >= 0), here["usual"])
    if branch >= 0:
        return walk(model, row, here["children"][branch])
    sizes = [sum(model["nodes"][child]["counts"]) for child in here["children"]]
    shared = [
        [size / sum(sizes) * share for share in walk(model, row, child)]
        for child, size in zip(here["children"], sizes, strict=True)
        if size
    ]
    return [sum(shares) for shares in zip(*shared, strict=True)]


def branch_of(model: Row, test: Row, row: Row, below: int, above: int) -> int:
    cell = row[test["column"]]
    if cell is None:
        return -1
    if "threshold" in test:
        return below if cell < test["threshold"] else above
    column = next(column for column in model["columns"] if column["name"] == test["column"])
    place = place_of(cell, column["values"])
    return -1 if place is None else int(test["branches"][place])


# Tests.


@pytest.mark.parametrize("name", ["naive", "gaps as values", "unseen smoothed", "no smoothing", "weighted", "diagonal"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_naive_bayes_by_hand(name: str, n_classes: int) -> None:
    rows = mixed(500, n_classes)
    clf = CLASSIFIERS[name]().fit(rows[:400], "y")
    model, new = written(clf), unfamiliar(rows[350:])
    CHECKED.validate(model)
    found = [posterior(model, row) for row in records(new)]
    np.testing.assert_allclose(found, clf.predict_proba(new), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_evidence_by_hand(n_classes: int) -> None:
    rng = np.random.default_rng(3)
    rows = mixed(1500, n_classes)
    two, three = (rng.choice(list("uv"), len(rows)) for _ in range(2))
    told = np.where((two == three) ^ (rows["flag"] == True), "class 0", "class 1")  # noqa: E712
    rows = rows.assign(two=two, three=three, y=np.where(rng.random(len(rows)) < 0.5, told, rows["y"]))
    clf = EvidenceClassifier(random_state=0).fit(rows[:1300], "y")
    model, new = written(clf), unfamiliar(rows[1200:])
    CHECKED.validate(model)
    assert {len(term["codes"]) for term in model["scoring"]["terms"]} > {1}
    found = [posterior(model, row) for row in records(new)]
    np.testing.assert_allclose(found, clf.predict_proba(new), rtol=0, atol=1e-12)


def test_evidence_of_dates_and_trees_by_hand() -> None:
    """Parts of a date are columns of the document; a tree is one table, coded by all its questions."""
    rng = np.random.default_rng(5)
    numbers_of = {f"x{k}": rng.normal(size=3000).round(2) for k in range(5)}
    when = pd.Series(pd.Timestamp("2023-01-02") + pd.to_timedelta(rng.integers(0, 700 * 24, 3000), unit="h"))
    told = sum((numbers_of[f"x{k}"] > 0).astype(int) for k in range(5)) >= 3
    rows = pd.DataFrame(numbers_of).assign(when=when, y=np.where(told ^ (when.dt.month == 6), "p", "q"))
    rows.loc[rng.random(3000) < 0.05, ["x1", "when"]] = None
    clf = EvidenceClassifier(random_state=0).fit(rows, "y")
    model, new = written(clf), rows[:150]
    CHECKED.validate(model)
    assert max(len(term["codes"]) for term in model["scoring"]["terms"]) > 3, "there are no trees"
    parts = {
        "year": new["when"].dt.year, "month": new["when"].dt.month, "hour": new["when"].dt.hour,
        "weekday": new["when"].dt.day_name(), "days since 1970": (new["when"] - pd.Timestamp(0)) / pd.Timedelta(days=1),
    }  # fmt: skip
    known = new.assign(**{f"when: {name}": part for name, part in parts.items()})
    found = [posterior(model, row) for row in records(known)]
    np.testing.assert_allclose(found, clf.predict_proba(new), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["tree", "large tree", "surrogates", "subsets"])
def test_a_tree_by_hand(name: str) -> None:
    rows = mixed(500)
    clf = CLASSIFIERS[name]().fit(rows[:400], "y")
    model, new = written(clf), unfamiliar(rows[350:])
    CHECKED.validate(model)
    found = [walk(model, row) for row in records(new)]
    np.testing.assert_allclose(found, clf.predict_proba(new), rtol=0, atol=1e-12)


def test_all_that_is_written_obeys_the_schema() -> None:
    texts = {"t": ["red red wine", "blue wine", "blue sky"], "x": [1.0, 2.0, None]}
    rows = np.random.default_rng(0).normal(size=(40, 3))
    for clf in (
        BayesClassifier(schema={"t": "text"}).fit(texts, ["p", "q", "q"]),
        TreeClassifier(schema={"t": "text"}, text_tokens=3).fit(texts, ["p", "q", "q"]),
        EvidenceClassifier(schema={"t": "text"}).fit({"t": texts["t"] * 9}, ["p", "q", "q"] * 9),
        FullBayesClassifier().fit(rows, [0, 1] * 20),
        BayesClassifier(families="multinomial").fit(np.abs(rows), [True, False] * 20),
    ):
        model = written(clf)
        CHECKED.validate(model)
        assert "scoring" not in model or isinstance(clf, BayesClassifier)
    with pytest.raises(SettingsError, match="'aode'"):
        written(AODEClassifier().fit(rows, [0, 1] * 20))


def test_the_schema_refuses_what_it_does_not_describe() -> None:
    CHECKED.check_schema(SCHEMA)
    model = written(BayesClassifier().fit({"x": [1.0, 2.0]}, ["p", "q"]))
    for change in ({"format": 2}, {"classifier": "Oracle"}, {"scoring": {"start": [0.0]}}, {"classes": [{}]}):
        assert not CHECKED.is_valid({**model, **change})
    assert FORMAT == FORMAT_OF_TREES == SCHEMA["$defs"]["counted"]["properties"]["format"]["const"]
