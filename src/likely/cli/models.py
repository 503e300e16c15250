"""Model files on a command line, where `-` is standard input or output."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from likely.cli.output import PIPE, OutputOptions, StandardOutput, write_json
from likely.errors import ModelFileError, NoSuchFile, SettingsError, did_you_mean
from likely.io.outputs import MODEL_MARK, is_stream

if TYPE_CHECKING:
    from likely.api import Classifier
    from likely.models.learner import Learner
    from likely.store import Provenance, Saved


def is_model(path: str) -> bool:
    """Whether a file begins like a model."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MODEL_MARK)) == MODEL_MARK
    except OSError:
        return Path(path).suffix == ".likely"


def load_model(path: str) -> Classifier:
    """The classifier in a file, or from standard input."""
    if path == PIPE:
        with tempfile.NamedTemporaryFile(suffix=".likely") as file:
            file.write(sys.stdin.buffer.read())
            file.flush()
            return _loaded(file.name, "standard input")
    return _loaded(path, path)


def keeps_counts(classifier: object) -> TypeGuard[Learner]:
    """Whether all that a classifier knows follows from a summary."""
    from likely.models.protocols import Counts

    return isinstance(classifier, Counts)


def adds_counts(classifier: object) -> TypeGuard[Learner]:
    """Whether a classifier learns on, forgets and merges by its counts, even if it has corrections beside them."""
    from likely.models.protocols import Updates

    return isinstance(classifier, Updates)


def is_stale(classifier: object) -> bool:
    """Whether rows were counted since a classifier was corrected, or since its weights were learned."""
    from likely.models.protocols import Refreshes

    return isinstance(classifier, Refreshes) and classifier._is_stale()


def stale_note(classifier: Classifier, path: str) -> str:
    """What a stale classifier does now, and how it is renewed."""
    name = "MODEL" if path == PIPE else path
    corrections = "the corrections are stale, so the model predicts as weighted naive Bayes"
    what = "the learned weights are stale" if keeps_counts(classifier) else corrections
    return f"note: {what}; to refit them, say: likely refresh {name} TABLE"


def load_counts(path: str, purpose: str, *, corrected: bool = False) -> Learner:
    """The same for what only a classifier that counts can do; `corrected`: or evidence, whose counts add up."""
    classifier = load_model(path)
    if not (adds_counts(classifier) if corrected else keeps_counts(classifier)):
        raise SettingsError(
            f"The {type(classifier).__name__} in {path!r} cannot {purpose}; a model made of counts can: --model naive."
        )
    return classifier


def shares_of(classifier: Classifier) -> dict[str, float | None]:
    """How common each class is to a classifier, as far as it believes anything about that."""
    labels = map(str, classifier.classes_.tolist())
    try:
        return dict(zip(labels, classifier._prior_shares().tolist(), strict=True))
    except SettingsError:
        return dict.fromkeys(labels)


def shares_learned(classifier: Classifier) -> dict[str, float | None]:
    """The share of each class in the rows that a classifier has learned, whatever its prior is."""
    if not adds_counts(classifier):
        return shares_of(classifier)
    weights = classifier.summary_.classes.weights
    shares = (weights / max(weights.sum(), 1e-300)).tolist()
    return dict(zip(map(str, classifier.classes_.tolist()), shares, strict=True))


def save_model(classifier: Classifier, path: str, sources: Sequence[str]) -> None:
    """Write a classifier, whole or not at all; or to standard output."""
    if path != PIPE:
        classifier.save(path, sources)
        return
    if sys.stdout.isatty():
        raise SettingsError(
            "A model is binary, so it is not written to a terminal; name a file with -o, or use a pipe."
        )
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "model.likely")
        classifier.save(written, sources)
        StandardOutput().write(written.read_bytes())


def save_and_tell(
    classifier: Classifier,
    path: str,
    sources: Sequence[str],
    output: OutputOptions,
    content: Mapping[str, object],
    *sentences: str,
) -> None:
    """Write a classifier; then say so, as JSON and in words, and what to do if it is stale now."""
    save_model(classifier, path, sources)
    stale = is_stale(classifier)
    if output.json and path != PIPE:
        write_json({"model": path, **content, "stale": stale})
    for sentence in (*sentences, *([stale_note(classifier, path)] if stale else [])):
        output.say(sentence)


def refuse_other_target(path: str, target: str | None, force: bool) -> None:
    """A model that predicts another column is replaced only by force."""
    if force or path == PIPE or is_stream(path) or not is_model(path) or not Path(path).exists():
        return
    try:
        found = _saved(path).schema.target
    except ModelFileError as error:
        raise SettingsError(f"{path!r} is a model that cannot be read ({error}); --force replaces it.") from None
    if found != target:
        raise SettingsError(
            f"{path!r} is a model that predicts {found or 'labels'!r}, not {target or 'labels'!r}; name another file "
            "with -o, or say --force to replace it."
        )


def provenance_of(path: str) -> Provenance | None:
    """Where a model comes from."""
    return None if path == PIPE else _saved(path).provenance


def sources_of(paths: Sequence[str]) -> list[str]:
    """What models were trained on, taken together."""
    found = [provenance_of(path) for path in paths]
    return list(dict.fromkeys(source for each in found if each is not None for source in each.sources))


def _saved(path: str) -> Saved:
    """What a file says about its model, which is not built."""
    from likely import store
    from likely.models.persistence import import_kind

    return store.read(path, import_kind).saved


def _loaded(path: str, name: str) -> Classifier:
    from likely.models.persistence import load

    try:
        found: Classifier = load(path)
        return found
    except FileNotFoundError:
        raise NoSuchFile(f"There is no model {name!r}.{_near(name)}") from None
    except ModelFileError as error:
        if path != name:
            raise ModelFileError(str(error).replace(repr(path), name)) from None
        if not is_model(path):
            raise ModelFileError(
                f"{name!r} is not a model file; to train a model, say: likely train {name} --target COLUMN"
            ) from None
        raise


def _near(path: str) -> str:
    try:
        return did_you_mean(Path(path).name, [other.name for other in Path(path).parent.iterdir()])
    except OSError:
        return ""
