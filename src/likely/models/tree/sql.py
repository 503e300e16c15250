"""A tree as one SQL expression: nested CASE, in words that DuckDB, PostgreSQL and others understand."""

from __future__ import annotations

import math
from collections.abc import Hashable
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from likely.errors import MissingExtra, SettingsError
from likely.models.tree.tree import Feature, Tree, values_of

Gaps = Literal["null", "usual"]

DIALECT = "postgres"
"""DuckDB and others read it, too."""


def case_expression(tree: Tree, gaps: Gaps = "null") -> str:
    """An expression whose value is the predicted class, or what is decided in the leaf.

    Surrogates are written out, so a tree with `missing="surrogates"` gives just what `predict` gives. With "weights" a
    gap would lead to several leaves at once, which no CASE can say: the expression is NULL there, or with
    `gaps="usual"` follows the branch that most cases took. A value that leads nowhere is as a gap.
    """
    if gaps not in ("null", "usual"):
        raise SettingsError(f"gaps is {gaps!r}, but it is 'null' or 'usual'.")
    decisions = tree.classes[tree.majority].tolist() if tree.decided is None else tree.decided
    said = {decision: literal(decision) for decision in set(decisions)}
    pieces: list[str] = []
    pending: list[tuple[str, int, int]] = [("", 0, 0)]
    while pending:
        text, node, depth = pending.pop()
        if node < 0:
            pieces.append(text)
            continue
        pad = "  " * (depth + 1)
        if tree.is_leaf[node]:
            pieces.append(f"{text}{said[decisions[node]]}")
            continue
        pieces.append(f"{text}CASE")
        if tree.missing == "surrogates":
            pieces.append(f" {_branch_number(tree, node)}")
            heads = [str(branch) for branch in range(tree.n_children[node])]
            last = None
        else:
            heads = [_condition(tree, node, branch) for branch in range(tree.n_children[node])]
            last = int(tree.majority_branch[node]) if gaps == "usual" else None
        children = list(tree.children(node))
        turns = [(f"\n{pad}WHEN {head} THEN ", child) for head, child in zip(heads, children, strict=True)]
        if last is not None:
            # A row that goes nowhere else goes there: written once, or the text would double with every level.
            turns = [*turns[:last], *turns[last + 1 :], (f"\n{pad}ELSE ", children[last])]
        pending.append((f"\n{'  ' * depth}END", -1, depth))
        pending += [(head, child, depth + 1) for head, child in reversed(turns)]
    return "".join(pieces)


def _condition(tree: Tree, node: int, branch: int) -> str:
    feature = tree.features[tree.column[node]]
    name = _column(feature)
    if feature.is_numeric:
        return f"{name} {'<' if branch == 0 else '>='} {literal(float(tree.threshold[node]))}"
    return f"{name} IN ({', '.join(literal(value) for value in values_of(tree, node, branch))})"


def _branch_number(tree: Tree, node: int) -> str:
    """The branch as a number: by the test itself, by the first surrogate that can tell, or the majority branch."""
    turns = [f"WHEN {_condition(tree, node, branch)} THEN {branch}" for branch in range(tree.n_children[node])]
    own = tree.surrogates
    for k in range(own.starts[node], own.starts[node + 1]):
        feature = tree.features[own.column[k]]
        name = _column(feature)
        if feature.levels is None:
            cut = literal(float(own.threshold[k]))
            turns += [f"WHEN {name} < {cut} THEN {own.low[k]}", f"WHEN {name} >= {cut} THEN {own.high[k]}"]
            continue
        branches = tree.branches[own.values[k] : own.values[k] + len(feature.levels)]
        for branch in range(tree.n_children[node]):
            values = [literal(v) for v, b in zip(feature.levels, branches, strict=True) if b == branch]
            if values:
                turns.append(f"WHEN {name} IN ({', '.join(values)}) THEN {branch}")
    return f"(CASE {' '.join(turns)} ELSE {tree.majority_branch[node]} END)"


def _column(feature: Feature) -> str:
    if feature.word is not None:
        raise SettingsError(
            f"The tree tests whether {feature.name}, and SQL has no words of a text: write it as JSON, or fit a tree "
            f"without column {feature.column!r}."
        )
    return identifier(feature.name)


def identifier(name: str) -> str:
    """A name, quoted."""
    if "\0" in name:
        raise SettingsError(f"The column {name!r} has a zero byte in its name, which SQL cannot say: rename it.")
    return str(_nodes().to_identifier(name, quoted=True).sql(dialect=DIALECT))


def literal(value: Hashable) -> str:
    """A value as SQL writes it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | Decimal):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        # With an exponent it is a double to every database, and not a decimal with its own rounding.
        text = repr(value)
        return text if "e" in text else f"{text}e0"
    if isinstance(value, datetime | date):
        value = value.isoformat()
    if isinstance(value, str) and "\0" not in value:
        return str(_nodes().Literal.string(value).sql(dialect=DIALECT))
    raise SettingsError(f"{value!r} is a {type(value).__name__}, which cannot be written as SQL.")


def _nodes() -> Any:
    """sqlglot's expressions: names and values come from data, and are quoted by those who know the dialect."""
    try:
        from sqlglot import exp
    except ImportError:
        raise MissingExtra("SQL is written with sqlglot: pip install 'likely[sql]'.") from None
    return exp
