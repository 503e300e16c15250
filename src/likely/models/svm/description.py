"""A machine as plain values and arrays, for those who score rows without this package."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from likely.models.svm.calibration import Calibration
from likely.models.svm.features import (
    FARTHEST,
    FeatureBlock,
    NumericFeatures,
    OneHotFeatures,
    Preparation,
    TfidfFeatures,
)
from likely.models.svm.kernels import Kernel
from likely.models.svm.machine import Machine

MOST_CELLS = 120_000
"""Support vectors × features that are written out."""


def described(preparation: Preparation, machine: Machine, calibration: Calibration) -> dict[str, Any] | None:
    """How rows are made ready, support vectors or planes, sigmoids of pairs; None where these are too many numbers."""
    parts = [_part(part) for part in preparation.parts]
    if any(part is None for part in parts):
        return None
    told = {
        "parts": parts, "farthest": FARTHEST,
        "b": machine.b, "slopes": calibration.slopes, "shifts": calibration.shifts,
        "features": [[feature.name, feature.column] for feature in preparation.features],
        "kernel": _kernel(machine.kernel), "support": len(machine.rows), "vectors_are": machine.vectors_are,
    }  # fmt: skip
    if machine.w is not None:
        return {**told, "planes": machine.w} if machine.w.size <= MOST_CELLS else None
    n_pairs = len(machine.b)
    if machine.vectors.shape[0] * (machine.vectors.shape[1] + n_pairs) > MOST_CELLS:
        return None
    vectors = machine.vectors.toarray() if sparse.issparse(machine.vectors) else machine.vectors
    duals = np.array([machine.coefficients(place) for place in range(n_pairs)])
    return {**told, "vectors": np.asarray(vectors, dtype=np.float64), "duals": duals}


def _part(part: FeatureBlock) -> dict[str, Any] | None:
    if isinstance(part, NumericFeatures):
        own = {"centre": part.centre, "scale": part.scale, "fill": part.fill, "holed": part.holed.tolist()}
        return {"is": "numbers", "columns": part.columns, **own}
    if isinstance(part, OneHotFeatures):
        return {"is": "levels", "column": part.column, "levels": part.levels, "holed": part.holed}
    if isinstance(part, TfidfFeatures):
        return {
            "is": "text", "column": part.column, "tokenizer": part.tokenizer, "words": part.words.to_list(),
            "idf": part.idf,
        }  # fmt: skip
    return None


def _kernel(kernel: Kernel) -> list[object]:
    """The name of a kernel and its fields, kernels among them."""
    fields = [_kernel(part) if isinstance(part, Kernel) else part for part in vars(kernel).values()]
    return [type(kernel).__name__, *fields]
