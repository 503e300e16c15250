"""What a fitted evidence classifier says about itself: contributions of rows, tables of terms, intervals, a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likely.arrays import Array
from likely.explain import Explanation
from likely.explain.credible import around, is_counted
from likely.families.uncertainty import trigamma
from likely.markup import Markup, joined, tag
from likely.models.display import html_table
from likely.models.evidence.laplace import LaplaceApproximation
from likely.models.evidence.predictor import AdditiveModel, AdditivePredictor
from likely.models.evidence.term_tables import SEPARATOR, term_table
from likely.parallel import one_thread_each
from likely.render.factors import Status
from likely.table import Table

if TYPE_CHECKING:
    import pandas as pd

BASE = "beyond the prior"
STALE = " (corrections are stale)"
TOLD_STALE = "stale: rows were counted since it was fitted, so it is weighted naive Bayes until refresh(X, y)"
SHOWN_TERMS = 30


def table_of(model: AdditivePredictor, columns: tuple[str, ...]) -> pd.DataFrame:
    """The learned table of a column, a pair or a triple: one line per cell, what it adds for each class."""
    import pandas as pd

    told = term_table(model, columns)
    places = np.indices(told.entries.shape[:-1]).reshape(len(told.cells), -1)
    out: dict[Any, Any] = {
        name: [cells[code] for code in codes] for name, cells, codes in zip(told.names, told.cells, places, strict=True)
    }
    if len(told.columns) == 1:
        out["weight"] = told.columns[0].mass.tolist()
    said = told.entries.reshape(-1, len(model.classes))
    return pd.DataFrame(out | {label: said[:, k] for k, label in enumerate(model.classes.tolist())})


def terms_page(evidence: AdditiveModel, *, stale: bool) -> Markup:
    """Which columns are heard together, and whether the corrections are stale, as HTML."""
    names = [column.name for column in evidence.encoding.columns]
    lines = [[SEPARATOR.join(names[k] for k in term)] for term in evidence.terms.tuples()]
    more = html_table(["heard together"], lines[:SHOWN_TERMS], len(lines) - SHOWN_TERMS, "terms") if lines else None
    return joined(tag("p", TOLD_STALE) if stale else None, more)


def interval(
    model: AdditivePredictor, classes: Array, priors: Any, table: Table, level: float, n_jobs: int | None
) -> tuple[Array, Array]:
    """Bounds of P(class | row) by Laplace's approximation; `classes` are the weights of the classes."""
    believed = model.log_joint(table, n_jobs).posterior()
    if len(classes) < 2:
        return believed, believed
    with one_thread_each():
        variance = LaplaceApproximation(model.evidence).variances(model.codes(table, n_jobs))
    if is_counted(priors):
        weights = np.maximum(classes, 1.0)
        variance = variance + trigamma(weights) + trigamma(np.maximum(weights.sum() - weights, 1.0))
    return around(believed, variance, believed, level)


def explanation(model: AdditivePredictor, table: Table, *, stale: bool) -> Explanation:
    """Contributions of rows; pairs and triples have their own, under the names of their columns."""
    terms, contributions = model.contributions(table)
    strangers = model.unseen(table)
    cells: dict[str, list[object]] = {}
    status: dict[str, list[Status]] = {}
    for name in {name for term in terms for name in term}:
        cells[name] = _as_read(table, name)
        status[name] = ["gap" if cell is None else "known" for cell in cells[name]]
        for row in np.flatnonzero(strangers.get(name, np.zeros(0, dtype=np.bool_))):
            status[name][row] = "unseen"
    rows = range(table.n_rows)
    read = [tuple(_joined([cells[name][row] for name in term]) for term in terms) for row in rows]
    statuses = [tuple(_status([status[name][row] for name in term]) for term in terms) for row in rows]
    labels = tuple(SEPARATOR.join(term) if term else BASE + STALE * stale for term in terms)
    words = {
        one.column: [[token._replace(evidence=share * token.evidence) for token in row] for row in one.tokens(table)]
        for share, one in zip(model.evidence.text_weights, model.text_models, strict=True)
    }
    return Explanation(model.classes, labels, tuple(read), model.prior, contributions, tuple(statuses), words)


def _as_read(table: Table, name: str) -> list[object]:
    """The cells of a column as a person reads them, None for a gap."""
    column = table.codes(name)
    return [column.levels[code] if code >= 0 else None for code in column.codes]


def _joined(cells: list[object]) -> object:
    return cells[0] if len(cells) == 1 else tuple(cells)


def _status(parts: list[Status]) -> Status:
    kinds = set(parts)
    return "known" if not kinds else kinds.pop() if len(kinds) == 1 else "partly"
