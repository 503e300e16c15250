"""One file for each command: arguments, one call, and what it says."""

from __future__ import annotations
