"""A model for people and programs without likely: JSON, a table of parameters, or a query that scores a table."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa

from likely.arrays import Array
from likely.decide import LossLike
from likely.errors import SettingsError, listed
from likely.families.protocol import FittedFamily, HasParameters, HasTokens, Parameter
from likely.families.tempered import bare
from likely.io.outputs import Output, refuse, write_whole
from likely.io.write import suffix_of, table_writer
from likely.models.evidence.encoding import CodedCategories
from likely.models.evidence.explain import SEPARATOR, answer_name, term_table
from likely.models.evidence.plain import evidence_terms
from likely.models.evidence.predictor import AdditivePredictor, class_scores
from likely.models.protocols import Exports, Fitted, Updates
from likely.numerics import log_of
from likely.scorer import Model, Scorer
from likely.store import Provenance
from likely.store.expressions import family_terms, plain_numbers, refuse_alike

FORMAT = 1
"""Of the JSON document; docs/model.schema.json describes it."""

KINDS = ("json", "csv", "sql", "onnx", "pmml")
KINDS_OF_TREES = ("json", "sql", "onnx", "pmml", "dot")
LINES_AT_ONCE = 1 << 16

BEYOND = "intercept"
"""What speaks for a class before any column does."""


def export_file(
    classifier: Any,
    out: str | os.PathLike[str] | IO[bytes],
    *,
    kind: str | None = None,
    table: str = "data",
    dialect: str = "duckdb",
    output: str = "probabilities",
    loss: LossLike | None = None,
    origin: Provenance | None = None,
) -> None:
    """Write a fitted classifier as "json", "onnx", "pmml", "sql", or as "csv" (a line per parameter and class).

    Without `kind` the suffix says it; a table of parameters may also be Parquet, Arrow or JSON lines. A tree is also
    written for Graphviz, as "dot", and not as "csv". What is left is for the query, see `Classifier.to_sql`.
    """
    target = Path(os.fspath(out)) if isinstance(out, (str, os.PathLike)) else out
    kind = kind or (target.suffix.lower()[1:] if isinstance(target, Path) else "json")
    is_counted = isinstance(classifier, Updates)
    if isinstance(target, Path):
        refuse([Output(target, Output(f"?.{kind}").expected)])
    if kind == "onnx":
        _write(target, classifier.to_onnx().SerializeToString())
    elif kind == "pmml":
        _write(target, classifier.to_pmml())
    elif kind == "sql":
        _write(target, classifier.to_sql(dialect, table, output, loss))
    elif isinstance(classifier, Exports):
        _write(target, _tree_as(classifier, kind))
    elif not is_counted:
        raise SettingsError(
            f"{type(classifier).__name__} cannot be exported as {kind!r}; models made of counts and trees can."
        )
    elif kind == "json":
        _write(target, json.dumps(document(classifier, origin), ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    elif isinstance(target, Path) and kind != "csv":
        _write_table(classifier, target, suffix_of(target.name))
    elif kind == "csv":
        _write_table(classifier, target, ".csv")
    else:
        raise SettingsError(f"A model is exported as {listed(KINDS)}, not as {kind!r}.")


def document(
    classifier: Fitted, origin: Provenance | None = None, *, with_parameters: bool = True
) -> dict[str, object]:
    """What a classifier is made of, in plain values."""
    summary, model, schema = classifier.summary_, classifier.model_, classifier.schema_
    settings = {k: v for k, v in classifier.get_params(deep=False).items() if k != "schema"}
    counted = zip(model.classes.tolist(), summary.classes.rows.tolist(), summary.classes.weights.tolist(), strict=True)
    believed = readable(model) if with_parameters else {}
    scored = scoring(model) if with_parameters else None
    return {
        "format": FORMAT,
        "classifier": type(classifier).__name__,
        "created": origin.created if origin is not None else None,
        "sources": list(origin.sources) if origin is not None else [],
        "likely": origin.version if origin is not None else None,
        "rows": summary.n_rows,
        "target": schema.target,
        "settings": {name: _plain(value) for name, value in settings.items()},
        "classes": [
            {"class": _plain(label), "rows": rows, "weight": weight, "prior": prior}
            for (label, rows, weight), prior in zip(counted, model.prior.tolist(), strict=True)
        ],
        "schema": [
            {
                "column": column.name, "kind": column.kind, "family": classifier.families_.get(column.name),
                "values": column.levels, "gaps": column.gaps, "why": column.why,
            }
            for column in schema
        ],
        **({"columns": believed["columns"]} if believed else {}),
        **({"scoring": scored} if scored is not None else {}),
    }  # fmt: skip


def scoring(model: Scorer) -> dict[str, object] | None:
    """All that a program needs to score rows: where every row begins, and what its cells add, class by class.

    None where a model holds free text or columns that depend on each other without a table, as full Bayes does.
    """
    start, terms = log_of(model.prior), []
    if isinstance(model, AdditivePredictor):
        if model.text_models:
            return None
        start, terms = start + model.beyond_prior(), list(evidence_terms(model))
    for belief in model.beliefs if isinstance(model, Model) else ():
        found = family_terms(belief, len(model.classes))
        if found is None:
            return None
        terms += found
    return {"start": plain_numbers(start), "prior": model.prior.tolist(), "terms": terms}


def _tree_as(classifier: Exports, kind: str) -> str:
    if kind == "json":
        return str(classifier.to_json(indent=1)) + "\n"
    if kind == "dot":
        return str(classifier.to_dot())
    raise SettingsError(f"A tree is exported as {listed(KINDS_OF_TREES)}, not as {kind!r}.")


def _write(target: Path | IO[bytes], content: str | bytes) -> None:
    content = content.encode() if isinstance(content, str) else content
    if isinstance(target, Path):
        write_whole(target, content)
    else:
        target.write(content)


def _write_table(classifier: Any, target: Path | IO[bytes], kind: str) -> None:
    numbers = numbers_of(classifier.model_)
    with table_writer(target, kind=kind, guard=False) as write:
        while lines := list(islice(numbers, LINES_AT_ONCE)):
            columns = list(zip(*lines, strict=True))
            texts = [[None if cell is None else str(cell) for cell in column] for column in columns[:5]]
            names = ["column", "family", "parameter", "value", "class"]
            write(
                pa.table([*(pa.array(t, pa.string()) for t in texts), pa.array(columns[5])], names=[*names, "number"])
            )


def _plain(value: object) -> object:
    """A setting or label for people: nothing reads it back."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    return [_plain(item) for item in value] if isinstance(value, (list, tuple, frozenset)) else str(value)


