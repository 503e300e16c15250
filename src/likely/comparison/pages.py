"""A comparison as a frame, as text for a terminal, as HTML and as JSON."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from likely.comparison.comparison import Comparison

SPOKEN = {"error": "error", "log_loss": "log loss", "brier": "Brier", "expected_cost": "cost"}
MARK = "◀"

STYLE = """
.likely-board{font:14px/1.45 system-ui,sans-serif;color:#222;max-width:70rem}
.likely-board table{border-collapse:collapse;margin:.5rem 0 .8rem}
.likely-board th,.likely-board td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #ddd}
.likely-board th:first-child,.likely-board td:first-child{text-align:left}
.likely-board tr.simplest{background:rgba(0,158,115,.15);font-weight:600}
.likely-board tr.noise td:first-child::after{content:" ≈"}
"""


def as_frame(board: Comparison) -> pd.DataFrame:
    """One line per classifier."""
    import pandas as pd

    measures = measures_of(board)
    lines = []
    for entry in board.entries:
        gap = board.differences[entry.name]
        figures = {name: entry.figure(name) for name in measures}
        lines.append(
            {
                "classifier": entry.name,
                **{name: np.nan if value is None else value for name, value in figures.items()},
                "difference": gap.mean,
                "low": gap.low,
                "high": gap.high,
                "within_noise": gap.is_noise,
                "simplest": entry.name == board.simplest,
                "fit_seconds": entry.fit_seconds,
                "predict_seconds": entry.predict_seconds,
                "model_bytes": entry.model_bytes,
                "reason": "",
            }
        )
    for failure in board.failures:
        nothing = {"within_noise": False, "simplest": False, "reason": failure.reason}
        lines.append({"classifier": failure.name, **nothing})
    frame = pd.DataFrame(lines).set_index("classifier")
    return frame.astype({"model_bytes": "Int64", "within_noise": bool, "simplest": bool})


def measures_of(board: Comparison) -> list[str]:
    """The measures of the table: the cost only where there is a loss."""
    with_loss = board.entries[0].report.outcomes.cost is not None
    return ["error", "log_loss", "brier", *(["expected_cost"] if with_loss else [])]


def headline(board: Comparison) -> str:
    """How, on what, and by which measure."""
    return f"{board.how}: {board.n_rows:,} rows; best by {SPOKEN[board.by]}"


def notes(board: Comparison) -> list[str]:
    """What the marks and intervals mean."""
    simple = board.simplest
    told = f"{MARK} {simple}: the simplest classifier that is not worse than {board.best} within noise."
    if simple == board.best:
        rest = "and no other is simpler" if board.is_simplest(simple) else "and no simpler one is as good within noise"
        told = f"{MARK} {simple} is the best, {rest}."
    return [told, f"Differences to the best with 95 % intervals: {board.interval}."]


def cells(board: Comparison) -> list[list[str]]:
    """The table as text, a head line first."""
    measures = measures_of(board)
    lines = [
        [
            "classifier",
            *(SPOKEN[name] for name in measures),
            "worse by",
            "95 % from",
            "to",
            "fit",
            "predict",
            "size",
            "",
        ]
    ]
    for entry in board.entries:
        gap = board.differences[entry.name]
        figures = [_number(entry.figure(name)) for name in measures]
        gaps = ["", "", ""] if entry.name == board.best else [_number(each) for each in (gap.mean, gap.low, gap.high)]
        times = [_seconds(entry.fit_seconds), _seconds(entry.predict_seconds), _bytes(entry.model_bytes)]
        lines.append([entry.name, *figures, *gaps, *times, MARK if entry.name == board.simplest else ""])
    return lines


def as_text(board: Comparison) -> str:
    """Aligned columns, notes, and who failed."""
    lines = cells(board)
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    body = [
        "  ".join(
            cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    failed = [f"{failure.name} could not take part: {failure.reason}" for failure in board.failures]
    return "\n".join([headline(board), "", *body, "", *notes(board), *failed])


def as_html(board: Comparison) -> str:
    """The same as a table with its own style. Names come from users: all of them are escaped."""
    lines = cells(board)
    head = "".join(f"<th>{escape(cell)}</th>" for cell in lines[0])
    body = []
    for entry, line in zip(board.entries, lines[1:], strict=True):
        kind = "simplest" if entry.name == board.simplest else "noise" if board.differences[entry.name].is_noise else ""
        body.append(f'<tr class="{kind}">{"".join(f"<td>{escape(cell)}</td>" for cell in line)}</tr>')
    failed = [f"{failure.name} could not take part: {failure.reason}" for failure in board.failures]
    told = "".join(f"<p>{escape(line)}</p>" for line in [*notes(board), *failed])
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    title = f"<p><strong>{escape(headline(board))}</strong></p>"
    return f'<div class="likely-board"><style>{STYLE}</style>{title}{table}{told}</div>'


def as_page(board: Comparison) -> str:
    """A whole page that opens offline."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Comparison</title>'
    return f'<!DOCTYPE html><html lang="en"><head>{head}</head><body>{as_html(board)}</body></html>\n'


def as_json(board: Comparison) -> str:
    """Figures, differences and reasons."""
    content = {
        "how": board.how,
        "rows": board.n_rows,
        "by": board.by,
        "best": board.best,
        "simplest": board.simplest,
        "interval": board.interval,
        "classifiers": [_plain(line) for line in as_frame(board).reset_index().to_dict("records")],
    }
    return json.dumps(content, ensure_ascii=False, indent=1)


def _plain(line: dict[Any, Any]) -> dict[str, Any]:
    """A line in plain types; what is no finite number is null."""
    found: dict[str, Any] = {}
    for name, cell in line.items():
        if isinstance(cell, str | bool):
            found[str(name)] = cell
        else:
            number = float(cell) if cell is not None and cell == cell and not _is_na(cell) else np.nan
            found[str(name)] = None if not np.isfinite(number) else int(number) if name == "model_bytes" else number
    return found


def _is_na(cell: Any) -> bool:
    return type(cell).__name__ in ("NAType", "NaTType")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}" if abs(value) < 1000.0 else f"{value:,.5g}"


def _seconds(value: float) -> str:
    return f"{value * 1000:.3g} ms" if value < 0.9995 else f"{value:.3g} s"


def _bytes(value: int) -> str:
    return f"{value:,} B" if value < 10_000 else f"{value / 1e3:,.0f} kB" if value < 1e7 else f"{value / 1e6:,.0f} MB"
