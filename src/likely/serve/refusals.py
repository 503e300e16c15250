"""What the service refuses, as a status and a sentence: the only place where errors and HTTP meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from likely.arrays import Json
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
class HTTPRefusal(Exception):
    """An answer that is no answer: a status, one sentence, and headers that go with them.

    `code`, `facts` and `place` (a line or a row) say the same as data, for a page that has its own words.
    """

    status: int
    sentence: str
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    facts: Sequence[Json] = ()
    place: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.sentence

    def told(self) -> dict[str, Json]:
        """The body of the answer."""
        told: dict[str, Json] = {"error": self.sentence}
        if self.code:
            told |= {"code": self.code, "facts": list(self.facts)}
        return told | {"place": dict(self.place)} if self.place else told


def refusal_of(error: LikelyError) -> HTTPRefusal:
    """The answer to something that the library refuses to do; a kind that is nobody's fault but ours is a 500."""
    for kind, status in STATUS:
        if isinstance(error, kind):
            return HTTPRefusal(status, worded(error.message))
    return failed()


def failed() -> HTTPRefusal:
    """A fault of ours: what it was stands in the log."""
    return HTTPRefusal(500, "The service failed to answer; its log says why.")


def worded(text: str) -> str:
    """A sentence without words for callers from Python, on one line and of bounded length."""
    told = " ".join("".join(str(part) for part in parts_of(text) if not isinstance(part, PythonOnly)).split())
    return told if len(told) <= LONGEST else f"{told[: LONGEST - 1]}…"


def busy() -> HTTPRefusal:
    """More is asked for than can wait."""
    return HTTPRefusal(503, "Too many requests are waiting; ask again in a second.", {"retry-after": "1"})


def too_large(limit: int) -> HTTPRefusal:
    """A body beyond the limit."""
    return HTTPRefusal(413, f"The body has more than {limit:,} bytes; send the rows in several requests.")
