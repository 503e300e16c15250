"""A fitted tree for people and other programs: lines of text, rules, JSON, a graph, PMML."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from likely.arrays import Array, Int32
from likely.errors import SettingsError
from likely.models.pmml import PMMLModel
from likely.models.tree.tree import Feature, NodeTest, Tree, cases, condition, label, number, outcome, shortened, weight
from likely.store.expressions import plain_value
from likely.store.pmml import Field, number_of, text_of, type_of

# A tree in lines of text: a test, and below it what follows from each outcome.

MOST_LINES = 400


def as_text(tree: Tree, max_depth: int | None = None, most_lines: int = MOST_LINES) -> str:
    """The tree as lines; a leaf says its class, its cases and, after a stroke, those of other classes."""
    lines: list[str] = []
    pending: list[tuple[int, int, str, str, str]] = [(0, 0, "", "", "")]
    while pending and len(lines) < most_lines:
        node, depth, first, rest, said = pending.pop()
        cut = max_depth is not None and depth >= max_depth and not tree.is_leaf[node]
        lines.append(f"{first}{said}{_node(tree, node)}{' …' if cut else ''}")
        if tree.is_leaf[node] or cut:
            continue
        children = list(tree.children(node))
        for branch in range(len(children) - 1, -1, -1):
            last = branch == len(children) - 1
            turns = (f"{rest}└─ ", f"{rest}   ") if last else (f"{rest}├─ ", f"{rest}│  ")
            pending.append((children[branch], depth + 1, *turns, f"{outcome(tree, node, branch)}: "))
    left = len(pending)
    return "\n".join([*lines, *([f"… {len(tree):,} nodes in all; say max_depth=… to see the top"] if left else [])])


def _node(tree: Tree, node: int) -> str:
    if tree.is_leaf[node]:
        return f"{label(tree, node)} ({cases(tree, node)})"
    return str(tree.features[tree.column[node]].name)


# A tree as rules: one for each leaf, from the tests on the way to it.


@dataclass(frozen=True, slots=True)
class Rule:
    """If all conditions hold, then this class; with its training cases and, as confidence, its smoothed share."""

    conditions: tuple[str, ...]
    then: Hashable
    cases: float
    confidence: float

    def __str__(self) -> str:
        start = f"if {' and '.join(self.conditions)} then " if self.conditions else "always "
        one = "case" if self.cases == 1 else "cases"
        return f"{start}{self.then}, {weight(self.cases)} {one}, confidence {self.confidence:.3f}"


def rules(tree: Tree, smoothing: float = 1.0) -> list[Rule]:
    """One rule per leaf, in the order of the drawing; several cuts of one column become one interval."""
    shares, labels = tree.probabilities(smoothing), tree.classes.tolist()
    found = []
    for leaf, path in _paths(tree):
        best = int(shares[leaf].argmax())
        then = labels[best] if tree.decided is None else tree.decided[leaf]
        sure = shares[leaf, labels.index(then) if then in labels else best]
        found.append(Rule(_joined(tree, path), then, float(tree.sizes[leaf]), float(sure)))
    return found


def _paths(tree: Tree) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    pending: list[tuple[int, list[tuple[int, int]]]] = [(0, [])]
    while pending:
        node, path = pending.pop()
        if tree.is_leaf[node]:
            yield node, path
            continue
        children = list(tree.children(node))
        pending += [(child, [*path, (node, b)]) for b, child in reversed(list(enumerate(children)))]


def _joined(tree: Tree, path: list[tuple[int, int]]) -> tuple[str, ...]:
    """Conditions in the order of first use; of the cuts of a column the tightest two."""
    said: dict[int | tuple[int, int], str] = {}
    low: dict[int, float] = {}
    high: dict[int, float] = {}
    for node, branch in path:
        column = int(tree.column[node])
        if not tree.features[column].is_numeric:
            said[column, node] = condition(tree, node, branch)
            continue
        cut = float(tree.threshold[node])
        if branch:
            low[column] = max(low.get(column, cut), cut)
        else:
            high[column] = min(high.get(column, cut), cut)
        said[column] = _interval(tree.features[column].name, low.get(column), high.get(column))
    return tuple(said.values())


def _interval(name: str, low: float | None, high: float | None) -> str:
    if low is None:
        return f"{name} < {number(high or 0.0)}"
    return f"{name} ≥ {number(low)}" if high is None else f"{number(low)} ≤ {name} < {number(high)}"


# A tree for other programs: as JSON, and as Graphviz's dot.


FORMAT = 1
"""Of the JSON document; docs/model.schema.json describes it."""


def as_json(tree: Tree, indent: int | None = None, smoothing: float = 1.0) -> str:
    """Strict JSON: classes, columns, and a list of nodes that name their children by number."""
    document = {
        "format": FORMAT,
        "classifier": "TreeClassifier",
        "smoothing": smoothing,
        "classes": [plain_value(value) for value in tree.classes.tolist()],
        "missing": tree.missing,
        "columns": [_column(feature) for feature in tree.features],
        "nodes": [_json_node(tree, node) for node in range(len(tree))],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)


def _column(feature: Feature) -> dict[str, object]:
    if feature.levels is None:
        return {"name": feature.name, "kind": "numeric"}
    found: dict[str, object] = {
        "name": feature.name,
        "kind": "nominal",
        "values": [plain_value(value) for value in feature.levels],
    }
    return found if feature.word is None else found | {"text": feature.column, "word": feature.word[1]}


def _json_node(tree: Tree, node: int) -> dict[str, object]:
    found: dict[str, object] = {
        "node": node,
        "class": plain_value(tree.classes.tolist()[tree.majority[node]]),
        "counts": tree.counts[node].tolist(),
    }
    if tree.decided is not None:
        found["decision"] = plain_value(tree.decided[node])
    if tree.is_leaf[node]:
        return found
    (own, *others), children = tree.tests(node), list(tree.children(node))
    found |= {"column": own.feature.name, "children": children, "usual": int(tree.majority_branch[node])}
    if own.feature.is_numeric:
        found["threshold"] = own.threshold
    else:
        found["branches"] = own.branches.tolist()
    return found | ({"stand_ins": [_stand_in(test) for test in others]} if others else {})


def _stand_in(test: NodeTest) -> dict[str, object]:
    if not test.feature.is_numeric:
        return {"column": test.feature.name, "branches": test.branches.tolist()}
    return {"column": test.feature.name, "threshold": test.threshold, "below": test.low, "from": test.high}


def as_dot(tree: Tree, max_depth: int | None = None) -> str:
    """A directed graph: tests as boxes, leaves as rounded ones, outcomes on the edges; what lies deeper is left out."""
    lines = ["digraph tree {", '  node [shape=box, fontname="sans-serif"];', '  edge [fontname="sans-serif"];']
    for node in range(len(tree)):
        if max_depth is not None and tree.depths[node] > max_depth:
            continue
        if tree.is_leaf[node]:
            text = f"{label(tree, node)}\n{cases(tree, node)}"
            lines.append(f"  n{node} [label={_quoted(text)}, style=rounded];")
            continue
        name = str(tree.features[tree.column[node]].name)
        if tree.depths[node] == max_depth:
            lines.append(f"  n{node} [label={_quoted(name + ' …')}, style=dashed];")
            continue
        lines.append(f"  n{node} [label={_quoted(name)}];")
        for branch, child in enumerate(tree.children(node)):
            lines.append(f"  n{node} -> n{child} [label={_quoted(shortened(outcome(tree, node, branch)))}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    """A string of dot: backslashes and quotes are escaped, a new line is \\n."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


