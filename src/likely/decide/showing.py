"""A loss as a person reads it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

CORNER = "truth \\ decision"
"""As above the confusion matrix of a report, so that both are read in the same way."""

SHOWN = 8
"""Decisions and truths written out; a thousand classes have a million costs."""


def as_text(
    decisions: Sequence[Hashable], truths: Sequence[Hashable], costs: NDArray[Any], refuse: float | None
) -> str:
    """An aligned table, a line for each truth and a column for each decision, as in a confusion matrix."""
    if costs.ndim == 3:
        lines = [[f"Loss of {len(costs):,} rows, each with its own {len(decisions)} decisions × {len(truths)} truths"]]
        if refuse is not None:
            lines.append([f"REFUSED  {refuse:g}"])
    else:
        lines = _lines(CORNER, decisions, truths, costs, refuse)
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def as_html(
    decisions: Sequence[Hashable], truths: Sequence[Hashable], costs: NDArray[Any], refuse: float | None
) -> str:
    """The same as a table for a notebook."""
    if costs.ndim == 3:
        return f"<pre>{escape(as_text(decisions, truths, costs, refuse))}</pre>"
    head, *body = _lines(CORNER, decisions, truths, costs, refuse)
    rows = ["<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>"]
    for label, *cells in body:
        rows.append(f"<tr><th>{escape(label)}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return f"<table><caption>Loss</caption>{''.join(rows)}</table>"


def shown_order(decisions: Sequence[Hashable], truths: Sequence[Hashable]) -> list[int]:
    """Places of the decisions as they are shown: those that are truths in the order of these, then the others.

    So what is right stands on the diagonal.
    """
    place = {decision: k for k, decision in enumerate(decisions)}
    own = [place[truth] for truth in truths if truth in place]
    others = set(range(len(decisions))) - set(own)
    return [*own, *sorted(others)]


def _lines(
    corner: str,
    decisions: Sequence[Hashable],
    truths: Sequence[Hashable],
    costs: NDArray[Any],
    refuse: float | None,
) -> list[list[str]]:
    order = shown_order(decisions, truths)[:SHOWN]
    shown = np.asarray(costs[order, :SHOWN], dtype=np.float64).T
    lines = [[corner, *(str(decisions[place]) for place in order)]]
    lines += [[str(truth), *(f"{cost:g}" for cost in line)] for truth, line in zip(truths[:SHOWN], shown, strict=True)]
    more = len(decisions) - SHOWN
    if more > 0:
        lines = [[*line, f"… {more} more" if k == 0 else ""] for k, line in enumerate(lines)]
    if refuse is not None:
        lines = [[*line, f"{refuse:g}" if k else "REFUSED"] for k, line in enumerate(lines)]
    if len(truths) > SHOWN:
        lines.append([f"… {len(truths) - SHOWN} more", *[""] * (len(lines[0]) - 1)])
    return lines
