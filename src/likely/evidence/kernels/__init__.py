"""Compiled loops of the evidence classifier."""
