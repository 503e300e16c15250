"""All that the page shows of a model, as plain values and arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal, NotRequired, TypedDict

import numpy as np

from likely.arrays import Json
from likely.errors import LikelyError, SettingsError
from likely.models.calibrated import CalibratedClassifier
from likely.models.classifier import Classifier
from likely.models.convnet.classifier import ConvNetClassifier
from likely.models.evidence.classifier import EvidenceClassifier
from likely.models.learner import Learner
from likely.models.protocols import HasTerms
from likely.models.registry import entry_of_kind
from likely.models.tree.classifier import TreeClassifier
from likely.studio.columns import MOST_COLUMNS, ColumnFacts, Facts, schema_line
from likely.studio.evaluation import comparison, evaluation
from likely.studio.intervals import LEFT_OUT, interval_tables
from likely.studio.material import CurvePoint, Material
from likely.studio.observed import observed
from likely.studio.payload import packed, plain_value
from likely.studio.rules import Rules, by_service, scoring_rules
from likely.studio.suspicions import Finding, identifiers, suspicions
from likely.table import Table, as_table, index_levels
from likely.table.infer import Column
from likely.table.schema import Schema
from likely.version import __version__

VERSION = 1
MOST_ROWS = 200
MOST_ROW_BYTES = 150_000
"""Example rows that go into a page."""

MOST_VALUES = 200

BUDGET = 560_000
"""Bytes of a packed document; in Base64, and with the page around it, that is below a megabyte (a test says so)."""


class ExampleRows(TypedDict):
    """Some rows as the page reads cells, their numbers in the table, and their labels where these are there."""

    columns: list[str]
    cells: list[list[Json]]
    numbers: list[int]
    of: int
    truths: list[Json]
    source: str


class Document(TypedDict):
    """What the page is told."""

    version: int
    likely: str
    model: dict[str, object]
    classes: list[dict[str, object]]
    columns: list[dict[str, object]]
    n_columns: int
    pairs: list[list[str]]
    counted_in: Literal["model", "data"] | None
    scorer: Rules
    image: dict[str, object] | None
    intervals: dict[str, object] | None
    suspicions: list[Finding]
    rows: ExampleRows | None
    evaluation: dict[str, object] | None
    comparison: dict[str, object] | None
    learning_curve: list[CurvePoint]
    too_large: NotRequired[bool]


def document(material: Material) -> Document:
    """The whole document; its order does not matter."""
    classifier, inner = material.classifier, _bare(material.classifier)
    counted = _facts(inner)
    whole = None if material.rows is None else as_table(material.rows)
    table = None if whole is None else _aligned(classifier, whole)
    seen = None if counted is not None or whole is None or table is None else observed(inner, whole, table)
    shown = seen if counted is None else counted
    facts = {} if shown is None else shown.by_column()
    report, known = material.report, _known_values(inner, facts if seen is None else {})
    return {
        "version": VERSION,
        "likely": __version__,
        "model": _model(material),
        "classes": _classes(classifier, counted),
        "columns": _columns(inner, facts, table, known),
        "n_columns": len(classifier.schema_.features),
        "pairs": [list(term) for term in inner.pairs_] if isinstance(inner, HasTerms) else [],
        "scorer": by_service("kind") if counted is not None and _mixes(facts) else scoring_rules(classifier),
        "image": _image(inner),
        "intervals": interval_tables(classifier, facts),
        "counted_in": None if shown is None else "model" if seen is None else "data",
        "suspicions": [
            *([] if shown is None else suspicions(shown.summary, shown.bits, table if seen is None else None)),
            *([] if table is None or _image(inner) is not None else identifiers(table, classifier.schema_)),
        ],
        "rows": None if table is None else example_rows(classifier, table, material, known),
        "evaluation": None if report is None else evaluation(report, honest=material.honest, name=material.data_name),
        "comparison": None if material.comparison is None else comparison(material.comparison),
        "learning_curve": list(material.curve),
    }


def packed_document(material: Material, budget: int = BUDGET) -> bytes:
    """The document in bytes; what is large and can be missed is left out, the page says so, until it fits."""
    whole = document(material)
    content = packed(whole)
    for lighten in (_without_rows, _without_intervals, _without_posteriors, _without_scorer, _without_curves):
        if len(content) <= budget:
            break
        lighten(whole)
        content = packed(whole)
    return content


def _key(value: Json) -> Hashable:
    """A value that can be told from others: what is endless is an object in JSON."""
    return str(value) if isinstance(value, dict | list) else value


def _mixes(facts: Mapping[str, ColumnFacts]) -> bool:
    """Whether a column holds True beside 1, or False beside 0: equal in Python, so that rules keep only one of them."""
    held = (told["values"] for told in facts.values() if "values" in told)
    return any(len({_key(value) for value in values}) < len(values) for values in held)


def _without_rows(whole: Document) -> None:
    if whole["rows"] is not None:
        whole["rows"]["cells"] = whole["rows"]["cells"][:20]
        whole["rows"]["truths"] = whole["rows"]["truths"][:20]


def _without_intervals(whole: Document) -> None:
    whole["intervals"] = None if whole["intervals"] is None else LEFT_OUT


def _without_posteriors(whole: Document) -> None:
    if whole["evaluation"] is not None:
        whole["evaluation"] = {k: v for k, v in whole["evaluation"].items() if k not in ("posteriors", "truths")}


def _without_scorer(whole: Document) -> None:
    whole["scorer"], whole["too_large"] = by_service("size"), True


def _without_curves(whole: Document) -> None:
    kept = ("name", "kind", "storage", "levels", "gaps", "why", "family", "bits")
    whole["columns"] = [{key: column[key] for key in kept if key in column} for column in whole["columns"]]


def _model(material: Material) -> dict[str, object]:
    classifier, origin = material.classifier, material.origin
    kind = type(classifier).__name__
    entry = entry_of_kind(kind)
    return {
        "name": material.name, "kind": kind, "title": kind if entry is None else entry.title,
        "settings": repr(classifier), "rows": int(classifier._rows_learned()), "target": classifier.schema_.target,
        "created": None if origin is None else origin.created,
        "sources": [] if origin is None else list(origin.sources),
    }  # fmt: skip


def _classes(classifier: Classifier, counted: Facts | None) -> list[dict[str, object]]:
    labels = classifier.classes_.tolist()
    try:
        priors: list[float | None] = classifier._prior_shares().tolist()
    except SettingsError:
        priors = [None] * len(labels)
    rows = [None] * len(labels) if counted is None else counted.summary.classes.rows.tolist()
    return [
        {"label": plain_value(label), "prior": prior, "rows": n}
        for label, prior, n in zip(labels, priors, rows, strict=True)
    ]


def _bare(classifier: Classifier) -> Classifier:
    """The classifier that has learned the columns: that inside of a calibrated one."""
    inner = classifier.classifier_ if isinstance(classifier, CalibratedClassifier) else classifier
    return inner if isinstance(inner, Classifier) else classifier


def _image(classifier: Classifier) -> dict[str, object] | None:
    """Height, width and channels of the pictures that a network looks at, and the range of their pixels."""
    if not isinstance(classifier, ConvNetClassifier):
        return None
    return {"shape": list(classifier.shape_), "range": list(classifier.range_)}


def _facts(classifier: Classifier) -> Facts | None:
    """What a classifier that counts has seen; None for others."""
    return Facts.of(classifier) if isinstance(classifier, Learner | EvidenceClassifier) else None


def _columns(
    classifier: Classifier,
    facts: Mapping[str, ColumnFacts],
    table: Table | None,
    known: Mapping[str, Sequence[Hashable]],
) -> list[dict[str, object]]:
    families = vars(classifier).get("families_", {})
    told = []
    for column in islice(_shown(classifier.schema_), MOST_COLUMNS):
        line = {**schema_line(column, families.get(column.name)), **dict(facts.get(column.name, {}))}
        if column.name in known and "values" not in line:
            line["values"] = [plain_value(value) for value in known[column.name][:MOST_VALUES]]
        if column.name in classifier.schema_.parts:
            line["part"] = list(classifier.schema_.parts[column.name])  # so that the page can word it
        if table is not None and column.kind != "ignored" and column.name in table:
            line |= {key: value for key, value in _seen_in(table, column.name, column.kind).items() if key not in line}
        told.append(line)
    return told


def _shown(schema: Schema) -> Iterator[Column]:
    """The columns in their order; of a date its parts, which are what is learned."""
    for column in schema.columns:
        if column.kind == "date":
            yield from (schema[part] for part, (whole, _) in schema.parts.items() if whole == column.name)
        else:
            yield column


def _seen_in(table: Table, name: str, kind: str) -> dict[str, object]:
    """Values or range of a column as data have it, where the model keeps no counts."""
    if kind == "numeric":
        numbers = table.numbers(name)
        known = numbers[np.isfinite(numbers)]
        return {} if not len(known) else {"range": [float(known.min()), float(known.max())]}
    return (
        {"values": [plain_value(level) for level in table.codes(name).levels[:MOST_VALUES]]}
        if kind == "nominal"
        else {}
    )


def _aligned(classifier: Classifier, table: Table) -> Table | None:
    """The rows under the names of the schema; columns that they lack are no reason to show none."""
    try:
        return classifier.schema_.align(table, type(classifier).__name__)
    except LikelyError:
        return None


def _known_values(classifier: Classifier, facts: Mapping[str, ColumnFacts]) -> dict[str, Sequence[Hashable]]:
    """The categories of each column as the model holds them: what a file spells "true" may be True in another table."""
    if isinstance(classifier, TreeClassifier):
        return {each.name: each.levels for each in classifier.tree_.features if each.levels is not None}
    return {name: told["values"] for name, told in facts.items() if "values" in told}


def example_rows(
    classifier: Classifier, table: Table, material: Material, known: Mapping[str, Sequence[Hashable]]
) -> ExampleRows:
    """Some rows, evenly spread over the table, as the page reads cells; with their labels where these are there."""
    schema, whole = classifier.schema_, as_table(material.rows) if material.rows is not None else table
    places = np.unique(np.linspace(0, table.n_rows - 1, min(MOST_ROWS, table.n_rows)).astype(np.intp))
    some = table.take(places)
    columns = [cells_of(some, name, schema.kinds[name], known.get(name, ())) for name in schema.features[:MOST_COLUMNS]]
    target = schema.target
    truths = cells_of(whole.take(places), target, "nominal") if target is not None and target in whole else []
    cells: list[list[Json]] = []
    kept: list[int] = []
    size = 0
    for at, row in enumerate(zip(*columns, strict=True)):
        size += sum(len(str(cell)) for cell in row)
        if size > MOST_ROW_BYTES and cells:
            break
        cells.append(list(row))
        kept.append(at)
    numbers = [material.first_row + int(places[at]) for at in kept]
    return {
        "columns": list(schema.features[:MOST_COLUMNS]), "cells": cells, "numbers": numbers, "of": table.n_rows,
        "truths": [truths[at] for at in kept] if truths else [], "source": material.data_name,
    }  # fmt: skip


def cells_of(table: Table, name: str, kind: str, known: Sequence[Hashable] = ()) -> list[Json]:
    """A column as JSON has it, None for a gap; categories that are known are told as the model knows them."""
    if kind == "numeric":
        return [None if np.isnan(cell) else float(cell) for cell in table.numbers(name)]
    if kind == "text":
        return [None if cell is None else str(cell) for cell in table.strings(name).to_pylist()]
    column = table.codes(name)
    places = index_levels(column.levels, known).tolist()
    levels = [plain_value(known[k] if k >= 0 else level) for k, level in zip(places, column.levels, strict=True)]
    return [levels[code] if code >= 0 else None for code in column.codes]
