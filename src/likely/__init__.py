"""Bayes classification for tables and texts as they are.

>>> import likely
>>> clf = likely.BayesClassifier().fit({"sky": ["grey", "grey", "blue"]}, ["wet", "wet", "dry"])
>>> clf.predict({"sky": ["grey"]}).tolist()
['wet']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likely.api import train
    from likely.errors import DataError, LikelyError, NotMergeable, SchemaError, SettingsError
    from likely.estimators import BayesClassifier
    from likely.families.smoothing import Laplace, MEstimate
    from likely.rule import bayes_rule
    from likely.schema import Schema

__version__ = "0.1.0"

_HOME = {
    "BayesClassifier": "likely.estimators",
    "DataError": "likely.errors",
    "Laplace": "likely.families.smoothing",
    "LikelyError": "likely.errors",
    "MEstimate": "likely.families.smoothing",
    "NotMergeable": "likely.errors",
    "Schema": "likely.schema",
    "SchemaError": "likely.errors",
    "SettingsError": "likely.errors",
    "bayes_rule": "likely.rule",
    "train": "likely.api",
}

__all__ = [
    "BayesClassifier",
    "DataError",
    "Laplace",
    "LikelyError",
    "MEstimate",
    "NotMergeable",
    "Schema",
    "SchemaError",
    "SettingsError",
    "bayes_rule",
    "train",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `import likely` alone loads nothing heavy."""
    if name not in _HOME:
        raise AttributeError(f"module 'likely' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
