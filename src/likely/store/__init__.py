"""How models last: one file, checked to the last bit, from which nothing but data is read."""

from __future__ import annotations

from likely.store.codec import Reader, Writer
from likely.store.files import (
    MADE_UP,
    Counted,
    Found,
    FoundLearned,
    Provenance,
    Saved,
    packed,
    packed_learned,
    parsed,
    read,
    refusal,
)

__all__ = [
    "MADE_UP", "Counted", "Found", "FoundLearned", "Provenance", "Reader", "Saved", "Writer", "packed",
    "packed_learned", "parsed", "read", "refusal",
]  # fmt: skip
