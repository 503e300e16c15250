"""What stands around a model in PMML: the dictionary of its fields, its mining schema, and what it puts out."""

from __future__ import annotations

import datetime
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import numpy as np
import pytest

from likely.errors import SettingsError
from likely.store.pmml import document, free_name, number_of, text_of, type_of
from likely.version import __version__

SPACE = "{http://www.dmg.org/PMML-4_4}"


def written(fields: dict[str, Any], classes: Any, target: str | None, *transformed: Element) -> tuple[str, Element]:
    model = Element("TreeModel", {"functionName": "classification"})
    model.append(Element("Node"))
    text = document(fields, np.array(classes), target, model, transformed)
    return text, fromstring(text)


def told(root: Element, name: str) -> list[dict[str, str]]:
    return [each.attrib for each in root.iter(SPACE + name)]


def test_a_document_names_its_fields_and_its_target() -> None:
    text, root = written({"x": "number", "n": "count", "town": ["u", "v"], "flag": [True, False]}, ["p", "q"], "kind")
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<PMML') and text.endswith("</PMML>\n")
    assert root.attrib == {"version": "4.4"} and told(root, "Application") == [
        {"name": "likely", "version": __version__}
    ]
    assert told(root, "DataDictionary") == [{"numberOfFields": "5"}]
    assert told(root, "DataField") == [
        {"name": "x", "optype": "continuous", "dataType": "double"},
        {"name": "n", "optype": "continuous", "dataType": "double"},
        {"name": "town", "optype": "categorical", "dataType": "string"},
        {"name": "flag", "optype": "categorical", "dataType": "boolean"},
        {"name": "kind", "optype": "categorical", "dataType": "string"},
    ]
    x, n, town, flag, kind = root.iter(SPACE + "DataField")
    assert len(x) == 0 and [part.attrib for part in n] == [{"closure": "closedOpen", "leftMargin": "0"}]
    assert [[part.attrib["value"] for part in field] for field in (town, flag, kind)] == [
        ["u", "v"], ["true", "false"], ["p", "q"],
    ]  # fmt: skip
    assert told(root, "MiningField") == [
        *({"name": name, "invalidValueTreatment": "asMissing"} for name in ("x", "n", "town", "flag")),
        {"name": "kind", "usageType": "target"},
    ]


def test_what_is_put_out_is_the_class_and_the_probability_of_each() -> None:
    _, root = written({"x": "number", "P(1)": "number"}, [1, 2], None)
    assert told(root, "DataField")[-1] == {"name": "class", "optype": "categorical", "dataType": "integer"}
    assert told(root, "OutputField") == [
        {"name": "prediction", "optype": "categorical", "dataType": "integer", "feature": "predictedValue"},
        *(
            {"name": name, "optype": "continuous", "dataType": "double", "feature": "probability", "value": value}
            for name, value in (("P(1)_", "1"), ("P(2)", "2"))
        ),
    ]


def test_names_of_columns_are_not_taken() -> None:
    _, root = written({"class": "number", "prediction": "number", "class_": "number"}, ["p", "q"], None)
    assert [field["name"] for field in told(root, "DataField")] == ["class", "prediction", "class_", "class__"]
    assert told(root, "OutputField")[0]["name"] == "prediction_"
    assert (
        written({"x": "number"}, ["p", "q"], "prediction")[1].find(f".//{SPACE}OutputField[@name='prediction']") is None
    )
    assert free_name("a", ["b"]) == "a" and free_name("a", ["a", "a_"]) == "a__"


def test_the_schema_the_outputs_and_derived_fields_stand_before_the_model() -> None:
    _, root = written({"x": "number"}, ["p", "q"], None)
    assert [part.tag for part in root[-1]] == [SPACE + name for name in ("MiningSchema", "Output", "Node")]
    _, root = written({"x": "number"}, ["p", "q"], None, Element("DerivedField"), Element("DerivedField"))
    order = ("MiningSchema", "Output", "LocalTransformations", "Node")
    assert [part.tag for part in root[-1]] == [SPACE + name for name in order]
    assert len(root[-1][2]) == 2 and [part.tag for part in root] == [
        SPACE + name for name in ("Header", "DataDictionary", "TreeModel")
    ]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, False], "boolean"), ([1, 2], "integer"), ([1, True], "string"), (["a"], "string"), ([1, "a"], "string"),
        ([1.0, 2.0], "string"),
    ],
    ids=str,
)  # fmt: skip
def test_values_of_one_type_have_it(values: list[Any], kind: str) -> None:
    assert type_of(values) == kind


def test_values_and_numbers_as_text() -> None:
    given = (True, False, 3, 1.0, "a <b>", datetime.date(2024, 2, 29))
    assert [text_of(value) for value in given] == ["true", "false", "3", "1", "a <b>", "2024-02-29"]
    assert number_of(np.float64(0.1)) == "0.1" and number_of(3) == "3.0" and float(number_of(1 / 3)) == 1 / 3
    for text in ("\t\n\r", "\ud7ff\ue000\ufffd\U00010000\U0010ffff", " "):
        assert text_of(text) == text
    for text in ("\0", "\x1f", "\ud800", "\udfff", "\ufffe", "\uffff"):
        with pytest.raises(SettingsError, match="XML cannot have"):
            text_of(f"a{text}b")
    with pytest.raises(SettingsError, match="values of column 'v' are both written '1'"):
        written({"v": ["1", 1]}, ["p", "q"], None)
    with pytest.raises(SettingsError, match="values of column 'class'"):
        written({"v": "number"}, np.array(["1", 1], dtype=object), None)
