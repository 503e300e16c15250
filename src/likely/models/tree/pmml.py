"""A tree as a `TreeModel` of PMML.

A gap sends a row to all children by `weightedConfidence`, as `missing="weights"` does; surrogates are predicates of
that name. A value that leads nowhere is as a gap: such a node tests a derived field in which that value is missing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Protocol
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from likely.arrays import Array, Int32
from likely.errors import SettingsError
from likely.models.pmml import PMMLModel
from likely.models.tree.tree import Feature, Tree
from likely.store.pmml import Field, number_of, text_of, type_of

STRATEGIES = {"weights": "weightedConfidence", "surrogates": "nullPrediction"}


class Grown(Protocol):
    """A fitted tree classifier."""

    tree_: Tree
    loss: object

    def _shares(self) -> Array: ...


def pmml_model(classifier: Grown) -> PMMLModel:
    """The tree with the class shares of its leaves; a loss and words of texts are refused."""
    tree = classifier.tree_
    if classifier.loss is not None:
        raise SettingsError(
            "A tree of PMML gives classes, not the decisions of a loss: set loss=None before writing it."
        )
    for feature in tree.features:
        if feature.word is not None:
            raise SettingsError(
                f"The tree tests whether {feature.name}, and PMML has no words of a text: fit a tree without column "
                f"{feature.column!r}."
            )
    strategy = STRATEGIES[tree.missing]
    split = "binarySplit" if (tree.n_children[~tree.is_leaf] == 2).all() else "multiSplit"
    told = {"functionName": "classification", "missingValueStrategy": strategy, "splitCharacteristic": split}
    element = Element("TreeModel", told)
    writer = _Writer(tree, classifier._shares())
    writer.write(element)
    fields: dict[str, Field] = {feature.name: feature.levels or "number" for feature in tree.features}
    return PMMLModel(element, fields, list(writer.derived.values()))


class _Writer:
    """Writes nodes, and notes the fields that it derives."""

    def __init__(self, tree: Tree, shares: Array) -> None:
        self.tree, self.shares = tree, shares
        self.labels = [text_of(label) for label in tree.classes.tolist()]
        self.derived: dict[tuple[str, bytes], Element] = {}

    def write(self, model: Element) -> None:
        """All nodes, each within the one above it."""
        below = {0: self._node(model, 0, Element("True"))}
        for node in self.tree.walk():
            for branch, child in enumerate(self.tree.children(node)):
                below[child] = self._node(below[node], child, self._predicate(node, branch))

    def _node(self, parent: Element, node: int, predicate: Element) -> Element:
        shares, counts = self.shares[node].tolist(), self.tree.counts[node].tolist()
        score = self.labels[int(np.argmax(shares))]
        told = {"id": str(node), "score": score, "recordCount": number_of(self.tree.sizes[node])}
        found = SubElement(parent, "Node", told)
        found.append(predicate)
        for label, share, count in zip(self.labels, shares, counts, strict=True):
            own = {"recordCount": number_of(count), "confidence": number_of(share), "probability": number_of(share)}
            SubElement(found, "ScoreDistribution", {"value": label, **own})
        return found

    def _predicate(self, node: int, branch: int) -> Element:
        """The test of a branch; with surrogates, what stands in for it, and last whether most cases went there."""
        tree, own = self.tree, self.tree.surrogates
        feature = tree.features[tree.column[node]]
        test = self._test(feature, float(tree.threshold[node]), (0, 1), tree.branch_map(node), branch)
        if tree.missing != "surrogates":
            return test
        tests = [test]
        for k in range(own.starts[node], own.starts[node + 1]):
            other = tree.features[own.column[k]]
            branches = tree.branches[own.values[k] : own.values[k] + len(other.levels or ())]
            sides = int(own.low[k]), int(own.high[k])
            tests.append(self._test(other, float(own.threshold[k]), sides, branches, branch))
        compound = Element("CompoundPredicate", {"booleanOperator": "surrogate"})
        compound.extend([*tests, Element("True" if tree.majority_branch[node] == branch else "False")])
        return compound

    def _test(
        self, feature: Feature, threshold: float, sides: tuple[int, int], branches: Int32, branch: int
    ) -> Element:
        """Whether a column sends a row into a branch: it does not know where the cell is missing."""
        if feature.levels is None:
            below, above = (side == branch for side in sides)
            operator = "lessThan" if below else "greaterOrEqual"
            one = _simple(feature.name, operator, number_of(threshold))
            if below != above:
                return one
            other = _simple(feature.name, "greaterOrEqual" if below else "lessThan", number_of(threshold))
            return _compound("or" if below else "and", [one, other])
        values = [value for value, own in zip(feature.levels, branches, strict=True) if own == branch]
        field = self._field(feature, branches)
        if not values:  # no value does, but of a cell that is missing nobody knows
            never = text_of(feature.levels[0])
            return _compound("and", [_simple(field, "equal", never), _simple(field, "notEqual", never)])
        return _one_of(field, values, type_of(feature.levels))

    def _field(self, feature: Feature, branches: Int32) -> str:
        """The column, or one derived from it where some of its values lead nowhere."""
        levels = feature.levels or ()
        if (branches >= 0).all():
            return feature.name
        key = feature.name, (branches >= 0).tobytes()
        if key not in self.derived:
            name, kind = f"{feature.name} ({len(self.derived) + 1})", type_of(levels)
            told = {"name": text_of(name), "optype": "categorical", "dataType": kind}
            field = self.derived[key] = Element("DerivedField", told)
            mapped = SubElement(field, "MapValues", {"outputColumn": "to", "dataType": kind})
            SubElement(mapped, "FieldColumnPair", {"field": text_of(feature.name), "column": "from"})
            table = SubElement(mapped, "InlineTable")
            for value, branch in zip(levels, branches, strict=True):
                if branch >= 0:
                    row = SubElement(table, "row")
                    for column in ("from", "to"):
                        SubElement(row, column).text = text_of(value)
        return self.derived[key].attrib["name"]


def _simple(field: str, operator: str, value: str) -> Element:
    return Element("SimplePredicate", {"field": text_of(field), "operator": operator, "value": value})


def _compound(operator: str, parts: Sequence[Element]) -> Element:
    found = Element("CompoundPredicate", {"booleanOperator": operator})
    found.extend(parts)
    return found


def _one_of(field: str, values: Sequence[Hashable], kind: str) -> Element:
    """One of some values: a set, or where a value would have to be quoted in it, one comparison after the other."""
    texts = [text_of(value) for value in values]
    if len(texts) == 1:
        return _simple(field, "equal", texts[0])
    if all(text.replace("_", "").replace("-", "").isalnum() for text in texts):
        found = Element("SimpleSetPredicate", {"field": text_of(field), "booleanOperator": "isIn"})
        told = {"n": str(len(texts)), "type": "int" if kind == "integer" else "string"}
        SubElement(found, "Array", told).text = " ".join(texts)
        return found
    return _compound("or", [_simple(field, "equal", text) for text in texts])
