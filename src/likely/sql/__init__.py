"""Queries that score a table where it lies: expressions in many dialects, steps, and what is asked of a model."""