# The settled numbers of a model one by one, with names that a person understands.


class Number(NamedTuple):
    """One number: of which column and family, what it is, for which value (or word) and which class."""

    column: str
    family: str
    parameter: str
    value: Hashable
    label: Hashable
    number: float


class Line(NamedTuple):
    """One number for each class."""

    column: str
    family: str
    parameter: str
    value: Hashable
    numbers: Array


def numbers_of(model: Scorer) -> Iterator[Number]:
    """The prior, and all that is believed of each column."""
    labels = model.classes.tolist()
    for line in lines_of(model):
        for label, number in zip(labels, line.numbers.tolist(), strict=True):
            yield Number(*line[:4], label, number)


def lines_of(model: Scorer) -> Iterator[Line]:
    """The same, the classes of each side by side."""
    for what, texts in _texts_of_values(model):
        refuse_alike(what, texts, "a list of parameters")
    yield Line("", "prior", "probability", None, model.prior)
    if isinstance(model, AdditivePredictor):
        yield from _evidence(model)
    for belief in model.beliefs if isinstance(model, Model) else ():
        yield from (Line(each.column, belief.name, *each[1:]) for each in _parameters(belief))


def readable(model: Scorer) -> dict[str, Any]:
    """Prior and columns as nested plain values; what is infinite is null."""
    labels = [str(label) for label in model.classes.tolist()]
    columns: dict[str, Any] = {}
    prior: dict[str, Any] = {}
    for line in lines_of(model):
        numbers = [number if math.isfinite(number) else None for number in line.numbers.tolist()]
        cells = dict(zip(labels, numbers, strict=True))
        if not line.column:
            prior = cells
            continue
        entry = columns.setdefault(line.column, {"family": line.family, "parameters": {}})
        if line.value is None:
            entry["parameters"][line.parameter] = cells
        else:
            entry["parameters"].setdefault(line.parameter, {})[str(line.value)] = cells
    return {"prior": prior, "columns": columns}


