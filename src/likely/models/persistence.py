"""Saving a fitted classifier to a file, and loading it again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeVar, overload

from sklearn.utils.validation import check_is_fitted

from likely import store
from likely.errors import LikelyError, ModelFileError, SettingsError
from likely.io.outputs import MODEL, Output, refuse, write_whole
from likely.models.protocols import Counts, KeepsLearned
from likely.models.registry import Entry, entry_of_kind
from likely.models.settings import check_settings

Kind = TypeVar("Kind")

LATER = frozenset({"bins", "depth", "restrained", "text_tokens", "weights"})
"""Settings that the first files do not have: these were written under what is still the default."""

RENAMED = {"seed": "random_state"}
"""Settings that older files have under another name."""


def save(classifier: object, path: str | os.PathLike[str], sources: Sequence[str] = ()) -> None:
    """Write a fitted classifier: whole or not at all.

    `sources` names what it was trained on; folders are left out. What is to be written is read first, as `load` would:
    a model that could not be loaded never takes the place of one that can.
    """
    refuse([Output(path, MODEL)])
    content = packed(classifier, sources)
    try:
        restored(store.parsed(content, import_kind))
    except LikelyError as error:
        raise ModelFileError(
            f"The model was not saved to {os.fspath(path)!r}, where nothing has changed: it could not be loaded again, "
            f"because {str(error).rstrip('.')}."
        ) from error
    write_whole(path, content)


def packed(classifier: Any, sources: Sequence[str] = ()) -> bytes:
    """The bytes of the file."""
    check_is_fitted(classifier)
    entry = can_be_saved(classifier)
    about: dict[str, Any] = {
        "kind": entry.kind,
        "settings": classifier._settings_kept(),
        "schema": classifier.schema_,
        "named": "feature_names_in_" in vars(classifier),
        "provenance": store.Provenance(tuple(sources)),
    }
    if not entry.counts:
        saved = store.Saved(**about, rows=classifier._rows_learned())
        return store.packed_learned(saved, classifier.classes_, classifier._write_learned)
    summary, families = classifier.summary_, classifier.families_
    counted = store.Counted(
        **about, rows=summary.n_rows, families=families, summary=summary, weights=classifier._weights_kept()
    )
    return store.packed(counted, classifier.model_)


def can_be_saved(classifier: object) -> Entry:
    """The entry of a classifier that a file can hold; any other one is refused."""
    kind = type(classifier).__name__
    entry = entry_of_kind(kind)
    if entry is None:
        raise SettingsError(f"A {kind} cannot be saved in a model file: it is not among the classifiers of likely.")
    if not isinstance(classifier, Counts if entry.counts else KeepsLearned):
        raise SettingsError(f"A {kind} cannot be saved in a model file.")
    return entry


@overload
def load(path: str | os.PathLike[str]) -> Any: ...


@overload
def load(path: str | os.PathLike[str], kind: type[Kind]) -> Kind: ...


def load(path: str | os.PathLike[str], kind: type = object) -> object:
    """Read a classifier. A bad file raises `ModelFileError` and nothing else; a missing one, `FileNotFoundError`.

    `kind` is the class that it must be, such as `BayesClassifier`: any other is refused, and type checkers know it.
    """
    try:
        found = restored(store.read(path, import_kind))
        if not isinstance(found, kind):
            raise ModelFileError(f"it holds a {type(found).__name__}, not a {kind.__name__}")
    except LikelyError as error:
        raise store.refusal(path, error) from error
    return found


def import_kind(kind: str) -> None:
    """Import a classifier, which registers what its settings may hold: kernels, say."""
    entry = entry_of_kind(kind)
    if entry is None:
        raise ModelFileError("it holds a classifier that this version of likely does not know")
    entry.load()


def restored(found: store.Found | store.FoundLearned) -> Any:
    """The classifier that a file holds. What may be built stands in the registry, not in the file."""
    saved = found.saved
    entry = entry_of_kind(saved.kind)
    if entry is None or entry.counts is isinstance(found, store.FoundLearned):
        raise ModelFileError("it holds a classifier that this version of likely does not know")
    classifier = entry.load()()
    usual = set(classifier.get_params(deep=False))
    settings = {name if name in usual else RENAMED.get(name, name): of for name, of in saved.settings.items()}
    if not usual - LATER <= set(settings) <= usual or len(settings) < len(saved.settings):
        raise ModelFileError("its settings are not those of its classifier")
    try:
        classifier.set_params(**settings)
        check_settings(classifier)
        classifier._remember_columns(saved.schema, named=saved.named)
        if isinstance(found, store.FoundLearned):
            classifier._restore_learned(found.labels, found.learned, found.reader)
        else:
            classifier._restore(found.saved.summary, found.saved.families, found.saved.weights)
            found.check(classifier.model_)
    except store.MADE_UP as error:
        if isinstance(error, LikelyError):
            raise
        raise ModelFileError(f"its parts do not fit together ({error})") from error
    return classifier
