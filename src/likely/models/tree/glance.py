"""What a file of a tree with the usual settings holds, told without its class."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from likely import store
from likely.models.overview import LearnedOverview, shares_by_name, usual_title
from likely.models.registry import WORDS
from likely.models.tree.codec import check_features, read_tree
from likely.models.tree.export import as_text
from likely.models.tree.information import information_by_column

USUAL: Mapping[str, object] = {
    "measure": "gain_ratio", "restrained": None, "min_cases": 2, "max_depth": None, "missing": "weights",
    "prune": ("confidence", 0.9), "raising": False, "collapse": True, "subsets": False, "binary": False,
    "binned": False, "smoothing": 1.0, "priors": None, "loss": None, "schema": None, "random_state": 0, "n_jobs": None,
}  # fmt: skip
"""The settings where nobody says any, but for the number of words."""


def glance(found: store.FoundLearned) -> LearnedOverview | None:
    """None for other settings."""
    saved, data = found.saved, found.learned
    settings = dict(saved.settings)
    words = settings.pop("text_tokens", None)
    title = usual_title(saved.kind, settings, USUAL, *([] if words is None else [f"text_tokens={words}"]))
    if title is None or words not in (None, WORDS) or data["rows"] != saved.rows:
        return None
    tree = read_tree(data["tree"], found.reader, found.labels)
    check_features(tree, saved.schema, words or 0)
    prior = tree.counts[0] / tree.counts[0].sum()
    bits = {name: held_out for name, (held_out, _) in information_by_column(tree, saved.schema.features).items()}
    return LearnedOverview(
        title, saved.provenance, saved.schema, saved.rows,
        shares_by_name(tree.classes.tolist(), prior.tolist()), bits, text=partial(as_text, tree),
    )  # fmt: skip
