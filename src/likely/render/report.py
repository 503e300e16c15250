"""A page of results: a heading, from what file and when, tables, and charts where the drawing library is installed."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import MissingExtra
from likely.markup import Markup, tag
from likely.measures import entropy
from likely.render.page import fragment, page
from likely.render.picture import Picture, named

if TYPE_CHECKING:
    import pandas as pd


def report_page(
    title: str, *parts: object, source: str | None = None, chart: Callable[[], Picture] | None = None
) -> Markup:
    """The page; `source` names the file or table that was judged, `chart` draws what is shown below the tables."""
    when = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    of = f"{source}, {when}" if source else when
    drawn = None if chart is None else _drawn(chart)
    return page(title, tag("h1", title), fragment(tag("p", of)), *parts, drawn)


def baseline(confusion: pd.DataFrame) -> str:
    """What the class shares alone are worth, from a table of truths × decisions: what a classifier has to beat."""
    weights = confusion.to_numpy(dtype=np.float64).sum(axis=1)
    shares = weights / max(float(weights.sum()), 1e-300)
    often = confusion.index[int(shares.argmax())] if len(shares) else "none"
    guess = f"To beat: always {named(often, 40)}, the most frequent class, is right in {shares.max(initial=0.0):.4f}"
    return f"{guess}; the class shares alone have log loss {math.log(2.0) * entropy(shares):.4f}."


def _drawn(chart: Callable[[], Picture]) -> Markup:
    """The chart; without the drawing library, a line that says what is missing."""
    try:
        return chart()._repr_html_()
    except MissingExtra as missing:
        return fragment(tag("p", str(missing)))
