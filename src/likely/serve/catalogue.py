"""The models that are served, by name and version; each file is read again when it has changed."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likely.api import load
from likely.arrays import Array
from likely.errors import LikelyError, NoSuchFile, SettingsError, did_you_mean
from likely.models.classifier import Classifier
from likely.models.protocols import Updates
from likely.serve.refusals import HTTPRefusal
from likely.serve.rows import Columns, RowReader
from likely.table import RowsLike, Table
from likely.table.schema import Schema

PLAIN_LABELS = (str, int, float, bool)


class Judged(NamedTuple):
    """P(class | row), and the place of the class that is predicted."""

    posterior: Array
    chosen: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A classifier that nobody changes any more; `revision` differs from one content to the next."""

    name: str
    version: str
    revision: str
    classifier: Classifier
    quick: bool = True
    reader: RowReader = field(init=False)
    labels: list[object] = field(init=False)
    counts: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reader", RowReader(self.schema))
        object.__setattr__(self, "labels", [json_label(label) for label in self.classifier.classes_.tolist()])
        object.__setattr__(self, "counts", isinstance(self.classifier, Updates))

    @property
    def schema(self) -> Schema:
        """The columns that it reads."""
        found: Schema = self.classifier.schema_
        return found

    @property
    def about(self) -> dict[str, str]:
        """What every answer says of where it comes from."""
        return {"model": self.name, "version": self.version, "revision": self.revision}

    def judge(self, rows: RowsLike) -> Judged:
        """Probabilities of a table, and predictions: the most probable class unless the classifier has another rule."""
        posterior = np.asarray(self.classifier.predict_proba(rows), dtype=np.float64)
        if self.counts:
            return Judged(posterior, posterior.argmax(axis=1))
        predicted = self.classifier.predict(rows).tolist()
        places = {label: place for place, label in enumerate(self.classifier.classes_.tolist())}
        return Judged(posterior, np.array([places[label] for label in predicted], dtype=np.intp))

    def judge_columns(self, parts: Sequence[Columns]) -> Judged:
        """The same for rows of one or several requests, one after the other."""
        return self.judge(self.table(parts))

    def table(self, parts: Sequence[Columns]) -> Table:
        """Rows as a table of the columns that it reads."""
        return self.reader.table(parts)


def json_label(label: object) -> object:
    """A class as JSON has it; what JSON has no word for is written as text."""
    if isinstance(label, PLAIN_LABELS):
        return label
    return label.isoformat() if isinstance(label, date) else str(label)


QUICK_SECONDS = 0.004
"""A model that judges one row in less is asked in the event loop."""
FIRST_VERSION = "1"


class ModelSource(NamedTuple):
    """A model file, and under which name and version it is served."""

    name: str
    version: str
    path: Path


class Stamp(NamedTuple):
    """What changes when a file is replaced or written."""

    device: int
    inode: int
    size: int
    modified: int


def read_source(given: str) -> ModelSource:
    """PATH, NAME=PATH or NAME@VERSION=PATH; without a name it is that of the file, without its suffix.

    >>> read_source("spam@2=models/new.likely")
    ModelSource(name='spam', version='2', path=PosixPath('models/new.likely'))
    """
    name, mark, path = given.partition("=")
    if not mark or os.path.exists(given):
        name, path = Path(given).stem, given
        version = FIRST_VERSION
    else:
        name, _, version = name.partition("@")
        version = version or FIRST_VERSION
    if not name or not version or any(sign in "/?#%@" or not sign.isprintable() for sign in name + version):
        raise SettingsError(f"{name!r} cannot be the name of a model: write NAME=PATH or NAME@VERSION=PATH.")
    return ModelSource(name, version, Path(path))


def digest_of(content: bytes) -> str:
    """What tells one content of a file from another."""
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, eq=False)
class Loaded:
    """A classifier, and the digest of the file that it came from."""

    classifier: Classifier
    digest: str


def load_source(path: Path) -> Loaded:
    """The classifier in a file; read again if the file was replaced meanwhile."""
    while True:
        digest = digest_of(path.read_bytes())
        classifier = load(path)
        if digest_of(path.read_bytes()) == digest:
            return Loaded(classifier, digest)


def refuse_missing(path: Path) -> None:
    """Say that there is no such file, and which one is near."""
    if not path.exists():
        near = did_you_mean(path.name, [other.name for other in path.parent.glob("*.likely")])
        raise NoSuchFile(f"There is no model {os.fspath(path)!r}.{near}")


def stamp_of(path: Path) -> Stamp | None:
    """When and as what a file was last written."""
    try:
        found = path.stat()
    except OSError:
        return None
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def warmed(model: Snapshot) -> Snapshot:
    """The model after two rows of gaps: its loops are compiled, and whether it is quick is known."""
    gaps = model.reader.columns([dict.fromkeys(model.reader.names)])
    seconds = QUICK_SECONDS
    for _ in range(2):
        begin = time.perf_counter()
        try:
            model.judge_columns([gaps])
        except LikelyError:  # a model that wants no gaps says so to whoever sends one
            return model
        seconds = time.perf_counter() - begin
    return replace(model, quick=seconds < QUICK_SECONDS)


class Catalogue:
    """The newest snapshot of every model. The first that was named is the one that is meant if none is named."""

    def __init__(self, models: Iterable[Snapshot]) -> None:
        self._models: dict[str, dict[str, Snapshot]] = {}
        for model in models:
            versions = self._models.setdefault(model.name, {})
            if model.version in versions:
                raise SettingsError(
                    f"Two models are called {model.name!r}; give one a version or another name: NAME@VERSION=PATH."
                )
            versions[model.version] = model

    def __bool__(self) -> bool:
        return bool(self._models)

    def find(self, name: str | None = None, version: str | None = None) -> Snapshot:
        """The model of a name, in its last version if none is given."""
        versions = next(iter(self._models.values()), None) if name is None else self._models.get(name)
        if versions is None and name is None:
            raise HTTPRefusal(404, "There is no model here yet.")
        if versions is None:
            raise HTTPRefusal(404, f"There is no model {str(name)[:80]!r} here.")
        if version is None:
            return next(reversed(versions.values()))
        if version not in versions:
            raise HTTPRefusal(404, f"The model has no version {version[:80]!r}.")
        return versions[version]

    def publish(self, model: Snapshot) -> None:
        """Answer from this content from now on; requests that are under way keep theirs."""
        self._models[model.name][model.version] = model

    def all(self) -> Sequence[Snapshot]:
        """Every version of every model."""
        return [model for versions in self._models.values() for model in versions.values()]

    def versions(self, name: str) -> list[str]:
        """The versions of a model, the newest last."""
        return list(self._models.get(name, {}))
