"""The additive model as plain values and arrays, for those who score rows without this package."""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.arrays import Array
from likely.models.evidence.encoding import BinnedNumber, Column
from likely.models.evidence.laplace import LaplaceApproximation
from likely.models.evidence.predictor import AdditiveModel, AdditivePredictor
from likely.parallel import one_thread_each


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
        "trees": {
            "columns": evidence.trees.columns,
            "sides": evidence.trees.sides,
            "leaves": evidence.trees.leaves,
            "covers": evidence.trees.covers,
        },
        "discriminant": {
            "columns": evidence.discriminant.columns,
            "values": evidence.discriminant.values,
            "linear": evidence.discriminant.linear,
            "products": evidence.discriminant.products,
            "base": evidence.discriminant.base,
        },
        "texts": texts,
    }


def _column(column: Column) -> dict[str, object]:
    shared = {"name": column.name, "gap": column.gap, "size": column.size, "mass": column.mass}
    groups = {"coarse": column.coarse, "tiny": column.tiny}
    if isinstance(column, BinnedNumber):
        return {**shared, **groups, "cuts": column.cuts, "means": column.means}
    return {**shared, **groups, "levels": list(column.levels), "rare": list(column.rare)}


def described_laplace(model: AdditiveModel) -> dict[str, object]:
    """The rows and prior covariances from which `LaplaceApproximation` has its variances, before any factorisation.

    A table of covariances is None where it is that of categories: 1 for a code with itself, 0 else, and 0 for code 0.
    Those of main effects are not written out: `encoding.numeric_covariance` says how they follow from means and masses.
    """
    with one_thread_each():
        laplace = LaplaceApproximation(model)
    prior = laplace.prior_covariance
    return {
        "codes": laplace.rows.codes, "hessian": laplace.rows.hessian, "variance": laplace.variance,
        "widening": laplace.widening,
        "coarse": [_covariance(table) for table in prior.coarse],
        "tiny": [_covariance(table) for table in prior.tiny] if len(prior.terms.triples) else [],
        "pair_scale": prior.pair_scale, "term_scales": prior.term_scales,
        "pairs": prior.terms.pairs.tolist(), "triples": prior.terms.triples.tolist(),
    }  # fmt: skip


def _covariance(table: Array) -> Array | None:
    categories = np.eye(len(table))
    categories[0, 0] = 0.0
    return None if np.array_equal(table, categories) else table
