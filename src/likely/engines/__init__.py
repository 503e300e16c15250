"""Where rows are counted. Every engine returns the same statistics."""

from __future__ import annotations
