"""A loss as a person reads it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHOWN = 8
"""Decisions and truths written out; a thousand classes have a million costs."""


def as_text(
    decisions: Sequence[Hashable], truths: Sequence[Hashable], costs: NDArray[Any], refuse: float | None
) -> str:
    """An aligned table, decisions in lines."""
    if costs.ndim == 3:
        lines = [[f"Loss of {len(costs):,} rows, each with its own {len(decisions)} decisions × {len(truths)} truths"]]
        if refuse is not None:
            lines.append([f"REFUSED  {refuse:g}"])
    else:
        lines = _lines("Loss", decisions, truths, costs)
        if refuse is not None:
            lines.append(["REFUSED", *(f"{refuse:g}" if k < SHOWN else "" for k in range(len(lines[0]) - 1))])
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
    head, *body = _lines("decision ╲ truth", decisions, truths, costs)
    rows = ["<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>"]
    for label, *cells in body:
        rows.append(f"<tr><th>{escape(label)}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    if refuse is not None:
        rows.append(f"<tr><th>refused</th><td colspan='{len(head) - 1}'>{refuse:g}</td></tr>")
    return f"<table><caption>Loss</caption>{''.join(rows)}</table>"


def _lines(
    corner: str, decisions: Sequence[Hashable], truths: Sequence[Hashable], costs: NDArray[Any]
) -> list[list[str]]:
    more = len(truths) - SHOWN
    shown = np.asarray(costs[:SHOWN, :SHOWN], dtype=np.float64)
    lines = [[corner, *(str(truth) for truth in truths[:SHOWN])]]
    lines += [
        [str(decision), *(f"{cost:g}" for cost in line)]
        for decision, line in zip(decisions[:SHOWN], shown, strict=True)
    ]
    if more > 0:
        lines = [[*line, f"… {more} more" if k == 0 else ""] for k, line in enumerate(lines)]
    if len(decisions) > SHOWN:
        lines.append([f"… {len(decisions) - SHOWN} more", *[""] * (len(lines[0]) - 1)])
    return lines
