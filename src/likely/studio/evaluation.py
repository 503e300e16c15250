"""How good the model is, as plain values: figures with intervals, curves, and posteriors to move costs with."""

from __future__ import annotations

import numpy as np

from likely.comparison.comparison import Comparison
from likely.errors import parts_of
from likely.evaluation.intervals import rows_worth, wilson
from likely.evaluation.report import Report
from likely.render.table import records
from likely.studio.payload import plain_value

MOST_CURVES = 12
"""Classes, the most frequent ones, whose curves are drawn."""

POINTS = 120
MOST_CELLS = 40_000
"""Rows × classes of posteriors that go into the page; a larger table gives a sample of its rows."""


def evaluation(report: Report, *, honest: bool, name: str) -> dict[str, object]:
    """A report for the page; `honest` says whether the rows were held out from what had learned them."""
    return {
        "how": _parts(report.how), "data": name, "honest": honest, "rows": report.n_rows,
        "classifier": report.classifier, "figures": _figures(report),
        "by_class": records(report.by_class.reset_index()),
        "confusion": report.confusion.to_numpy(dtype=np.float64), "calibration": _calibration(report),
        "decisions": [plain_value(name) for name in report.confusion.columns], **_curves(report), **_rows(report),
    }  # fmt: skip


def _parts(how: str) -> list[str]:
    """How rows were held out, in parts that the page translates one by one."""
    return [str(part) for part in parts_of(how)]


def _figures(report: Report) -> list[dict[str, object]]:
    told = []
    for name, value in report.figures.items():
        ends = report.intervals.get(name)
        told.append({"name": name, "value": value, **({} if ends is None else {"low": ends.low, "high": ends.high})})
    return told


def _calibration(report: Report) -> list[dict[str, object]]:
    """Bins of the share that was given to the most probable class, with Wilson's interval of what came true."""
    worth = rows_worth(report.predictions.weight, report.repeats) / max(float(report.predictions.weight.sum()), 1e-300)
    bins = []
    for line in records(report.calibration()):
        ends = wilson(float(str(line["observed"])), float(str(line["weight"])) * worth)
        bins.append({**line, "from": ends.low, "to": ends.high})
    return bins


def _curves(report: Report) -> dict[str, list[dict[str, object]]]:
    support = report.rates.support
    shown = [report.classes[k] for k in np.argsort(-support, kind="stable")[:MOST_CURVES]]
    found: dict[str, list[dict[str, object]]] = {"roc": [], "precision_recall": []}
    for name, frame, across, up in (
        ("roc", report.roc(POINTS), "false_positive_rate", "true_positive_rate"),
        ("precision_recall", report.precision_recall(POINTS), "recall", "precision"),
    ):
        for place, label in enumerate(report.classes):
            own = frame[frame["class"].map(lambda each, label=label: each == label)] if len(frame) else frame
            if label in shown and len(own):
                x, y = (own[column].to_numpy(dtype=np.float32) for column in (across, up))
                found[name].append({"class": place, "x": x, "y": y})
    return found


def _rows(report: Report) -> dict[str, object]:
    """Posteriors and truths of all rows, or of a sample that does not depend on chance."""
    predictions = report.predictions
    if predictions.posterior is None:
        return {}
    n, k = predictions.posterior.shape
    most = max(MOST_CELLS // max(k, 1), 1)
    some = np.arange(n) if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    told = {"posteriors": predictions.posterior[some].astype(np.float32), "truths": predictions.truth[some]}
    return {**told, "weights": predictions.weight[some].astype(np.float32), "sampled": len(some) < n}


def comparison(found: Comparison) -> dict[str, object]:
    """A leaderboard with its noise."""
    lines = records(found.to_frame().reset_index())
    plain = [{key: plain_value(value) for key, value in line.items()} for line in lines]
    return {
        "by": found.by,
        "how": _parts(found.how),
        "best": found.best,
        "simplest": found.simplest,
        "lines": plain,
    }
