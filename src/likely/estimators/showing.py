"""A fitted classifier as a notebook shows it: what it read, which classes there are, what was counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, cast

from sklearn import get_config

if TYPE_CHECKING:
    from likely.bayes import Model
    from likely.schema import Schema
    from likely.stats import Summary

SHOWN_CLASSES, SHOWN_COLUMNS = 12, 30
LONGEST = 60
_BAR = "display:inline-block;height:0.7em;vertical-align:middle;background:#0072B2"
_CELL = "text-align:left;padding:2px 10px"


class Shown:
    """Rich display of what was learned; scikit-learn's own diagram of parameters before that.

    It stands before scikit-learn's classes among the bases of a classifier.
    """

    def _repr_html_inner(self) -> str:
        if hasattr(self, "summary_"):
            return learned_page(self)
        return str(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = cast("dict[str, str]", super()._repr_mimebundle_(**kwargs))  # type: ignore[misc]
        if hasattr(self, "summary_") and get_config()["display"] == "diagram":
            bundle["text/html"] = learned_page(self)
        return bundle


def learned_page(classifier: Any) -> str:
    """The page of a fitted classifier. Names come from data: all of them are escaped."""
    summary, model, schema = classifier.summary_, classifier.model_, classifier.schema_
    counted = f"{summary.n_rows:,} rows, {_many(len(model.classes), 'class', 'classes')}"
    learned = _many(len(model.columns), "column", "columns")
    head = f"<p><b>{escape(repr(classifier))}</b><br>learned from {counted} and {learned}</p>"
    return head + _classes(model, summary) + _columns(schema, _shown_families(classifier))


def _classes(model: Model, summary: Summary) -> str:
    order = range(len(model.classes))
    if len(model.classes) > SHOWN_CLASSES:
        order = sorted(sorted(order, key=lambda k: -model.prior[k])[:SHOWN_CLASSES])  # type: ignore[assignment]
    labels = model.classes.tolist()
    lines = [
        [
            escape(_short(labels[k])),
            f"{summary.classes.rows[k]:,}",
            f"{summary.classes.weights[k]:,.6g}",
            f'{model.prior[k]:.4f} <span style="{_BAR};width:{8.0 * model.prior[k]:.2f}em"></span>',
        ]
        for k in order
    ]
    return html_table(["class", "rows", "weight", "prior"], lines, len(labels) - len(lines), "classes")


def _shown_families(classifier: Any) -> dict[str, str]:
    """The family of each column, with the smoothing where that was chosen and the weight where that was learned."""
    shown = dict(classifier.families_)
    given = getattr(classifier, "smoothing", None)
    each = list(given.values()) if isinstance(given, Mapping) else [given]
    if any(isinstance(one, str) and one == "auto" for one in each):
        shown = {name: f"{shown[name]}, {smoothing}" for name, smoothing in classifier.smoothing_.items()}
    if getattr(classifier, "weights", None) is not None:
        shown = {name: f"{shown[name]}, weight {weight:.2f}" for name, weight in classifier.weights_.items()}
    return shown


def _columns(schema: Schema, families: dict[str, str]) -> str:
    lines = []
    for column in schema.columns[:SHOWN_COLUMNS]:
        told = [column.name, column.kind, families.get(column.name, "not learned"), column.levels, column.gaps]
        lines.append(
            [escape("" if cell is None else _short(cell)) for cell in (*told, column.why.split(" (judged from")[0])]
        )
    return html_table(["column", "kind", "family", "levels", "gaps", "why"], lines, len(schema) - len(lines), "columns")


def html_table(heads: Sequence[str], lines: Sequence[Sequence[str]], left_out: int, what: str) -> str:
    """A table of cells that are HTML already, and how much it leaves out."""
    head = "".join(f'<th style="{_CELL}">{name}</th>' for name in heads)
    body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in line) + "</tr>" for line in lines)
    more = f"<p>… and {left_out:,} more {what}</p>" if left_out > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _short(cell: object) -> str:
    text = str(cell)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _many(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"
