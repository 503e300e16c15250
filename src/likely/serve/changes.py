"""Rows to be learned or forgotten: as a request brings them, as the journal holds them, and applied to a classifier."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, cast

import msgspec

from likely.errors import DataError, LikelyError
from likely.models.classifier import Classifier
from likely.serve.refusals import HTTPRefusal
from likely.serve.rows import RowReader, checked_rows
from likely.table import Table
from likely.table.schema import Schema

Kind = Literal["learn", "forget"]
LONGEST_KEY = 200
_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (str, "text"), (bool, "truth values"), (int, "whole numbers"), (float, "numbers"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """Rows with their labels; `digest` tells a request that is sent again from another one under the same key."""

    kind: Kind
    rows: list[dict[str, object]]
    labels: list[object]
    key: str | None = None
    digest: str = ""

    def entry(self) -> dict[str, object]:
        """As the journal holds it."""
        entry: dict[str, object] = {"kind": self.kind, "rows": self.rows, "labels": self.labels}
        return entry if self.key is None else {**entry, "key": self.key, "digest": self.digest}


def change_in(entry: Mapping[str, object]) -> Change | None:
    """The change that an entry of a journal holds, if it is one."""
    if entry.get("kind") not in ("learn", "forget"):
        return None
    rows, labels = cast(list[dict[str, object]], entry["rows"]), cast(list[object], entry["labels"])
    key, digest = entry.get("key"), str(entry.get("digest", ""))
    return Change(cast(Kind, entry["kind"]), rows, labels, None if key is None else str(key), digest)


def read_change(
    kind: Kind, content: Mapping[str, object], schema: Schema, key: str | None, most_rows: int, most_columns: int
) -> Change:
    """The change that a request asks for: labels stand in a list beside the rows, or in the column of the target."""
    rows = checked_rows(content.get("rows"), most_rows, most_columns)
    labels, target = content.get("labels"), schema.target
    if labels is None and target is not None:
        labels = [row.get(target) for row in rows]
    if not isinstance(labels, list) or len(labels) != len(rows):
        where = "" if target is None else f" or in the column {target!r}"
        raise HTTPRefusal(422, f'Give one label for each row: in a list "labels"{where}.')
    for place, label in enumerate(labels):
        if not isinstance(label, str | int | float):
            raise HTTPRefusal(
                422, f"The label of row {place} is missing, or is neither text nor a number nor a truth value."
            )
    if key is not None and not (0 < len(key) <= LONGEST_KEY and key.isprintable()):
        raise HTTPRefusal(422, f"A key of a request has 1 to {LONGEST_KEY} printable characters.")
    names = (*schema.inputs, *(() if schema.weight is None else (schema.weight,)))
    kept = [{name: row[name] for name in names if name in row} for row in rows]
    for place, row in enumerate(kept):
        for name, cell in row.items():
            if isinstance(cell, list | dict):
                raise HTTPRefusal(422, f"Row {place} of column {name!r} holds a list or an object.")
    change = Change(kind, kept, labels, key)
    return change if key is None else Change(kind, kept, labels, key, digest_of(change))


def digest_of(change: Change) -> str:
    """What a change is, in a few letters."""
    content = msgspec.json.encode([change.kind, change.rows, change.labels], order="sorted")
    return hashlib.sha256(content).hexdigest()[:32]


def applied(
    classifier: Classifier, changes: Sequence[Change], most_classes: int
) -> tuple[Classifier, list[LikelyError | None]]:
    """A classifier that has made all changes that can be made, in order, and what is wrong with the others.

    The one that was given stays as it is: others are reading it.
    """
    errors: list[LikelyError | None] = []
    for kind, group in groupby(changes, key=lambda change: change.kind):
        together = list(group)
        try:
            classifier = _applied(classifier, kind, together, most_classes)
            errors += [None] * len(together)
        except LikelyError as error:
            if len(together) == 1:
                errors.append(error)
                continue
            for change in together:
                classifier, wrong = applied(classifier, [change], most_classes)
                errors += wrong
    return classifier, errors


def _applied(classifier: Classifier, kind: Kind, changes: Sequence[Change], most_classes: int) -> Classifier:
    schema: Schema = classifier.schema_
    reader = RowReader(schema, () if schema.weight is None else (schema.weight,))
    after = copy(classifier)
    for rows, labels in _blocks(reader, changes):
        _refuse_labels(after.classes_.tolist(), labels, most_classes)
        if kind == "learn":
            after.partial_fit(rows, labels)
        else:
            after.forget(rows, labels)
    return after


def _blocks(reader: RowReader, changes: Sequence[Change]) -> Iterator[tuple[Table, list[object]]]:
    """Tables with labels: plain rows together, others each change by itself."""
    read = [(reader.columns(change.rows), change.labels) for change in changes]
    plain = [(columns, labels) for columns, labels in read if columns.plain]
    if plain:
        yield reader.table([columns for columns, _ in plain]), [label for _, labels in plain for label in labels]
    for columns, labels in read:
        if not columns.plain:
            yield reader.table([columns]), labels


def _refuse_labels(classes: Sequence[object], labels: Sequence[object], most: int) -> None:
    """New classes are welcome, but not the string "1" beside the number 1, nor any number of them."""
    for kind, words in _KINDS:
        if classes and all(
            isinstance(label, kind) and (kind is bool or not isinstance(label, bool)) for label in classes
        ):
            fits = (int, float) if kind is float else kind
            strange = [x for x in labels if not isinstance(x, fits) or (isinstance(x, bool) and kind is not bool)]
            if strange:
                raise DataError(f"The label {strange[0]!r} is of another kind than the classes, which are {words}.")
    if len({*classes, *labels}) > most:
        raise DataError(f"There would be more than {most:,} classes.")
