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
from likely.estimators.bayes import BayesClassifier
from likely.estimators.full import FullBayesClassifier
from likely.estimators.keeping import Kept
from likely.estimators.learning import Learner

KINDS: dict[str, type[BayesClassifier | FullBayesClassifier]] = {
    "BayesClassifier": BayesClassifier,
    "FullBayesClassifier": FullBayesClassifier,
}
"""Classifiers that follow from a summary."""

KEPT: dict[str, str] = {}
"""Classifiers that keep what they learned in their own form, and the module of each. Nothing else is ever built."""


def save(classifier: Learner | Kept, path: str | os.PathLike[str], sources: Sequence[str] = ()) -> None:
    """Write a fitted classifier: whole or not at all.

    `sources` names what it was trained on; folders are left out.
    """
    check_is_fitted(classifier)
    about: dict[str, Any] = {
        "kind": type(classifier).__name__,
        "settings": cast(Any, classifier).get_params(deep=False),
        "schema": classifier.schema_,
        "named": hasattr(classifier, "feature_names_in_"),
        "provenance": store.Provenance(tuple(sources)),
    }
    if isinstance(classifier, Kept):
        saved = store.Saved(**about, rows=classifier._rows_learned())
        store.write_learned(saved, classifier.classes_, classifier._write_learned, path)
        return
    summary = classifier.summary_
    counted = store.Counted(**about, rows=summary.n_rows, families=classifier.families_, summary=summary)
    store.write(counted, classifier.model_, path)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a classifier. A bad file raises `ModelFileError` and nothing else; a missing one, `FileNotFoundError`."""
    try:
        return _restore(store.read(path))
    except LikelyError as error:
        raise store.refusal(path, error) from error


def _restore(found: store.Found | store.FoundLearned) -> Learner | Kept:
    saved = found.saved
    classifier = _blank(saved.kind, is_kept=isinstance(found, store.FoundLearned))
    if set(saved.settings) != set(classifier.get_params(deep=False)):
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
            classifier.restore(found.saved.summary, found.saved.families)
            found.check(classifier.model_)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"its parts do not fit together ({error})") from error
    return cast("Learner | Kept", classifier)


def _blank(kind: str, *, is_kept: bool) -> Any:
    """A classifier that has learned nothing yet. What may be built stands in the two tables above, not in the file."""
    if is_kept and kind in KEPT:
        return getattr(import_module(KEPT[kind]), kind)()
    if not is_kept and kind in KINDS:
        return KINDS[kind]()
    raise ModelFileError("it holds a classifier that this version of likely does not know")
