"""Parameters under scikit-learn's names: what they are called here, said where a name is not known."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from likely.errors import UnknownParameter, did_you_mean, listed

HERE = {
    "alpha": ("smoothing",),
    "var_smoothing": ("variance_floor",),
    "class_prior": ("priors",),
    "fit_prior": ("priors",),
    "class_weight": ("priors",),
    "criterion": ("measure",),
    "min_samples_split": ("min_cases",),
    "min_samples_leaf": ("min_cases",),
    "ccp_alpha": ("prune",),
    "max_leaf_nodes": ("prune", "max_depth"),
    "n_bins": ("bins",),
    "max_bins": ("bins", "binned"),
    "interactions": ("max_pairs",),
    "gamma": ("kernel",),
    "degree": ("kernel",),
    "coef0": ("kernel",),
    "tol": ("tolerance",),
    "solver": ("covariance", "method"),
    "reg_param": ("shrinkage",),
    "estimator": ("classifier",),
    "verbose": ("progress",),
    "max_iter": ("time_limit",),
}
"""What does the same work here, as far as a classifier has it."""


def refuse_unknown(kind: type, names: Iterable[str]) -> None:
    """Refuse parameters that a classifier does not have; say what scikit-learn's are called here."""
    own = list(inspect.signature(kind).parameters)
    unknown = [name for name in names if name not in own]
    if not unknown:
        return
    first = unknown[0]
    here = [name for name in HERE.get(first, ()) if name in own]
    if here:
        raise UnknownParameter(
            f"{kind.__name__} has no parameter {first!r}: what scikit-learn calls so is {listed(here)} here."
        )
    hint = did_you_mean(first, own)
    raise UnknownParameter(f"{kind.__name__} has no parameter {listed(unknown)}; it has {', '.join(own)}.{hint}")
