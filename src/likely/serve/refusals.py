"""What the service refuses, as a status and a sentence: the only place where errors and HTTP meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from likely.errors import (
    DataError,
    FileError,
    LikelyError,
    NotMergeable,
    PythonOnly,
    SchemaError,
    SettingsError,
    parts_of,
)

LONGEST = 500
STATUS: tuple[tuple[type[LikelyError], int], ...] = (
    (NotMergeable, 409),
    (SchemaError, 422),
    (DataError, 422),
    (SettingsError, 422),
    (FileError, 422),
)


@dataclass(eq=False)
class Refusal(Exception):
    """An answer that is no answer: a status, one sentence, and headers that go with them."""

    status: int
    sentence: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.sentence


def refusal_of(error: LikelyError) -> Refusal:
    """The answer to something that the library refuses to do; a kind that is nobody's fault but ours is a 500."""
    for kind, status in STATUS:
        if isinstance(error, kind):
            return Refusal(status, worded(error.message))
    return failed()


def failed() -> Refusal:
    """A fault of ours: what it was stands in the log."""
    return Refusal(500, "The service failed to answer; its log says why.")


def worded(text: str) -> str:
    """A sentence without words for callers from Python, on one line and of bounded length."""
    told = " ".join("".join(str(part) for part in parts_of(text) if not isinstance(part, PythonOnly)).split())
    return told if len(told) <= LONGEST else f"{told[: LONGEST - 1]}…"


def busy() -> Refusal:
    """More is asked for than can wait."""
    return Refusal(503, "Too many requests are waiting; ask again in a second.", {"retry-after": "1"})


def too_large(limit: int) -> Refusal:
    """A body beyond the limit."""
    return Refusal(413, f"The body has more than {limit:,} bytes; send the rows in several requests.")
