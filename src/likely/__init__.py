"""Bayes classification for tables and texts as they are.

>>> import likely
>>> clf = likely.BayesClassifier().fit({"sky": ["grey", "grey", "blue"]}, ["wet", "wet", "dry"])
>>> clf.predict({"sky": ["grey"]}).tolist()
['wet']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from likely.version import __version__

if TYPE_CHECKING:
    from likely.api import train
    from likely.comparison import Comparison, compare
    from likely.decide import REFUSED, Loss
    from likely.errors import (
        DataError,
        FileError,
        LikelyError,
        ModelFileError,
        NotMergeable,
        SchemaError,
        SettingsError,
    )
    from likely.estimators import BayesClassifier, FullBayesClassifier
    from likely.estimators.aode import AODEClassifier
    from likely.estimators.calibrated import CalibratedClassifier
    from likely.estimators.convnet import ConvNetClassifier
    from likely.estimators.discretiser import TreeDiscretiser
    from likely.estimators.evidence import EvidenceClassifier
    from likely.estimators.saving import load
    from likely.estimators.svm import SVMClassifier
    from likely.estimators.tree import TreeClassifier
    from likely.evaluation import Report, evaluate
    from likely.families.smoothing import Laplace, MEstimate
    from likely.files import open_table
    from likely.rule import bayes_rule
    from likely.schema import Schema


_HOME = {
    "AODEClassifier": "likely.estimators.aode",
    "BayesClassifier": "likely.estimators",
    "CalibratedClassifier": "likely.estimators.calibrated",
    "Comparison": "likely.comparison",
    "ConvNetClassifier": "likely.estimators.convnet",
    "DataError": "likely.errors",
    "EvidenceClassifier": "likely.estimators.evidence",
    "FileError": "likely.errors",
    "FullBayesClassifier": "likely.estimators",
    "Laplace": "likely.families.smoothing",
    "LikelyError": "likely.errors",
    "Loss": "likely.decide",
    "MEstimate": "likely.families.smoothing",
    "ModelFileError": "likely.errors",
    "NotMergeable": "likely.errors",
    "REFUSED": "likely.decide",
    "Report": "likely.evaluation",
    "SVMClassifier": "likely.estimators.svm",
    "Schema": "likely.schema",
    "SchemaError": "likely.errors",
    "SettingsError": "likely.errors",
    "TreeClassifier": "likely.estimators.tree",
    "TreeDiscretiser": "likely.estimators.discretiser",
    "bayes_rule": "likely.rule",
    "compare": "likely.comparison",
    "evaluate": "likely.evaluation",
    "load": "likely.estimators.saving",
    "open_table": "likely.files",
    "train": "likely.api",
}

__all__ = [
    "REFUSED",
    "AODEClassifier",
    "BayesClassifier",
    "CalibratedClassifier",
    "Comparison",
    "ConvNetClassifier",
    "DataError",
    "EvidenceClassifier",
    "FileError",
    "FullBayesClassifier",
    "Laplace",
    "LikelyError",
    "Loss",
    "MEstimate",
    "ModelFileError",
    "NotMergeable",
    "Report",
    "SVMClassifier",
    "Schema",
    "SchemaError",
    "SettingsError",
    "TreeClassifier",
    "TreeDiscretiser",
    "__version__",
    "bayes_rule",
    "compare",
    "evaluate",
    "load",
    "open_table",
    "train",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `import likely` alone loads nothing heavy."""
    if name not in _HOME:
        raise AttributeError(f"module 'likely' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
