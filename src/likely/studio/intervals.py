"""How sure the model is, for the page.

Of naive Bayes: mean and variance of what each value adds, at some values. The page interpolates between the values of a
number, so its interval differs from `predict_interval` in the third digit or so; for categories it is the same. Of
evidence: the rows and tables from which `models/evidence/laplace` has its variances; the page follows it exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from likely.arrays import Array, Json
from likely.errors import LikelyError
from likely.explain.credible import is_counted
from likely.families import family_named
from likely.families.protocol import Uncertain
from likely.families.smoothing import log_bias, trigamma
from likely.models.classifier import Classifier
from likely.models.evidence.classifier import EvidenceClassifier
from likely.models.evidence.description import described_laplace
from likely.models.learner import Learner
from likely.scorer import evidence_for
from likely.studio.columns import ColumnFacts
from likely.table import as_table

MOST_CELLS = 1_500
"""Columns × classes up to which the intervals of evidence go into a page."""

MOST_COLUMNS = 750
MOST_NUMBERS = 90_000
"""Columns, and values × classes of all of them, up to which those of naive Bayes do."""

LEFT_OUT: dict[str, object] = {"is": "left out"}
"""Instead of intervals that would make the page too large: the model has some, and the page says so."""

MOST_POINTS = 60


def interval_tables(classifier: Classifier, facts: Mapping[str, ColumnFacts]) -> dict[str, object] | None:
    """What the page needs for credible intervals; None if there are none for this model."""
    if isinstance(classifier, EvidenceClassifier):
        return _of_evidence(classifier)
    return _of_columns(classifier, facts) if isinstance(classifier, Learner) else None


def _of_evidence(classifier: EvidenceClassifier) -> dict[str, object] | None:
    weights = np.maximum(classifier.summary_.classes.weights, 1.0)
    evidence = classifier.model_.evidence
    if len(weights) < 2:
        return None
    if len(evidence.encoding.columns) * len(weights) > MOST_CELLS:
        return LEFT_OUT
    prior = trigamma(weights) + trigamma(np.maximum(weights.sum() - weights, 1.0))
    return {"is": "laplace", **described_laplace(evidence), "prior": prior if is_counted(classifier.priors) else None}


def _of_columns(classifier: Learner, facts: Mapping[str, ColumnFacts]) -> dict[str, object] | None:
    """For each column its values, and shift and variance of the log-likelihood (values × classes); None if unknown."""
    families, summary = classifier.families_, classifier.summary_
    statistics = {name: family_named(family) for name, family in families.items()}
    if not all(issubclass(kind, Uncertain) and kind.reads != "text" for kind in statistics.values()):
        return None
    if vars(classifier).get("weights") is not None or vars(classifier).get("missing", "ignore") != "ignore":
        return None
    whole = {column.name for column in classifier.schema_ if column.storage == "integer"}
    asked = {name: _values(facts.get(name, {}), whole=name in whole) for name in families}
    n_numbers = sum(len(values) for values in asked.values() if values is not None) * len(summary.classes)
    if len(families) > MOST_COLUMNS or n_numbers > MOST_NUMBERS:
        return LEFT_OUT
    settings = classifier._settings_for(summary, families)
    columns, n_classes = [], len(summary.classes)
    for kind, names, seen in evidence_for(families, summary):
        assert issubclass(kind, Uncertain)
        for place, name in enumerate(names):
            values = asked[name]
            if values is None:
                return None
            table = as_table({name: values})
            one = seen.select(np.array([place], dtype=np.intp))
            moved = np.zeros((2, table.n_rows, n_classes))
            try:
                kind.uncertainty((name,), one, summary.classes.weights, settings, table)(
                    slice(0, table.n_rows), moved[0], moved[1]
                )
            except LikelyError:
                return None
            told = np.minimum(moved, 1e30).astype(np.float32)
            smooth = "edges" not in facts.get(name, {}) and kind.statistic != "histogram"
            columns.append({"name": name, "values": values, "shift": told[0], "variance": told[1], "smooth": smooth})
    weights = summary.classes.weights
    counted = is_counted(classifier.priors)
    prior = {"shift": log_bias(weights), "variance": trigamma(weights)} if counted else None
    return {"is": "columns", "columns": columns, "prior": prior}


def _values(told: ColumnFacts, *, whole: bool) -> Array | Sequence[Json] | None:
    """The values at which a column is asked: few whole numbers are all there, so that these need no interpolation."""
    if "grid" in told:
        grid = np.asarray(told["grid"], dtype=np.float64)
        if whole and len(grid) and grid[-1] - grid[0] < MOST_POINTS:
            return np.arange(np.ceil(grid[0]), np.floor(grid[-1]) + 1.0)
        return grid[:: max(len(grid) // MOST_POINTS, 1)]
    return told.get("values") or told.get("outcomes")
