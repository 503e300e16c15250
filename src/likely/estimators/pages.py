"""A fitted classifier as a page of its own: what it read and counted, and what tells its classes apart."""

from __future__ import annotations

from html import escape
from typing import Any

from likely.estimators.showing import html_table, learned_page
from likely.explain.page import whole_page
from likely.explain.telling import telling_values
from likely.families.gaussian import Gaussian
from likely.families.multivariate import MultivariateGaussian

SHOWN_CLASSES, SHOWN_COLUMNS, SHOWN_VALUES = 12, 60, 240


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
    table = html_table(["column", "bits", "share"], lines[:SHOWN_COLUMNS], len(lines) - SHOWN_COLUMNS, "columns")
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
    labels = [str(label) for label in classifier.classes_.tolist()][:SHOWN_CLASSES]
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
    table = html_table(heads, lines[:SHOWN_COLUMNS], len(lines) - SHOWN_COLUMNS, "columns")
    return f"<h2>Numbers: mean ± deviation of each class</h2>{table}"
