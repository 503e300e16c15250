"""Evidence that adds up: tables of columns and pairs, corrected for what they say twice."""

from __future__ import annotations
