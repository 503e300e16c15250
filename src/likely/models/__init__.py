"""Classifiers for raw tables: one folder each, beside one another."""

from __future__ import annotations
