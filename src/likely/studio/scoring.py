"""How the page scores rows: all that a model is made of, as plain values and arrays.

`form` says how: "joint" adds up parts to a log joint, "tree" walks down, "svm" measures distances, and "service"
leaves it to the service, where a model is too large for a page or of a kind that only Python knows.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from likely.families.protocol import Described, FittedFamily, Positional
from likely.families.tempered import bare
from likely.models.classifier import Classifier
from likely.models.evidence import description as evidence_description
from likely.models.evidence.classifier import EvidenceClassifier
from likely.models.evidence.predictor import AdditivePredictor
from likely.models.learner import Learner
from likely.models.svm import description as svm_description
from likely.models.svm.classifier import SVMClassifier
from likely.models.tree import description as tree_description
from likely.models.tree.classifier import TreeClassifier
from likely.numerics import log_of
from likely.scorer import Model
from likely.studio.expressions import column_tree
from likely.text.tokenizer import Tokenizer

PLAIN_SETTINGS = ("analyzer", "strip_accents", "cjk", "emoji", "urls", "numbers", "reduce")
"""Settings of a tokenizer that the page follows only where they are the usual ones."""

SERVICE: dict[str, Any] = {"form": "service"}


@singledispatch
def scoring(classifier: Classifier) -> dict[str, Any]:
    """The rules by which the page scores a row; by the service, if there are none."""
    return SERVICE


@scoring.register
def _(classifier: Learner) -> dict[str, Any]:
    return _of_joint(classifier.model_)


@scoring.register
def _(classifier: EvidenceClassifier) -> dict[str, Any]:
    return _of_joint(classifier.model_)


@scoring.register
def _(classifier: TreeClassifier) -> dict[str, Any]:
    told = tree_description.described(classifier.tree_, float(classifier.smoothing))
    return {"form": "tree", **told}


@scoring.register
def _(classifier: SVMClassifier) -> dict[str, Any]:
    told = svm_description.described(
        classifier.preparation_, classifier.machine_, classifier.calibration_.get()
    )  # fmt: skip
    return SERVICE if told is None or not _readable(told["parts"]) else {"form": "svm", **told}


def _of_joint(model: Model | AdditivePredictor) -> dict[str, Any]:
    """Log prior and parts that add to it."""
    told = {"form": "joint", "prior": model.prior, "start": log_of(model.prior)}
    if isinstance(model, AdditivePredictor):
        part = evidence_description.described(model)
        return SERVICE if part is None or not _readable(part["texts"]) else {**told, "parts": [part]}
    parts: list[dict[str, Any]] = []
    for belief in model.beliefs:
        found = _parts(belief, len(model.classes))
        if found is None or not _readable(found):
            return SERVICE
        parts += found
    return {**told, "parts": parts}


def _parts(belief: FittedFamily, n_classes: int) -> list[dict[str, Any]] | None:
    """One part for each column where an expression does it, else one for all columns of the belief."""
    whole = belief.described() if isinstance(belief, Described) else None
    if whole is not None:
        return [{**whole, "columns": list(belief.columns), "family": belief.name}]
    parts = []
    for place, name in enumerate(belief.columns):
        alone = belief.at(place) if isinstance(bare(belief), Positional) and isinstance(belief, Positional) else None
        tree = column_tree(belief.only(name) if alone is None else alone, n_classes)
        if tree is None:
            return None
        parts.append({"is": "terms", "columns": [name], "family": belief.name, "tree": tree})
    return parts


def _readable(parts: list[dict[str, Any]]) -> bool:
    """Whether the page can cut the texts of these parts into words."""
    usual = Tokenizer()
    for part in parts:
        given = part.get("tokenizer")
        if isinstance(given, Tokenizer):
            same = all(vars(given)[name] == vars(usual)[name] for name in PLAIN_SETTINGS)
            if not same:
                return False
    return True
