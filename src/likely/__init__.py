"""Bayes classification for tables and texts as they are.

>>> import likely
>>> clf = likely.BayesClassifier().fit({"sky": ["grey", "grey", "blue"]}, ["wet", "wet", "dry"])
>>> clf.predict({"sky": ["grey"]}).tolist()
['wet']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from likely.version import __version__ as __version__

if TYPE_CHECKING:
    from likely.api import compare as compare
    from likely.api import data_notes as data_notes
    from likely.api import engine_table as engine_table
    from likely.api import evaluate as evaluate
    from likely.api import train as train
    from likely.comparison.comparison import Comparison as Comparison
    from likely.decide.loss import REFUSED as REFUSED
    from likely.decide.loss import Loss as Loss
    from likely.errors import DataError as DataError
    from likely.errors import FileError as FileError
    from likely.errors import LikelyError as LikelyError
    from likely.errors import ModelFileError as ModelFileError
    from likely.errors import NotMergeable as NotMergeable
    from likely.errors import SchemaError as SchemaError
    from likely.errors import SettingsError as SettingsError
    from likely.evaluation.report import Report as Report
    from likely.families.smoothing import Laplace as Laplace
    from likely.families.smoothing import MEstimate as MEstimate
    from likely.io.file_table import open_table as open_table
    from likely.models.bayes.aode import AODEClassifier as AODEClassifier
    from likely.models.bayes.classifier import BayesClassifier as BayesClassifier
    from likely.models.bayes.full import FullBayesClassifier as FullBayesClassifier
    from likely.models.calibrated import CalibratedClassifier as CalibratedClassifier
    from likely.models.convnet.classifier import ConvNetClassifier as ConvNetClassifier
    from likely.models.evidence.classifier import EvidenceClassifier as EvidenceClassifier
    from likely.models.persistence import load as load
    from likely.models.svm.classifier import SVMClassifier as SVMClassifier
    from likely.models.tree.classifier import TreeClassifier as TreeClassifier
    from likely.models.tree.discretiser import TreeDiscretiser as TreeDiscretiser
    from likely.numerics import bayes_rule as bayes_rule
    from likely.table.schema import Schema as Schema
    from likely.warmup import warm_up as warm_up

_NAMES = {
    "api": ("compare", "data_notes", "engine_table", "evaluate", "train"),
    "comparison.comparison": ("Comparison",),
    "decide.loss": ("REFUSED", "Loss"),
    "errors": (
        "DataError", "FileError", "LikelyError", "ModelFileError", "NotMergeable", "SchemaError", "SettingsError",
    ),
    "evaluation.report": ("Report",),
    "families.smoothing": ("Laplace", "MEstimate"),
    "io.file_table": ("open_table",),
    "models.bayes.aode": ("AODEClassifier",),
    "models.bayes.classifier": ("BayesClassifier",),
    "models.bayes.full": ("FullBayesClassifier",),
    "models.calibrated": ("CalibratedClassifier",),
    "models.convnet.classifier": ("ConvNetClassifier",),
    "models.evidence.classifier": ("EvidenceClassifier",),
    "models.persistence": ("load",),
    "models.svm.classifier": ("SVMClassifier",),
    "models.tree.classifier": ("TreeClassifier",),
    "models.tree.discretiser": ("TreeDiscretiser",),
    "numerics": ("bayes_rule",),
    "table.schema": ("Schema",),
    "warmup": ("warm_up",),
}  # fmt: skip
"""The public names by the module that has them."""

_HOME = {name: f"likely.{module}" for module, names in _NAMES.items() for name in names}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `import likely` alone loads nothing heavy."""
    if name not in _HOME:
        raise AttributeError(f"module 'likely' has no attribute {name!r}")
    return vars(import_module(_HOME[name]))[name]


def __dir__() -> list[str]:
    return sorted(__all__)
