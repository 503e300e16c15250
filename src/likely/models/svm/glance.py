"""What a file of a support vector machine with the usual settings holds, told without its class."""

from __future__ import annotations

from collections.abc import Mapping

from likely import store
from likely.models.overview import LearnedOverview, shares_by_name, usual_title
from likely.models.svm.codec import prior_shares, read_learned

USUAL: Mapping[str, object] = {
    "C": 1.0, "kernel": "gauss", "scale": True, "schema": None, "text": None, "class_weight": None, "priors": None,
    "method": "auto", "max_rows": 30_000, "landmarks": 500, "folds": 5, "tolerance": 1e-3, "random_state": 0,
    "progress": None, "n_jobs": None,
}  # fmt: skip
"""The settings where nobody says any."""


def glance(found: store.FoundLearned) -> LearnedOverview | None:
    """None for other settings."""
    saved = found.saved
    title = usual_title(saved.kind, saved.settings, USUAL)
    if title is None:
        return None
    learned = read_learned(found.learned, found.reader, saved.schema, len(found.labels))
    shares = shares_by_name(found.labels.tolist(), prior_shares(None, found.labels, learned.counts).tolist())
    return LearnedOverview(title, saved.provenance, saved.schema, learned.rows, shares, {})
