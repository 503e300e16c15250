"""Classifiers whose memory is no summary: what they must say to be saved and to come back."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, cast

from numpy.typing import NDArray

from likely.schema import Schema
from likely.store import Reader, Writer


class Kept:
    """A classifier that puts away what it has learned as JSON and named arrays.

    Its kind needs a place in `estimators.saving.KEPT`.
    """

    classes_: NDArray[Any]
    schema_: Schema
    n_features_in_: int

    def save(self, path: str | PathLike[str], sources: Sequence[str] = ()) -> None:
        """Write the fitted classifier to a file, whole or not at all; `likely.load` reads it again."""
        from likely.estimators.saving import save

        save(self, path, sources)

    def _settings_kept(self) -> dict[str, Any]:
        """The parameters as they go into the file: all of them must be plain values."""
        return dict(cast(Any, self).get_params(deep=False))

    def _rows_learned(self) -> int:
        """How many rows it has learned, for people who look at the file."""
        raise NotImplementedError("A kept classifier says how many rows it has learned.")

    def _write_learned(self, writer: Writer) -> Any:
        """What was learned, as JSON that names the arrays put into `writer`."""
        raise NotImplementedError("A kept classifier writes what it has learned.")

    def _read_learned(self, data: Any, reader: Reader) -> None:
        """Take on what `_write_learned` wrote: parameters, `classes_` and `schema_` are there already.

        The file may be hostile: sizes, types and ranges are checked before anything is built from them
        (`Reader.get` does so for arrays), and what is wrong raises `ModelFileError`.
        """
        raise NotImplementedError("A kept classifier reads what it has learned.")
