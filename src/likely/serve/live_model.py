"""A model that learns on: every change is checked, journalled, applied and then acknowledged, in this order.

Changes that wait are committed as a group, by one flush of the disk. Readers hold snapshots, which never change: they
see a group before it or after it. When enough rows have come, the journal is folded into a new model file.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from likely.errors import LikelyError, SettingsError
from likely.io.outputs import write_whole
from likely.models.classifier import Classifier
from likely.models.protocols import Updates
from likely.serve.catalogue import ModelSource, Snapshot, digest_of, load_source, warmed
from likely.serve.changes import Change, applied, change_in
from likely.serve.journal import Journal, JournalError, journal_of, read_journal
from likely.serve.refusals import HTTPRefusal, refusal_of

LOG = logging.getLogger("likely.serve")
Keys = Sequence[tuple[str, str, int, str]]
"""A key, the digest of its request, its rows and the revision after it, as a journal that was folded holds them."""

KEPT_KEYS = 100_000
"""Keys of requests that are remembered; older ones are forgotten first."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a change: how many rows it had, after which revision, and whether it had been made before."""

    rows: int
    revision: str
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class _Key:
    digest: str
    rows: int
    revision: str


def replayed(
    classifier: Classifier, entries: Sequence[dict[str, object]], digest: str, path: Path
) -> tuple[Classifier, list[Change]]:
    """The classifier of a file after the changes of its journal, and these changes."""
    if not entries or digest == _folded_into(entries):
        return classifier, []
    if entries[0]["base"] != digest:
        raise JournalError(
            f"The journal {path.name!r} does not belong to the model as it is now: the file was replaced. Put the old "
            "model back, or remove the journal if what was learned since is not wanted."
        )
    changes = [change for change in map(change_in, entries) if change is not None]
    after, errors = applied(classifier, changes, most_classes=1 << 62)
    if any(errors):
        raise JournalError(f"The journal {path.name!r} cannot be replayed: {next(filter(None, errors))}")
    return after, changes


def _folded_into(entries: Sequence[dict[str, object]]) -> str | None:
    """The model file that the whole journal went into, if its last entry says so."""
    folded = entries[-1].get("folded")
    return folded if isinstance(folded, str) else None


def with_journal(source: ModelSource) -> Snapshot:
    """A model with all that its journal holds, for a service that does not learn itself."""
    loaded, path = load_source(source.path), journal_of(source.path)
    classifier, changes = replayed(loaded.classifier, read_journal(path), loaded.digest, path)
    return warmed(Snapshot(source.name, source.version, revision_of(loaded.digest, len(changes)), classifier))


def revision_of(digest: str, n_changes: int) -> str:
    """What tells one content of a model from another."""
    return f"{digest[:12]}+{n_changes}" if n_changes else digest[:12]


