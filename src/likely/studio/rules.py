"""How the page scores rows: all that a model is made of, as plain values and arrays.

`form` says how: "joint" adds up parts to a log joint, "tree" walks down, "svm" measures distances, and "service"
leaves it to the service, where a model is too large for a page or of a kind that only Python knows.

Families write SQL by way of a builder; the same calls give an expression that is scored in the page, so that a family
which can be scored in SQL is scored there for nothing. A node is a list: what is done, then with what. A number has an
entry for each class where the classes differ; `look` and `step` are tables by category and by interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Literal

import numpy as np

from likely.arrays import Array
from likely.decide.calibration import Temperature
from likely.families.protocol import Described, FittedFamily, Positional
from likely.families.tempered import bare
from likely.models.calibrated import CalibratedClassifier
from likely.models.classifier import Classifier
from likely.models.convnet.classifier import ConvNetClassifier
from likely.models.evidence import description as evidence_description
from likely.models.evidence.classifier import EvidenceClassifier
from likely.models.evidence.predictor import AdditivePredictor
from likely.models.learner import Learner
from likely.models.svm import codec as svm_codec
from likely.models.svm.classifier import SVMClassifier
from likely.models.tree import codec as tree_codec
from likely.models.tree.classifier import TreeClassifier
from likely.numerics import log_of
from likely.scorer import Model
from likely.store.expressions import ByValue, Expression, as_table, expressions_of, joined, numbers
from likely.text.tokenizer import Tokenizer

PLAIN_SETTINGS = ("analyzer", "strip_accents", "cjk", "emoji", "urls", "numbers", "reduce")
"""Settings of a tokenizer that the page follows only where they are the usual ones."""

MOST_WEIGHTS = 60_000
"""Weights of a network that are written out."""

Rules = dict[str, object]
Node = list[object]


def by_service(why: Literal["size", "words", "kind"]) -> Rules:
    """Rules that the page does not know: the model is too large, cuts texts in another way, or is of a foreign kind."""
    return {"form": "service", "why": why}


@singledispatch
def scoring_rules(classifier: Classifier) -> Rules:
    """The rules by which the page scores a row; by the service, if there are none."""
    return by_service("kind")


@scoring_rules.register
def _(classifier: Learner) -> Rules:
    return _of_joint(classifier.model_)


@scoring_rules.register
def _(classifier: EvidenceClassifier) -> Rules:
    return _of_joint(classifier.model_)


@scoring_rules.register
def _(classifier: TreeClassifier) -> Rules:
    told = tree_codec.described(classifier.tree_, float(classifier.smoothing))
    return {"form": "tree", **told}


@scoring_rules.register
def _(classifier: SVMClassifier) -> Rules:
    told = svm_codec.described(
        classifier.preparation_, classifier.machine_, classifier.calibration_.get()
    )  # fmt: skip
    if told is None:
        return by_service("size")
    return {"form": "svm", **told} if _readable(told["parts"]) else by_service("words")


@scoring_rules.register
def _(classifier: CalibratedClassifier) -> Rules:
    inner = classifier.classifier_
    if not isinstance(inner, Classifier):
        return by_service("kind")
    told, calibrator = scoring_rules(inner), classifier.calibrator_
    if told["form"] == "service":
        return told
    if isinstance(calibrator, Temperature):
        return {"form": "calibrated", "inner": told, "method": classifier.method, "power": calibrator.power}
    return {"form": "calibrated", "inner": told, "method": classifier.method, "curves": list(calibrator.curves)}


@scoring_rules.register
def _(classifier: ConvNetClassifier) -> Rules:
    network = classifier.network_
    weights = network.weights or ()
    if sum(each.size for each in weights) > MOST_WEIGHTS:
        return by_service("size")
    layers = network.layers
    return {
        "form": "net", "columns": list(classifier.schema_.numeric), "shape": list(classifier.shape_),
        "range": list(classifier.range_), "padded": list(network.shape), "weights": list(weights),
        "maps": list(layers.maps), "filter": layers.filter, "pool": layers.pool, "pool_size": layers.pool_size,
    }  # fmt: skip


def _of_joint(model: Model | AdditivePredictor) -> Rules:
    """Log prior and parts that add to it."""
    told = {"form": "joint", "prior": model.prior, "start": log_of(model.prior)}
    if isinstance(model, AdditivePredictor):
        part = evidence_description.described(model)
        if part is None:
            return by_service("size")
        return {**told, "parts": [part]} if _readable(part["texts"]) else by_service("words")
    parts: list[Rules] = []
    for belief in model.beliefs:
        found = _parts(belief, len(model.classes))
        if found is None:
            return by_service("size")
        if not _readable(found):
            return by_service("words")
        parts += found
    return {**told, "parts": parts}


def _parts(belief: FittedFamily, n_classes: int) -> list[Rules] | None:
    """One part for each column where an expression does it, else one for all columns of the belief."""
    whole = belief.described() if isinstance(belief, Described) else None
    if whole is not None:
        return [{**whole, "columns": list(belief.columns), "family": belief.name}]
    parts: list[Rules] = []
    for place, name in enumerate(belief.columns):
        alone = belief.at(place) if isinstance(bare(belief), Positional) and isinstance(belief, Positional) else None
        tree = column_tree(belief.only(name) if alone is None else alone, n_classes)
        if tree is None:
            return None
        parts.append({"is": "terms", "columns": [name], "family": belief.name, "tree": tree})
    return parts


def _readable(parts: Sequence[Mapping[str, object]]) -> bool:
    """Whether the page can cut the texts of these parts into words."""
    usual = vars(Tokenizer())
    given = [vars(part["tokenizer"]) for part in parts if isinstance(part.get("tokenizer"), Tokenizer)]
    return all(settings[name] == usual[name] for settings in given for name in PLAIN_SETTINGS)


OPERATORS = {
    "sum": "+", "minus": "-", "times": "*", "over": "/", "equal": "=", "below": "<", "at_most": "<=", "either": "or",
    "ln": "ln", "case": "case",
}  # fmt: skip
"""What the page calls the kinds of expressions."""


def column_tree(belief: FittedFamily, n_classes: int) -> Node | None:
    """What a belief about one column adds, for all classes at once; None if it has no expression for that."""
    found = expressions_of(belief, n_classes)
    if found is None:
        return None
    trees = [merged(of_classes) for of_classes in found]
    return trees[0] if len(trees) == 1 else ["+", *trees] if trees else ["number", 0.0]


def merged(of_classes: Sequence[Expression]) -> Node:
    """The expressions of all classes as one tree; where their shapes differ there is a branch for each class."""
    whole = joined(of_classes)
    return _tree(whole) if whole is not None else ["class", *(_tree(each) for each in of_classes)]


def _tree(told: Expression) -> Node:
    if told.kind == "number":
        return ["number", *_by_class(numbers(told))]
    if told.kind in ("real", "missing"):
        return [told.kind, told.value]
    found = as_table(told)
    if found is None:
        return [OPERATORS[told.kind], *map(_tree, told.parts)]
    name, lines = found.column, found.table
    if isinstance(found, ByValue):
        n, otherwise = len(found.values), _line(lines[-1])
        known: Node = ["look", "=", ["cell", name], list(found.values), _lines(lines[:n]), otherwise]
    else:
        n = len(found.cuts) + 1
        known = ["step", "<", ["real", name], list(found.cuts), _lines(lines[: n - 1]), _line(lines[n - 1])]
    return ["case", ["missing", name], _line(lines[n]), known]


def _line(numbers: Array) -> Node:
    return ["number", *_by_class(tuple(numbers.tolist()))]


def _lines(table: Array) -> Node:
    """A line for each class, or one for all."""
    same = bool((table == table[:, :1]).all())
    return ["numbers", np.ascontiguousarray(table.T[:1] if same else table.T)]


def _by_class(numbers: tuple[float, ...]) -> tuple[float, ...]:
    return numbers if len(set(numbers)) > 1 else numbers[:1]
