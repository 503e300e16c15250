"""The additive model as plain values and arrays, for those who score rows without this package."""

from __future__ import annotations

from typing import Any

from likely.models.evidence.encoding import Column, NumericColumn
from likely.models.evidence.predictor import AdditivePredictor


def described(model: AdditivePredictor) -> dict[str, Any] | None:
    """Codes of columns, tables of terms, weights of texts; None where a text has too many words to be written out."""
    evidence, texts = model.evidence, []
    for weight, words in zip(evidence.text_weights.tolist(), model.text_models, strict=True):
        told = words.described()
        if told is None:
            return None
        texts.append({**told, "columns": [words.column], "share": weight})
    encoding = evidence.encoding
    return {
        "is": "additive",
        "columns": [_column(column) for column in encoding.columns],
        "terms": [list(term) for term in evidence.terms.tuples(len(encoding.columns))],
        "starts": evidence.starts,
        "tables": evidence.tables,
        "coarse": encoding.coarse.widths,
        "tiny": encoding.tiny.widths,
        "beyond": model.beyond_prior(),
        "texts": texts,
    }


def _column(column: Column) -> dict[str, Any]:
    shared = {"name": column.name, "gap": column.gap, "size": column.size, "mass": column.mass}
    groups = {"coarse": column.coarse, "tiny": column.tiny}
    if isinstance(column, NumericColumn):
        return {**shared, **groups, "cuts": column.cuts, "means": column.means}
    return {**shared, **groups, "levels": list(column.levels), "rare": list(column.rare)}
