"""How models last: one file, checked to the last bit, from which nothing but data is read."""

from __future__ import annotations

from likely.store.files import Found, Provenance, Saved, read, refusal, write

__all__ = ["Found", "Provenance", "Saved", "read", "refusal", "write"]
