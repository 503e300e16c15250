"""A fitted classifier as a notebook shows it: what it read, which classes there are, what was counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from likely.explain.rank import telling_values
from likely.families.gaussian import Gaussian
from likely.families.multivariate import MultivariateGaussian
from likely.render.explanation_page import whole_page

if TYPE_CHECKING:
    from likely.scorer import Model
    from likely.stats import Summary
    from likely.table.schema import Schema

SHOWN_CLASSES, SHOWN_COLUMNS = 12, 30
LONGEST = 60
_BAR = "display:inline-block;height:0.7em;vertical-align:middle;background:#0072B2"
_CELL = "text-align:left;padding:2px 10px"


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
    own = classifier.get_params(deep=False)
    given = own.get("smoothing")
    each = list(given.values()) if isinstance(given, Mapping) else [given]
    if any(isinstance(one, str) and one == "auto" for one in each):
        shown = {name: f"{shown[name]}, {smoothing}" for name, smoothing in classifier.smoothing_.items()}
    if own.get("weights") is not None:
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


# A fitted classifier as a page of its own: what it read and counted, and what tells its classes apart.

LISTED_CLASSES, LISTED_COLUMNS, SHOWN_VALUES = 12, 60, 240


def model_page(classifier: Any, *, per_class: int = 5) -> str:
    """The page; everything that comes from data is escaped."""
    target = classifier.schema_.target
    title = f"A model that predicts {target}" if target else "A model"
    parts = [f"<h1>{escape(title)}</h1>", learned_page(classifier), _ranking(classifier)]
    parts += [_telling(classifier, per_class), _numbers(classifier)]
    return whole_page(title, "".join(parts))


def _ranking(classifier: Any) -> str:
    frame = classifier.rank()
    lines = [[escape(str(name)), f"{bits:.4f}", f"{share:.1%}"] for name, bits, share in frame.itertuples(index=False)]
    table = html_table(["column", "bits", "share"], lines[:LISTED_COLUMNS], len(lines) - LISTED_COLUMNS, "columns")
    return f"<h2>What the columns tell about the class</h2>{table}"


def _telling(classifier: Any, per_class: int) -> str:
    frame = telling_values(classifier.summary_, per_class)
    if frame.empty:
        return ""
    lines = [
        [*(escape(str(cell)) for cell in line[:3]), f"{line[4]:.1%}", f"{line[5]:.1%}"]
        for line in frame.itertuples(index=False)
    ]
    heads = ["class", "column", "value", "share there", "elsewhere"]
    table = html_table(heads, lines[:SHOWN_VALUES], len(lines) - SHOWN_VALUES, "values")
    return f"<h2>The most telling values</h2>{table}"


def _numbers(classifier: Any) -> str:
    """Mean and deviation of every column of numbers in each class."""
    labels = [str(label) for label in classifier.classes_.tolist()][:LISTED_CLASSES]
    lines = []
    for belief in classifier.model_.beliefs:
        margins = belief.margins if isinstance(belief, MultivariateGaussian) else belief
        if isinstance(margins, Gaussian):
            for place, name in enumerate(margins.columns):
                pairs = zip(margins.mean[:, place], margins.deviation[:, place], strict=True)
                lines.append([escape(name), *(f"{mean:.5g} ± {width:.3g}" for mean, width in pairs)][: len(labels) + 1])
    if not lines:
        return ""
    heads = ["column", *(escape(label) for label in labels)]
    table = html_table(heads, lines[:LISTED_COLUMNS], len(lines) - LISTED_COLUMNS, "columns")
    return f"<h2>Numbers: mean ± deviation of each class</h2>{table}"
