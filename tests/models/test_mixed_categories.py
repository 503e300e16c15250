"""A column whose categories are of several types, or of a type that a format lacks: exported right, or refused."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from likely import (
    AODEClassifier,
    BayesClassifier,
    CalibratedClassifier,
    EvidenceClassifier,
    FullBayesClassifier,
    SVMClassifier,
    TreeClassifier,
)
from likely.errors import SettingsError
from likely.models.classifier import Classifier
from likely.models.export import export_file
from tests.models.test_export import CHECKED, posterior, records, walk, written
from tests.models.test_onnx import agree

KIND = {"mixed": "nominal"}
CLASSIFIERS: dict[str, Callable[[], Classifier]] = {
    "naive": lambda: BayesClassifier(schema=KIND),
    "gaps as values": lambda: BayesClassifier(schema=KIND, missing="value", unseen="smooth"),
    "full": lambda: FullBayesClassifier(schema=KIND),
    "aode": lambda: AODEClassifier(schema=KIND),
    "evidence": lambda: EvidenceClassifier(schema=KIND, random_state=0, n_jobs=1),
    "tree": lambda: TreeClassifier(schema=KIND, prune=None),
    "subsets": lambda: TreeClassifier(schema=KIND, subsets=True, prune=None),
}
WITH_JSON = [name for name in CLASSIFIERS if name != "aode"]
LISTED = ["naive", "gaps as values", "full", "evidence"]

TRUTHS_AND_NUMBERS = (True, False, 1, 0)
WRITTEN_ALIKE = {"truths": (True, False, "True", "False"), "numbers": (1, 0, "1", "0"), "halves": (0.5, 2, "0.5", "b")}


def learned(name: str, values: tuple[object, ...]) -> tuple[Classifier, pd.DataFrame]:
    """A classifier to which values that may be confused, the first and the third, say different things; and rows."""
    rng = np.random.default_rng(0)
    place = rng.integers(0, len(values), 300)
    rows = pd.DataFrame(
        {"mixed": pd.Series([values[k] for k in place], dtype=object), "other": rng.choice(["u", "v"], 300)}
    )
    clf = CLASSIFIERS[name]().fit(rows, rng.random(300) < (place + 1) / (len(values) + 1))  # type: ignore[arg-type]
    shares = clf.predict_proba(rows)[:, 1]
    assert shares[place == 2].mean() - shares[place == 0].mean() > 0.1
    return clf, rows[:60]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_onnx_tells_true_from_1(name: str) -> None:
    agree(*learned(name, TRUTHS_AND_NUMBERS))


@pytest.mark.parametrize("values", [TRUTHS_AND_NUMBERS, (0.5, 1, 2.5, "b")], ids=["truths", "halves"])
@pytest.mark.parametrize("name", WITH_JSON)
def test_json_keeps_the_types_of_values(name: str, values: tuple[object, ...]) -> None:
    clf, rows = learned(name, values)
    model = written(clf)
    CHECKED.validate(model)
    score: Any = walk if "nodes" in model else posterior
    found = [score(model, row) for row in records(rows)]
    np.testing.assert_allclose(found, clf.predict_proba(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_no_column_of_a_database_has_several_types(name: str, dialect: str) -> None:
    clf, _ = learned(name, TRUTHS_AND_NUMBERS)
    with pytest.raises(SettingsError, match="The values of column 'mixed' are of several types"):
        clf.to_sql(dialect, columns=["other"])


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_numbers_as_categories_are_scored_in_a_database(name: str) -> None:
    clf, rows = learned(name, (0.5, 1, 2.5, 3))
    numbers = rows.assign(mixed=rows["mixed"].astype(float), place=range(len(rows)))
    with duckdb.connect() as database:
        database.register("data", numbers)
        found = database.execute(clf.to_sql()).df().sort_values("place")
    np.testing.assert_allclose(found[["P(False)", "P(True)"]], clf.predict_proba(rows), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["json", "csv"])
@pytest.mark.parametrize("values", WRITTEN_ALIKE.values(), ids=WRITTEN_ALIKE)
@pytest.mark.parametrize("name", LISTED)
def test_a_list_of_parameters_has_no_two_values_of_one_name(name: str, values: tuple[object, ...], kind: str) -> None:
    """In a list for people, and by it, two values would be one."""
    clf, _ = learned(name, values)
    out = io.BytesIO()
    with pytest.raises(SettingsError, match=r"Two values of column 'mixed' are both written '(False|0|0\.5|True|1)'"):
        export_file(clf, out, kind=kind)
    assert not out.getvalue()


@pytest.mark.parametrize("labels", [(True, False, 1), (1, 2, "1")], ids=["truths", "numbers"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_of_several_types_are_none_of_sql(name: str, labels: tuple[object, ...]) -> None:
    """Of two classes of one name, one column would be lost; and engines turn True into 1."""
    y = np.array([labels[k % 3] for k in range(60)], dtype=object)
    clf = CLASSIFIERS[name]().fit({"mixed": np.arange(60) % 3, "other": ["u", "v"] * 30}, y)
    with pytest.raises(SettingsError, match=r"The classes .* are of several types"):
        clf.to_sql()


@pytest.mark.parametrize("name", LISTED)
def test_classes_written_alike_are_none_of_a_list(name: str) -> None:
    clf = CLASSIFIERS[name]().fit({"mixed": list("ab") * 30}, np.array([1, "1"] * 30, dtype=object))
    for kind in ("json", "csv", "onnx"):
        with pytest.raises(SettingsError, match="Two classes are both written '1'"):
            export_file(clf, io.BytesIO(), kind=kind)


@pytest.mark.parametrize("clf", [SVMClassifier(), CalibratedClassifier(BayesClassifier())], ids=["svm", "calibrated"])
def test_what_has_no_list_of_parameters_says_so(clf: Classifier) -> None:
    clf.fit({"x": np.arange(40.0)}, np.arange(40) // 20)
    for kind in ("json", "csv"):
        with pytest.raises(SettingsError, match=f"cannot be exported as '{kind}'; models made of counts and trees can"):
            export_file(clf, io.BytesIO(), kind=kind)


def test_pmml_tells_values_by_their_text() -> None:
    clf, _ = learned("tree", WRITTEN_ALIKE["numbers"])
    with pytest.raises(SettingsError, match="Two values of column 'mixed' are both written '0', and PMML tells"):
        clf.to_pmml()  # type: ignore[attr-defined]
    assert '<Value value="true" />' in learned("naive", TRUTHS_AND_NUMBERS)[0].to_pmml()  # type: ignore[attr-defined]


def test_bins_far_from_zero_have_names_of_their_own() -> None:
    """Two bins of one name would be one in the JSON for people."""
    x = 1e13 + np.arange(200.0)
    clf = BayesClassifier(families="bins").fit({"x": x}, np.arange(200) % 3)
    model = written(clf)
    (term,) = model["scoring"]["terms"]
    assert len(model["columns"]["x"]["parameters"]["probability"]) == len(term["codes"][0]["lines"])
