"""A fitted classifier as a notebook shows it: what it read, which classes there are, what was counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from likely.explain.rank import telling_values
from likely.families.protocol import HasBells
from likely.families.smoothing import Smoothing
from likely.markup import Markup, joined, tag
from likely.models.protocols import Fitted
from likely.render.page import fragment, page
from likely.render.table import Cell, ColumnHead, Grid, shortened
from likely.scorer import Model, Scorer
from likely.stats import Summary
from likely.table.schema import Schema

SHOWN_CLASSES, SHOWN_COLUMNS = 12, 30
LONGEST = 60


@runtime_checkable
class HasWeights(Protocol):
    """It chooses smoothing by column, or learns weights of columns."""

    smoothing_: dict[str, Smoothing]
    weights_: dict[str, float]


def learned_page(classifier: Fitted, *more: object) -> Markup:
    """What a notebook shows of a fitted classifier; more of it may follow."""
    summary, model, schema = classifier.summary_, classifier.model_, classifier.schema_
    counted = f"{summary.n_rows:,} rows, {_many(len(model.classes), 'class', 'classes')}"
    learned = _many(len(model.columns), "column", "columns")
    head = tag("p", tag("strong", repr(classifier)), tag("br"), f"learned from {counted} and {learned}")
    return fragment(head, _classes(model, summary), _columns(schema, _shown_families(classifier)), *more)


def _classes(model: Scorer, summary: Summary) -> Markup:
    order = range(len(model.classes))
    if len(model.classes) > SHOWN_CLASSES:
        order = sorted(sorted(order, key=lambda k: -model.prior[k])[:SHOWN_CLASSES])  # type: ignore[assignment]
    labels = model.classes.tolist()
    lines = [
        [
            _short(labels[k]),
            f"{summary.classes.rows[k]:,}",
            f"{summary.classes.weights[k]:,.6g}",
            Cell(model.prior[k], f"{model.prior[k]:.4f}", bar=float(model.prior[k])),
        ]
        for k in order
    ]
    return html_table(["class", "rows", "weight", "prior"], lines, len(labels) - len(lines), "classes")


def _shown_families(classifier: Fitted) -> dict[str, str]:
    """The family of each column, with the smoothing where that was chosen and the weight where that was learned."""
    shown = dict(classifier.families_)
    own = classifier.get_params(deep=False)
    given = own.get("smoothing")
    each = list(given.values()) if isinstance(given, Mapping) else [given]
    if not isinstance(classifier, HasWeights):
        return shown
    if any(isinstance(one, str) and one == "auto" for one in each):
        shown = {name: f"{shown[name]}, {smoothing}" for name, smoothing in classifier.smoothing_.items()}
    if own.get("weights") is not None:
        shown = {name: f"{shown[name]}, weight {weight:.2f}" for name, weight in classifier.weights_.items()}
    return shown


def _columns(schema: Schema, families: dict[str, str]) -> Markup:
    lines = []
    for column in schema.columns[:SHOWN_COLUMNS]:
        told = [column.name, column.kind, families.get(column.name, "not learned"), column.levels, column.gaps]
        lines.append(["" if cell is None else _short(cell) for cell in (*told, column.why.split(" (judged from")[0])])
    return html_table(["column", "kind", "family", "levels", "gaps", "why"], lines, len(schema) - len(lines), "columns")


def html_table(heads: Sequence[str], lines: Sequence[Sequence[object]], left_out: int, what: str) -> Markup:
    """A table of words, and how much it leaves out."""
    return Grid([ColumnHead(head, "left") for head in heads], lines, left_out=left_out, what=what).html()


def _short(cell: object) -> str:
    return shortened(str(cell), LONGEST)


def _many(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"


# A fitted classifier as a page of its own: what it read and counted, and what tells its classes apart.

LISTED_CLASSES, LISTED_COLUMNS, SHOWN_VALUES = 12, 60, 240


def model_page(classifier: Fitted, *, per_class: int = 5) -> str:
    """The page."""
    target = classifier.schema_.target
    title = f"A model that predicts {target}" if target else "A model"
    more = _ranking(classifier), _telling(classifier, per_class), _numbers(classifier)
    return page(title, tag("h1", title), learned_page(classifier, *more))


def _ranking(classifier: Fitted) -> Markup:
    frame = classifier.rank()
    lines = [
        [str(name), f"{held_out:.4f}", f"{share:.1%}", f"{gaps:.4f}", f"{counted:.4f}"]
        for name, held_out, share, gaps, counted in frame.itertuples(index=False)
    ]
    heads = ["column", "bits, held out", "share", "by missing values", "bits as counted"]
    table = html_table(heads, lines[:LISTED_COLUMNS], len(lines) - LISTED_COLUMNS, "columns")
    return joined(tag("h2", "What the columns tell about the class"), table)


def _telling(classifier: Fitted, per_class: int) -> Markup | None:
    frame = telling_values(classifier.summary_, per_class)
    if frame.empty:
        return None
    lines = [
        [*(str(cell) for cell in line[:3]), f"{line[4]:.1%}", f"{line[5]:.1%}"]
        for line in frame.itertuples(index=False)
    ]
    heads = ["class", "column", "value", "share there", "elsewhere"]
    table = html_table(heads, lines[:SHOWN_VALUES], len(lines) - SHOWN_VALUES, "values")
    return joined(tag("h2", "The most telling values"), table)


def _numbers(classifier: Fitted) -> Markup | None:
    """Mean and deviation of every column of numbers in each class."""
    labels = [str(label) for label in classifier.classes_.tolist()][:LISTED_CLASSES]
    lines: list[list[str]] = []
    n_columns = 0
    model = classifier.model_
    for belief in model.beliefs if isinstance(model, Model) else ():
        if isinstance(belief, HasBells):
            few, n_columns = belief.columns[: LISTED_COLUMNS - len(lines)], n_columns + len(belief.columns)
            classes = [(mean, np.sqrt(np.diagonal(matrix))) for mean, matrix in belief.bells(few)[: len(labels)]]
            for place, name in enumerate(few):
                lines.append([name, *(f"{mean[place]:.5g} ± {width[place]:.3g}" for mean, width in classes)])
    if not lines:
        return None
    table = html_table(["column", *labels], lines, n_columns - len(lines), "columns")
    return joined(tag("h2", "Numbers: mean ± deviation of each class"), table)
