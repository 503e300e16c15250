"""A fitted classifier as PMML 4.4: naive Bayes as a `NaiveBayesModel`, a tree as a `TreeModel`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol, runtime_checkable
from xml.etree.ElementTree import Element, SubElement

from likely.arrays import AnyArray, Array
from likely.errors import SettingsError, listed
from likely.families.export import BayesInput, Bells, BinShares, HasBayesInputs, PoissonRates, ValueShares
from likely.families.protocol import FittedFamily
from likely.models.onnx import HasScorer
from likely.scorer import Model
from likely.store.pmml import Field, document, free_name, number_of, text_of
from likely.table.schema import Schema


class PMMLModel(NamedTuple):
    """A model element, the columns that it reads, and fields that are derived from these."""

    model: Element
    fields: dict[str, Field]
    transformed: list[Element]


@runtime_checkable
class PmmlClassifier(Protocol):
    """A fitted classifier of whatever kind."""

    @property
    def classes_(self) -> AnyArray: ...

    @property
    def schema_(self) -> Schema: ...


@runtime_checkable
class WritesPMML(Protocol):
    """A classifier that writes its model itself, as trees do."""

    def _pmml_model(self) -> PMMLModel: ...


def to_pmml(classifier: object) -> str:
    """The classifier as a document of PMML."""
    if not isinstance(classifier, PmmlClassifier):
        raise SettingsError(
            "A classifier without a schema of its columns cannot be written as PMML; take one of likely."
        )
    if isinstance(classifier, WritesPMML):
        written = classifier._pmml_model()
    elif isinstance(classifier, HasScorer) and isinstance(classifier.model_, Model):
        written = naive_bayes_model(classifier.model_, target=classifier.schema_.target)
    else:
        raise SettingsError(
            f"{type(classifier).__name__} cannot be written as PMML, which knows naive Bayes and trees; write it as "
            "ONNX, SQL or JSON."
        )
    fields, model = written.fields, written.model
    return document(fields, classifier.classes_, classifier.schema_.target, model, written.transformed)


def naive_bayes_model(model: Model, target: str | None) -> PMMLModel:
    """Counts are shares times priors, so that they mean the same however a reader adds them up; zero stays zero."""
    element = Element("NaiveBayesModel", {"functionName": "classification", "threshold": "0"})
    inputs = SubElement(element, "BayesInputs")
    labels = [text_of(label) for label in model.classes.tolist()]
    fields: dict[str, Field] = {}
    for belief in model.beliefs:
        for said in _inputs(belief):
            fields[said.column] = _field(said)
            _bayes_input(inputs, said, labels, model.prior)
    if not fields:
        raise SettingsError("No column tells the classes apart, and naive Bayes of PMML needs one.")
    output = SubElement(element, "BayesOutput", {"fieldName": text_of(free_name(target or "class", fields))})
    _counts(output, labels, model.prior)
    return PMMLModel(element, fields, [])


def _inputs(belief: FittedFamily) -> Iterable[BayesInput]:
    found = belief.bayes_inputs() if isinstance(belief, HasBayesInputs) else None
    if found is None:
        raise SettingsError(
            f"The family {belief.name!r} of {listed(belief.columns)} cannot be written as PMML as it was fitted: naive "
            "Bayes of PMML knows categories, bins, Gaussians and Poisson counts, without learned weights, and gaps and "
            "values never seen say nothing; write the model as ONNX or SQL."
        )
    return found


def _field(said: BayesInput) -> Field:
    if isinstance(said, ValueShares):
        return said.values
    return "count" if isinstance(said, PoissonRates) else "number"


def _bayes_input(inputs: Element, said: BayesInput, labels: Sequence[str], prior: Array) -> None:
    found = SubElement(inputs, "BayesInput", {"fieldName": text_of(said.column)})
    if isinstance(said, Bells | PoissonRates):
        stats = SubElement(found, "TargetValueStats")
        for place, label in enumerate(labels):
            stat = SubElement(stats, "TargetValueStat", {"value": label})
            if isinstance(said, PoissonRates):
                SubElement(stat, "PoissonDistribution", {"mean": number_of(said.rate[place])})
                continue
            deviation = float(said.deviation[place])
            variance = deviation * deviation
            if not 0.0 < variance < math.inf:
                raise SettingsError(
                    f"The variance of column {said.column!r} is no number that PMML can hold, since its deviation is "
                    f"{deviation:g}: write the model as ONNX or JSON."
                )
            told = {"mean": number_of(said.mean[place]), "variance": number_of(variance)}
            SubElement(stat, "GaussianDistribution", told)
        return
    values = [text_of(value) for value in said.values] if isinstance(said, ValueShares) else _discretize(found, said)
    for value, shares in zip(values, said.shares, strict=True):
        _counts(SubElement(found, "PairCounts", {"value": value}), labels, shares * prior)


def _discretize(found: Element, said: BinShares) -> list[str]:
    """A derived field that names the bin of each number; the names of the bins."""
    told = {"name": text_of(f"{said.column} (bin)"), "optype": "categorical", "dataType": "string"}
    field = SubElement(SubElement(found, "DerivedField", told), "Discretize", {"field": text_of(said.column)})
    names = []
    for place, (low, high) in enumerate(pairwise([-math.inf, *said.cuts.tolist(), math.inf])):
        names.append(f"bin {place}")
        bin_ = SubElement(field, "DiscretizeBin", {"binValue": names[-1]})
        margins = {"leftMargin": low, "rightMargin": high}
        finite = {name: number_of(margin) for name, margin in margins.items() if math.isfinite(margin)}
        SubElement(bin_, "Interval", {"closure": "closedOpen" if "leftMargin" in finite else "openOpen", **finite})
    return names


def _counts(parent: Element, labels: Sequence[str], numbers: Array) -> None:
    counts = SubElement(parent, "TargetValueCounts")
    for label, number in zip(labels, numbers.tolist(), strict=True):
        SubElement(counts, "TargetValueCount", {"value": label, "count": number_of(number)})
