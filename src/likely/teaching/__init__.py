"""Small tables, questions, letters and a demonstration: what a teacher shows."""

from __future__ import annotations