# A tree as a `TreeModel` of PMML. A gap sends a row to all children by `weightedConfidence`, as `missing="weights"`
# does; surrogates are predicates of that name. A value that leads nowhere is as a gap: such a node tests a derived
# field in which that value is missing.

STRATEGIES = {"weights": "weightedConfidence", "surrogates": "nullPrediction"}


def pmml_model(tree: Tree, shares: Array, loss: object) -> PMMLModel:
    """The tree with the class shares of its leaves; a loss and words of texts are refused."""
    if loss is not None:
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
    writer = _Writer(tree, shares)
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
        for name, share, count in zip(self.labels, shares, counts, strict=True):
            own = {"recordCount": number_of(count), "confidence": number_of(share), "probability": number_of(share)}
            SubElement(found, "ScoreDistribution", {"value": name, **own})
        return found

    def _predicate(self, node: int, branch: int) -> Element:
        """The test of a branch; with surrogates, what stands in for it, and last whether most cases went there."""
        tests = [self._test(test, branch) for test in self.tree.tests(node)]
        if self.tree.missing != "surrogates":
            return tests[0]
        most = Element("True" if self.tree.majority_branch[node] == branch else "False")
        return _compound("surrogate", [*tests, most])

    def _test(self, test: NodeTest, branch: int) -> Element:
        """Whether a column sends a row into a branch: it does not know where the cell is missing."""
        feature, levels = test.feature, test.feature.levels
        if levels is None:
            below, above = test.low == branch, test.high == branch
            threshold = number_of(test.threshold)
            one = _simple(feature.name, "lessThan" if below else "greaterOrEqual", threshold)
            if below != above:
                return one
            other = _simple(feature.name, "greaterOrEqual" if below else "lessThan", threshold)
            return _compound("or" if below else "and", [one, other])
        values = [value for value, own in zip(levels, test.branches, strict=True) if own == branch]
        field = self._field(feature, test.branches)
        if not values:  # no value does, but of a cell that is missing nobody knows
            never = text_of(levels[0])
            return _compound("and", [_simple(field, "equal", never), _simple(field, "notEqual", never)])
        return _one_of(field, values, type_of(levels))

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
