"""The parts of a report as frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.arrays import Array
from likely.decide import REFUSED
from likely.errors import SettingsError, listed
from likely.evaluation.intervals import Interval, rows_worth, wilson
from likely.evaluation.metrics import (
    AVERAGES,
    Curve,
    Rates,
    calibration,
    crossed,
    curve,
    has_curves,
    log_losses,
    mean,
    thinned,
)
from likely.evaluation.predictions import Predictions
from likely.table import index_levels

if TYPE_CHECKING:
    import pandas as pd

Points = Callable[[Curve], tuple[Array, Array, Array]]


def measures(found: dict[str, float], ends: dict[str, Interval]) -> pd.DataFrame:
    """measure, value, low, high, interval."""
    import pandas as pd

    lines = [(name, value, ends.get(name)) for name, value in found.items()]
    cells = [
        (
            name,
            value,
            None if end is None else end.low,
            None if end is None else end.high,
            "" if end is None else end.method,
        )
        for name, value, end in lines
    ]
    return pd.DataFrame(cells, columns=["measure", "value", "low", "high", "interval"]).set_index("measure")


def confusion(predictions: Predictions) -> pd.DataFrame:
    """Truths × decisions, whole numbers where rows have no weights."""
    import pandas as pd

    n_decisions = len(predictions.decisions)
    table = crossed(predictions.truth, predictions.decided, predictions.weight, len(predictions.classes), n_decisions)
    names: list[Any] = list(predictions.decisions.tolist())
    # Decisions that are classes in their order, then others: what is right stands on the diagonal.
    own = [int(place) for place in index_levels(predictions.classes.tolist(), names) if place >= 0]
    order = [*own, *(place for place in range(len(names)) if place not in set(own))]
    if predictions.may_refuse:
        order.append(len(names))
        names.append(REFUSED)
    table, names = table[:, order], [names[place] for place in order]
    rounded = table.round()
    if np.abs(table - rounded).max(initial=0.0) < 1e-9:
        table = rounded.astype(np.int64)
    rows = _labels(predictions.classes.tolist(), "truth")
    return pd.DataFrame(table, index=rows, columns=_labels(names, "decision"))


def by_class(predictions: Predictions, rates: Rates, repeats: int) -> pd.DataFrame:
    """One line per class."""
    import pandas as pd

    worth = rows_worth(predictions.weight, repeats) / max(float(predictions.weight.sum()), np.finfo(float).tiny)
    columns: dict[str, Any] = {}
    for name, shares, out_of in (
        ("precision", rates.precision, rates.decided),
        ("recall", rates.recall, rates.support),
    ):
        ends = [wilson(float(share), float(n) * worth) for share, n in zip(shares, out_of, strict=True)]
        columns |= {name: shares, f"{name}_low": [e.low for e in ends], f"{name}_high": [e.high for e in ends]}
    columns["f"] = rates.f
    if has_curves(predictions):
        curves = [curve(predictions, label) for label in range(len(predictions.classes))]
        columns["roc_auc"] = [each.roc_auc() if each.is_defined else None for each in curves]
        columns["average_precision"] = [each.average_precision() if each.is_defined else None for each in curves]
    columns["weight"] = rates.support
    return pd.DataFrame(columns, index=_labels(predictions.classes.tolist(), "class"))


def averages(rates: Rates) -> pd.DataFrame:
    """macro, micro and weighted."""
    import pandas as pd

    lines = [rates.average(kind) for kind in AVERAGES]
    return pd.DataFrame(lines, columns=["precision", "recall", "f"], index=pd.Index(AVERAGES, name="average"))


def folds(predictions: Predictions, beta: float) -> pd.DataFrame:
    """One line per fold."""
    import pandas as pd

    lines = []
    for fold in np.unique(predictions.fold):
        part = predictions.take(np.flatnonzero(predictions.fold == fold))
        line = {"fold": int(fold), "rows": len(part), "accuracy": Rates.of(part, beta).accuracy}
        if part.shares is not None:
            line["log_loss"] = mean(log_losses(part.shares.likelihood), part.weight)
        if part.cost is not None:
            line["expected_cost"] = mean(part.cost, part.weight)
        lines.append(line)
    return pd.DataFrame(lines).set_index("fold")


def calibration_bins(predictions: Predictions, label: Any) -> pd.DataFrame:
    """low, high, predicted, observed, weight; bins without rows are left out."""
    import pandas as pd

    if label is None and predictions.shares is None:
        return pd.DataFrame(columns=["low", "high", "predicted", "observed", "weight"], dtype=float)
    place = None
    if label is not None:
        names = predictions.classes.tolist()
        if label not in names:
            raise SettingsError(f"{label!r} is no class; the classes are {listed(names)}.")
        if predictions.posterior is None:
            raise SettingsError("The posteriors were not kept, so there is no calibration of single classes.")
        place = names.index(label)
    bins = calibration(predictions, place)
    edges = np.linspace(0.0, 1.0, len(bins.weight) + 1)
    columns = {"low": edges[:-1], "high": edges[1:], "predicted": bins.predicted, "observed": bins.observed}
    frame = pd.DataFrame({**columns, "weight": bins.weight})
    return frame[frame["weight"] > 0.0].reset_index(drop=True)


def roc(predictions: Predictions, most: int | None) -> pd.DataFrame:
    """class, false_positive_rate, true_positive_rate, threshold."""
    return _points(predictions, Curve.roc, ("false_positive_rate", "true_positive_rate", "threshold"), most)


def precision_recall(predictions: Predictions, most: int | None) -> pd.DataFrame:
    """class, precision, recall, threshold."""
    return _points(predictions, Curve.precision_recall, ("precision", "recall", "threshold"), most)


def _points(predictions: Predictions, points: Points, names: tuple[str, str, str], most: int | None) -> pd.DataFrame:
    import pandas as pd

    parts = []
    for place, label in enumerate(predictions.classes.tolist() if has_curves(predictions) else []):
        drawn = curve(predictions, place)
        if drawn.is_defined:
            cells = points(drawn)
            shown = thinned(len(cells[0]), most or len(cells[0]))
            columns = {name: column[shown] for name, column in zip(names, cells, strict=True)}
            parts.append(pd.DataFrame({"class": pd.Series([label] * len(shown), dtype=object), **columns}))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["class", *names])


def _labels(labels: list[Any], name: str) -> pd.Index:
    """Labels as they are: tuples, too, are single labels."""
    import pandas as pd

    return pd.Index(labels, name=name, dtype=object, tupleize_cols=False)