class LiveModel:
    """The one writer of a model file and its journal."""

    def __init__(self, source: ModelSource, *, compact_rows: int, most_classes: int) -> None:
        loaded = load_source(source.path)
        if not isinstance(loaded.classifier, Updates):
            kind = type(loaded.classifier).__name__
            raise SettingsError(
                f"A {kind} cannot learn on; serve {source.name!r} without --learn, or train naive Bayes."
            )
        self.source, self._compact_rows, self._most_classes = source, compact_rows, most_classes
        self._digest, path = loaded.digest, journal_of(source.path)
        self.journal = Journal(path, loaded.digest)
        try:
            self._keys: dict[str, _Key] = {}
            entries = self.journal.entries
            classifier, changes = replayed(loaded.classifier, entries, loaded.digest, path)
            self._remember(entries)
            self._n_changes, self._rows = len(changes), sum(len(change.rows) for change in changes)
            self.snapshot = warmed(Snapshot(source.name, source.version, self._revision(), classifier))
            if _folded_into(entries) == loaded.digest:
                self._restart()
        except BaseException:
            self.journal.close()
            raise
        self.journal.entries = []

    def _revision(self) -> str:
        return revision_of(self._digest, self._n_changes)

    def _remember(self, entries: Sequence[dict[str, object]]) -> None:
        """Keys of requests, those of a journal that is folded already included."""
        base, n_changes = str(entries[0]["base"]), 0
        for entry in entries:
            for key, digest, rows, revision in cast(Keys, entry.get("keys", ())):
                self._keys[key] = _Key(digest, rows, revision)
            change = change_in(entry)
            if change is None:
                continue
            n_changes += 1
            if change.key is not None:
                self._keys[change.key] = _Key(change.digest, len(change.rows), revision_of(base, n_changes))

    def commit(self, changes: Sequence[Change]) -> list[Outcome | HTTPRefusal]:
        """Make changes, in order: those that can be made are on the disk when this returns."""
        outcomes: list[Outcome | HTTPRefusal | None] = [self._known(change) for change in changes]
        new, places, keys = list[Change](), list[int](), dict[str, int]()
        for place, change in enumerate(changes):
            if outcomes[place] is not None:
                continue
            if change.key is not None and change.key in keys:  # the same request twice in one group
                continue
            if change.key is not None:
                keys[change.key] = place
            new.append(change)
            places.append(place)
        try:
            made = self._make(new)
        except JournalError as error:
            made = [HTTPRefusal(503, str(error)) for _ in new]
        for place, outcome in zip(places, made, strict=True):
            outcomes[place] = outcome
        return [
            self._again(change, outcomes, keys) if o is None else o for change, o in zip(changes, outcomes, strict=True)
        ]

    def _again(
        self, change: Change, outcomes: Sequence[Outcome | HTTPRefusal | None], keys: dict[str, int]
    ) -> Outcome | HTTPRefusal:
        """The answer to a request whose twin is in the same group."""
        known = self._known(change)
        first = outcomes[keys[change.key]] if change.key is not None else None
        return known or first or HTTPRefusal(503, "Send the request again.")

    def _known(self, change: Change) -> Outcome | HTTPRefusal | None:
        known = None if change.key is None else self._keys.get(change.key)
        if known is None:
            return None
        if known.digest != change.digest:
            return HTTPRefusal(409, "The key was used for another request; every request needs its own.")
        return Outcome(known.rows, known.revision, repeated=True)

    def _make(self, changes: Sequence[Change]) -> list[Outcome | HTTPRefusal]:
        classifier, errors = applied(self.snapshot.classifier, changes, self._most_classes)
        good = [change for change, error in zip(changes, errors, strict=True) if error is None]
        if good:
            self.journal.append([change.entry() for change in good])
        outcomes: list[Outcome | HTTPRefusal] = []
        for change, error in zip(changes, errors, strict=True):
            if error is not None:
                outcomes.append(refusal_of(error))
                continue
            self._n_changes += 1
            self._rows += len(change.rows)
            outcomes.append(Outcome(len(change.rows), self._revision()))
            if change.key is not None:
                self._keys[change.key] = _Key(change.digest, len(change.rows), self._revision())
        while len(self._keys) > KEPT_KEYS:
            del self._keys[next(iter(self._keys))]
        if good:
            quick = self.snapshot.quick
            self.snapshot = Snapshot(self.source.name, self.source.version, self._revision(), classifier, quick)
        return outcomes

    # Folding the journal into the model file.

    @property
    def wants_compaction(self) -> bool:
        """Whether so many rows are in the journal that the next start would take long."""
        return self._rows >= self._compact_rows

    def compact(self) -> bool:
        """Write the model with all that it has learned over its file, and begin a new journal; whether it was done."""
        path = self.source.path
        if not self._n_changes:
            return False
        if digest_of(path.read_bytes()) != self._digest:
            LOG.error("model %s: its file was replaced by somebody else, so the journal is kept", self.source.name)
            self.postpone()
            return False
        content = _packed(self.snapshot.classifier, path)
        digest = digest_of(content)
        self.journal.append([{"folded": digest}])
        write_whole(path, content)
        self._digest, self._n_changes, self._rows = digest, 0, 0
        self._restart()
        self.snapshot = replace(self.snapshot, revision=self._revision())
        return True

    def postpone(self) -> None:
        """Try again when twice as many rows are in the journal."""
        self._compact_rows = max(self._compact_rows, 2 * self._rows)

    def _restart(self) -> None:
        keys = [[key, known.digest, known.rows, known.revision] for key, known in self._keys.items()]
        self.journal.restart(self._digest, [{"keys": keys}] if keys else [])

    def close(self) -> None:
        """Fold the journal, if that can be done, and let go of it."""
        try:
            self.compact()
        except (LikelyError, OSError) as error:
            LOG.error("model %s: the journal is kept, since the model cannot be written: %s", self.source.name, error)
        self.journal.close()


def _packed(classifier: Classifier, path: Path) -> bytes:
    """The bytes of the model file."""
    with tempfile.TemporaryDirectory(prefix="likely-") as folder:
        written = Path(folder, path.name)
        classifier.save(written, [path.name])
        return written.read_bytes()
