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
    from likely.api import engine_table, evaluate, train
    from likely.comparison.compare import compare
    from likely.comparison.comparison import Comparison
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
    from likely.evaluation.report import Report
    from likely.families.smoothing import Laplace, MEstimate
    from likely.io.table import open_table
    from likely.models.bayes.aode import AODEClassifier
    from likely.models.bayes.classifier import BayesClassifier
    from likely.models.bayes.full import FullBayesClassifier
    from likely.models.calibrated import CalibratedClassifier
    from likely.models.convnet.classifier import ConvNetClassifier
    from likely.models.evidence.classifier import EvidenceClassifier
    from likely.models.persistence import load
    from likely.models.svm.classifier import SVMClassifier
    from likely.models.tree.classifier import TreeClassifier
    from likely.models.tree.discretiser import TreeDiscretiser
    from likely.numerics import bayes_rule
    from likely.table.schema import Schema

_HOME = {
    "AODEClassifier": "likely.models.bayes.aode",
    "BayesClassifier": "likely.models.bayes",
    "CalibratedClassifier": "likely.models.calibrated",
    "Comparison": "likely.comparison",
    "ConvNetClassifier": "likely.models.convnet.classifier",
    "DataError": "likely.errors",
    "EvidenceClassifier": "likely.models.evidence.classifier",
    "FileError": "likely.errors",
    "FullBayesClassifier": "likely.models.bayes",
    "Laplace": "likely.families.smoothing",
    "LikelyError": "likely.errors",
    "Loss": "likely.decide",
    "MEstimate": "likely.families.smoothing",
    "ModelFileError": "likely.errors",
    "NotMergeable": "likely.errors",
    "REFUSED": "likely.decide",
    "Report": "likely.evaluation",
    "SVMClassifier": "likely.models.svm.classifier",
    "Schema": "likely.table.schema",
    "SchemaError": "likely.errors",
    "SettingsError": "likely.errors",
    "TreeClassifier": "likely.models.tree.classifier",
    "TreeDiscretiser": "likely.models.tree.discretiser",
    "bayes_rule": "likely.numerics",
    "compare": "likely.comparison",
    "engine_table": "likely.api",
    "evaluate": "likely.api",
    "load": "likely.models.persistence",
    "open_table": "likely.io",
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
    "engine_table",
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
