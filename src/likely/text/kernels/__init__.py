"""Compiled loops over bytes and ids: no Python object per document or token, no lock held."""

from __future__ import annotations
