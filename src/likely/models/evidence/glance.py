"""What a file of an evidence model with the usual settings holds, told without its class."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from likely import store
from likely.explain.rank import held_out_bits
from likely.models.evidence.codec import read_learned
from likely.models.evidence.predictor import AdditivePredictor, text_scorers
from likely.models.evidence.prepare import binned_summary
from likely.models.evidence.telling_values import telling_lines
from likely.models.overview import LearnedOverview, shares_by_name, usual_title
from likely.scorer import Model, class_prior

USUAL: Mapping[str, object] = {
    "depth": "rest", "max_pairs": None, "max_triples": None, "time_limit": None, "priors": None, "class_weight": None,
    "schema": None, "text": None, "progress": None, "random_state": 0, "n_jobs": None,
}  # fmt: skip
"""The settings as files have them where nobody says any."""


def glance(found: store.FoundLearned) -> LearnedOverview | None:
    """None for other settings, and for corrections that are stale."""
    saved = found.saved
    title = usual_title(saved.kind, saved.settings, USUAL)
    if title is None:
        return None
    learned = read_learned(found.learned, found.reader, found.labels, saved.schema)
    if learned.stale:
        return None
    summary, evidence, columns = learned.summary, learned.evidence, saved.schema.features
    prior = class_prior(None, summary.classes)
    words = text_scorers(saved.schema.text, evidence, summary)
    model = AdditivePredictor(summary.classes.labels, columns, prior, evidence, words)
    by_counts = Model(model.classes, columns, prior, ())
    bits = held_out_bits(by_counts, binned_summary(evidence.encoding, summary), summary)
    return LearnedOverview(
        title, saved.provenance, saved.schema, summary.n_rows,
        shares_by_name(model.classes.tolist(), prior.tolist()), bits,
        telling=partial(telling_lines, model, summary), interactions=evidence.term_names(),
    )  # fmt: skip
