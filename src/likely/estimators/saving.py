"""Saving a fitted classifier to a file, and loading it again."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely import store
from likely.errors import LikelyError, ModelFileError
from likely.estimators.bayes import BayesClassifier
from likely.estimators.full import FullBayesClassifier
from likely.estimators.learning import Learner

KINDS: dict[str, type[BayesClassifier | FullBayesClassifier]] = {
    "BayesClassifier": BayesClassifier,
    "FullBayesClassifier": FullBayesClassifier,
}
"""Classifiers that a file may hold: nothing else is ever built."""


def save(classifier: Learner, path: str | os.PathLike[str], sources: Sequence[str] = ()) -> None:
    """Write a fitted classifier: whole or not at all.

    `sources` names what it was trained on; folders are left out.
    """
    check_is_fitted(classifier)
    saved = store.Saved(
        kind=type(classifier).__name__,
        settings=classifier.get_params(deep=False),
        schema=classifier.schema_,
        named=hasattr(classifier, "feature_names_in_"),
        families=classifier.families_,
        summary=classifier.summary_,
        provenance=store.Provenance(tuple(sources)),
    )
    store.write(saved, classifier.model_, path)


def load(path: str | os.PathLike[str]) -> Learner:
    """Read a classifier. A bad file raises `ModelFileError` and nothing else; a missing one, `FileNotFoundError`."""
    try:
        return _restore(store.read(path))
    except LikelyError as error:
        raise store.refusal(path, error) from error


def _restore(found: store.Found) -> Learner:
    saved = found.saved
    if saved.kind not in KINDS:
        raise ModelFileError("it holds a classifier that this version of likely does not know")
    classifier = KINDS[saved.kind]()
    if set(saved.settings) != set(classifier.get_params(deep=False)):
        raise ModelFileError("its settings are not those of its classifier")
    classifier.set_params(**saved.settings)
    classifier.schema_ = saved.schema
    classifier.n_features_in_ = len(saved.schema)
    if saved.named:
        classifier.feature_names_in_ = np.array(saved.schema.names, dtype=object)
    try:
        classifier.restore(saved.summary, saved.families)
        found.check(classifier.model_)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise ModelFileError(f"its parts do not fit together ({error})") from error
    return classifier
