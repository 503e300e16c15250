"""A long training that can go on where it was broken off: a saved model, and the place in the files."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likely.atomic import write_whole
from likely.errors import FileError, ModelFileError
from likely.files.pieces import Place
from likely.files.table import FileTable
from likely.nesting import TOO_DEEP, is_deep
from likely.outputs import CHECKPOINT, PLACES_SUFFIX, Output

if TYPE_CHECKING:
    from likely.estimators.learning import Learner
    from likely.stats import Summary


class Checkpoint:
    """The model at `path`, and beside it the places that belong to numbers of rows.

    The places of the model that lies there and of the one about to be written are both kept, and the number of rows
    says which belongs to it: so nothing is lost whenever the process is killed.
    """

    def __init__(self, path: str | os.PathLike[str], table: FileTable) -> None:
        table.refuse_losses(Output(path, CHECKPOINT))
        self.path, self.places = Path(path), Path(f"{os.fspath(path)}{PLACES_SUFFIX}")
        self._is_ours = False
        self._files = [[source.name, source.size, source.path.stat().st_mtime_ns] for source in table.sources]
        self._last: dict[str, Any] = {}

    def load(self, classifier: Learner) -> tuple[Summary | None, Place | None]:
        """What was counted before and where to go on, or nothing."""
        if not self.path.exists() or not self.places.exists():
            return None, None
        from likely.estimators.saving import load

        try:
            found, text = load(self.path), self.places.read_bytes()
            if is_deep(text):
                raise ValueError(TOO_DEEP)
            written = json.loads(text)
            place = Place(**written["places"][str(found.summary_.n_rows)])
        except (KeyError, TypeError, ValueError, ModelFileError) as error:
            raise FileError(
                f"{str(self.path)!r} is no checkpoint that can be gone on from ({error}); remove it."
            ) from None
        if written["files"] != self._files:
            raise FileError(f"The files have changed since {str(self.path)!r} was written; remove it to begin anew.")
        if repr(found.get_params(deep=False)) != repr(classifier.get_params(deep=False)):
            raise FileError(f"{str(self.path)!r} was begun with other settings; use those, or remove it to begin anew.")
        self._last = {str(found.summary_.n_rows): asdict(place)}
        self._is_ours = True
        return found.summary_, place

    def save(self, classifier: Learner, place: Place) -> None:
        """Write the places first, then the model: each whole or not at all."""
        self._is_ours = True
        rows = str(classifier.summary_.n_rows)
        now = {rows: asdict(place)}
        text = json.dumps({"files": self._files, "places": {**self._last, **now}})
        write_whole(self.places, text.encode())
        classifier.save(self.path, [str(name) for name, _, _ in self._files])
        self._last = now

    def remove(self) -> None:
        """The training is done: nothing is left to go on with. What was not written or gone on from stays."""
        if not self._is_ours:
            return
        for path in (self.path, self.places):
            with suppress(FileNotFoundError):
                path.unlink()
