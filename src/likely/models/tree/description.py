"""A tree as plain values and arrays, for those who walk down it without this package."""

from __future__ import annotations

from typing import Any

from likely.engines.memory import USUAL_TOKENIZER
from likely.models.tree.tree import Tree


def described(tree: Tree, smoothing: float) -> dict[str, Any]:
    """Tests, branches, stand-ins for gaps, and the share of every class in each node."""
    own = tree.surrogates
    return {
        "features": [
            {"name": feature.name, "column": feature.column, "levels": feature.levels, "word": feature.word}
            for feature in tree.features
        ],
        "missing": tree.missing,
        "column": tree.column,
        "threshold": tree.threshold,
        "first": tree.first_child,
        "children": tree.n_children,
        "values": tree.values.astype("int32"),
        "branches": tree.branches,
        "majority": tree.majority_branch,
        "counts": tree.counts,
        "sizes": tree.sizes,
        "shares": tree.probabilities(smoothing),
        "stand_ins": {
            "starts": own.starts.astype("int32"), "column": own.column, "threshold": own.threshold, "low": own.low,
            "high": own.high, "values": own.values.astype("int32"),
        },
        "tokenizer": USUAL_TOKENIZER,
    }  # fmt: skip
