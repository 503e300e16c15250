"""Documents of PMML 4.4: header, data dictionary, mining schema and outputs around a model. Written by the standard
library, which escapes; what XML cannot hold at all is refused."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from likely.arrays import AnyArray
from likely.errors import SettingsError
from likely.store.expressions import refuse_alike
from likely.table.levels import written
from likely.version import __version__

NAMESPACE = "http://www.dmg.org/PMML-4_4"
VERSION = "4.4"

ABSENT = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document can hold."""

Field = Sequence[Hashable] | Literal["number", "count"]
"""The values of a nominal column; or that it holds numbers, or numbers from zero up."""


def text_of(value: Hashable) -> str:
    """A value as PMML writes it."""
    text = str(value).lower() if isinstance(value, bool) else written(value)
    if ABSENT.search(text):
        raise SettingsError(f"{text!r} holds a character that XML cannot have, so that PMML cannot say it: rename it.")
    return text


def number_of(value: float) -> str:
    """A number with all of its digits."""
    return repr(float(value))


def type_of(values: Sequence[Hashable]) -> str:
    """The type of values: "boolean", "integer" or "string"."""
    for kind, name in ((bool, "boolean"), (int, "integer")):
        if all(type(value) is kind for value in values):
            return name
    return "string"


def document(
    fields: Mapping[str, Field], classes: AnyArray, target: str | None, model: Element, transformed: Sequence[Element]
) -> str:
    """The whole document; `model` gets its mining schema, outputs and derived fields in front of what it has."""
    labels = classes.tolist()
    target = free_name(target or "class", fields)
    root = Element("PMML", {"xmlns": NAMESPACE, "version": VERSION})
    SubElement(SubElement(root, "Header"), "Application", {"name": "likely", "version": __version__})
    dictionary = SubElement(root, "DataDictionary", {"numberOfFields": str(len(fields) + 1)})
    for name, field in fields.items():
        _data_field(dictionary, name, field)
    _data_field(dictionary, target, labels)
    schema = Element("MiningSchema")
    for name in fields:
        SubElement(schema, "MiningField", {"name": text_of(name), "invalidValueTreatment": "asMissing"})
    SubElement(schema, "MiningField", {"name": text_of(target), "usageType": "target"})
    front = [schema, _outputs(labels, [*fields, target])]
    if transformed:
        front.append(Element("LocalTransformations"))
        front[-1].extend(transformed)
    for place, part in enumerate(front):
        model.insert(place, part)
    root.append(model)
    indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _data_field(dictionary: Element, name: str, field: Field) -> None:
    if isinstance(field, str):
        told = {"name": text_of(name), "optype": "continuous", "dataType": "double"}
        found = SubElement(dictionary, "DataField", told)
        if field == "count":
            SubElement(found, "Interval", {"closure": "closedOpen", "leftMargin": "0"})
        return
    told = {"name": text_of(name), "optype": "categorical", "dataType": type_of(field)}
    found = SubElement(dictionary, "DataField", told)
    texts = [text_of(value) for value in field]
    refuse_alike(f"values of column {name!r}", texts, "PMML")
    for text in texts:
        SubElement(found, "Value", {"value": text})


def _outputs(labels: Sequence[Hashable], taken: Sequence[str]) -> Element:
    """The predicted class, and the probability of each."""
    outputs = Element("Output")
    told = {"name": free_name("prediction", taken), "optype": "categorical", "dataType": type_of(labels)}
    SubElement(outputs, "OutputField", {**told, "feature": "predictedValue"})
    for label in labels:
        name = free_name(f"P({text_of(label)})", taken)
        told = {"name": name, "optype": "continuous", "dataType": "double", "feature": "probability"}
        SubElement(outputs, "OutputField", {**told, "value": text_of(label)})
    return outputs


def free_name(name: str, taken: Sequence[str] | Mapping[str, Field]) -> str:
    """The name, made longer until nothing else has it."""
    while name in taken:
        name += "_"
    return name