def _texts_of_values(model: Scorer) -> Iterator[tuple[str, list[str]]]:
    """What classes and the values of each column are called, but for words of texts, which are text anyway."""
    yield "classes", [str(label) for label in model.classes.tolist()]
    if isinstance(model, AdditivePredictor):
        for column in model.evidence.encoding.columns:
            if isinstance(column, CodedCategories):
                yield f"values of column {column.name!r}", [str(value) for value in (*column.levels, *column.rare)]
    for belief in model.beliefs if isinstance(model, Model) else ():
        called: dict[tuple[str, str], list[str]] = {}
        for each in () if isinstance(bare(belief), HasTokens) else _parameters(belief):
            if each.value is not None:
                called.setdefault((each.column, each.name), []).append(str(each.value))
        yield from ((f"values of column {name!r}", texts) for (name, _), texts in called.items())


def _parameters(belief: FittedFamily) -> Iterable[Parameter]:
    found = belief.parameters() if isinstance(belief, HasParameters) else None
    if found is None:
        raise SettingsError(
            f"The family {belief.name!r} of {listed(belief.columns)} cannot be written as a list of numbers."
        )
    return found


def _leaves(model: AdditivePredictor) -> Iterator[Line]:
    """What every leaf of every tree adds, by the answers that lead to it."""
    trees, columns = model.evidence.trees, model.evidence.encoding.columns
    for tree in range(len(trees)):
        asked = [(columns[k], answer_name(columns[k], side)) for k, side in trees.questions(tree)]
        name = SEPARATOR.join(dict.fromkeys(column.name for column, _ in asked)) or BEYOND
        for place, leaf in enumerate(trees.asked_leaves(tree).tolist()):
            answers = [
                f"{'' if place >> len(asked) - 1 - k & 1 else 'not '}{told}" for k, (_, told) in enumerate(asked)
            ]
            said = class_scores(trees.leaves[tree, [leaf]], len(model.classes))[0]
            yield Line(name, "evidence", f"tree {tree + 1}", "; ".join(answers), said)


def _polynomial(model: AdditivePredictor) -> Iterator[Line]:
    """What the quadratic discriminant adds for each standard score, and for each product of two of them."""
    discriminant, names = model.evidence.discriminant, model.evidence.encoding.names
    columns, n_classes = [names[k] for k in discriminant.columns.tolist()], len(model.classes)
    for name, scores in zip(columns, class_scores(discriminant.linear, n_classes), strict=True):
        yield Line(name, "evidence", "discriminant", "z", scores)
    products = class_scores(discriminant.products, n_classes)
    for a, b, scores in zip(*discriminant.pairs(), products, strict=True):
        name = columns[a] if a == b else SEPARATOR.join((columns[a], columns[b]))
        yield Line(name, "evidence", "discriminant", "z · z", scores)


def _evidence(model: AdditivePredictor) -> Iterator[Line]:
    """What every cell of every table adds; of a text its words, and the share that their evidence counts for."""
    yield Line(BEYOND, "evidence", "evidence", None, model.beyond_prior())
    for names in [*((name,) for name in model.evidence.encoding.names), *model.evidence.term_names()]:
        term_cells = term_table(model, names)
        for at in np.ndindex(term_cells.entries.shape[:-1]):
            cell = SEPARATOR.join(cells[k] for cells, k in zip(term_cells.cells, at, strict=True))
            yield Line(SEPARATOR.join(term_cells.names), "evidence", "evidence", cell, term_cells.entries[at])
    yield from _leaves(model)
    yield from _polynomial(model)
    for share, words in zip(model.evidence.text_weights.tolist(), model.text_models, strict=True):
        yield Line(words.column, "evidence", "share of the words", None, np.full(len(model.prior), share))
        yield from (Line(each.column, "evidence", *each[1:]) for each in words.parameters())
