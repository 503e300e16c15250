"""Explanations as HTML for notebooks and pages. Names and values come from data: all of them are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from likely.arrays import Array
from likely.numerics import log_normalise
from likely.render.text import Board, factor, left_out, shortened

LONGEST_NAME = 60
FOR, AGAINST = "#0072B2", "#D55E00"
"""Blue and vermilion: told apart by readers of every kind of colour vision."""

_TABLE = 'style="border-collapse:collapse;font-variant-numeric:tabular-nums"'
_CELL = "padding:2px 10px;text-align:right;white-space:nowrap"
_NAME = "padding:2px 10px;text-align:left"
_RULE = "border-top:1px solid currentColor;font-weight:600"
_STYLE = "body{font:14px/1.45 system-ui,sans-serif;color:#222;max-width:70rem;margin:1.5rem auto;padding:0 1rem}"
_STYLE += "table{border-collapse:collapse;margin:.5rem 0 1.5rem}thead th{border-bottom:1px solid #999}"
_STYLE += "tbody tr:nth-child(even){background:#f5f7f9}h1{font-size:1.3rem}h2{font-size:1.05rem;margin:1rem 0 .2rem}"
_BAR = "display:inline-block;height:0.7em;vertical-align:middle"


def whole_page(title: str, body: str) -> str:
    """A page of its own around tables, which opens offline."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head><body>{body}</body></html>\n'


def explanation_page(boards: Sequence[Board], n_rows: int) -> str:
    """A table per row: every factor under every class, and how it weighs the classes against one another."""
    tables = [_explanation_table(board, f"row {row}" if n_rows > 1 else "") for row, board in enumerate(boards)]
    return "".join([*tables, _more_rows(n_rows - len(boards))])


def contrast_page(
    title: str, chance: str, rows: Sequence[tuple[list[tuple[str, float]], float, float]], n_rows: int
) -> str:
    """A table per row: every factor's log-odds with a bar to the side it speaks for."""
    tables = []
    for row, (lines, total, probability) in enumerate(rows):
        widest = max([abs(value) for _, value in [*lines, ("", total)] if np.isfinite(value)], default=0.0) or 1.0
        body = [_contrast_line(label, value, widest, "") for label, value in lines]
        body.append(_contrast_line("together", total, widest, _RULE))
        caption = f"{title}, row {row}" if n_rows > 1 else title
        head = _row([_th("factor", _NAME), _th("log-odds", _CELL), _th("against | for", "text-align:center")])
        foot = f"<p>{escape(chance)} = {probability:.4f}</p>"
        tables.append(_table(caption, head, body) + foot)
    return "".join([*tables, _more_rows(n_rows - len(rows))])


def _explanation_table(board: Board, caption: str) -> str:
    head = _row([_th("factor", _NAME), *(_th(shortened(label, LONGEST_NAME), _CELL) for label in board.classes)])
    body = [_factor_line(line.label, line.logs, "") for line in board.lines]
    body.append(_factor_line("product", board.joint, _RULE))
    shares = [_td(f"{_bar(share, FOR)} <b>{share:.4f}</b>", _CELL) for share in board.posterior]
    body.append(_row([_td("<b>posterior</b>", _NAME), *shares]))
    notes = "".join(f"<p>{escape(note)}</p>" for note in left_out(board))
    return _table(caption, head, body) + notes


def _factor_line(label: str, logs: Array, style: str) -> str:
    shares = relative(logs)
    cells = [_td(f"{_bar(s, FOR)} {factor(v)}", f"{_CELL};{style}") for v, s in zip(logs, shares, strict=True)]
    return _row([_td(escape(shortened(label, 2 * LONGEST_NAME)), f"{_NAME};{style}"), *cells])


def relative(logs: Array) -> Array:
    """Factors as shares of their sum: what each would make of classes that were equally probable."""
    peak = logs.max(initial=-np.inf)
    if not np.isfinite(peak):
        return np.full(len(logs), 1.0 / max(len(logs), 1))
    return log_normalise(logs)[0]


def _contrast_line(label: str, value: float, widest: float, style: str) -> str:
    share = min(abs(value) / widest, 1.0)
    left = _bar(share, AGAINST) if value < 0 else ""
    right = _bar(share, FOR) if value > 0 else ""
    sides = (
        f'<span style="display:inline-block;width:7em;text-align:right">{left}</span>'
        f'<span style="display:inline-block;width:7em;text-align:left;border-left:1px solid #999">{right}</span>'
    )
    written = f"{value:+.4f}" if np.isfinite(value) else ("+∞" if value > 0 else "−∞")
    name = _td(escape(shortened(label, 2 * LONGEST_NAME)), f"{_NAME};{style}")
    return _row([name, _td(written, f"{_CELL};{style}"), _td(sides, "white-space:nowrap")])


def _bar(share: float, colour: str) -> str:
    return f'<span style="{_BAR};width:{6.0 * share:.2f}em;background:{colour}"></span>'


def _table(caption: str, head: str, body: Sequence[str]) -> str:
    title = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    return f"<table {_TABLE}>{title}<thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"


def _row(cells: Sequence[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _th(text: str, style: str) -> str:
    return f'<th style="{style}">{escape(text)}</th>'


def _td(html: str, style: str) -> str:
    return f'<td style="{style}">{html}</td>'


def _more_rows(n_rows: int) -> str:
    return f"<p>… and {n_rows} more rows</p>" if n_rows > 0 else ""
