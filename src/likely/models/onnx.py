"""A fitted classifier as a model of ONNX: an input for each column, the label and the probabilities of each row.

What columns add up to is said by families, or by the model itself (`WritesJoint`, `WritesPosterior`); here it gets
inputs, outputs and metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from likely.arrays import AnyArray, Array
from likely.decide import LossMatrix, as_loss
from likely.errors import SettingsError, listed
from likely.families.export import Tensor, WritesGraph
from likely.families.protocol import FittedFamily, HasTokens
from likely.families.tempered import Tempered, bare
from likely.numerics import log_of
from likely.scorer import Model, Scorer
from likely.store.expressions import expressions_of, refuse_alike
from likely.store.onnx import OnnxGraph, Output, Precision, refuse_broken, term
from likely.table.levels import written
from likely.table.schema import Schema
from likely.version import __version__

if TYPE_CHECKING:
    from onnx import ModelProto

OUTPUTS = ("label", "probabilities")
MOST_COLUMNS = 10_000
"""Each column is an input of its own; a matrix of words has more than a runtime is made for."""


@runtime_checkable
class OnnxClassifier(Protocol):
    """A fitted classifier of whatever kind."""

    @property
    def classes_(self) -> AnyArray: ...

    @property
    def schema_(self) -> Schema: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...


@runtime_checkable
class HasScorer(Protocol):
    """A classifier with a log joint of rows."""

    @property
    def model_(self) -> Scorer: ...


@runtime_checkable
class WritesJoint(Protocol):
    """A scorer that writes its log joint as a tensor (rows × classes)."""

    def graph_joint(self, graph: OnnxGraph) -> Tensor: ...


@runtime_checkable
class WritesPosterior(Protocol):
    """A classifier that writes P(class | row) as a tensor (rows × classes) itself, as trees do."""

    def _graph_posterior(self, graph: OnnxGraph) -> Tensor: ...


def to_onnx(classifier: object, precision: Precision = "double") -> ModelProto:
    """The classifier as a model of ONNX."""
    if precision not in ("double", "float"):
        raise SettingsError(f"precision is {precision!r}, but it is 'double' or 'float'.")
    if not isinstance(classifier, OnnxClassifier):
        raise SettingsError(
            "A classifier without a schema of its columns cannot be written as ONNX; take one of likely."
        )
    schema, n_classes = classifier.schema_, len(classifier.classes_)
    if not n_classes:
        raise SettingsError("All rows have been forgotten: learn some before writing the model.")
    kinds = {name: str(schema.kinds[name]) for name in schema.features}
    _refuse(kinds)
    graph = OnnxGraph(kinds, precision)
    posterior, place = graph_posterior(graph, classifier)
    loss = classifier.get_params(deep=False).get("loss")
    labels = classifier.classes_
    if loss is not None:
        labels, place = _cheapest(graph, LossMatrix.of(as_loss(loss), labels, 1), posterior, place)
    cells = label_cells(labels)
    names = [_free(name, kinds) for name in OUTPUTS]
    outputs: dict[str, Output] = {
        names[0]: (
            graph.rows_of(cells, place),
            np.dtype(np.str_) if cells.dtype.kind == "O" else cells.dtype,
            ["rows"],
        ),
        names[1]: (posterior, np.dtype(np.float64), ["rows", n_classes]),
    }
    return graph.model(list(kinds), outputs, _told(classifier, names))


def graph_posterior(graph: OnnxGraph, classifier: object) -> tuple[Tensor, Tensor]:
    """P(class | row), and the place of the most probable class."""
    if isinstance(classifier, WritesPosterior):
        posterior = classifier._graph_posterior(graph)
        return posterior, first_greatest(graph, posterior)
    if isinstance(classifier, HasScorer):
        scorer = classifier.model_
        if isinstance(scorer, Model):
            return posterior_of(graph, joint_of(graph, scorer), scorer.prior)
        if isinstance(scorer, WritesJoint):
            return posterior_of(graph, scorer.graph_joint(graph), scorer.prior)
    raise SettingsError(
        f"{type(classifier).__name__} cannot be written as ONNX; naive and full Bayes, AODE, evidence and trees can."
    )


def _cheapest(graph: OnnxGraph, loss: LossMatrix, posterior: Tensor, probable: Tensor) -> tuple[AnyArray, Tensor]:
    """The decisions, and the place of the cheapest; where all mistakes cost the same, the most probable class."""
    if loss.by_class is None:
        return loss.labels, probable
    risk = graph.apply("MatMul", posterior, graph.constant(loss.by_class))
    return loss.labels, graph.apply("ArgMin", risk, attributes={"axis": 1, "keepdims": 0})


def _refuse(kinds: dict[str, str]) -> None:
    texts = [name for name, kind in kinds.items() if kind == "text"]
    if texts:
        raise SettingsError(
            f"{listed(texts)} holds free text, which ONNX cannot cut into words as likely does; use likely itself, or "
            "fit without it."
        )
    if not 0 < len(kinds) <= MOST_COLUMNS or "" in kinds:
        why = "a column without a name" if "" in kinds else f"{len(kinds):,} columns"
        raise SettingsError(f"The model has {why}, but in ONNX there are 1 to {MOST_COLUMNS:,} inputs with names.")
    for name in kinds:
        refuse_broken(name, "The name of a column")


def _free(name: str, taken: Iterable[str]) -> str:
    while name in taken:
        name += "_"
    return name


def label_cells(classes: AnyArray) -> AnyArray:
    """Labels as ONNX holds them: whole numbers, truth values and doubles as they are, all others as text."""
    values = classes.tolist()
    for kind, dtype in ((bool, np.bool_), (int, np.int64), (float, np.float64)):
        if all(type(value) is kind for value in values) and (kind is not int or _fits(values)):
            return np.array(values, dtype=dtype)
    texts = [written(value) for value in values]
    for text in texts:
        refuse_broken(text, "A class")
    refuse_alike("classes", texts, "ONNX")
    return np.array(texts, dtype=object)


def _fits(values: Sequence[int]) -> bool:
    return all(-(2**63) <= value < 2**63 for value in values)


def _told(classifier: OnnxClassifier, names: Sequence[str]) -> dict[str, str]:
    """Classes, schema and version, as JSON."""
    schema = classifier.schema_
    columns = [
        {"name": name, "kind": schema.kinds[name], "gap": "" if schema.kinds[name] == "nominal" else "NaN"}
        for name in schema.features
    ]
    told = {
        "classes": label_cells(classifier.classes_).tolist(),
        "schema": {"target": schema.target, "columns": columns},
        "outputs": list(names),
        "classifier": type(classifier).__name__,
        "version": __version__,
    }
    return {name: json.dumps(value, ensure_ascii=False) for name, value in told.items()}


# From a log joint to a posterior, and from beliefs to a log joint.


def posterior_of(graph: OnnxGraph, joint: Tensor, prior: Array) -> tuple[Tensor, Tensor]:
    """Posterior and most probable class of each row; one that every class rules out has the prior."""
    peak = graph.reduce("Max", joint, 1)
    impossible = graph.apply("Equal", peak, graph.constant(np.array([[-np.inf]])))
    own = graph.constant(prior[None])
    shares = graph.where(impossible, own, graph.apply("Exp", graph.apply("Sub", joint, peak)))
    posterior = graph.apply("Div", shares, graph.reduce("Sum", shares, 1))
    return posterior, first_greatest(graph, graph.where(impossible, own, joint))


def first_greatest(graph: OnnxGraph, scores: Tensor) -> Tensor:
    """The place of the greatest of each row; the first of equals."""
    return graph.apply("ArgMax", scores, attributes={"axis": 1, "keepdims": 0})


def joint_of(graph: OnnxGraph, model: Model) -> Tensor:
    """Log prior and what every belief adds, rows × classes."""
    start = graph.sum([graph.constant(log_of(model.prior)[None]), graph.zeros()])
    terms = [term for belief in model.beliefs for term in _terms(graph, belief, len(model.classes))]
    return graph.sum([start, *terms])


def _terms(graph: OnnxGraph, belief: FittedFamily, n_classes: int) -> Iterable[Tensor]:
    if isinstance(belief, Tempered) and belief.weight == 0.0:
        return []
    own = bare(belief)
    found = own.graph_terms(graph) if isinstance(own, WritesGraph) else None
    if found is not None:
        if not isinstance(belief, Tempered):
            return found
        weight = graph.constant(np.array([[belief.weight]]))
        return [graph.apply("Mul", weight, each) for each in found]
    terms = expressions_of(belief, n_classes)
    if terms is None:
        why = "it is free text" if isinstance(own, HasTokens) else f"the family {belief.name!r} does not say how"
        raise SettingsError(
            f"Column {belief.columns[0]!r} cannot be written as ONNX, because {why}; predict with likely."
        )
    return [term(graph, each) for each in terms]
