"""PMML is valid by the published rules, and readers that are not ours score by it what the classifier scores."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from likely import BayesClassifier, EvidenceClassifier, FullBayesClassifier, Loss, TreeClassifier
from likely.errors import SettingsError
from likely.models.classifier import Classifier
from tests.models.test_onnx import mixed, unfamiliar, with_gaps

SPACE = "{http://www.dmg.org/PMML-4_4}"
FAMILIES = {"age": "bins", "zip": "categorical", "income": "gaussian", "visits": "gaussian"}

# The rules of PMML 4.4 for what we write: children in their order, attributes that must and may be there.

PREDICATE = "(SimplePredicate|SimpleSetPredicate|CompoundPredicate|True|False)"
RULES: dict[str, tuple[str, str, str]] = {
    "PMML": (r"Header DataDictionary (NaiveBayesModel|TreeModel)", "version", ""),
    "Header": (r"Application", "", "copyright description"),
    "Application": ("", "name", "version"),
    "DataDictionary": (r"DataField( DataField)*", "", "numberOfFields"),
    "DataField": (r"(Interval)?( Interval)*(Value)?( Value)*", "name optype dataType", "displayName"),
    "Interval": ("", "closure", "leftMargin rightMargin"),
    "Value": ("", "value", "displayValue property"),
    "MiningSchema": (r"MiningField( MiningField)*", "", ""),
    "MiningField": ("", "name", "usageType invalidValueTreatment missingValueTreatment"),
    "Output": (r"OutputField( OutputField)*", "", ""),
    "OutputField": ("", "name dataType", "optype feature value"),
    "NaiveBayesModel": (r"MiningSchema Output BayesInputs BayesOutput", "functionName threshold", "modelName"),
    "BayesInputs": (r"BayesInput( BayesInput)*", "", ""),
    "BayesInput": (r"(TargetValueStats|(DerivedField )?PairCounts( PairCounts)*)", "fieldName", ""),
    "BayesOutput": ("TargetValueCounts", "fieldName", ""),
    "TargetValueStats": (r"TargetValueStat( TargetValueStat)*", "", ""),
    "TargetValueStat": (r"(GaussianDistribution|PoissonDistribution)", "value", ""),
    "GaussianDistribution": ("", "mean variance", ""),
    "PoissonDistribution": ("", "mean", ""),
    "PairCounts": ("TargetValueCounts", "value", ""),
    "TargetValueCounts": (r"TargetValueCount( TargetValueCount)*", "", ""),
    "TargetValueCount": ("", "value count", ""),
    "DerivedField": (r"(Discretize|MapValues)", "optype dataType", "name"),
    "Discretize": (r"DiscretizeBin( DiscretizeBin)*", "field", "mapMissingTo defaultValue"),
    "DiscretizeBin": ("Interval", "binValue", ""),
    "LocalTransformations": (r"DerivedField( DerivedField)*", "", ""),
    "MapValues": (r"FieldColumnPair InlineTable", "outputColumn", "dataType"),
    "FieldColumnPair": ("", "field column", ""),
    "InlineTable": (r"row( row)*", "", ""),
    "row": ("from to", "", ""),
    "from": ("", "", ""),
    "to": ("", "", ""),
    "TreeModel": (
        r"MiningSchema Output (LocalTransformations )?Node", "functionName",
        "missingValueStrategy noTrueChildStrategy splitCharacteristic",
    ),
    "Node": (rf"{PREDICATE}( ScoreDistribution)*( Node)*", "", "id score recordCount defaultChild"),
    "SimplePredicate": ("", "field operator", "value"),
    "SimpleSetPredicate": ("Array", "field booleanOperator", ""),
    "CompoundPredicate": (rf"{PREDICATE}( {PREDICATE})+", "booleanOperator", ""),
    "True": ("", "", ""),
    "False": ("", "", ""),
    "Array": ("", "type", "n"),
    "ScoreDistribution": ("", "value recordCount", "confidence probability"),
}  # fmt: skip

WORDS = {
    "optype": {"categorical", "continuous"},
    "dataType": {"string", "integer", "double", "boolean"},
    "functionName": {"classification"},
    "usageType": {"target"},
    "invalidValueTreatment": {"asMissing"},
    "missingValueStrategy": {"weightedConfidence", "nullPrediction"},
    "splitCharacteristic": {"binarySplit", "multiSplit"},
    "closure": {"closedOpen", "openOpen"},
    "operator": {"equal", "notEqual", "lessThan", "greaterOrEqual"},
    "booleanOperator": {"surrogate", "and", "or", "isIn"},
    "feature": {"predictedValue", "probability"},
    "type": {"string", "int"},
}
NUMBERS = ("mean", "variance", "count", "recordCount", "threshold", "leftMargin", "rightMargin", "n")


def parsed(text: str) -> Element:
    """The document, after it was found to keep the rules."""
    root = ElementTree.fromstring(text)
    assert root.tag == SPACE + "PMML"
    defined = {field.attrib["name"] for field in root.iter(SPACE + "DataField")}
    defined |= {field.attrib["name"] for field in root.iter(SPACE + "DerivedField")}
    for element in root.iter():
        name = element.tag.removeprefix(SPACE)
        children, needed, allowed = RULES[name]
        found = " ".join(child.tag.removeprefix(SPACE) for child in element)
        assert re.fullmatch(children, found), (name, found[:200])
        own = set(element.attrib)
        assert set(needed.split()) <= own <= {*needed.split(), *allowed.split()}, (name, own)
        for key, value in element.attrib.items():
            assert value in WORDS.get(key, {value}), (name, key, value)
            if key in NUMBERS:
                assert np.isfinite(float(value))
            if key in ("probability", "confidence"):
                assert 0.0 <= float(value) <= 1.0
            if key in ("field", "fieldName"):
                assert value in defined
    n_fields = int(root.find(SPACE + "DataDictionary").attrib["numberOfFields"])  # type: ignore[union-attr]
    assert n_fields == len(list(root.iter(SPACE + "DataField")))
    return root


# A reader of trees by the words of the standard: a predicate is true, false or unknown.


def holds(predicate: Element, row: Mapping[str, Any]) -> bool | None:
    name, told = predicate.tag.removeprefix(SPACE), predicate.attrib
    if name in ("True", "False"):
        return name == "True"
    if name == "CompoundPredicate":
        parts = [holds(part, row) for part in predicate]
        if told["booleanOperator"] == "surrogate":
            return next((part for part in parts if part is not None), None)
        decides = told["booleanOperator"] == "or"
        return decides if decides in parts else None if None in parts else not decides
    cell = row.get(told["field"])
    if cell is None:
        return None
    if name == "SimpleSetPredicate":
        return str(cell) in (predicate[0].text or "").split()
    if told["operator"] in ("equal", "notEqual"):
        return (str(cell) == told["value"]) == (told["operator"] == "equal")
    return cell < float(told["value"]) if told["operator"] == "lessThan" else cell >= float(told["value"])


def weighted_confidence(node: Element, row: Mapping[str, Any]) -> dict[str, float]:
    """Children that are not false, weighted by their records, where the first that is not false is not known."""
    below = [(child, holds(child[0], row)) for child in node.findall(SPACE + "Node")]
    if not below:
        return {
            each.attrib["value"]: float(each.attrib["confidence"]) for each in node.findall(f"{SPACE}ScoreDistribution")
        }
    open_ones = [(child, known) for child, known in below if known is not False]
    if open_ones[0][1]:
        return weighted_confidence(open_ones[0][0], row)
    counts = [float(child.attrib["recordCount"]) for child, _ in open_ones]
    found: dict[str, float] = {}
    for (child, _), count in zip(open_ones, counts, strict=True):
        for label, share in weighted_confidence(child, row).items():
            found[label] = found.get(label, 0.0) + share * count / sum(counts)
    return found


def with_derived(root: Element, row: Mapping[str, Any]) -> dict[str, Any]:
    known = {
        field.attrib["name"]: {value.attrib["value"] for value in field} for field in root.iter(SPACE + "DataField")
    }
    texts = {
        key: str(cell).lower() if isinstance(cell, bool) else cell for key, cell in row.items() if cell is not None
    }
    cells = {key: cell for key, cell in texts.items() if not known.get(key) or str(cell) in known[key]}
    for field in root.iter(SPACE + "DerivedField"):
        source = next(field.iter(SPACE + "FieldColumnPair")).attrib["field"]
        table = {line[0].text or "": line[1].text or "" for line in field.iter(SPACE + "row")}
        if source in cells:
            cells[field.attrib["name"]] = table.get(str(cells[source]))
    return cells


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [{k: None if v is None or v != v else v for k, v in row.items()} for row in rows.to_dict("records")]


# Readers of others.


@pytest.fixture(scope="session")
def pmml4s() -> Any:
    pypmml = pytest.importorskip("pypmml", reason="pypmml reads PMML independently of us")
    if shutil.which("java") is None:
        pytest.skip("pypmml needs Java")
    yield pypmml.Model
    pypmml.PMMLContext.getOrCreate().shutdown()


def shares_by(reader: Any, clf: Classifier, rows: pd.DataFrame) -> np.ndarray:
    model = reader.fromString(clf.to_pmml())
    names = [f"P({str(label).lower() if isinstance(label, bool) else label})" for label in clf.classes_.tolist()]
    found = [model.predict({k: v for k, v in row.items() if v is not None}) for row in records(rows)]
    return np.array([[each[name] for name in names] for each in found], dtype=float)


def agree(reader: Any, clf: Classifier, rows: pd.DataFrame) -> None:
    np.testing.assert_allclose(shares_by(reader, clf, rows), clf.predict_proba(rows), rtol=0, atol=1e-9)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_real_tables(load: Any, pmml4s: Any) -> None:
    found = load(as_frame=True)
    rows = with_gaps(found.data[:: max(len(found.data) // 30, 1)])
    for clf in (
        BayesClassifier(),
        FullBayesClassifier(covariance="diagonal", priors="uniform"),
        TreeClassifier(missing="surrogates"),
    ):
        clf.fit(found.data, found.target)
        parsed(clf.to_pmml())
        agree(pmml4s, clf, rows)


@pytest.mark.parametrize("smoothing", [1.0, 0.0])
def test_naive_bayes_of_mixed_columns(smoothing: float, pmml4s: Any) -> None:
    rows = mixed(500)
    clf = BayesClassifier(families=FAMILIES, smoothing=smoothing).fit(rows[:400], "y")
    parsed(clf.to_pmml())
    agree(pmml4s, clf, unfamiliar(rows[380:460]).assign(größe=rows["größe"][380:460].to_numpy()))


@pytest.mark.parametrize("options", [{}, {"subsets": True}, {"binary": True}], ids=str)
def test_trees_with_surrogates(options: dict[str, bool], pmml4s: Any) -> None:
    rows = mixed(500)
    clf = TreeClassifier(missing="surrogates", prune=None, **options).fit(rows[:400], "y")  # type: ignore[arg-type]
    assert parsed(clf.to_pmml()).find(f".//{SPACE}CompoundPredicate[@booleanOperator='surrogate']") is not None
    agree(pmml4s, clf, unfamiliar(rows[380:460]))


def test_trees_that_share_a_gap_out(pmml4s: Any) -> None:
    """pmml4s does not know `weightedConfidence`, so rows with gaps are read by the words of the standard."""
    rows = mixed(500)
    for options in ({}, {"prune": None, "restrained": False}, {"subsets": True, "prune": None}):
        clf = TreeClassifier(**options).fit(rows[:400], "y")  # type: ignore[arg-type]
        agree(pmml4s, clf, rows[400:].drop(columns="y").dropna()[:30])
        root, new = parsed(clf.to_pmml()), unfamiliar(rows[380:460])
        node = root.find(f".//{SPACE}Node")
        assert node is not None
        found = [weighted_confidence(node, with_derived(root, row)) for row in records(new)]
        shares = [[each[label] for label in clf.classes_.tolist()] for each in found]
        np.testing.assert_allclose(shares, clf.predict_proba(new), rtol=0, atol=1e-12)


def test_a_value_that_leads_nowhere_is_missing_in_a_derived_field() -> None:
    rows = pd.DataFrame({"a": list("xxxxyyyy"), "b": list("ppqqpprr"), "y": list("ststuuvv")})
    clf = TreeClassifier(prune=None, min_cases=1, restrained=False, collapse=False).fit(rows, "y")
    assert (clf.tree_.branches < 0).any()
    root = parsed(clf.to_pmml())
    new = pd.DataFrame({"a": ["x", "y"], "b": ["r", "q"]})
    node = root.find(f".//{SPACE}Node")
    assert node is not None
    found = [weighted_confidence(node, with_derived(root, row)) for row in records(new)]
    assert [[each[label] for label in "stuv"] for each in found] == clf.predict_proba(new).tolist()


def test_the_schema_of_the_standard(tmp_path: Path) -> None:
    """The XML Schema comes with the evaluator of JPMML, a tool of development that nothing here depends on."""
    jpmml, xmlschema = (pytest.importorskip(name) for name in ("jpmml_evaluator", "xmlschema"))
    jar = next((Path(jpmml.__file__).parent / "dependencies").glob("pmml-model-[0-9]*.jar"))
    zipfile.ZipFile(jar).extract("pmml.xsd", tmp_path)
    schema = xmlschema.XMLSchema(str(tmp_path / "pmml.xsd"))
    rows = mixed(300)
    for clf in (
        BayesClassifier(families=FAMILIES | {"visits": "poisson"}),
        TreeClassifier(prune=None),
        TreeClassifier(missing="surrogates", prune=None, subsets=True),
    ):
        schema.validate(clf.fit(rows, "y").to_pmml())


XML_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), min_size=1)


@settings(max_examples=25, deadline=None)
@given(st.lists(XML_TEXT, min_size=2, max_size=6, unique=True))
def test_hostile_names_and_values_come_back_whole(words: list[str]) -> None:
    rows = {words[0]: np.array(words * 2, dtype=object), "other <&>\"'": np.arange(2.0 * len(words))}
    labels = [f"<{word}>" for word in words] * 2
    for clf in (
        BayesClassifier(schema={words[0]: "nominal"}),
        TreeClassifier(schema={words[0]: "nominal"}, missing="surrogates", prune=None, min_cases=1),
    ):
        root = parsed(clf.fit(rows, labels).to_pmml())
        fields = {
            field.attrib["name"]: [value.attrib["value"] for value in field] for field in root.iter(f"{SPACE}DataField")
        }
        assert set(fields[words[0]]) == set(words)
        assert set(fields["class" if words[0] != "class" else "class_"]) == set(labels)


def test_what_pmml_cannot_say() -> None:
    rows = mixed(200)
    for clf, why in (
        (
            BayesClassifier(families={"income": "lognormal"}),
            "The family 'lognormal' of 'income' cannot be written as PMML",
        ),
        (BayesClassifier(missing="value"), "cannot be written as PMML"),
        (BayesClassifier(unseen="smooth"), "cannot be written as PMML"),
        (BayesClassifier(weights="learned"), "without learned weights"),
        (FullBayesClassifier(), "The family 'multivariate'"),
        (EvidenceClassifier(max_pairs=0), "EvidenceClassifier cannot be written as PMML"),
        (TreeClassifier(loss=Loss.zero_one([f"class {k}" for k in range(3)])), "set loss=None"),
    ):
        with pytest.raises(SettingsError, match=why):
            clf.fit(rows, "y").to_pmml()  # type: ignore[attr-defined]
    with pytest.raises(SettingsError, match="XML cannot have"):
        BayesClassifier(schema={"a": "nominal"}).fit({"a": ["\0", "b"]}, ["p", "q"]).to_pmml()
    with pytest.raises(SettingsError, match="No column tells the classes apart"):
        BayesClassifier().fit({"a": [1.0, 1.0]}, ["p", "q"]).to_pmml()
    with pytest.raises(SettingsError, match="words of a text"):
        TreeClassifier(schema={"t": "text"}, text_tokens=2).fit(
            {"t": ["red one", "blue two"] * 9}, ["p", "q"] * 9
        ).to_pmml()
