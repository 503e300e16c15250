"""Types and ranges of the settings of a support vector machine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from likely.models.settings import (
    COMMON,
    LARGEST,
    Check,
    are_tokenizers,
    between,
    is_truth,
    one_of,
    optional,
    refusal,
    whole_from,
)
from likely.models.svm.kernels import as_kernel
from likely.models.svm.solver import METHODS
from likely.numerics import is_between


def _is_cost(name: str, given: Any) -> None:
    if isinstance(given, str) and given in ("hard", "search"):
        return
    if not is_between(given, 0.0, LARGEST) or given == 0:
        raise refusal(name, given, "a number above 0, 'hard' or 'search'")


def _are_class_weights(name: str, given: Any) -> None:
    if given is None or (isinstance(given, str) and given == "balanced"):
        return
    if not isinstance(given, Mapping):
        raise refusal(name, given, "'balanced' or a mapping of classes to weights")
    for label, weight in given.items():
        between(f"{name} of {label!r}", weight, 0.0, np.inf)


CHECKS: dict[str, Check] = {
    **COMMON,
    "C": _is_cost,
    "kernel": lambda name, given: as_kernel(given),
    "scale": is_truth,
    "text": are_tokenizers,
    "class_weight": _are_class_weights,
    "method": one_of(*METHODS),
    "max_rows": whole_from(1),
    "landmarks": whole_from(1),
    "folds": whole_from(2),
    "tolerance": partial(between, low=0.0, high=1.0),
    "random_state": whole_from(0),
    "progress": optional(is_truth),
}
