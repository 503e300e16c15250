"""Saving a fitted classifier to a file, and loading it again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely import store
from likely.errors import LikelyError, ModelFileError
from likely.io.atomic import write_whole
from likely.io.outputs import MODEL, Output, refuse
from likely.models.bayes.aode import AODEClassifier
from likely.models.bayes.classifier import BayesClassifier
from likely.models.bayes.full import FullBayesClassifier
from likely.models.classifier import Persistable
from likely.models.learner import Learner
from likely.models.svm import kernels as _kernels  # noqa: F401 (settings may hold kernels: they register themselves)

KINDS: dict[str, type[AODEClassifier | BayesClassifier | FullBayesClassifier]] = {
    "AODEClassifier": AODEClassifier,
    "BayesClassifier": BayesClassifier,
    "FullBayesClassifier": FullBayesClassifier,
}
"""Classifiers that follow from a summary."""

LATER = frozenset({"bins", "restrained", "text_tokens", "weights"})
"""Settings that the first files do not have: these were written under what is still the default."""

KEPT: dict[str, str] = {
    "CalibratedClassifier": "likely.models.calibrated",
    "EvidenceClassifier": "likely.models.evidence.classifier",
    "SVMClassifier": "likely.models.svm.classifier",
    "TreeClassifier": "likely.models.tree.classifier",
    "ConvNetClassifier": "likely.models.convnet.classifier",
}
"""Classifiers that keep what they learned in their own form, and the module of each. Nothing else is ever built."""


def save(classifier: Learner | Persistable, path: str | os.PathLike[str], sources: Sequence[str] = ()) -> None:
    """Write a fitted classifier: whole or not at all.

    `sources` names what it was trained on; folders are left out.
    """
    refuse([Output(path, MODEL)])
    write_whole(path, packed(classifier, sources))


def packed(classifier: Learner | Persistable, sources: Sequence[str] = ()) -> bytes:
    """The bytes of the file."""
    check_is_fitted(classifier)
    about: dict[str, Any] = {
        "kind": type(classifier).__name__,
        "settings": classifier._settings_kept()
        if isinstance(classifier, Persistable)
        else classifier.get_params(deep=False),
        "schema": classifier.schema_,
        "named": hasattr(classifier, "feature_names_in_"),
        "provenance": store.Provenance(tuple(sources)),
    }
    if isinstance(classifier, Persistable):
        saved = store.Saved(**about, rows=classifier._rows_learned())
        return store.packed_learned(saved, classifier.classes_, classifier._write_learned)
    summary = classifier.summary_
    counted = store.Counted(
        **about, rows=summary.n_rows, families=classifier.families_, summary=summary, weights=classifier._weights_kept()
    )
    return store.packed(counted, classifier.model_)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a classifier. A bad file raises `ModelFileError` and nothing else; a missing one, `FileNotFoundError`."""
    try:
        return restored(store.read(path))
    except LikelyError as error:
        raise store.refusal(path, error) from error


def restored(found: store.Found | store.FoundLearned) -> Learner | Persistable:
    """The classifier that a file holds."""
    saved = found.saved
    classifier = _blank(saved.kind, is_kept=isinstance(found, store.FoundLearned))
    usual = set(classifier.get_params(deep=False))
    if not usual - LATER <= set(saved.settings) <= usual:
        raise ModelFileError("its settings are not those of its classifier")
    classifier.set_params(**saved.settings)
    classifier.schema_ = saved.schema
    classifier.n_features_in_ = len(saved.schema)
    if saved.named:
        classifier.feature_names_in_ = np.array(saved.schema.names, dtype=object)
    try:
        if isinstance(found, store.FoundLearned):
            classifier.classes_ = found.labels
            classifier._read_learned(found.learned, found.reader)
        else:
            classifier.restore(found.saved.summary, found.saved.families, found.saved.weights)
            found.check(classifier.model_)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"its parts do not fit together ({error})") from error
    return cast("Learner | Persistable", classifier)


def _blank(kind: str, *, is_kept: bool) -> Any:
    """A classifier that has learned nothing yet. What may be built stands in the two tables above, not in the file."""
    if is_kept and kind in KEPT:
        return getattr(import_module(KEPT[kind]), kind)()
    if not is_kept and kind in KINDS:
        return KINDS[kind]()
    raise ModelFileError("it holds a classifier that this version of likely does not know")
