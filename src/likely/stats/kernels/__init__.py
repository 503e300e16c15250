"""Compiled loops over rows: they hold no lock, so that threads run them side by side."""
