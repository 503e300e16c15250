"""What a model that counts has learned, at a glance; of a usual one from its file alone, without its class.

To import a classifier is to import scikit-learn, which takes longer than all that there is to tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from likely import store
from likely.errors import LikelyError
from likely.explain.rank import TellingLine, held_out_bits, telling_lines
from likely.models.settings import USUAL, family_settings
from likely.scorer import Model
from likely.stats import Summary
from likely.table.schema import Schema

NAIVE = "BayesClassifier"


@dataclass(frozen=True, eq=False)
class Overview:
    """A model as it calls itself, where it comes from, and all that its classes, columns and values are told by."""

    title: str
    provenance: store.Provenance | None
    schema: Schema
    families: Mapping[str, str]
    summary: Summary
    model: Model
    bits: Mapping[str, float]

    def telling(self, per_class: int) -> list[TellingLine]:
        """The most telling values of each class; see `telling_values`."""
        return telling_lines(self.summary, per_class)


def usual_overview(path: str) -> Overview | None:
    """Of naive Bayes with the usual settings; None for everything else, and for what is to be refused by `load`."""
    try:
        found = store.read(path)
        saved = found.saved
        usual = saved.kind == NAIVE and {**USUAL, **saved.settings} == USUAL
        if not usual or not isinstance(found, store.Found) or found.saved.weights is not None:
            return None
        summary, families = found.saved.summary, found.saved.families
        model = Model.settle(summary, families, None, family_settings(USUAL, tuple(families)))
        found.check(model)
    except (LikelyError, OSError, *store.MADE_UP):
        return None
    bits = held_out_bits(model, summary)
    return Overview(f"{NAIVE}()", saved.provenance, saved.schema, families, summary, model, bits)
