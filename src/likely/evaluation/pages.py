"""A report as text for a terminal, as HTML, and as JSON."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.io.outputs import JSON, PAGE, Output, refuse, write_text

if TYPE_CHECKING:
    import pandas as pd

    from likely.evaluation.report import Report

SHOWN_CLASSES = 20
CURVE_POINTS = 200

STYLE = """
.likely-report{font:14px/1.45 system-ui,sans-serif;color:#222;max-width:60rem}
.likely-report table{border-collapse:collapse;margin:.5rem 0 1.2rem}
.likely-report th,.likely-report td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #ddd}
.likely-report th:first-child,.likely-report td:first-child{text-align:left}
.likely-report caption{text-align:left;font-weight:600;padding-bottom:.2rem}
"""


def headline(report: Report) -> str:
    """Who was judged, how, and on what."""
    return f"{report.classifier}, {report.how}: {report.n_rows:,} rows, {len(report.classes)} classes"


def tables(report: Report) -> list[tuple[str, list[list[str]]]]:
    """Title and cells (a head line first) of the tables that a person reads."""
    ends = report.intervals
    lines = [["measure", "value", "95 % from", "to", "interval"]]
    for name, value in report.figures.items():
        if name == "coverage" and not report.outcomes.may_refuse:
            continue
        end = ends.get(name)
        extra = ["", "", ""] if end is None else [_number(end.low), _number(end.high), end.method]
        lines.append([_spoken(name, report.beta), _number(value), *extra])
    shown = report.by_class[["precision", "recall", "f", "weight"]].head(SHOWN_CLASSES)
    per_class = [["class", "precision", "recall", _spoken("f", report.beta), "rows"]]
    per_class += [
        [str(label), *(_number(cell) for cell in row)] for label, row in zip(shown.index, shown.to_numpy(), strict=True)
    ]
    confusion = report.confusion.iloc[:SHOWN_CLASSES, :SHOWN_CLASSES]
    crossed = [["truth \\ decision", *(str(name) for name in confusion.columns)]]
    crossed += [
        [str(label), *map(_count, row)] for label, row in zip(confusion.index, confusion.to_numpy(), strict=True)
    ]
    more = len(report.classes) - SHOWN_CLASSES
    note = f" (the first {SHOWN_CLASSES} of {len(report.classes)})" if more > 0 else ""
    return [("Measures", lines), (f"Classes{note}", per_class), (f"Confusion{note}", crossed)]


def as_text(report: Report) -> str:
    """Aligned columns."""
    parts = [headline(report)]
    for title, lines in tables(report):
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        body = [
            "  ".join(
                cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        ]
        parts.append("\n".join([title, *(line.rstrip() for line in body)]))
    return "\n\n".join(parts)


def as_html(report: Report) -> str:
    """The same as tables with their own style; the confusion matrix is shaded by shares of the truth."""
    shares = report.confusion.iloc[:SHOWN_CLASSES, :SHOWN_CLASSES].to_numpy(dtype=float)
    shares = np.divide(shares, shares.sum(axis=1, keepdims=True), out=np.zeros_like(shares), where=shares > 0.0)
    parts = [f"<p><strong>{escape(headline(report))}</strong></p>"]
    for title, lines in tables(report):
        shaded = shares if title.startswith("Confusion") else None
        parts.append(_table(title, lines, shaded))
    return f'<div class="likely-report"><style>{STYLE}</style>{"".join(parts)}</div>'


def as_page(report: Report) -> str:
    """A whole page that opens offline."""
    title = escape(f"{report.classifier}: evaluation")
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    return f'<!DOCTYPE html><html lang="en"><head>{head}</head><body>{as_html(report)}</body></html>\n'


def as_json(report: Report) -> str:
    """Figures with intervals, tables and thinned curves."""
    ends = report.intervals
    measures = {
        name: {
            "value": value,
            **({"low": ends[name].low, "high": ends[name].high, "interval": ends[name].method} if name in ends else {}),
        }
        for name, value in report.figures.items()
    }
    confusion = report.confusion
    content = {
        "classifier": report.classifier,
        "how": report.how,
        "rows": report.n_rows,
        "repeats": report.repeats,
        "seed": report.seed,
        "beta": report.beta,
        "classes": report.classes,
        "measures": measures,
        "by_class": _records(report.by_class.reset_index()),
        "confusion": {
            "truths": list(confusion.index),
            "decisions": [str(name) if not isinstance(name, str | int | float) else name for name in confusion.columns],
            "counts": confusion.to_numpy().tolist(),
        },
        "folds": _records(report.folds.reset_index()),
        "calibration": _records(report.calibration()),
        "roc": _records(report.roc(CURVE_POINTS)),
        "precision_recall": _records(report.precision_recall(CURVE_POINTS)),
    }
    return json.dumps(content, ensure_ascii=False, indent=1, default=str)


def written(text: str, path: str | Path | None) -> str:
    """The text, which is also in the file if there is to be one."""
    if path is not None:
        refuse([Output(path, PAGE if text.startswith("<") else JSON)])
        write_text(path, text)
    return text


def _table(title: str, lines: list[list[str]], shares: Any) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in lines[0])
    body = []
    for row, line in enumerate(lines[1:]):
        cells = [f"<td>{escape(line[0])}</td>"]
        for column, cell in enumerate(line[1:]):
            shade = "" if shares is None else f' style="background:rgba(0,114,178,{0.6 * shares[row, column]:.2f})"'
            cells.append(f"<td{shade}>{escape(cell)}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )


def _spoken(name: str, beta: float) -> str:
    """A figure's name as a person says it."""
    measure = f"F{beta:g}"
    return (
        " ".join([measure if word == "f" else word for word in name.split("_")])
        .replace("roc auc", "ROC AUC")
        .replace("brier", "Brier")
    )


def _number(value: float | None) -> str:
    """Four digits after the point, or a whole number."""
    value = None if value is None else round(value, 9)
    return "" if value is None else f"{value:.4f}" if abs(value) < 1000.0 and value != int(value) else f"{value:,.6g}"


def _count(value: float) -> str:
    value = round(value, 9)
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Lines of a frame in plain types; what is no finite number is null."""
    return [{name: _plain(cell) for name, cell in line.items()} for line in frame.to_dict("records")]


def _plain(cell: Any) -> Any:
    if isinstance(cell, float | np.floating):
        return float(cell) if np.isfinite(cell) else None
    return cell.item() if isinstance(cell, np.generic) else cell
